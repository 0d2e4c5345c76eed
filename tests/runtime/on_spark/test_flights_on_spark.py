"""The flights job on Spark: eight worker processes, 20,000 flights, and failures."""

import json
from dataclasses import replace

import pytest

from conformance.observe.validate import validate
from conformance.verdict import Verdict
from impl.config import CheckpointConfig, ConfigError, ExecutionConfig, RestartConfig
from impl.connectors.manifests import list_committed
from impl.faults import FaultPlan, Point
from impl.jobs.flights import FlightsOptions, run
from impl.jobs.flights_check import check_flights
from impl.spark.errors import JobFailedError, TooFewSlotsError, UnsupportedSettingError
from impl.spark.session import refuse_unsupported, require_slots

# a checkpoint every 100 ms in a run of a second, so that faults hit one
CHECKPOINTS = CheckpointConfig(checkpointing_interval_ms=100)
# on a slow machine a heartbeat may be late
EXECUTION = ExecutionConfig(heartbeat_timeout_ms=60_000, startup_timeout_ms=300_000)
RATE = 20_000


@pytest.fixture
def run_flights(spark, flights_20000, tmp_path):
    def run_once(*faults, **options):
        settings = {"rate": RATE, "csv": flights_20000, "spark": spark, "checkpoints": CHECKPOINTS}
        return run(tmp_path, 0, faults, FlightsOptions(**{"execution": EXECUTION, **settings, **options}))

    return run_once


@pytest.fixture
def checked(flights_20000, tmp_path):
    return lambda: check_flights(tmp_path / "committed", flights_20000).describe()


EXACT = "exact: 20000 updates of 340 keys, one for each flight"


def logs(folder):
    return {
        path.stem: [json.loads(line) for line in path.read_text().splitlines()]
        for path in folder.glob("*.jsonl")
    }


@pytest.mark.rule("ONCE-01")
@pytest.mark.rule("ONCE-03")
def test_an_undisturbed_run_is_exact_and_each_barrier_comes_after_the_records_sent_before_it(
    run_flights, checked, tmp_path
):
    seen = []
    result = run_flights(on_progress=seen.append)
    assert checked() == EXACT
    assert (len(result.attempts), result.records, result.faults) == (1, 20_000, ())
    assert len(result.checkpoints) > 1
    assert any(progress.records_per_second > 0 for progress in seen)

    recorded = logs(tmp_path / "events")
    channels = {name: lines[0]["channels"] for name, lines in recorded.items() if name != "coordinator"}
    sent = {
        (line["task"], below, line["event"]["checkpoint"]): records
        for lines in recorded.values()
        for line in lines
        for below, records in line.get("sent", {}).items()
    }
    received = {
        (channels[name][line["event"]["channel"]], line["task"], line["event"]["checkpoint"]): line["records"]
        for name, lines in recorded.items()
        for line in lines
        if line.get("component") == "gate" and line["event"]["kind"] == "barrier"
    }
    assert received == sent
    assert len({checkpoint for _, _, checkpoint in sent}) > 1


@pytest.mark.rule("UNAL-37")
def test_unaligned_checkpoints_store_what_is_in_flight_and_the_output_is_exact(
    run_flights, checked, tmp_path
):
    mode = CheckpointConfig(checkpointing_interval_ms=100, unaligned_checkpoints_enabled=True)
    result = run_flights(FaultPlan(Point.SNAPSHOT_WRITTEN, "count-1", occurrence=4), checkpoints=mode)
    trace = validate(tmp_path / "events")

    assert len(result.attempts) == 2
    assert checked() == EXACT
    assert trace.verdict is Verdict.CONFORMS, trace.describe()
    assert {"UNAL-01", "UNAL-03"} <= set(trace.rules)

    log = tmp_path / "events" / "2-sink-0.jsonl"
    whole = log.read_text()
    lines = [json.loads(line) for line in whole.splitlines()]
    last = max(place for place, line in enumerate(lines) if line.get("kind") == "gathered")
    del lines[last]
    log.write_text("".join(json.dumps({**line, "seq": seq}) + "\n" for seq, line in enumerate(lines)))
    untold = validate(tmp_path / "events").rejection
    assert untold is not None
    assert untold.rules[0] == "UNAL-37"
    assert "sink-0 has stored no part" in str(untold)
    log.write_text(whole)

    log = tmp_path / "events" / "1-count-0.jsonl"
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    stored = next(line["stored"] for line in lines if line.get("kind") == "gathered")
    stored["flights-1"] += 1
    log.write_text("".join(json.dumps(line) + "\n" for line in lines))
    torn = validate(tmp_path / "events").rejection
    assert torn is not None
    assert torn.rules[0] == "UNAL-37"


