"""Settings of all tests: runs repeat exactly, and nothing is judged by the clock."""

import pytest
from hypothesis import settings

settings.register_profile("barrierspec", deadline=None, derandomize=True)
settings.load_profile("barrierspec")


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--rewrite`: write the golden transcripts anew; a person then reads the diff."""
    parser.addoption("--rewrite", action="store_true", default=False)
