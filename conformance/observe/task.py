"""A task's file, replayed: its gate, its snapshot steps, and its sink if it is one.

Beside the model's own guards, what joins them: a barrier was broadcast upstream and comes in its order
(TASK-01) after exactly the records that were sent before it (ONCE-01); a blocked channel is not read
(ALIGN-17); what the gate says is done before its next event; the coordinator's words were sent.
"""

from collections import deque
from collections.abc import Iterator
from typing import Any

from conformance.observe.causes import Key, Need
from conformance.observe.eventlog import EventLogError, Line, LogFile
from conformance.observe.exchanges import rows_along
from conformance.observe.inflight import InFlight
from conformance.observe.replay import Rejected, Replayed, unknown_effect
from conformance.observe.run import Attempt, Run, Settings
from conformance.observe.sink import SinkReader

Order = tuple[Any, ...]

EXACTLY_ONCE = "exactly-once"
"""The mode of a gate whose line does not tell it."""
UNALIGNED = "unaligned"
OVERTAKING = (UNALIGNED, "alternating")

_MESSAGES = {"complete_notification": "complete", "abort_notification": "abort"}
_RULE_OF_MESSAGE = {"trigger": "COORD-04", "complete": "COORD-08", "abort": "COORD-09"}
_MARKERS = {"barrier": "broadcast_barrier", "cancel": "broadcast_cancel"}

_ENGINE_WORDS = ("deployed", "source_restored", "adopted", "gathered", "start_declined", "fault", "finished")


