"""With the gate of mode at-least-once the dataflow violates exactly-once; TLC shows the expected run."""

from spec.manifest import load_manifest
from spec.tlc import check

MODELS = load_manifest()


def test_a_record_from_behind_the_barrier_is_in_the_snapshot_and_comes_again():
    result = check(MODELS["broken_dataflow_tracked"])

    assert (result.violated, result.differences) == ("ONCE_02", ())
    after = result.trace[-1].state
    assert (after["offset"][0], after["offset"][1]) == (100, 105)
    assert (after["counted"][0], after["counted"][1]) == (101, 105)


def test_the_record_is_committed_twice():
    result = check(MODELS["broken_dataflow_tracked_output"])

    assert (result.violated, result.differences) == ("ONCE_03", ())
    after = result.trace[-1].state
    assert after["output"][0] == (100, 100)
