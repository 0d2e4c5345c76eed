"""Rounds of a campaign on Spark. Output that is damaged afterwards is detected."""

import pytest

from conformance.torture.brokers.faulty_broker import BrokerFault, FaultyBroker
from conformance.torture.faulty_store import KeptStore
from conformance.torture.judge import Outcome, judge
from conformance.torture.leftovers import files
from conformance.torture.local_round import run_local
from conformance.torture.rounds import Round
from impl.faults import FaultPlan
from impl.state.locations import location_of, paths_and_uris

FAULTS = (
    FaultPlan("snapshot-due", "count-0", 3, "full-disk"),
    FaultPlan("commit-due", "sink-1", 2, "lost-channel"),
    FaultPlan("restart", "count-1", 2, "torn-snapshot"),
    FaultPlan("restored", "count-1", 1, "error"),
    FaultPlan("aligned", "sink-0", 2, "lost-control"),
)


@pytest.mark.rule("ONCE-03")
@pytest.mark.parametrize("mode", ["exactly-once", "unaligned"])
def test_five_faults_in_one_run_change_nothing(spark, tmp_path, mode):
    planned = Round("round-0", mode, FAULTS, 4_000, 4_000.0, 40, 5, 0)
    outcome = run_local(planned, tmp_path / "run", spark)
    assert outcome.findings == []
    assert set(outcome.injected) == set(FAULTS)
    assert outcome.attempts > 3
    assert outcome.rows == 4_000
    assert outcome.refused >= 1

    manifest = next(
        path
        for path in (tmp_path / "run" / "committed" / "manifests").iterdir()
        if b".parquet" in path.read_bytes()
    )
    manifest.unlink()
    (tmp_path / "run" / "checkpoints" / "chk-0").mkdir()
    spoilt = Outcome(planned)
    judge(spoilt, tmp_path / "run", [tmp_path / "run" / "events"])
    assert "lost record" in spoilt.findings[0]
    left = list(files(tmp_path / "run", 5))
    assert "chk-0: a checkpoint that was never complete" in left
    assert any(".parquet: not of the output" in one for one in left)


def test_clocks_that_jump_fail_no_attempt_and_stop_no_checkpoint(spark, tmp_path):
    jumps = (
        FaultPlan("snapshot-written", "numbers-0", 1, "driver-clock-back"),
        FaultPlan("commit-due", "sink-1", 2, "clock-forward"),
        FaultPlan("aligned", "count-0", 3, "clock-back"),
        FaultPlan("completion-due", None, 4, "driver-clock-forward"),
    )
    planned = Round("clock-0", "alternating", jumps, 4_000, 1_000.0, 40, 5, 0)
    outcome = run_local(planned, tmp_path / "run", spark)
    assert outcome.findings == []
    assert set(outcome.injected) == set(jumps)
    assert outcome.attempts == 1


@pytest.mark.cluster
@pytest.mark.rule("ONCE-03")
def test_faults_behind_a_broker_that_is_frozen_disconnected_and_killed_change_nothing(spark, tmp_path):
    planned = Round("round-0", "exactly-once", FAULTS[2:], 4_000, 2_000.0, 40, 5, 0)
    with FaultyBroker(1) as broker:
        outcome = run_local(planned, tmp_path / "run", spark, broker=broker)
        assert outcome.findings == []
        assert set(outcome.injected) == set(FAULTS[2:])
        assert outcome.rows == 4_000
        assert outcome.store.keys() <= {fault.value for fault in BrokerFault}
        assert sum(outcome.store.values()) > 0


@pytest.mark.rule("ONCE-03")
def test_faults_in_front_of_an_object_store_that_fails_change_nothing(spark, tmp_path, monkeypatch):
    monkeypatch.setattr(paths_and_uris, "_CLIENTS", {})
    planned = Round("round-0", "exactly-once", FAULTS[2:], 4_000, 4_000.0, 40, 5, 0)
    with KeptStore(1) as store:
        for name, value in (store.server.environment | store.proxy.environment).items():
            monkeypatch.setitem(spark.sparkContext.environment, name, value)
        outcome = run_local(planned, tmp_path / "run", spark, store=store)
        assert outcome.findings == []
        assert set(outcome.injected) == set(FAULTS[2:])
        assert outcome.rows == 4_000
        assert sum(outcome.store.values()) > 10
        assert not (tmp_path / "run" / "committed").exists()

        output = location_of(f"{store.server.uri('round-0')}/committed")
        names = [f"manifests/{one}" for one in output.sizes("manifests")]
        output.remove(next(name for name in names if b".parquet" in output.read(name)))
        output.replace("data/1-unlisted-1.parquet", b"")
        spoilt = Outcome(planned)
        judge(spoilt, tmp_path / "run", [])
        assert "lost record" in spoilt.findings[0]
        assert any("unlisted-1.parquet: not of the output" in one for one in files(tmp_path / "run", 5))
