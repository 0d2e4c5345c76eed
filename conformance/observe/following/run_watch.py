"""Validates a run while it writes its event log.

Each pass replays the lines that were written since the last pass. An event waits for its cause in another
file, as in a complete log. A task writes a line before it carries out the line's effects, so a cause is in
the log before its event. Hence a cause that is still missing after PATIENCE never happened.
"""

import time
from bisect import insort
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from conformance.observe.causes import FileReader, Need
from conformance.observe.coordinator import CoordinatorReader
from conformance.observe.eventlog import COORDINATOR, EventLogError, file_of
from conformance.observe.following.growing_log import GrowingLogFile
from conformance.observe.lines.line import Line
from conformance.observe.monitor.reports import Alarm, Ended, Place
from conformance.observe.replay import Rejected
from conformance.observe.run_state import Run, Settings
from conformance.observe.task import TaskReader
from conformance.observe.validate import MALFORMED_LINE, malformed_line, rejection_of
from conformance.observe.waiting_events import root
from model.components import WireError

PATIENCE = 10.0
"""Maximum time in seconds for which an event waits for its cause."""
KEPT = 1_000
"""Causes are kept for this number of ids below the newest completed checkpoint."""
FORGET_EVERY = 200
"""Older causes are dropped each time that the newest completed id has grown by this number."""
_STATES = {
    "CHECKPOINT_EXPIRED": "expired",
    "CHECKPOINT_SUBSUMED": "subsumed",
    "CHECKPOINT_DECLINED": "declined",
}


class Followed(NamedTuple):
    """The state of the run as a monitor shows it (`JobCounts`)."""

    pending: tuple[int, ...]
    """Ids of its pending checkpoints."""
    restarts: int


