"""A round on a standalone cluster whose hosts share nothing but an object store."""

from pathlib import Path

import psutil
import pytest

from conformance.torture.faulty_store import KeptStore
from conformance.torture.judge import Outcome, judge
from conformance.torture.rounds import Round
from conformance.torture.separate_driver_round import run_with_separate_driver
from conformance.torture.servers.spark_cluster import SparkCluster
from impl.faults import FaultPlan
from impl.state.locations import location_of, paths_and_uris
from tests.waiting import until

FAULTS = (
    FaultPlan("commit-due", "sink-1", 2, "kill-host"),
    FaultPlan("snapshot-written", "count-0", 2, "kill-driver"),
    FaultPlan("restored", "count-1", 1, "error"),
)


@pytest.mark.cluster
@pytest.mark.rule("ONCE-03")
def test_hosts_that_share_nothing_but_an_object_store_are_killed_and_nothing_changes(tmp_path, monkeypatch):
    monkeypatch.setattr(paths_and_uris, "_CLIENTS", {})
    folder = tmp_path / "run"
    planned = Round("standalone-0", "exactly-once", FAULTS, 4_000, 250.0, 40, 5, 0)
    with KeptStore(1) as store, SparkCluster(tmp_path) as cluster:
        outcome = run_with_separate_driver(planned, folder, store, cluster=cluster)
        assert outcome.findings == []
        assert set(outcome.injected) == set(FAULTS)
        assert (outcome.drivers, outcome.rows) == (2, 4_000)
        assert cluster.deaths == 1
        tasks = {one.stem.partition("-")[2] for one in (folder / "events").glob("*-*.jsonl")}
        assert tasks == {f"{stage}-{index}" for stage in ("numbers", "count", "sink") for index in (0, 1)}

        output = location_of(f"{store.server.uri('standalone-0')}/committed")
        names = [f"manifests/{one}" for one in output.sizes("manifests")]
        output.remove(next(name for name in names if b".parquet" in output.read(name)))
        spoilt = Outcome(planned)
        judge(spoilt, folder, [])
        assert "lost record" in spoilt.findings[0]


@pytest.mark.cluster
def test_hosts_do_not_see_the_disks_of_others_and_lose_their_own_when_they_die(tmp_path):
    (tmp_path / "of-the-driver").touch()
    with SparkCluster(tmp_path) as cluster:
        first, second = (Path(f"/proc/{one}/root{tmp_path}") for one in cluster.pids)
        (first / "of-one-host").touch()
        assert [[one.name for one in host.iterdir()] for host in (first, second)] == [["of-one-host"], []]
        assert [one.name for one in tmp_path.iterdir()] == ["of-the-driver"]
        assert cluster.processes() == []
        assert [cluster.files(), cluster.files()] == [["host 0 has disk/of-one-host"], []]

        (second / "of-a-dead-host").touch()
        psutil.Process(cluster.pids[1]).kill()
        until(lambda: cluster.deaths == 1)
        assert cluster.files() == []
