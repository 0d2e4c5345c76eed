"""Validation of an event log during its writing gives the same result as validation of the complete log."""

import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from conformance.cli import run
from conformance.observe import validate
from conformance.observe.following import run_watch
from conformance.observe.following.run_watch import PATIENCE, RunWatch
from conformance.observe.following.watching import RunWatching
from conformance.observe.monitor.reports import Alarm, Ended
from conformance.observe.monitor.watching import Options
from conformance.verdict import Exit, Verdict
from tests.observe.event_logs import CORRUPTIONS, Log, read, write
from tests.observe.simulated_run import SimulatedRun

LATER = PATIENCE + 1.0


class Growing:
    """A folder in which a log is written in pieces, and its watch."""

    def __init__(self, log: Path, folder: Path, seed: int = 0) -> None:
        folder.mkdir()
        self.folder = folder
        self.alarms: list[Alarm] = []
        self.ended: list[Ended] = []
        self.watch = RunWatch(folder, self.alarms.append, self.ended.append)
        self._left = {path.name: path.read_bytes() for path in sorted(log.glob("*.jsonl"))}
        self._chance = random.Random(seed)

    def grow(self) -> None:
        """Writes everything in pieces that end anywhere, and reads after each piece."""
        while any(self._left.values()):
            for name, left in self._left.items():
                size = self._chance.randrange(3_000)
                self.append(name, left[:size])
                self._left[name] = left[size:]
            self.watch.read(0.0)
        self.watch.read(0.0)

    def append(self, name: str, content: bytes) -> None:
        with (self.folder / name).open("ab") as file:
            file.write(content)


@pytest.mark.parametrize("seed", range(4))
def test_a_log_that_grows_is_accepted_as_it_is_when_it_is_complete(
    seed: int, recorded: Path, tmp_path: Path
) -> None:
    growing, complete = Growing(recorded, tmp_path / "run", seed), validate(recorded)
    growing.grow()
    watch = growing.watch
    assert growing.alarms == []
    assert (watch.replayed, watch.run.cuts_compared) == (complete.events, complete.cuts_compared)
    assert tuple(sorted(watch.run.rules)) == complete.rules
    assert (watch.waiting, watch.late) == (0, 0)
    completed = [one.checkpoint for one in growing.ended if one.state == "completed"]
    assert completed == sorted(watch.run.completed)
    assert watch.ended["restored"] == watch.jobs["run"].restarts == 2


@pytest.mark.parametrize(("corrupt", "rule", "file"), CORRUPTIONS)
def test_each_fault_raises_one_alarm(
    corrupt: Callable[[Log], None], rule: str, file: str, recorded: Path, tmp_path: Path
) -> None:
    log = read(recorded)
    corrupt(log)
    (tmp_path / "corrupted").mkdir()
    growing = Growing(write(log, tmp_path / "corrupted"), tmp_path / "run")
    growing.grow()
    growing.watch.read(LATER)
    (alarm,) = growing.alarms
    assert alarm.rule == rule
    assert alarm.place.file.startswith(file)
    assert json.loads(alarm.place.text)
    assert not growing.watch.read(2 * LATER)


