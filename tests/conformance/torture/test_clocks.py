"""The checks after a jump of the wall clock report each forbidden effect on a run, and nothing else."""

from pathlib import Path

import orjson

from conformance.torture.clock_jumps import CHECKPOINTS_AFTER, clock_findings
from conformance.torture.rounds import FAULTS_A_ROUND, jumps, round_named
from impl.faults import CLOCK, FaultPlan
from impl.job import JobPaths, JobResult
from impl.spark.coordination.attempt import AttemptReport

JUMP = FaultPlan("committed", "sink-0", 1, "driver-clock-back")
ERROR = FaultPlan("aligned", "sink-0", 1, "error")


def found(folder, *, after=CHECKPOINTS_AFTER, reasons=(None,), aborted=(), faults=(JUMP,)):
    jump = {"kind": "fault", "point": JUMP.point, "victim": "sink-0", "action": JUMP.action}
    complete = {"component": "coordinator", "effects": [{"kind": "complete"}, {"kind": "notify_task"}]}
    lines = [complete] * 9 + [jump] + [complete] * after
    (folder / "coordinator.jsonl").write_bytes(b"\n".join(map(orjson.dumps, lines)))
    attempts = tuple(AttemptReport(n, None, 0.0, reason=reason) for n, reason in enumerate(reasons))
    paths = JobPaths(Path("run"), Path("run/checkpoints"), folder, Path("run/spark.log"))
    result = JobResult("job", attempts, (), aborted, (), 0, 0.0, paths, faults)
    return list(clock_findings(result, folder))


def test_a_run_with_a_jump_and_an_error_that_restarts_it_is_no_finding(tmp_path):
    assert found(tmp_path) == []
    assert found(tmp_path, reasons=("an error", None), faults=(JUMP, ERROR)) == []
    assert found(tmp_path, aborted=((3, "COORDINATOR_SUSPEND"),)) == []


def test_an_attempt_that_no_fault_explains_is_a_finding(tmp_path):
    (finding,) = found(tmp_path, reasons=("an error", "it hangs", None), faults=(JUMP, ERROR))
    assert finding == "2 attempts have failed, and the faults explain 1: an error; it hangs"


def test_a_checkpoint_that_expires_is_a_finding(tmp_path):
    (finding,) = found(tmp_path, aborted=((3, "CHECKPOINT_EXPIRED"),))
    assert finding == "checkpoint 3 expired after a jump, within 60000 ms"


def test_checkpoints_that_end_with_the_jump_are_a_finding(tmp_path):
    (finding,) = found(tmp_path, after=CHECKPOINTS_AFTER - 1)
    assert finding == (
        "after driver-clock-back of sink-0 at committed, 2 checkpoints completed, expected 3 or more"
    )


def test_a_round_of_jumps_has_one_error_and_waits_far_longer_than_a_slow_machine():
    for number in range(20):
        planned = round_named(f"clock-{number}", 1)
        actions = [one.action for one in planned.faults]
        assert len(actions) == FAULTS_A_ROUND["clock"]
        assert [one for one in actions if one not in CLOCK] == ["error"]
        assert planned.checkpoints().checkpoint_timeout_ms == 60_000
    assert len(jumps()) == 82
