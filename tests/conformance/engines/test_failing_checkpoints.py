"""Faults that make checkpoints fail, tested on small processes: mounts, observed effects, read states."""

import errno
import os
import sys

import pytest

from conformance.engines.engine import Engine, EngineSetUpError, Place, RoundError
from conformance.engines.feed import KEYS, LANES, key_of, weight_of
from conformance.engines.flink import fault_effects, mounted
from conformance.engines.flink.commands import settings_of
from conformance.engines.flink.fault_effects import Effect, present
from conformance.engines.flink.logs import of_cluster
from conformance.engines.flink.mounted import MountedFolder
from conformance.engines.flink.state import state_in
from conformance.engines.processes import Processes
from conformance.engines.round_account import account
from conformance.engines.rounds import RoundResult, run_round
from conformance.engines.rows import table_row
from conformance.engines.schedule import Kind
from conformance.observe.guarantees.anomalies import Anomaly
from conformance.observe.guarantees.guarantee import Account, Totals, classify, totals

PYTHON = [sys.executable, "-S", "-c"]


@pytest.fixture
def place(tmp_path):
    with Processes(tmp_path / "logs") as processes:
        yield Place(tmp_path, processes)


@pytest.fixture
def folder(place):
    try:
        yield MountedFolder(place)
    except EngineSetUpError as cannot:
        pytest.skip(f"this machine permits no mounts: {cannot}")


def test_a_mounted_folder_is_read_only_for_a_while(place, folder):
    file = place.checkpoints / "chk-1"
    file.write_text("before")
    with folder.read_only():
        assert file.read_text() == "before"
        with pytest.raises(OSError, match="Read-only file system") as refused:
            (place.checkpoints / "chk-2").touch()
    assert refused.value.errno == errno.EROFS

    (place.checkpoints / "chk-2").touch()


def test_a_mounted_folder_stays_full_although_files_are_deleted(place, folder):
    old = place.checkpoints / "chk-1"
    old.write_bytes(bytes(1 << 20))
    with folder.full():
        with pytest.raises(OSError, match="No space left on device"):
            (place.checkpoints / "chk-2").write_bytes(b"metadata")
        old.unlink()
        while os.statvfs(place.checkpoints).f_bfree:
            pass
        with pytest.raises(OSError, match="No space left on device"):
            (place.checkpoints / "chk-3").write_bytes(b"metadata")

    (place.checkpoints / "chk-4").write_bytes(b"metadata")


def test_a_mount_is_removed_completely(tmp_path):
    with Processes(tmp_path / "logs") as processes:
        place = Place(tmp_path, processes)
        try:
            MountedFolder(place)
        except EngineSetUpError as cannot:
            pytest.skip(f"this machine permits no mounts: {cannot}")
        (place.checkpoints / "chk-1").touch()

    assert not (tmp_path / "mounted").is_mount()
    assert list((tmp_path / "mounted").iterdir()) == []


def test_a_machine_without_the_programs_gets_a_message_what_to_install(place, monkeypatch):
    monkeypatch.setenv("PATH", "")

    with pytest.raises(EngineSetUpError, match="expected the program unshare, got none; install util-linux"):
        MountedFolder(place)


def test_a_machine_that_permits_no_mount_leaves_the_round_without_a_verdict(tmp_path, monkeypatch):
    monkeypatch.setattr(mounted, "_MOUNT", "echo mount: permission denied >&2; exit 32")

    class Mounts(Engine):
        kinds = frozenset(Kind)

        def start(self):
            MountedFolder(self.place)

        def nothing(self, *_):
            return None

        inject = supervise = lines = completed = nothing

    ran = run_round(
        lambda place: Mounts(place, {}), [], tmp_path / "round", RoundResult("flink-checkpoints", 0, 1, [])
    )
    assert ran.classification is None
    assert "got: mount: permission denied; run as root" in ran.undetermined


@pytest.fixture
def cluster(place, monkeypatch):
    """A process in place of a job manager, with a log and REST answers that the test writes."""
    process = place.processes.start("job-manager", [*PYTHON, "import time; time.sleep(60)"])
    counts = {"failed": 1, "completed": 5}
    history = [{"status": "FAILED", "trigger_timestamp": 0, "failure_message": "of an earlier fault"}]

    def read_json(_port, path):
        return {"jobs": [{"id": "a"}]} if path == "/jobs" else {"counts": {**counts}, "history": [*history]}

    monkeypatch.setattr(fault_effects, "read_json", read_json)
    monkeypatch.setattr(fault_effects, "HEALTHY_SECONDS", 0.0)
    monkeypatch.setattr(fault_effects, "LONGER_SECONDS", 0.0)
    monkeypatch.setattr(fault_effects, "_SHOWN_SECONDS", 0.0)
    return place.processes, process.log, counts, history


def logged(log, line):
    with log.open("a") as file:
        file.write(line + "\n")


def test_the_effect_lists_failures_since_the_fault_and_their_reasons(cluster, tmp_path):
    processes, log, counts, history = cluster
    logged(log, "java.io.IOException: No space left on device")
    effect = Effect(Kind.NO_SPACE, 1, processes)
    logged(log, "java.io.IOException: No space left on device")
    logged(log, "Completed checkpoint 7")
    counts |= {"failed": 3, "completed": 6}
    history += [{"status": "FAILED", "trigger_timestamp": 1e15, "failure_message": "Asynchronous part"}] * 2

    marker = tmp_path / "marker"
    assert effect.of(present(marker), 0.0) == {
        "fault": "no-space", "failed": 2, "completed": 1, "lines": 1, "messages": {"Asynchronous part": 2},
    }  # fmt: skip
    assert not marker.exists()


