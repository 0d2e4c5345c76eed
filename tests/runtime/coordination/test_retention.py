"""Whether a job that ends deletes its completed checkpoints (COORD-25)."""

import pytest
from coordination_bench import Bench

from impl.config import (
    DELETE_ON_CANCELLATION,
    NO_EXTERNALIZED_CHECKPOINTS,
    RETAIN_ON_CANCELLATION,
    CheckpointConfig,
    ConfigError,
)
from impl.core.coordinator.job import CANCELED, FAILED, FINISHED

KEPT = {
    None: {FINISHED, CANCELED, FAILED},
    RETAIN_ON_CANCELLATION: {CANCELED, FAILED},
    DELETE_ON_CANCELLATION: {FAILED},
    NO_EXTERNALIZED_CHECKPOINTS: set(),
}


@pytest.mark.rule("COORD-25")
@pytest.mark.parametrize("retention", KEPT)
@pytest.mark.parametrize("status", [FINISHED, CANCELED, FAILED])
def test_the_checkpoints_of_an_ended_job_stay_where_they_are_retained(tmp_path, retention, status):
    bench = Bench(tmp_path, num_retained_checkpoints=2, externalized_checkpoint_retention=retention)
    bench.start()
    for checkpoint in (1, 2, 3):
        bench.pass_ms(1_000)
        bench.acknowledge(checkpoint)
    bench.pass_ms(1_000)
    bench.acknowledge(4, "in-0")
    assert (bench.it.finish() if status == FINISHED else bench.it.job_ended(status)) in (None, ((), None))
    kept = status in KEPT[retention]
    assert bench.storage.completed_ids() == ((2, 3) if kept else ())
    folders = set(bench.storage.location.folders())
    assert {"chk-1", "chk-2", "chk-3"} & folders == ({"chk-2", "chk-3"} if kept else set())
    assert kept or folders == {"attempts"}


def test_a_retention_has_one_of_flinks_names():
    with pytest.raises(ConfigError, match="takes None, RETAIN_ON_CANCELLATION, DELETE_ON_CANCELLATION"):
        CheckpointConfig(externalized_checkpoint_retention="RETAIN")
