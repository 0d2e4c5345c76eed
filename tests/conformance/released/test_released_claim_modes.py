"""Coordinators of released Flinks that start from a savepoint, in each claim mode. Needs their jars."""

import shutil

import pytest

from conformance.adapters.flink.adapter import flink_adapter
from conformance.adapters.flink.fetch import cached
from conformance.adapters.flink.releases import release
from conformance.adapters.protocol import Applied, Failure, Made

SAVEPOINT = 7
WITHOUT_MODES = ("1.13.6", "1.14.3")
WITH_MODES = ("1.15.0", "1.17.2", "2.3.0")
MODES = ("CLAIM", "NO_CLAIM", "LEGACY")


@pytest.fixture(scope="module")
def flink(request):
    one = release(request.param)
    if shutil.which("java") is None or cached(one) is None:
        pytest.skip(f"no java, or no jar in the cache: barrierspec flink fetch {one.version}")
    with flink_adapter(one) as adapter:
        yield one, adapter


def started(flink, mode, retain=1):
    """A running coordinator of one task, started from SAVEPOINT. `mode`: claim mode; None: the default."""
    one, adapter = flink
    config = {
        "profile": one.coordinator,
        "tasks": [{"id": "src-0", "source": True}],
        "retain": retain,
        "restored_savepoint": SAVEPOINT,
    }
    made = adapter.new("coordinator", config if mode is None else {**config, "claim_mode": mode})
    assert isinstance(made, Made), made
    return apply(
        adapter,
        {"kind": "job_status", "status": "RUNNING"},
        {"kind": "task_status", "task": "src-0", "status": "RUNNING"},
    )


def apply(adapter, *events):
    """Apply the events. Returns their effects, and the state after them."""
    done = adapter.apply(events)
    assert isinstance(done, Applied), done
    return [effect for effects in done.effects for effect in effects], done.state


def trigger(adapter, kind="checkpoint"):
    """Trigger a checkpoint. Returns the state after it."""
    return apply(adapter, {"kind": "trigger", "type": kind})[1]


def is_full(adapter):
    """Trigger a checkpoint. Returns whether its task must make a full checkpoint."""
    effects, _ = apply(adapter, {"kind": "trigger", "type": "checkpoint"})
    (triggered,) = (effect for effect in effects if effect["kind"] == "trigger_task")
    return triggered["type"] == "full_checkpoint"


def complete(adapter, checkpoint):
    """Complete `checkpoint`. Returns the deleted ids, the ids reported as subsumed, and the state."""
    effects, state = apply(adapter, {"kind": "acknowledge", "task": "src-0", "checkpoint": checkpoint})
    assert {"kind": "complete", "checkpoint": checkpoint} in effects
    deleted = [effect["checkpoint"] for effect in effects if effect["kind"] == "discard"]
    subsumed = [effect["checkpoint"] for effect in effects if effect["kind"] == "notify_subsumed"]
    return deleted, subsumed, state


def decline(adapter, checkpoint):
    """Decline `checkpoint`, which aborts it."""
    reason = "CHECKPOINT_DECLINED"
    apply(adapter, {"kind": "decline", "task": "src-0", "checkpoint": checkpoint, "reason": reason})


CASES = [
    *((version, None) for version in WITHOUT_MODES),
    *((version, mode) for version in WITH_MODES for mode in (None, *MODES)),
]
EACH = pytest.mark.parametrize(("flink", "mode"), CASES, indirect=["flink"])


@EACH
def test_the_savepoint_is_the_latest_and_the_next_checkpoint_has_its_id_plus_one(flink, mode):
    _, state = started(flink, mode)
    assert state["completed"] == [SAVEPOINT]
    assert state["next_id"] == SAVEPOINT + 1
    assert trigger(flink[1])["pending"] == {str(SAVEPOINT + 1): ["src-0"]}


@EACH
def test_a_restore_reads_the_savepoint_until_a_checkpoint_completes(flink, mode):
    started(flink, mode)
    restore = (
        {"kind": "fail_tasks", "tasks": ["src-0"]},
        {"kind": "restore", "tasks": ["src-0"], "scope": "all"},
    )
    effects, _ = apply(flink[1], *restore)
    assert {"kind": "restored", "checkpoint": SAVEPOINT} in effects


@EACH
def test_only_a_claimed_savepoint_is_deleted_when_the_first_checkpoint_subsumes_it(flink, mode):
    started(flink, mode)
    trigger(flink[1])
    deleted, subsumed, state = complete(flink[1], SAVEPOINT + 1)
    claimed = [SAVEPOINT] if mode == "CLAIM" else []
    assert (deleted, subsumed, state["completed"]) == (claimed, claimed, [SAVEPOINT + 1])
    trigger(flink[1])
    assert complete(flink[1], SAVEPOINT + 2)[0] == [SAVEPOINT + 1]


@EACH
def test_only_no_claim_requires_full_checkpoints_and_only_until_one_completes(flink, mode):
    started(flink, mode)
    full = mode == "NO_CLAIM" or (mode is None and flink[0].version in WITH_MODES)
    assert is_full(flink[1]) is full
    decline(flink[1], SAVEPOINT + 1)
    assert is_full(flink[1]) is full
    complete(flink[1], SAVEPOINT + 2)
    assert is_full(flink[1]) is False


@pytest.mark.parametrize(("flink", "mode"), CASES[len(WITHOUT_MODES) :], indirect=["flink"])
def test_a_savepoint_that_completes_does_not_replace_the_full_checkpoint(flink, mode):
    started(flink, mode)
    trigger(flink[1], "savepoint")
    complete(flink[1], SAVEPOINT + 1)
    assert is_full(flink[1]) is (mode in (None, "NO_CLAIM"))


@EACH
def test_a_finished_job_deletes_only_a_claimed_savepoint(flink, mode):
    started(flink, mode)
    effects, _ = apply(flink[1], {"kind": "shutdown", "status": "FINISHED"})
    deleted = [effect["checkpoint"] for effect in effects if effect["kind"] == "discard"]
    assert deleted == ([SAVEPOINT] if mode == "CLAIM" else [])


@EACH
def test_a_retained_savepoint_stays_beside_the_first_checkpoint(flink, mode):
    started(flink, mode, retain=2)
    trigger(flink[1])
    assert complete(flink[1], SAVEPOINT + 1)[2]["completed"] == [SAVEPOINT, SAVEPOINT + 1]
    trigger(flink[1])
    deleted, _, state = complete(flink[1], SAVEPOINT + 2)
    assert deleted == ([SAVEPOINT] if mode == "CLAIM" else [])
    assert state["completed"] == [SAVEPOINT + 1, SAVEPOINT + 2]


@pytest.mark.parametrize("flink", WITHOUT_MODES, indirect=True)
def test_up_to_1_14_there_are_no_claim_modes(flink):
    config = {"profile": flink[0].coordinator, "tasks": [{"id": "src-0"}], "restored_savepoint": SAVEPOINT}
    assert isinstance(flink[1].new("coordinator", {**config, "claim_mode": "CLAIM"}), Failure)
