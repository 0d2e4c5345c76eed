"""Replays a task's file: its gate, its subtask, and its sink or the offsets of its source.

The model checks each component alone. This module checks the relations between components: a barrier was
broadcast upstream, arrives in order (TASK-01), and arrives after exactly the records that were sent before it
(ONCE-01). The task reads no blocked channel (ALIGN-17). The subtask carries out an effect of the gate before
the gate's next event. The coordinator has sent every message that the task receives.
"""

from typing import Any

from conformance.observe.causes import Need
from conformance.observe.eventlog import EventLogError
from conformance.observe.lines.line import Line
from conformance.observe.memo.task import EXACTLY_ONCE, MARKERS, MESSAGES, OVERTAKING, TaskState
from conformance.observe.replay import Rejected, Replayed, unknown_effect
from conformance.observe.run_state import Attempt, EndRejection, NotQuietError
from conformance.observe.sink import SinkReplay

_FROM_GATE = ("checkpoint", "abort_on_barrier")
_ENGINE_KINDS = ("deployed", "source_restored", "adopted", "gathered", "start_declined", "fault", "finished")


class TaskReader(TaskState):
    """Replays one task in one attempt."""

    def take(self, line: Line) -> Need | None:
        """As in `RememberingReader`."""
        if line.attempt != self.file.attempt:
            why = f"an event of attempt {line.attempt} in the file of attempt {self.file.attempt}"
            raise Rejected(("ONCE-06",), why)
        if line.component is None:
            return self._engine(line)
        if self._attempt is None:
            raise Rejected(("ONCE-04",), f"{self.file.task} has events before it is deployed")
        need = None
        match line.component:
            case "gate":
                need = self._at_gate(line)
            case "subtask":
                need = self._at_subtask(line)
            case "sink" if self._sink is not None:
                need = self._at_sink(line, self._attempt, self._sink)
            case "offsets":
                self._offsets.replay(line)
            case "store":
                if self._store is None:
                    self._store = Replayed("store", {"retain": self._settings.retain}, self._run.record)
                self._run.rules.update(self._store.step(line))
            case _:
                raise Rejected(("COORD-12",), f"a task has no {line.component}; only the driver has one")
        if need is None:
            self._run.events += 1
        return need

    # ------------------------------------------------------------ lines of the runtime

    def _engine(self, line: Line) -> Need | None:
        fields = line.fields
        match fields["kind"]:
            case "deployed":
                return self._deploy(line.attempt, fields)
            case "gathered":
                self._in_flight.gathered(fields)
            case "source_restored":
                self._rows.restored = int(fields["offset"])
                self._offsets.restored(self._rows.restored)
            case "adopted":
                self._run.taken_over_sinks.add((line.attempt, str(fields["sink"])))
            case "start_declined":
                self._decline_start(fields)
            case "finished":
                self._nothing_due("it finished")
            case unknown if unknown != "fault":
                why = f"a task's file has no {unknown!r}; expected one of {', '.join(_ENGINE_KINDS)}"
                raise EventLogError(self.file.name, line.number, why)
        return None

    def _deploy(self, number: int, fields: dict[str, Any]) -> Need | None:
        task, causes, record = self.file.task, self._run.causes, self._run.record
        if not causes.count(("attempt", number)):
            why = f"{task} is deployed in attempt {number}, which the coordinator never started"
            return Need(("attempt", number), 1, ("ONCE-06",), why)
        self._attempt = attempt = self._run.attempts[number]
        if fields["restored"] != attempt.restored:
            restored = fields["restored"]
            why = f"attempt {number} restores checkpoint {attempt.restored}, but {task} restores {restored}"
            raise Rejected(("ONCE-04",), why)
        self._channels = [str(above) for above in fields["channels"]]
        if attempt.upstream.get(task) != frozenset(self._channels):
            known = sorted(attempt.upstream.get(task, ()))
            why = f"{task} reads from {self._channels}, but the plan of attempt {number} has {known}"
            raise Rejected(("ONCE-06",), why)
        self._subtask = self._run.replayed("subtask", self._steps_from(attempt.restored))
        if self._channels:
            self._mode = str(fields.get("mode", EXACTLY_ONCE))
            self._run.modes.add(self._mode)
            gate = str(fields.get("gate", self._mode))
            config = {"channels": len(self._channels), "mode": gate, "level": "handler"}
            if fields.get("alignment_timeout_ms"):
                config["alignment_timeout_ms"] = fields["alignment_timeout_ms"]
            self._gate = self._run.replayed("gate", config)
        if record is not None:
            record.channels[number, task] = tuple(self._channels)
        self._in_flight.deployed(fields)
        self._markers = [0] * len(self._channels)
        self._counts = [None] * len(self._channels)
        self._markers_of = [causes.kept(("marker", number, above)) for above in self._channels]
        causes.happened(("deployed", number, task))
        return None

    def _decline_start(self, fields: dict[str, Any]) -> None:
        """Expect an abort instead of the checkpoint: the task has not read all restored records (UNAL-36)."""
        checkpoint = fields["checkpoint"]
        if not self._due or self._due[0] != ("checkpoint", checkpoint):
            why = f"a start of {checkpoint} was declined, but its gate had not triggered it"
            raise Rejected(("UNAL-36",), why)
        self._due[0] = ("abort_on_barrier", checkpoint, fields["reason"])
        self._run.witnessed.see("start declined")

    def _nothing_due(self, before: str) -> None:
        """Raises Rejected if an event that the gate or the subtask requires has not come.

        `before`: the event by which it had to come, for the message.
        """
        if self._due:
            kind, checkpoint, *_ = self._due[0]
            rule = "TASK-01" if kind == "checkpoint" else "TASK-04"
            why = f"the gate requires {kind} of {checkpoint}, but the subtask did not get it before {before}"
            raise Rejected((rule, "ALIGN-06"), why)
        if self._sink is not None:
            self._sink.nothing_due(before)

    # ------------------------------------------------------------ the gate

    def _at_gate(self, line: Line) -> Need | None:
        gate = self._gate
        if self._due or self._sink is not None:
            self._nothing_due("the gate's next event")
        if gate is None:
            raise Rejected(("ALIGN-13",), f"{self.file.task} has no input channel, and so no gate")
        kind, channel = line.kind, line.given.get("channel")
        if kind == "advance":
            channel = -1
        elif type(channel) is not int or not 0 <= channel < len(self._channels):
            gate.step(line)  # raises Rejected: the model refuses such a channel
            return None
        elif gate.blocks(channel):
            why = f"channel {channel} is blocked, but was read; gate: {gate.describe()}"
            raise Rejected(("ALIGN-17",), why)
        elif kind in MARKERS:
            need = self._need(TaskState._was_sent, line, channel)
            if need is not None:
                return need
        rules = gate.known(line)
        self._fire(gate.step(line) if rules is None else rules)
        self._notes.is_repeatable = kind in MARKERS and self._mode not in OVERTAKING
        self._follow_gate(line, kind, channel)
        return None

    def _follow_gate(self, line: Line, kind: str, channel: int) -> None:
        see = self._see
        if kind == "end_of_partition":
            see("partition ended")
        kinds, base = line.kinds, line.base
        if len(kinds) == 1:
            if kind == "barrier" and kinds[0] == "resume":
                see("late barrier")
            elif kinds[0] == "block" and len(self._channels) > 1:
                see("channel blocked")
        for name, relative, checkpoint, effect in line.known_effects:
            if name == "trigger":
                self._due.append(("checkpoint", checkpoint if relative is None else base + relative))
                see("overtook" if effect.get("unaligned") else "aligned")
                if self._last_channel not in (-1, channel):
                    see("another channel last")
                self._last_channel = channel
            elif name == "abort":
                aborted = checkpoint if relative is None else base + relative
                self._due.append(("abort_on_barrier", aborted, effect["reason"]))
                see("overtaken at the gate" if effect["reason"] == "SUBSUMED" else "cancelled at the gate")

    # ------------------------------------------------------------ the snapshot steps

    def _at_subtask(self, line: Line) -> Need | None:
        if self._sink is not None:
            self._sink.nothing_due("the subtask's next event")
        event, kind = line.given, line.kind
        is_from_gate = kind in _FROM_GATE and bool(self._channels)
        if is_from_gate:
            received: tuple[Any, ...] = (kind, line.checkpoint)
            if "reason" in event:
                received = (*received, event["reason"])
            if not self._due or self._due[0] != received:
                expected = " ".join(map(str, self._due[0])) if self._due else "nothing"
                why = f"the subtask got {' '.join(map(str, received))}, but its gate requires {expected}"
                raise Rejected(("TASK-01", "ALIGN-05"), why)
        elif kind in MESSAGES:
            if kind != "checkpoint":
                self._nothing_due("the subtask's next message")
            need = self._need(TaskState._receive, line, kind)
            if need is not None:
                return need
        rules = self._subtask.known(line)
        self._fire(self._subtask.step(line) if rules is None else rules)
        if is_from_gate:
            self._due.popleft()
        self._notes.is_repeatable = True
        self._carry_out(line)
        return None

    def _carry_out(self, line: Line) -> None:
        """Record what the effects cause: events in other files, due events of the sink, situations."""
        see, act, base = self._see, self._act, line.base
        for kind, relative, named, _ in line.known_effects:
            checkpoint = named if relative is None else base + relative
            match kind:
                case "broadcast_barrier" | "broadcast_cancel":
                    if kind == "broadcast_barrier":
                        # `act` may reject the line: situations seen before it count now, but a cached
                        # transition would count them only after `act`
                        self._notes.is_repeatable &= not self._notes.situations
                    elif line.kind == "checkpoint":
                        see("abort before its trigger")
                    act(self.ACTS[kind], line, relative, named)
                case "acknowledge":
                    see("snapshot acknowledged")
                    act(self.ACTS[kind], line, relative, named)
                case "decline":
                    see("declined")
                    act(self.ACTS[kind], line, relative, named)
                case "cancel_async":
                    see("aborted while writing")
                case "snapshot" | "notify_complete" | "notify_abort":
                    if self._sink is not None:
                        self._sink.require(kind, checkpoint)
                    if not self._channels:
                        act(self.OF_SOURCE[kind], line, relative, named)
                    if kind in self.ACTS:
                        act(self.ACTS[kind], line, relative, named)
                case "notify_subsumed" | "fail":
                    pass  # a sink does nothing when a checkpoint is subsumed; no event follows a failure
                case _:
                    raise unknown_effect("subtask", next(one for one in line.effects if one["kind"] == kind))

    # ------------------------------------------------------------ the sink

    def _at_sink(self, line: Line, attempt: Attempt, sink: SinkReplay) -> Need | None:
        need = sink.replay(line, attempt, self._notes)
        if need is not None or line.kind == "restore":
            return need
        effects = line.kinds
        if line.kind == "snapshot":
            self._act(TaskState._pre_commits, line, None, sink.taken(line))
            if "begin" not in effects:
                self._see("last transaction")
        elif "commit" in effects:
            self._see("commit on notification")
        return None

    def torn_cut(self) -> EndRejection | None:
        """The rejection if a checkpoint completed since the last call, and its cut is not consistent."""
        rejection = None if self._gate is None else self._in_flight.end_rejection(self._channels)
        self._in_flight.forget(self._run.completed)
        return rejection

    def forget(self, checkpoint: int) -> None:
        """Drop all data about checkpoints below `checkpoint`."""
        self._in_flight.forget_below(checkpoint)
        self._offsets.forget(checkpoint)

    def begin_at(self, checkpoint: int, transaction: int | None) -> None:
        """Begin after a checkpoint of whose completion the task was notified.

        `transaction`: the open transaction of its sink; None if the task has no sink.
        """
        self.bring_up_to_date()
        self._subtask.state = self._subtask.state._replace(last=checkpoint, completed=checkpoint)
        if self._sink is not None and transaction is not None:
            self._sink.begin_at(transaction)

    def at_cut(self, checkpoint: int) -> object:
        """Return all data that influences the replay after a cut at `checkpoint`, the last completed one.

        Two replays with equal data have equal results for all later lines. Raises NotQuietError if something
        is under way in the task, or the data cannot be compared.
        """
        waits = [len(sent) - place for sent, place in zip(self._markers_of, self._markers, strict=True)]
        has_records = self._mode in OVERTAKING or not self._in_flight.is_empty
        if self._due or any(waits) or has_records or self._store is not None or self.line:
            raise NotQuietError(f"{self.file.name} is not between two checkpoints")
        subtask = self._subtask.state
        if subtask.highest_aborted <= checkpoint <= subtask.last:  # no later step reads it
            subtask = subtask._replace(highest_aborted=-1)
        return (
            self._attempt,
            tuple(self._channels),
            None if self._gate is None else self._gate.state,
            subtask,
            None if self._sink is None else self._sink.at_cut(checkpoint),
            self._offsets.at_cut(checkpoint),
            tuple(self._counts),
            self._last_channel,
            self._rows.restored,
        )

    def end_rejection(self) -> EndRejection | None:
        """The rejection if a cut is not consistent, or a channel ended before a marker broadcast into it."""
        rejection = None if self._gate is None else self._in_flight.end_rejection(self._channels)
        if rejection is not None:
            return rejection
        for channel in () if self._gate is None else self._gate.observe()["closed"]:
            above = self._channels[channel]
            sent = self._run.causes.count(("marker", self.file.attempt, above))
            if sent != self._markers[channel]:
                why = f"channel {channel} ended after {self._markers[channel]} markers; {above} sent {sent}"
                return ("TASK-01", "ONCE-01"), why
        return None
