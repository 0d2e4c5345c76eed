"""The state of a task's reader, and the functions of its lines that depend on other files.

Equal lines in equal states have equal results (`transitions`). When a line first comes in a state, the reader
records its result in `Notes`. Two kinds of functions depend on other files; their arguments are the
reader, the line and one value. A *check* returns the missing cause of the line. An *act* changes data that
the readers of other files use.
"""

from collections import deque
from collections.abc import Mapping
from typing import Any

from conformance.observe.causes import Key, Need
from conformance.observe.eventlog import LogFile
from conformance.observe.inflight import InFlight
from conformance.observe.lines.line import Line
from conformance.observe.memo.shifted import Shifted
from conformance.observe.memo.transitions import Act, Check, Located, RememberingReader
from conformance.observe.replay import Rejected, Replayed
from conformance.observe.run_state import Attempt, Run, Settings
from conformance.observe.sink import RelativeSnapshot, SinkReplay
from conformance.observe.sources.offsets import OffsetsReplay
from conformance.observe.sources.rows import SentRows

EXACTLY_ONCE = "exactly-once"
"""The mode of a gate if the line `deployed` does not record one."""
OVERTAKING = ("unaligned", "alternating")
MESSAGES = {
    "checkpoint": ("trigger", "COORD-04"),
    "complete_notification": ("complete", "COORD-08"),
    "abort_notification": ("abort", "COORD-09"),
}
"""By event of a subtask: the coordinator's message that the event receives, and the rule of this message."""
MARKERS = {"barrier": "broadcast_barrier", "cancel": "broadcast_cancel"}


