"""Settings of all tests: runs are repeatable, and no result depends on the clock."""

import gc

import pytest
from hypothesis import settings

from conformance.torture.servers.object_server import ObjectServer
from conformance.torture.servers.postgres_server import PostgresServer, ServerNotFoundError
from tests.distribution import SlowestFirst

settings.register_profile("barrierspec", deadline=None, derandomize=True)
settings.load_profile("barrierspec")

# State graphs are large and live long: higher thresholds scan them less often.
gc.set_threshold(500_000, 20, 20)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds `--rewrite`, which writes the golden transcripts again. A person then reads the diff."""
    parser.addoption("--rewrite", action="store_true", default=False)


def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> SlowestFirst:
    """With `-n`, the tests are distributed by `tests.distribution`."""
    return SlowestFirst(config, log)


@pytest.fixture(scope="session")
def postgres():
    """A PostgreSQL server that only this test process uses."""
    try:
        server = PostgresServer()
    except ServerNotFoundError as missing:
        pytest.skip(str(missing))
    with server:
        yield server


@pytest.fixture(scope="module")
def object_server():
    """A local server that speaks the S3 protocol."""
    with ObjectServer() as server:
        yield server


@pytest.fixture(autouse=True)
def a_wide_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sets a fixed terminal width, so that lines break as in the documentation."""
    monkeypatch.setenv("COLUMNS", "100")