@pytest.mark.rule("ONCE-03")
def test_a_worker_killed_during_an_alignment_changes_nothing(run_flights, checked):
    fault = FaultPlan(Point.ALIGNMENT_IN_PROGRESS, "count-1", occurrence=3)
    result = run_flights(fault)
    assert checked() == EXACT
    assert result.faults == (fault,)
    assert "count-1 is gone" in result.attempts[0].reason
    assert [attempt.reason is None for attempt in result.attempts] == [False, True]
    assert result.attempts[1].restored is not None


@pytest.mark.rule("SINK-06")
def test_sinks_killed_between_completion_and_notification_commit_again(run_flights, checked):
    result = run_flights(FaultPlan(Point.COMPLETION_STORED, occurrence=2))
    assert checked() == EXACT
    assert len(result.attempts) == 2
    assert result.attempts[1].restored == 2


@pytest.mark.rule("ONCE-05")
def test_what_a_sink_pre_commits_is_seen_by_nobody_before_its_checkpoint_completes(
    run_flights, checked, tmp_path
):
    fault = FaultPlan(Point.SNAPSHOT_WRITTEN, "sink-0", occurrence=2, action="error")
    with pytest.raises(JobFailedError, match="InjectedFaultError"):
        run_flights(fault, restarts=RestartConfig(0))
    assert {manifest.checkpoint for manifest in list_committed(tmp_path / "committed")} <= {1}
    assert run_flights(resume=True).attempts[0].restored == 1
    assert checked() == EXACT


def test_a_worker_that_hangs_is_found_by_its_missing_heartbeat(run_flights, checked):
    hangs = FaultPlan(Point.ALIGNMENT_IN_PROGRESS, "sink-1", occurrence=2, action="hang")
    result = run_flights(hangs, execution=replace(EXECUTION, heartbeat_timeout_ms=2_000))
    assert checked() == EXACT
    assert "it hangs" in result.attempts[0].reason


@pytest.mark.rule("ONCE-04")
@pytest.mark.parametrize(("inline", "file"), [(0, "count-2.1.state"), (4_096, "_metadata")])
def test_an_altered_checkpoint_is_refused_and_the_one_before_it_is_used(
    run_flights, checked, tmp_path, inline, file
):
    with pytest.raises(JobFailedError, match="after 0 restarts"):
        run_flights(
            FaultPlan(Point.ACKNOWLEDGEMENT_SENT, "flights-0", occurrence=4, action="error"),
            restarts=RestartConfig(0),
            checkpoints=replace(CHECKPOINTS, data_inline_threshold_bytes=inline),
        )
    published = sorted(int(one.parent.name[4:]) for one in (tmp_path / "checkpoints").glob("chk-*/_metadata"))
    altered = tmp_path / "checkpoints" / f"chk-{published[-1]}" / file
    content = bytearray(altered.read_bytes())
    content[len(content) // 2] ^= 1
    altered.write_bytes(content)
    with pytest.raises(ConfigError, match="holds the checkpoints of an earlier run"):
        run_flights()
    result = run_flights(resume=True)
    assert result.attempts[0].restored == published[-2]
    assert result.attempts[0].attempt == 2
    assert checked() == EXACT


def test_too_few_slots_are_reported_at_once(spark):
    require_slots(spark, 8)
    with pytest.raises(TooFewSlotsError, match=r"9 subtasks.*8 slots.*local\[9\]"):
        require_slots(spark, 9)


@pytest.mark.parametrize("setting", ["spark.dynamicAllocation.enabled", "spark.speculation"])
def test_settings_that_move_subtasks_are_refused(spark, setting):
    spark.conf.set("spark.sql.legacy.setCommandRejectsSparkCoreConfs", "false")
    spark.conf.set(setting, "true")
    try:
        with pytest.raises(UnsupportedSettingError, match=setting):
            refuse_unsupported(spark)
    finally:
        spark.conf.unset(setting)
