"""The event log of a correct run is accepted, and an altered log is rejected with the violated rule."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from event_logs import CORRUPTIONS, Log, committed_before_completion, first, read, write
from simulated_run import SimulatedRun

from conformance.observe import REQUIRED, SITUATIONS, validate
from conformance.verdict import Verdict

# ---------------------------------------------------------------- accepted


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("max_concurrent", [1, 2])
def test_a_run_of_the_model_is_accepted(seed: int, max_concurrent: int, tmp_path: Path) -> None:
    run = SimulatedRun(
        tmp_path, seed=seed, fail_at=(200, 400), max_concurrent=max_concurrent, checkpoint_every=20
    )
    result = validate(run.execute(), required=())
    assert result.rejection is None
    assert result.verdict is Verdict.CONFORMS
    assert result.attempts == 3
    assert result.cuts_compared > 0


def test_the_situations_are_counted(recorded: Path) -> None:
    result = validate(recorded)
    assert result.missing == ()
    assert {name for name in SITUATIONS if result.situations[name]} >= REQUIRED
    assert result.situations["attempt failed"] == 2
    assert len(SITUATIONS) == 14


def test_a_run_that_exercises_nothing_does_not_pass(tmp_path: Path) -> None:
    result = validate(SimulatedRun(tmp_path, checkpoint_every=10_000).execute())
    assert result.rejection is None
    assert result.verdict is Verdict.UNDETERMINED
    assert "restored from a checkpoint" in result.missing
    assert "under-covered" in result.describe()


def resumed(log: Log, first_id: int) -> Log:
    """The lines of a second driver that takes over after the first attempt."""
    kept = [line for line in log["coordinator"] if line["attempt"] > 1]
    restored = next(line["restored"] for line in kept if line.get("kind") == "attempt_started")
    shown = {"kind": "coordinator_started", "first_id": first_id, "completed": [restored]}
    configured = {**log["coordinator"][0], "attempt": 2}
    lines = [configured, {"attempt": 2, "task": "coordinator", **shown}, *kept]
    tasks = {name: lines for name, lines in log.items() if not name.startswith(("1-", "coordinator"))}
    return {**tasks, "coordinator": lines}


def test_a_run_with_a_second_driver_is_accepted(recorded: Path, tmp_path: Path) -> None:
    log = read(recorded)
    drawn = [
        effect["checkpoint"]
        for line in log["coordinator"]
        if line["attempt"] > 1
        for effect in line.get("effects", ())
        if effect["kind"] == "trigger_task"
    ]
    result = validate(write(resumed(log, drawn[0]), tmp_path), required=())
    assert result.rejection is None
    assert result.attempts == 2
    assert result.situations["commit on restore"] == 2


# ---------------------------------------------------------------- rejected


@pytest.mark.parametrize(
    ("corrupt", "rule", "file"),
    CORRUPTIONS,
)
def test_a_corrupted_log_is_rejected_with_its_rule(
    corrupt: Callable[[Log], None], rule: str, file: str, recorded: Path, tmp_path: Path
) -> None:
    log = read(recorded)
    corrupt(log)
    result = validate(write(log, tmp_path))
    assert result.verdict is Verdict.DIVERGES
    assert result.rejection is not None
    assert result.rejection.rules[0] == rule, result.describe()
    assert result.rejection.file.startswith(file)
    assert result.rejection.line > 0


@pytest.mark.parametrize("wrong", [1.0, True, "1", None])
def test_an_effect_of_another_type_is_rejected(wrong: object, recorded: Path, tmp_path: Path) -> None:
    log, right = read(recorded), {"kind": "complete", "checkpoint": 1}
    line = next(line for line in log["coordinator"] if right in line.get("effects", ()))
    line["effects"] = [{**right, "checkpoint": wrong} if one == right else one for one in line["effects"]]
    assert validate(write(log, tmp_path)).verdict is Verdict.DIVERGES


def test_a_rejection_states_the_guard_and_its_values(recorded: Path, tmp_path: Path) -> None:
    log = read(recorded)
    lines = log["1-count-0"]
    line = lines[first(lines, "gate", "barrier")]
    line["records"] += 5
    rejection = validate(write(log, tmp_path)).rejection
    assert rejection is not None
    assert f"after {line['records']} records, src-{line['event']['channel']} had sent" in rejection.why
    assert json.loads(rejection.event)["records"] == line["records"]


def test_files_that_wait_for_each_other_are_reported(recorded: Path, tmp_path: Path) -> None:
    log = read(recorded)
    committed_before_completion(log)
    rejection = validate(write(log, tmp_path)).rejection
    assert rejection is not None
    assert "that comes after coordinator.jsonl:" in rejection.why
