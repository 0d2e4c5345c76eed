"""Fixtures of the suite's tests: commands and processes of the small adapters in tests/adapters."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from conformance.adapters.process import ProcessAdapter

ADAPTERS = Path(__file__).parent.parent / "adapters"


@pytest.fixture
def little_adapter() -> Callable[..., str]:
    """A function that returns the command line of a script in tests/adapters."""

    def command(script: str, *arguments: str) -> str:
        return " ".join([sys.executable, str(ADAPTERS / f"{script}.py"), *arguments])

    return command


@pytest.fixture
def user_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A user's folder, as the working folder. Modules imported from it are unloaded after the test."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    known = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - known:
        if (tmp_path / f"{name}.py").exists():
            del sys.modules[name]


@pytest.fixture
def start(little_adapter: Callable[..., str]) -> Iterator[Callable[..., ProcessAdapter]]:
    """A function that starts a script in tests/adapters as an adapter. The processes end with the test."""
    started: list[ProcessAdapter] = []

    def make(script: str, *arguments: str, seconds: float = 30.0, **options: int) -> ProcessAdapter:
        started.append(ProcessAdapter(little_adapter(script, *arguments), seconds, **options))
        return started[-1]

    yield make
    for adapter in started:
        adapter.bye()