def test_a_fault_waits_until_a_checkpoint_completes(cluster, monkeypatch):
    processes, _, counts, _ = cluster
    waited = []
    monkeypatch.setattr(fault_effects, "HEALTHY_SECONDS", 60.0)
    monkeypatch.setattr(
        fault_effects.time, "sleep", lambda _: (waited.append(1), counts.update(completed=6, failed=9))
    )

    assert Effect(Kind.DECLINE, 1, processes)._changed() == {"failed": 0, "completed": 0}
    assert waited == [1]


def test_a_line_of_another_fault_is_no_effect(cluster, tmp_path):
    processes, log, _, _ = cluster
    effect = Effect(Kind.DECLINE, 1, processes)
    logged(log, "Checkpoint 8 of job a expired before completing.")

    shown = effect.of(present(tmp_path / "marker"), 0.0)
    assert (shown["failed"], shown["lines"]) == (0, 0)


def test_a_log_of_another_process_is_not_of_the_cluster(place):
    for name in ("zookeeper", "mount", "job-manager", "state", "task-manager"):
        place.processes.start(name, [*PYTHON, ""])

    assert [log.name for log in of_cluster(place.processes)] == ["02-job-manager.out", "04-task-manager.out"]


def test_checkpoints_expire_before_a_frozen_process_is_declared_dead():
    for checkpoints in table_row("flink-checkpoints").draws["checkpoints"]:
        settings = {"mode": "unaligned", "backend": "heap", "checkpoints": checkpoints}
        made = settings_of("job-manager", settings)

        assert made["execution.checkpointing.timeout"] == "2s"
        assert made["heartbeat.timeout"] == "8000"
    usual = settings_of("job-manager", {"mode": "unaligned", "backend": "heap"})
    assert usual["execution.checkpointing.timeout"] == "20s"


READS = "import sys; open(sys.argv[4], 'w').write('0,5,50\\n12,3,30\\n')"


def test_the_state_is_what_the_reader_has_written(place):
    assert state_in("chk-1", [*PYTHON, READS], place) == {0: Totals(5, 50), 12: Totals(3, 30)}


def test_a_reader_that_fails_leaves_the_state_unread(place):
    with pytest.raises(RoundError, match="got: no such savepoint"):
        state_in("chk-1", [*PYTHON, "import sys; print('no such savepoint'); sys.exit(1)"], place)


@pytest.mark.parametrize(
    ("change", "anomaly"),
    [
        (lambda state: {**state, 3: Totals(state[3].records * 2, state[3].total * 2)}, "STATE_TOO_LARGE"),
        (lambda state: {key: one for key, one in state.items() if key != 3}, "STATE_TOO_SMALL"),
        (lambda state: {**state, 3: Totals(state[3].records, state[3].total + 1)}, "STATE_DIFFERS"),
    ],
)
def test_a_state_that_is_not_that_of_the_input_is_an_anomaly_whatever_the_output(change, anomaly):
    sent = account(1_000, []).sent
    right = totals(sent)
    assert len(right) == KEYS

    found = classify(Account(sent, [], state=change(right)))
    assert Anomaly(anomaly) in {one.anomaly for one in found.findings}
    exact = classify(Account(sent, [], state=right))
    assert {one.anomaly for one in exact.findings} == {Anomaly.LOST_RECORD}


RECORDS = 500


class Exact(Engine):
    """An engine whose job has the exact output. The test chooses the state of the job."""

    kinds = frozenset(Kind)

    def start(self):
        (self.place.progress / "1").write_bytes(bytes(RECORDS))

    def nothing(self, *_):
        return None

    inject = supervise = completed = nothing

    def lines(self):
        return list(self._rows())

    def _rows(self):
        reached: dict[int, Totals] = {}
        for number in range(RECORDS):
            lane, position = number % LANES, number // LANES
            key = key_of(lane, position)
            before = reached.get(key, Totals(0, 0))
            reached[key] = Totals(before.records + 1, before.total + weight_of(lane, position))
            yield f"{key},{lane},{position},{reached[key].records},{reached[key].total}"

    def state(self):
        right = totals(account(RECORDS, []).sent)
        match self.settings["state"]:
            case "right":
                return right
            case "lost":
                return {key: one for key, one in right.items() if key}
            case other:
                raise RoundError(other)


@pytest.mark.parametrize(
    ("state", "shown", "anomalies"),
    [
        ("right", {"keys": KEYS, "records": RECORDS}, []),
        ("lost", {"keys": KEYS - 1, "records": 461}, [Anomaly.STATE_TOO_SMALL]),
        ("no savepoint", {"unread": "no savepoint"}, []),
    ],
)
def test_a_round_compares_the_state_or_states_why_it_has_none(tmp_path, state, shown, anomalies):
    result = RoundResult("flink", 0, 1, [])
    ran = run_round(lambda place: Exact(place, {"state": state}), [], tmp_path / "round", result, RECORDS)

    assert ran.undetermined == ""
    assert ran.state == shown
    assert [one.anomaly for one in ran.classification.findings] == anomalies