class TaskState(RememberingReader):
    """The components of one task in one attempt, with the data that links them."""

    def __init__(self, run: Run, file: LogFile, settings: Settings, is_sink: bool | None) -> None:
        """`is_sink`: whether the task is a sink; None if only later lines of the file show it."""
        super().__init__(file, run.causes, run.taken, shaped=run.is_shaped)
        self._run = run
        self._settings = settings
        self._attempt: Attempt | None = None
        self._channels: list[str] = []
        self._subtask = self._run.replayed("subtask", self._steps_from(None))
        self._gate: Replayed | None = None
        self._mode = EXACTLY_ONCE
        self._store: Replayed | None = None
        self._sink = None if is_sink is False else SinkReplay(run, file, is_certain=is_sink is True)
        self._offsets = OffsetsReplay(run)
        self._due: deque[tuple[Any, ...]] = deque()
        """Kind, checkpoint and reason of the events that the gate's effects require of the subtask."""
        self._markers: list[int] = []
        self._counts: list[int | None] = []
        self._last_channel = -1
        self._messages = {
            word: run.causes.messages(word, file.attempt, file.task)
            for word in ("trigger", "complete", "abort", "acknowledge", "decline")
        }
        self._markers_of: list[list[Any]] = []
        """By channel: the markers that its sender has broadcast."""
        self._marker: Key = ("marker", file.attempt, file.task)
        self._in_flight = InFlight(run, file)
        self._rows = SentRows(run, file.task)

    def _steps_from(self, restored: int | None) -> dict[str, Any]:
        """The configuration of the subtask. `restored`: the restored checkpoint; None: no checkpoint."""
        config = {"max_concurrent": self._settings.max_concurrent}
        return config if restored is None else {**config, "restored": restored}

    # ------------------------------------------------------------ the results of a line

    def _see(self, situation: str) -> None:
        """Count a situation, and record it for the cached transition of this line and state."""
        self._notes.situations.append(situation)
        self._run.witnessed.see(situation)

    def _fire(self, rules: tuple[str, ...]) -> None:
        """Add rules that fire, and record them for the cached transition of this line and state."""
        self._notes.rules = rules
        self._run.rules.update(rules)

    def _need(self, check: Check, line: Line, argument: object) -> Need | None:
        """Perform and record a check. Returns the missing cause of the line, or None."""
        self._notes.check = check, argument
        return check(self, line, argument)

    def _act(self, act: Act, line: Line, relative: int | None, value: object = None) -> None:
        """Perform and record an act. Its argument is the base plus `relative`; if that is None, `value`."""
        self._notes.acts.append((act, relative, value))
        act(self, line, value if relative is None else line.base + relative)

    def located(self) -> Located | None:
        """As in `RememberingReader`; the base is that of the subtask."""
        subtask, gate, sink = self._subtask, self._gate, self._sink
        if self._attempt is None or not isinstance(subtask, Shifted):
            return None
        if any(type(one) not in (str, int) for due in self._due for one in due):
            return None  # the log may give a reason of any type, but a state needs hashable values
        node, base, _ = subtask.place
        of_gate: object = None
        if isinstance(gate, Shifted):
            of_gate = (gate.place[0], gate.place[1] - base)
        elif gate is not None:
            return None
        of_sink, other = (None, 0) if sink is None else sink.located(base) or (None, None)
        if other is None:
            return None
        due = tuple((kind, checkpoint - base, *reason) for kind, checkpoint, *reason in self._due)
        return Located((self._mode, self._last_channel, due, node, of_gate, of_sink), base, other)

    def move_to(self, local: Any, base: int, other: int) -> None:  # noqa: ANN401 - as `located` made it
        """As in `RememberingReader`."""
        _, self._last_channel, due, node, of_gate, of_sink = local
        assert isinstance(self._subtask, Shifted)
        self._subtask.place = node, base, 0
        self._due = deque((kind, checkpoint + base, *reason) for kind, checkpoint, *reason in due)
        if of_gate is not None:
            assert isinstance(self._gate, Shifted)
            self._gate.place = of_gate[0], of_gate[1] + base, 0
        if self._sink is not None:
            self._sink.move_to(of_sink, base, other)

    # ------------------------------------------------------------ checks

    def _was_sent(self, line: Line, channel: int) -> Need | None:
        """Check that the marker is the next one that the channel's sender has broadcast.

        Returns None, and the marker counts as read; or the missing cause if it was not broadcast yet. Raises
        Rejected if another marker was broadcast, or the number of records before the barrier differs.
        """
        kind, records = line.kind, line.further.get("records")
        above, place = self._channels[channel], self._markers[channel]
        sent_markers, checkpoint = self._markers_of[channel], line.checkpoint
        if self._mode in OVERTAKING:
            key: Key = ("marker", line.attempt, above)
            need = self._in_flight.marker(channel, key, MARKERS[kind], checkpoint)
            if need is not None:
                return need
            self._markers[channel] += 1
            self._counts[channel] = records
            return None
        rules = ("TASK-01", "ONCE-01")
        if len(sent_markers) <= place:
            why = "{0} {1} came on channel {2} from {3} as marker {4}; {3} has broadcast {5} in attempt {6}"
            values = (kind, checkpoint, channel, above, place + 1, len(sent_markers), line.attempt)
            return Need(("marker", line.attempt, above), place + 1, rules, why, values)
        effect, sent_checkpoint, sent = sent_markers[place]
        if effect != MARKERS[kind] or sent_checkpoint != checkpoint:
            marker, what = f"marker {place + 1}", f"{kind} {checkpoint} came on channel {channel}"
            raise Rejected(rules, f"{what} as {marker}; {marker} of {above} is {effect} {sent_checkpoint}")
        if kind == "barrier" and records is not None and sent is not None and self.file.task in sent:
            task = self.file.task
            self._run.cuts_compared += 1
            if records != sent[task]:
                what = f"{kind} {checkpoint} came on channel {channel}"
                why = f"{what} after {records} records, {above} had sent {sent[task]} before it"
                raise Rejected(("ONCE-01",), f"{why}: the cut is not consistent")
        self._markers[channel] = place + 1
        self._counts[channel] = records
        return None

    def _receive(self, line: Line, kind: str) -> Need | None:
        """Count the coordinator's message in this event as received. Returns the cause if it is missing."""
        checkpoint = line.checkpoint
        if type(checkpoint) is not int:
            return None
        word, rule = MESSAGES[kind]
        messages = self._messages[word]
        times = messages.received.get(checkpoint, 0) + 1
        if messages.sent.get(checkpoint, 0) < times:
            attempt, task = line.attempt, self.file.task
            rules: tuple[str, ...] = (rule,)
            if word == "complete" and self._sink is not None:
                rules = ("ONCE-05", "SINK-03", rule)
            sent = "never sent" if times == 1 else "sent {4} times and came {5} times"
            why = f"{{0}} of checkpoint {{1}} reached {{2}} in attempt {{3}}, but it was {sent}"
            key: Key = (word, attempt, task, checkpoint)
            return Need(key, times, rules, why, (word, checkpoint, task, attempt, times - 1, times))
        if word == "abort":
            completed = line.completed
            if completed not in self._run.completed and completed != -1:
                why = f"the abort of {checkpoint} names completed checkpoint {completed}; it never completed"
                return Need(("completed", completed), 1, ("ONCE-05", "TASK-06"), why)
        messages.received[checkpoint] = times
        return None

    # ------------------------------------------------------------ acts

    def _broadcast_barrier(self, line: Line, checkpoint: int) -> None:
        """Check the number of rows before a barrier, and record that the barrier was broadcast."""
        assert self._attempt is not None
        self._rows.check(line, self._attempt, checkpoint, is_source=not self._channels)
        self._broadcast(line, "broadcast_barrier", checkpoint)

    def _broadcast_cancel(self, line: Line, checkpoint: int) -> None:
        self._broadcast(line, "broadcast_cancel", checkpoint)

    def _broadcast(self, line: Line, marker: str, checkpoint: int) -> None:
        further = line.further
        self._run.causes.happened(self._marker, (marker, checkpoint, further.get("sent")))
        self._in_flight.snapshot(checkpoint, further)

    def _acknowledge(self, line: Line, checkpoint: int) -> None:
        self._messages["acknowledge"].send(checkpoint)

    def _decline(self, line: Line, checkpoint: int) -> None:
        self._messages["decline"].send(checkpoint)

    def _learn_completion(self, line: Line, checkpoint: int) -> None:
        self._run.undelivered[line.attempt, self.file.task].discard(checkpoint)

    def _require_offsets(self, line: Line, checkpoint: int) -> None:
        self._offsets.require("snapshot", checkpoint)

    def _require_commit(self, line: Line, checkpoint: int) -> None:
        self._offsets.require("notify_complete", checkpoint)

    def _require_abort(self, line: Line, checkpoint: int) -> None:
        self._offsets.require("notify_abort", checkpoint)

    def _pre_commits(self, line: Line, taken: RelativeSnapshot) -> None:
        """Pass the sink's snapshot and the number of received records to `SinkReplay.pre_commits`."""
        assert self._sink is not None
        self._sink.pre_commits(line, self._received_before(), taken)

    def _received_before(self) -> int | None:
        """The number of records before the last barriers, over all channels.

        None if a channel has not recorded a number, or if the mode is not exactly-once.
        """
        if self._mode != EXACTLY_ONCE:
            return None  # the snapshot also has records from after a barrier
        counts = [count for count in self._counts if count is not None]
        return sum(counts) if len(counts) == len(self._counts) else None

    ACTS: Mapping[str, Act] = {
        "broadcast_barrier": _broadcast_barrier,
        "broadcast_cancel": _broadcast_cancel,
        "acknowledge": _acknowledge,
        "decline": _decline,
        "notify_complete": _learn_completion,
    }
    """By effect of a subtask: the act."""
    OF_SOURCE: Mapping[str, Act] = {
        "snapshot": _require_offsets,
        "notify_complete": _require_commit,
        "notify_abort": _require_abort,
    }
    """By effect of a source's subtask: the act that requires an event of the offsets."""
