"""One small run whose event log many tests read."""

from pathlib import Path

import pytest
from simulated_run import SimulatedRun


@pytest.fixture(scope="session")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three attempts of a small run, with two checkpoints at once."""
    folder = tmp_path_factory.mktemp("recorded")
    return SimulatedRun(folder, seed=3, fail_at=(200, 400), max_concurrent=2, checkpoint_every=12).execute()