class TaskReader:
    """Replays one task in one attempt."""

    def __init__(self, run: Run, file: LogFile, settings: Settings, is_sink: bool) -> None:
        self.file = file
        self.line: Line | None = None
        self._run = run
        self._settings = settings
        self._lines = file.lines()
        self._at: Attempt | None = None
        self._channels: list[str] = []
        self._subtask = Replayed("subtask", {"max_concurrent": settings.max_concurrent}, run.record)
        self._gate: Replayed | None = None
        self._mode = EXACTLY_ONCE
        self._store: Replayed | None = None
        self._sink = SinkReader(run, file) if is_sink else None
        self._orders: deque[Order] = deque()
        self._markers: list[int] = []
        self._counts: list[int | None] = []
        self._last_channel = -1
        self._consumed: dict[Key, int] = {}
        self._in_flight = InFlight(run, file)
        self._base: int | None = None

    def advance(self) -> Need | None:
        """Replay until the end, or until an event has to wait. Raises Rejected and EventLogError."""
        while True:
            if self.line is None:
                self.line = next(self._lines, None)
                if self.line is None:
                    self._run.causes.happened(("ended", self.file.attempt, self.file.task))
                    return None
            need = self._take(self.line)
            if need is not None:
                return need
            self.line = None

    def remaining(self) -> Iterator[Line]:
        """What was not replayed, the waiting line first; the file cannot be replayed after this."""
        if self.line is not None:
            yield self.line
        yield from self._lines

    def _take(self, line: Line) -> Need | None:
        if line.attempt != self.file.attempt:
            why = f"an event of attempt {line.attempt} in the file of attempt {self.file.attempt}"
            raise Rejected(("ONCE-06",), why)
        if line.component is None:
            return self._engine(line)
        if self._at is None:
            raise Rejected(("ONCE-04",), f"{self.file.task} has events before it is deployed")
        match line.component:
            case "gate":
                need = self._at_gate(line)
            case "subtask":
                need = self._at_subtask(line)
            case "sink" if self._sink is not None:
                need = self._sink.take(line, self._at, self._received_before)
            case "store":
                if self._store is None:
                    self._store = Replayed("store", {"retain": self._settings.retain}, self._run.record)
                self._run.rules.update(self._store.step(line))
                need = None
            case _:
                raise Rejected(("COORD-12",), f"a task has no {line.component}; only the driver has one")
        if need is None:
            self._run.events += 1
        return need

    # ------------------------------------------------------------ words of the engine

    def _engine(self, line: Line) -> Need | None:
        fields, attempt, task = line.fields, line.attempt, self.file.task
        if fields["kind"] == "gathered":
            self._in_flight.gathered(fields)
        if fields["kind"] == "source_restored":
            self._base = int(fields["offset"])
        if fields["kind"] == "adopted":
            self._run.adopted.add((attempt, str(fields["sink"])))
        if fields["kind"] == "start_declined":
            self._decline_start(fields)
        if fields["kind"] == "finished":
            self._all_obeyed("it finished")
        if fields["kind"] not in _ENGINE_WORDS:
            why = f"a task's file has no {fields['kind']!r}; expected one of {', '.join(_ENGINE_WORDS)}"
            raise EventLogError(self.file.name, line.number, why)
        if fields["kind"] != "deployed":
            return None
        causes = self._run.causes
        if not causes.count(("attempt", attempt)):
            why = f"{task} is deployed in attempt {attempt}, which the coordinator never started"
            return Need(("attempt", attempt), 1, ("ONCE-06",), why)
        self._at = at = self._run.attempts[attempt]
        if fields["restored"] != at.restored:
            why = f"attempt {attempt} restores checkpoint {at.restored}, {task} restores {fields['restored']}"
            raise Rejected(("ONCE-04",), why)
        self._channels = [str(above) for above in fields["channels"]]
        if at.upstream.get(task) != frozenset(self._channels):
            known = sorted(at.upstream.get(task, ()))
            why = f"{task} reads from {self._channels}, the plan of attempt {attempt} says {known}"
            raise Rejected(("ONCE-06",), why)
        if self._channels:
            self._mode = str(fields.get("mode", EXACTLY_ONCE))
            self._run.modes.add(self._mode)
            gate = str(fields.get("gate", self._mode))
            config = {"channels": len(self._channels), "mode": gate, "level": "handler"}
            if fields.get("alignment_timeout_ms"):
                config["alignment_timeout_ms"] = fields["alignment_timeout_ms"]
            self._gate = Replayed("gate", config, self._run.record)
        if self._run.record is not None:
            self._run.record.channels[attempt, task] = tuple(self._channels)
        self._in_flight.deployed(fields, self._channels)
        self._markers = [0] * len(self._channels)
        self._counts = [None] * len(self._channels)
        causes.happened(("deployed", attempt, task))
        return None

    def _decline_start(self, fields: dict[str, Any]) -> None:
        """The gate triggers, and restored records are still unread: the snapshot is given up (UNAL-36)."""
        ordered = ("checkpoint", fields["checkpoint"])
        if not self._orders or self._orders[0] != ordered:
            raise Rejected(
                ("UNAL-36",), f"a start of {ordered[1]} was declined, its gate had not triggered it"
            )
        self._orders[0] = ("abort_on_barrier", fields["checkpoint"], fields["reason"])
        self._run.witnessed.see("start declined")

    def _all_obeyed(self, before: str) -> None:
        """What the gate and the snapshot steps have said was done, before anything else happened."""
        if self._orders:
            word, checkpoint, *_ = self._orders[0]
            rule = "TASK-01" if word == "checkpoint" else "TASK-04"
            why = f"the gate said {word} of {checkpoint}, and the subtask did not get it before {before}"
            raise Rejected((rule, "ALIGN-06"), why)
        if self._sink is not None:
            self._sink.all_obeyed(before)

    # ------------------------------------------------------------ the gate

    def _at_gate(self, line: Line) -> Need | None:
        event, gate = line.event, self._gate
        self._all_obeyed("the gate's next event")
        if gate is None:
            raise Rejected(("ALIGN-13",), f"{self.file.task} has no input channel, and so no gate")
        kind, channel = event["kind"], event.get("channel")
        if kind == "advance":
            self._run.rules.update(gate.step(line))
            self._obey_gate(line, kind, -1)
            return None
        if type(channel) is not int or not 0 <= channel < len(self._channels):
            gate.step(line)  # the model refuses it, and says why
            return None
        if channel in gate.observe()["blocked"]:
            raise Rejected(("ALIGN-17",), f"channel {channel} is blocked and was read; {gate.describe()}")
        if kind in _MARKERS:
            need = self._was_sent(line, kind, channel)
            if need is not None:
                return need
        self._run.rules.update(gate.step(line))
        if kind in _MARKERS:
            self._markers[channel] += 1
            self._counts[channel] = line.fields.get("records")
        self._obey_gate(line, kind, channel)
        return None

    def _was_sent(self, line: Line, kind: str, channel: int) -> Need | None:
        """The marker is the next one that the channel's sender has broadcast in this attempt."""
        above, place, attempt = self._channels[channel], self._markers[channel], line.attempt
        checkpoint, task = line.event.get("checkpoint"), self.file.task
        key: Key = ("marker", attempt, above)
        if self._mode in OVERTAKING:
            return self._in_flight.marker(channel, key, _MARKERS[kind], checkpoint)
        if self._run.causes.count(key) <= place:
            why = (
                f"{kind} {checkpoint} came on channel {channel} from {above} as marker {place + 1}; "
                f"{above} has broadcast {self._run.causes.count(key)} in attempt {attempt}"
            )
            return Need(key, place + 1, ("TASK-01", "ONCE-01"), why)
        said, sent_checkpoint, sent = self._run.causes.what(key, place)
        if said != _MARKERS[kind] or sent_checkpoint != checkpoint:
            why = (
                f"{kind} {checkpoint} came on channel {channel} as marker {place + 1}; "
                f"marker {place + 1} of {above} is {said} {sent_checkpoint}"
            )
            raise Rejected(("TASK-01", "ONCE-01"), why)
        records = line.fields.get("records")
        if kind == "barrier" and records is not None and sent is not None and task in sent:
            self._run.counted += 1
            if records != sent[task]:
                why = (
                    f"barrier {checkpoint} came on channel {channel} after {records} records, "
                    f"{above} had sent {sent[task]} before it: the cut is torn"
                )
                raise Rejected(("ONCE-01",), why)
        return None

    def _obey_gate(self, line: Line, kind: str, channel: int) -> None:
        see = self._run.witnessed.see
        if kind == "end_of_partition":
            see("partition ended")
        said = [effect["kind"] for effect in line.effects]
        if kind == "barrier" and said == ["resume"]:
            see("late barrier")
        if said == ["block"] and len(self._channels) > 1:
            see("channel blocked")
        for effect in line.effects:
            if effect["kind"] == "trigger":
                self._orders.append(("checkpoint", effect["checkpoint"]))
                see("overtook" if effect.get("unaligned") else "aligned")
                if self._last_channel not in (-1, channel):
                    see("another channel last")
                self._last_channel = channel
            elif effect["kind"] == "abort":
                self._orders.append(("abort_on_barrier", effect["checkpoint"], effect["reason"]))
                see("overtaken at the gate" if effect["reason"] == "SUBSUMED" else "cancelled at the gate")

    def _received_before(self) -> int | None:
        """The records before the last barriers on all channels together; None where that says nothing."""
        if self._mode != EXACTLY_ONCE:
            return None  # what came behind a barrier is in the snapshot too
        total = 0
        for count in self._counts:
            if count is None:
                return None
            total += count
        return total

    # ------------------------------------------------------------ the snapshot steps

    def _at_subtask(self, line: Line) -> Need | None:
        if self._sink is not None:
            self._sink.all_obeyed("the subtask's next event")
        event = line.event
        kind = event["kind"]
        if kind in {"checkpoint", "abort_on_barrier"} and self._channels:
            order = tuple(event[name] for name in ("kind", "checkpoint", "reason") if name in event)
            if not self._orders or self._orders[0] != order:
                expected = " ".join(map(str, self._orders[0])) if self._orders else "nothing"
                why = f"the subtask got {' '.join(map(str, order))}, its gate had said {expected}"
                raise Rejected(("TASK-01", "ALIGN-05"), why)
        else:
            if kind in _MESSAGES:
                self._all_obeyed("the subtask's next message")
            need = self._message_of(line.attempt, kind, event)
            if need is not None:
                return need
        self._run.rules.update(self._subtask.step(line))
        if kind in {"checkpoint", "abort_on_barrier"} and self._channels:
            self._orders.popleft()
        self._carry(line)
        return None

    def _message_of(self, attempt: int, kind: str, event: dict[str, Any]) -> Need | None:
        """The coordinator's message that this event is the receipt of; taken if it was sent."""
        task, checkpoint = self.file.task, event.get("checkpoint")
        word = "trigger" if kind == "checkpoint" else _MESSAGES.get(kind)
        if word is None or type(checkpoint) is not int:
            return None
        key: Key = (word, attempt, task, checkpoint)
        count = self._consumed.get(key, 0) + 1
        if self._run.causes.count(key) < count:
            rules: tuple[str, ...] = (_RULE_OF_MESSAGE[word],)
            if word == "complete" and self._sink is not None:
                rules = ("ONCE-05", "SINK-03", *rules)
            times = "never sent" if count == 1 else f"sent {count - 1} times and came {count} times"
            why = f"{word} of checkpoint {checkpoint} reached {task} in attempt {attempt}, it was {times}"
            return Need(key, count, rules, why)
        completed = event.get("completed", -1)
        if word == "abort" and completed not in self._run.completed and completed != -1:
            why = f"the abort of {checkpoint} tells of completed checkpoint {completed}; it never completed"
            return Need(("completed", completed), 1, ("ONCE-05", "TASK-06"), why)
        self._consumed[key] = count
        return None

    def _carry(self, line: Line) -> None:
        """What the subtask says is a cause elsewhere, an order to its sink, and perhaps a situation."""
        run, attempt, task = self._run, line.attempt, self.file.task
        see, happened = run.witnessed.see, run.causes.happened
        for effect in line.effects:
            kind, checkpoint = effect["kind"], effect.get("checkpoint", -1)
            match kind:
                case "broadcast_barrier" | "broadcast_cancel":
                    if kind == "broadcast_barrier":
                        total = self._sent_along_every_edge(line, checkpoint)
                        if not self._channels:
                            self._at_source(line, checkpoint, total)
                    if kind == "broadcast_cancel" and line.kind == "checkpoint":
                        see("abort before its trigger")
                    happened(("marker", attempt, task), (kind, checkpoint, line.fields.get("sent")))
                    self._in_flight.snapshot(checkpoint, line.fields)
                case "acknowledge":
                    see("snapshot acknowledged")
                    happened(("acknowledge", attempt, task, checkpoint))
                case "decline":
                    see("declined")
                    happened(("decline", attempt, task, checkpoint))
                case "cancel_async":
                    see("aborted while writing")
                case "snapshot" | "notify_complete" | "notify_abort":
                    if self._sink is not None:
                        self._sink.order(kind, checkpoint)
                    if kind == "notify_complete":
                        run.heard.add((attempt, task, checkpoint))
                case "notify_subsumed" | "fail":
                    pass  # a sink keeps nothing that it drops then; what has failed is followed by no event
                case _:
                    raise unknown_effect("subtask", effect)

    def _sent_along_every_edge(self, line: Line, checkpoint: int) -> int | None:
        """Each row goes along every edge: to one channel of it, or to all where it is a broadcast."""
        sent, at = line.fields.get("sent"), self._at
        if not isinstance(sent, dict) or at is None:
            return None
        try:
            return rows_along(at.exchanges, self.file.task, sent)
        except ValueError as uneven:
            why = f"{self.file.task} at barrier {checkpoint}: {uneven}"
            raise Rejected(("ONCE-01",), why) from uneven

    def _at_source(self, line: Line, checkpoint: int, total: int | None) -> None:
        """A source goes on from the offset that was restored, and sends what it reads."""
        offset = line.fields.get("offset")
        run, task, at = self._run, self.file.task, self._at
        if type(offset) is not int or at is None:
            return
        run.offsets[task, checkpoint] = offset
        base = 0 if at.restored is None else run.offsets.get((task, at.restored))
        if self._base is not None and at.restored is not None:
            if base is not None and base != self._base:
                why = f"{task} had offset {base} at checkpoint {at.restored}, and goes on from {self._base}"
                raise Rejected(("ONCE-04", "ONCE-02"), why)
            base = self._base
        if base is None or total is None:
            return
        if offset < base:
            why = f"{task} is at offset {offset} at barrier {checkpoint}, it was restored at {base}"
            raise Rejected(("ONCE-02", "ONCE-04"), why)
        if offset == base and not total:
            return  # this says nothing yet of how many rows the source makes of what it reads
        if run.sends_each.setdefault(task, offset - base == total) and offset - base != total:
            why = (
                f"{task} was restored at offset {base} and is at {offset} at barrier {checkpoint}: "
                f"{offset - base} records read, {total} sent"
            )
            raise Rejected(("ONCE-02", "ONCE-01"), why)

    # ------------------------------------------------------------ when everything was read

    def left_over(self) -> tuple[tuple[str, ...], str] | None:
        """The rules and the reason if a channel ended before a marker that was broadcast into it."""
        if self._gate is None:
            return None
        torn = self._in_flight.torn(self._channels)
        if torn is not None:
            return torn
        for channel in self._gate.observe()["closed"]:
            above = self._channels[channel]
            sent = self._run.causes.count(("marker", self.file.attempt, above))
            if sent != self._markers[channel]:
                why = f"channel {channel} ended after {self._markers[channel]} markers; {above} sent {sent}"
                return ("TASK-01", "ONCE-01"), why
        return None
