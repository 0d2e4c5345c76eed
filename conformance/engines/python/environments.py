"""Installs each engine from PyPI once, in a separate virtual environment in the cache folder."""

import subprocess
import sys
import tomllib
from importlib.resources import files

from conformance.adapters.flink.releases import cache_root
from conformance.engines.engine import EngineSetUpError

SECONDS = 1_800.0
"""Maximum time in seconds of an installation."""
_LISTED = tomllib.loads(
    files("conformance.engines.python").joinpath("environments.toml").read_text(encoding="utf-8")
)


def version_of(engine: str) -> str:
    """The version of the engine that `environments.toml` requires."""
    return str(_LISTED[engine]["requires"][0].partition("==")[2])


def python_of(engine: str) -> str:
    """The path of the interpreter in an engine's environment. Makes the environment if it does not exist.

    Raises EngineSetUpError if the installation fails.
    """
    folder = cache_root() / "engines" / f"{engine}-{version_of(engine)}"
    python = folder / "bin" / "python"
    good = folder / "installed"
    if not good.exists():
        _run([sys.executable, "-P", "-m", "venv", str(folder)])
        _run([str(python), "-P", "-m", "pip", "install", "--quiet", *_LISTED[engine]["requires"]])
        good.touch()
    return str(python)


def _run(command: list[str]) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired as late:
        raise EngineSetUpError(f"{' '.join(command[:4])} took more than {SECONDS:g} s") from late
    if done.returncode:
        last = done.stderr.strip().splitlines()[-1:] or ["it printed nothing"]
        raise EngineSetUpError(f"expected {' '.join(command)} to succeed, got: {last[0][:300]}")
