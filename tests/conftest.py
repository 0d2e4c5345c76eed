"""Settings of all tests: runs repeat exactly, and nothing is judged by the clock."""

import pytest
from hypothesis import settings

from conformance.torture.postgres_server import PostgresServer, ServerNotFoundError

settings.register_profile("barrierspec", deadline=None, derandomize=True)
settings.load_profile("barrierspec")


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--rewrite`: write the golden transcripts anew; a person then reads the diff."""
    parser.addoption("--rewrite", action="store_true", default=False)


@pytest.fixture(scope="session")
def postgres():
    """A PostgreSQL server of this process's own."""
    try:
        server = PostgresServer()
    except ServerNotFoundError as missing:
        pytest.skip(str(missing))
    with server:
        yield server


@pytest.fixture(autouse=True)
def a_wide_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines are broken where they are in the documentation, whatever terminal or worker runs the tests."""
    monkeypatch.setenv("COLUMNS", "100")
