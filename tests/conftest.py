"""Settings of all tests: runs repeat exactly, and nothing is judged by the clock."""

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
    """`--rewrite`: write the golden transcripts anew; a person then reads the diff."""
    parser.addoption("--rewrite", action="store_true", default=False)


def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> SlowestFirst:
    """With `-n`, the tests are distributed by `tests.distribution`."""
    return SlowestFirst(config, log)


@pytest.fixture(scope="session")
def postgres():
    """A PostgreSQL server of this process's own."""
    try:
        server = PostgresServer()
    except ServerNotFoundError as missing:
        pytest.skip(str(missing))
    with server:
        yield server


@pytest.fixture(scope="module")
def object_server():
    """A server of our own that speaks S3."""
    with ObjectServer() as server:
        yield server


@pytest.fixture(autouse=True)
def a_wide_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines are broken where they are in the documentation, whatever terminal or worker runs the tests."""
    monkeypatch.setenv("COLUMNS", "100")