class RunWatch:
    """Replays the event log in a folder. Calls `on_alarm` for an alarm, `on_ended` for an ended checkpoint.

    After the first alarm nothing more is replayed, because the model's state is unknown from then on.
    """

    def __init__(
        self,
        folder: Path,
        on_alarm: Callable[[Alarm], None],
        on_ended: Callable[[Ended], None],
        settings: Settings | None = None,
    ) -> None:
        self.run = Run()
        self.alarms: Counter[str] = Counter()
        self.ended: Counter[str] = Counter()
        self.late = 0
        """The number of lines that were written to a file after its replay ended. They are not judged."""
        self._folder = folder
        self._settings = settings or Settings()
        self._on_alarm = on_alarm
        self._on_ended = on_ended
        self._coordinator: _Coordinator | None = None
        self._readers: dict[tuple[int, str], TaskReader] = {}
        self._over: dict[tuple[int, str], tuple[GrowingLogFile, int]] = {}
        """The files whose replay has ended, each with its size at that time."""
        self._needs: dict[FileReader, tuple[Need, float]] = {}
        self._newest = 0
        """The newest completed checkpoint."""
        self._forgotten = 0

    # ------------------------------------------------------------ what a monitor shows

    @property
    def lines(self) -> int:
        """The number of component events that agree with the model."""
        return self.run.events

    about = replayed = lines

    @property
    def jobs(self) -> Mapping[str, Followed]:
        """The run under the name of its folder, once it has begun."""
        if self._coordinator is None:
            return {}
        restarts = max(len(self.run.attempts) - 1, 0)
        return {self._folder.name: Followed(self._coordinator.pending(), restarts)}

    @property
    def waiting(self) -> int:
        """The number of events that wait for a cause."""
        return len(self._needs)

    # ------------------------------------------------------------ reading

    def read(self, now: float | None = None) -> bool:
        """Replay the lines that were written since the last call. Returns whether an event was replayed.

        `now`: the time in seconds on a monotonic clock, for PATIENCE.
        """
        if self.alarms:
            return False
        before = self.run.events
        try:
            if self._coordinator is None and not self._begin():
                return False
            self._find_tasks()
            self._advance(time.monotonic() if now is None else now)
        except EventLogError as unreadable:
            self._alarm(Place(unreadable.file, unreadable.line), "", str(unreadable))
        except Rejected as rejected:
            assert self.run.causes.reading is not None
            self._reject(self.run.causes.reading, rejected.rules, rejected.why)
        except MALFORMED_LINE as malformed:
            assert self.run.causes.reading is not None
            found = malformed_line(self.run.causes.reading, malformed)
            self._alarm(Place(found.file, found.line), "", str(found))
        self._count_late()
        return self.run.events > before

    def _begin(self) -> bool:
        """Begin the replay if the coordinator's file has a line `attempt_started`. Returns whether it has."""
        file = GrowingLogFile(self._folder / f"{COORDINATOR}.jsonl", COORDINATOR, 0)
        if not any(line.component is None and line.kind == "attempt_started" for line in file.lines()):
            return False
        try:
            self._coordinator = _Coordinator(self.run, file, self._settings, self._ends)
        except WireError as malformed:
            raise EventLogError(file.name, 0, f"'configured': {malformed}") from malformed
        self._coordinator.grows = True
        return True

    def _find_tasks(self) -> None:
        """Make a reader for each file that a task has begun since the last call."""
        assert self._coordinator is not None
        known = {reader.file.path for reader in self._readers.values()} | {
            file.path for file, _ in self._over.values()
        }
        for path in sorted({*self._folder.glob("*.jsonl")} - known - {self._coordinator.file.path}):
            file = GrowingLogFile(*file_of(path))
            insort(self.run.logged_attempts.setdefault(file.task, []), file.attempt)
            is_sink = True if file.task in self.run.sinks else None
            reader = TaskReader(self.run, file, self._coordinator.settings, is_sink)
            reader.grows = True
            reader.remembers = False  # every line of a file that grows is parsed
            self._readers[file.attempt, file.task] = reader

    def _advance(self, now: float) -> None:
        """Replay each file as far as its causes allow. Report an inconsistent cut or a missing cause."""
        assert self._coordinator is not None
        while True:
            readers: list[FileReader] = [self._coordinator, *self._readers.values()]
            idle = [reader for reader in readers if reader.line is None]
            stuck = dict(self.run.causes.run(idle))
            self._needs = {
                reader: (stuck[reader], now) if reader in stuck else self._needs[reader]
                for reader in readers
                if reader.line is not None
            }
            if not self._end_attempts():
                break
        for reader in self._readers.values():
            rejection = reader.torn_cut() if reader.line is None else None
            if rejection is not None:
                return self._reject(reader, *rejection)
        if any(now - since > PATIENCE for _, since in self._needs.values()):
            waiting = [(reader, need) for reader, (need, _) in self._needs.items()]
            named, need, why = root(waiting, self.run.causes)
            return self._reject(named, need.rules, why)
        self._forget()
        return None

    def _end_attempts(self) -> bool:
        """End the replay of files that were read to their end and get no further line that matters.

        These are files of attempts before the last two, and files for whose end a restoring sink waits: the
        sink of that attempt has stopped before. Returns whether a waiting sink can continue.
        """
        awaited = {need.key[1:] for need, _ in self._needs.values() if need.key[0] == "ended"}
        last = max(self.run.attempts, default=0)
        is_new = False
        for key, reader in list(self._readers.items()):
            if reader.line is None and (key in awaited or key[0] < last - 1):
                reader.grows = False
                size = GrowingLogFile(*reader.file).size()
                if reader.advance() is None:
                    self._over[key] = GrowingLogFile(*reader.file), size
                    del self._readers[key]
                    is_new = is_new or key in awaited
        return is_new

    def _count_late(self) -> None:
        for key, (file, size) in self._over.items():
            if file.size() > size:
                with file.path.open("rb") as late:
                    late.seek(size)
                    self.late += late.read().count(b"\n")
                self._over[key] = file, file.size()

    def _forget(self) -> None:
        """Drop data that no later line can need, so that memory is bounded over weeks."""
        if self._newest - KEPT < self._forgotten + FORGET_EVERY:
            return
        self._forgotten = self._newest - KEPT
        attempt = max(self.run.attempts)
        self.run.forget(self._forgotten, attempt - 1)
        assert self._coordinator is not None
        self._coordinator.forget(self._forgotten)
        for reader in self._readers.values():
            reader.forget(self._forgotten)

    # ------------------------------------------------------------ what is found

    def _ends(self, state: str, checkpoint: int, number: int) -> None:
        self.ended[state] += 1
        if state == "completed":
            self._newest = max(self._newest, checkpoint)
        kind = "savepoint" if checkpoint in self.run.savepoints else "checkpoint"
        place = Place(f"{COORDINATOR}.jsonl", number)
        self._on_ended(Ended(self._folder.name, checkpoint, state, kind, None, None, place))

    def _reject(self, reader: FileReader, rules: tuple[str, ...], why: str) -> None:
        found = rejection_of(reader, rules, why)
        self._alarm(Place(found.file, found.line, found.event), rules[0], why)

    def _alarm(self, place: Place, rule: str, sentence: str) -> None:
        self.alarms[rule] += 1
        self._on_alarm(Alarm(self._folder.name, rule, sentence, place))


class _Coordinator(CoordinatorReader):
    """Reads the coordinator's file. Calls `ends` with state, id and line number of each ended checkpoint."""

    def __init__(
        self, run: Run, file: GrowingLogFile, settings: Settings, ends: Callable[[str, int, int], None]
    ) -> None:
        super().__init__(run, file, settings)
        self._ends = ends

    def replay(self, line: Line) -> Need | None:
        """As in `FileReader`, and report the checkpoints that end with the line."""
        need = super().replay(line)
        if need is None:
            if (
                line.component is None
                and line.kind == "attempt_started"
                and line.fields["restored"] is not None
            ):
                self._ends("restored", int(line.fields["restored"]), line.number)
            for effect in line.effects:
                if effect["kind"] == "complete":
                    self._ends("completed", int(effect["checkpoint"]), line.number)
                elif effect["kind"] == "abort":
                    state = _STATES.get(str(effect["reason"]), "failed")
                    self._ends(state, int(effect["checkpoint"]), line.number)
        return need
