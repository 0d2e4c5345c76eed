"""A run that is validated while it writes its event log.

Each pass replays what was written since the last one, so an event waits for its cause in another file as it
does in a complete log. A task writes a line before it carries out its effects. Hence a cause that is still
missing after some seconds never happened.
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
"""Seconds without a cause after which an event has none."""
KEPT = 1_000
"""Ids below the newest completed checkpoint of which causes are remembered."""
FORGET_EVERY = 200
"""Completed checkpoints between two times at which causes are forgotten."""
_STATES = {
    "CHECKPOINT_EXPIRED": "expired",
    "CHECKPOINT_SUBSUMED": "subsumed",
    "CHECKPOINT_DECLINED": "declined",
}


class Followed(NamedTuple):
    """The run, as a reader of a monitor's state sees a job."""

    pending: tuple[int, ...]
    """Ids of its pending checkpoints."""
    restarts: int


class RunWatch:
    """Replays the event log in a folder. `on_alarm` and `on_ended` receive what is found, as it happens.

    The first alarm is the last one: the model's state after it is not known.
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
        """Lines of an attempt that were written after a later one had restored; they are not judged."""
        self._folder = folder
        self._settings = settings or Settings()
        self._on_alarm = on_alarm
        self._on_ended = on_ended
        self._coordinator: _Coordinator | None = None
        self._readers: dict[tuple[int, str], TaskReader] = {}
        self._over: dict[tuple[int, str], tuple[GrowingLogFile, int]] = {}
        """Files of attempts that are over, with the size at which they were."""
        self._needs: dict[FileReader, tuple[Need, float]] = {}
        self._newest = 0
        """The newest completed checkpoint."""
        self._forgotten = 0

    # ------------------------------------------------------------ what a monitor shows

    @property
    def lines(self) -> int:
        """Component events that agree with the model."""
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
        """Events that wait for a cause."""
        return len(self._needs)

    # ------------------------------------------------------------ reading

    def read(self, now: float | None = None) -> bool:
        """Replay the lines that were written since. Returns whether that was anything.

        `now`: seconds of a clock that never goes back, for PATIENCE.
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
        """Whether the coordinator's file states the plan by now."""
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
        """Read the files that tasks have begun since."""
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
        """Replay as far as there are causes."""
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
            torn = reader.torn_cut() if reader.line is None else None
            if torn is not None:
                return self._reject(reader, *torn)
        if any(now - since > PATIENCE for _, since in self._needs.values()):
            waiting = [(reader, need) for reader, (need, _) in self._needs.items()]
            named, need, why = root(waiting, self.run.causes)
            return self._reject(named, need.rules, why)
        self._forget()
        return None

    def _end_attempts(self) -> bool:
        """The files end for whose end a sink waits, if they were read to their end. Returns whether one did.

        A sink restores after its predecessor was stopped: what that one did is in its file. The files of
        attempts before the last two end too.
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
    """The coordinator's file; `ends` receives the state, id and line of each checkpoint that ends."""

    def __init__(
        self, run: Run, file: GrowingLogFile, settings: Settings, ends: Callable[[str, int, int], None]
    ) -> None:
        super().__init__(run, file, settings)
        self._ends = ends

    def replay(self, line: Line) -> Need | None:
        """Replay one line, and report the checkpoints that end with it."""
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