def test_a_cause_may_come_late_but_not_too_late(recorded: Path, tmp_path: Path) -> None:
    log = {name: lines for name, lines in read(recorded).items() if not name.startswith(("2", "3"))}
    (tmp_path / "one").mkdir()
    write(log, tmp_path / "one")
    growing = Growing(tmp_path / "one", tmp_path / "run")
    source = growing._left.pop("1-src-0.jsonl")
    growing.grow()
    assert growing.watch.waiting > 0
    growing.watch.read(PATIENCE - 1.0)
    assert growing.alarms == []
    half = source[: len(source) // 2]
    growing.append("1-src-0.jsonl", half)
    growing.watch.read(PATIENCE - 1.0)
    assert growing.alarms == []
    growing.watch.read(3 * PATIENCE)
    (alarm,) = growing.alarms
    assert alarm.rule


def test_a_line_that_cannot_be_read_is_an_alarm_without_a_rule(recorded: Path, tmp_path: Path) -> None:
    growing = Growing(recorded, tmp_path / "run")
    growing._left["1-count-0.jsonl"] = b"{]\n" + growing._left["1-count-0.jsonl"]
    growing.grow()
    (alarm,) = growing.alarms
    assert (alarm.rule, alarm.place.file, alarm.place.line) == ("", "1-count-0.jsonl", 1)


def test_lines_of_an_ended_attempt_are_counted_and_not_checked(recorded: Path, tmp_path: Path) -> None:
    growing = Growing(recorded, tmp_path / "run")
    growing.grow()
    sink = growing.folder / "1-sink-0.jsonl"
    growing.append(sink.name, sink.read_bytes().splitlines(keepends=True)[-1])
    growing.watch.read(0.0)
    assert (growing.alarms, growing.watch.late) == ([], 1)


def test_a_file_that_shrinks_ends_the_watch(recorded: Path, tmp_path: Path) -> None:
    growing = Growing(recorded, tmp_path / "run")
    growing.grow()
    (growing.folder / "coordinator.jsonl").write_bytes(b"")
    growing.watch.read(0.0)
    (alarm,) = growing.alarms
    assert "expected a file that grows" in alarm.sentence


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The memory does not grow with the number of checkpoints."""
    monkeypatch.setattr(run_watch, "KEPT", 20)
    monkeypatch.setattr(run_watch, "FORGET_EVERY", 5)
    sizes, required = [], []
    for checkpoints in (100, 300):
        made = tmp_path / f"made-{checkpoints}"
        simulated = SimulatedRun(
            made, seed=3, records=3 * checkpoints, max_concurrent=2, checkpoint_every=12,
            checkpoints=checkpoints,
        )  # fmt: skip
        growing = Growing(simulated.execute(), tmp_path / f"run-{checkpoints}")
        growing.grow()
        assert growing.alarms == []
        assert growing.watch.ended["completed"] > checkpoints / 2
        sizes.append(growing.watch.run.causes.size())
        readers = growing.watch._readers.values()
        required.append(sum(len(reader._offsets._required) for reader in readers))
    assert sizes[1] < 1.2 * sizes[0], sizes
    assert required[1] < 1.2 * required[0], required


# ---------------------------------------------------------------- the command


def test_the_account_and_the_exit_code(recorded: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["trace", str(recorded), "--follow", "--for", "0"]) == Exit.CONFORMS
    printed = capsys.readouterr().out
    assert "checkpoint 1" in printed
    assert "CONFORMS  0 alarms" in printed.splitlines()[-1]


def test_lines_for_scripts_and_for_prometheus(
    recorded: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    metrics = tmp_path / "run.prom"
    words = ["--follow", "--for", "0", "--json-lines", "--prometheus", str(metrics)]
    assert run(["trace", str(recorded), *words]) == Exit.CONFORMS
    *ended, summary = map(json.loads, capsys.readouterr().out.splitlines())
    assert {one["what"] for one in ended} == {"checkpoint"}
    assert (summary["verdict"], summary["events"]) == ("CONFORMS", validate(recorded).events)
    assert 'barrierspec_restarts_total{job="' in metrics.read_text()


def test_a_run_that_has_not_begun_is_undetermined(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["trace", str(tmp_path), "--follow", "--for", "0"]) == Exit.UNDETERMINED
    assert "checkpoints  none ended" in capsys.readouterr().out


def test_the_first_alarm_ends_the_watch(recorded: Path, tmp_path: Path) -> None:
    log = read(recorded)
    log["1-count-0"][2]["effects"] = [{"kind": "trigger", "checkpoint": 77}]
    answers: list[str] = []
    watching = RunWatching(write(log, tmp_path), Options(poll_seconds=0.01), answers.append)
    assert watching.run() is Verdict.DIVERGES
    assert answers[-1].endswith("1 alarms")


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--json-lines"], "expected --follow with this option"),
        (["--follow", "."], "expected the folder of one event log, got 2"),
    ],
)
def test_options_of_the_watch_that_do_not_fit_are_refused(
    words: list[str], why: str, recorded: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["trace", str(recorded), *words]) == Exit.USAGE
    assert why in capsys.readouterr().err
