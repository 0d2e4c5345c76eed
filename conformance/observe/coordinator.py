"""Replays the coordinator's file over all attempts.

The model checks the coordinator alone. This module checks the relations between files: the named task has
sent each acknowledgement and decline in the same attempt, and none was received more often than it was sent
(TASK-07). An attempt starts from the checkpoint that the coordinator has returned for the restore (ONCE-04).
"""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, NamedTuple

import orjson

from conformance.observe.causes import FileReader, Key, Messages, Need
from conformance.observe.eventlog import EventLogError, LogFile
from conformance.observe.lines.line import Line, ShapedLine
from conformance.observe.memo.coordinator import without_time
from conformance.observe.replay import Rejected, Replayed, unknown_effect
from conformance.observe.run_state import Attempt, NotQuietError, Run, Settings
from model.coordinator.wire.coordinator import CoordinatorSession
from model.store.store import CHECKPOINT, Entry

CHECKPOINT_TYPE = "checkpoint"
"""The type of the checkpoints that the job takes itself; users request savepoints."""
_PUBLICATION_FAILED = "FINALIZE_CHECKPOINT_FAILURE"
_SITUATION_OF_ABORT = {"CHECKPOINT_SUBSUMED": "older one replaced", "CHECKPOINT_EXPIRED": "expired"}
_FROM_TASKS = frozenset({"acknowledge", "decline"})
Upstream = dict[str, frozenset[str]]


class _Plan(NamedTuple):
    """The changes that a line makes besides the coordinator's step. They do not depend on its state."""

    situations: tuple[str, ...]
    acts: tuple[tuple[Callable[[Any], object], int | None, Any], ...]
    """(function, id or None, value): the function's argument is `Line.base` + id; without an id, `value`."""
    received: Messages | None
    """The line receives the message for checkpoint `Line.base` from these. None: `_cause_of` finds it."""


class CoordinatorReader(FileReader):
    """Replays the coordinator's file over all attempts."""

    def __init__(self, run: Run, file: LogFile, settings: Settings) -> None:
        super().__init__(file, run.causes, shaped=run.is_shaped)
        self._run = run
        self._plan, recorded = recorded_first(file)
        self.settings = settings._replace(**recorded)
        self._model: Replayed | None = None
        self._attempt = 0
        self._answered: tuple[int | None] | None = None
        self._messages: dict[str, dict[str, Messages]] = {}
        """By kind and task: the messages of the current attempt."""
        self._plans: dict[int, _Plan] = {}
        """By number of a line's shape (`lines.shape`): the plan of such lines in the current attempt."""
        self._unpublished: set[int] = set()
        self._published: set[int] = set()
        self._finished = False

    def replay(self, line: Line) -> Need | None:
        """As in `FileReader`."""
        if line.component is None:
            self._engine(line)
            return None
        return self._event(line)

    def forget(self, checkpoint: int) -> None:
        """Drop all data about checkpoints below `checkpoint`."""
        for known in (self._unpublished, self._published):
            known.difference_update([one for one in known if one < checkpoint])

    def pending(self) -> tuple[int, ...]:
        """The ids of pending checkpoints."""
        found = () if self._model is None else self._model.state.coordinator.pending
        return tuple(one.checkpoint for one in found)

    # ------------------------------------------------------------ the state at a cut

    def begin_at(
        self, started: Line, statuses: Iterable[Line], completed: Sequence[int], restores: int
    ) -> None:
        """Begin within an attempt, after the checkpoints `completed`, the newest last.

        `started`: the line in which the attempt starts. `statuses`: lines in which the tasks and the job
        become RUNNING. `restores`: the number of restores of this coordinator before the attempt.
        """
        self._answered = (started.fields["restored"],)
        self._start(started.attempt, started.fields)
        run = self._run
        run.completed.update(completed)
        run.attempts_with_completion.add(started.attempt)
        self._model = model = self._new_model(completed[-1] + 1, list(completed))
        for _ in range(restores):
            model.answer({"kind": "restore"})
        for line in statuses:
            if line.component == "coordinator" and line.kind in {"task_status", "job_status"}:
                model.answer(line.event)

    def at_cut(self, checkpoint: int) -> object:
        """Data that influences the replay of later lines, as in `TaskReader.at_cut`.

        Times are relative to the model's clock.
        """
        if self._model is None or self._answered is not None or self._finished or self.line:
            raise NotQuietError("the coordinator starts or ends an attempt")
        session: CoordinatorSession = self._model.state
        coordinator = session.coordinator
        if coordinator.pending or session.handles:
            raise NotQuietError(f"{coordinator.pending[0].checkpoint} is pending")
        later = [
            sorted(one for one in some if one > checkpoint) for some in (self._published, self._unpublished)
        ]
        return self._attempt, without_time(session), later

    # ------------------------------------------------------------ lines of the runtime

    def _engine(self, line: Line) -> None:
        fields = line.fields
        match fields["kind"]:
            case "attempt_started":
                self._start(line.attempt, fields)
            case "coordinator_started":
                self._take_over(int(fields["first_id"]), [int(one) for one in fields["completed"]])
            case "finished":
                self._finished = True
            case "publishing":  # the checkpoint is valid even if the driver dies before it logs completion
                self._published.add(int(fields["checkpoint"]))
            case "publication_failed":
                self._unpublished.add(int(fields["checkpoint"]))
                self._published.discard(int(fields["checkpoint"]))
            case "configured" | "attempt_failed" | "checkpoint_refused" | "fault":
                pass  # `recorded_first` has read the settings; the other lines are information for people
            case unknown:
                raise EventLogError(self.file.name, line.number, f"the coordinator's file has no {unknown!r}")

    def _start(self, number: int, fields: dict[str, Any]) -> None:
        if number in self._run.attempts or number < self._attempt:
            raise Rejected(("ONCE-06",), f"attempt {number} starts after attempt {self._attempt}")
        if self._answered is None:
            why = f"attempt {number} starts, but the coordinator has not answered which checkpoint to restore"
            raise Rejected(("ONCE-04",), why)
        restored = fields["restored"]
        if restored != self._answered[0]:
            why = f"attempt {number} starts from {restored}, the coordinator answered {self._answered[0]}"
            raise Rejected(("ONCE-04",), why)
        self._answered = None
        self._attempt = number
        self._messages.clear()
        self._plans.clear()
        exchanges = tuple(
            (str(one["from"]), str(one["to"]), str(one["partitioning"]))
            for one in fields.get("exchanges", ())
        )
        states = frozenset(map(str, fields.get("states", ())))
        self._run.attempts[number] = Attempt(number, restored, _upstream(fields), exchanges, states)
        situation = "started from the beginning" if restored is None else "restored from a checkpoint"
        self._run.witnessed.see(situation)
        self._run.causes.happened(("attempt", number))

    def _take_over(self, first_id: int, completed: list[int]) -> None:
        """A new coordinator continues from the published checkpoints; ids never descend (COORD-02)."""
        run = self._run
        if self._model is not None:
            if not self._finished:
                run.witnessed.see("attempt failed")  # the driver died too, so no line shows the failure
            expected = self._model.state.coordinator.next_id
            if first_id < expected:
                why = f"the new coordinator begins with id {first_id}, expected {expected}"
                raise Rejected(("COORD-02",), why)
            known = run.completed | run.taken_over_checkpoints | self._unpublished | self._published
            unknown = sorted(set(completed) - known)
            if unknown:
                raise Rejected(("ONCE-04",), f"{unknown} are taken over as complete, but never completed")
        for checkpoint in sorted(set(completed) - run.completed):
            run.taken_over_checkpoints.add(checkpoint)
            run.completed.add(checkpoint)
            run.causes.happened(("completed", checkpoint))
        self._model = self._new_model(first_id, completed)

    def _new_model(self, first_id: int, completed: list[int]) -> Replayed:
        tasks = [{"id": task, "source": not above} for task, above in self._plan.items()]
        config = {"tasks": tasks, **self.settings._asdict()}
        model = self._run.replayed("coordinator", config)
        session: CoordinatorSession = model.state
        store = session.coordinator.store
        store = store._replace(entries=tuple(Entry(one, CHECKPOINT) for one in completed))
        inner = session.coordinator._replace(next_id=first_id, store=store)
        model.state = session._replace(coordinator=inner)
        return model

    # ------------------------------------------------------------ events

    def _event(self, line: Line) -> Need | None:
        if line.component != "coordinator":
            raise Rejected(("COORD-12",), f"the coordinator's file has an event of a {line.component}")
        model = self._model
        if model is None:
            model = self._model = self._new_model(1, [])
        shape = line.shape if line.attempt == self._attempt else None
        plan = None if shape is None else self._plans.get(shape.number)
        if plan is None or plan.received is None or plan.received.receive(line.base):
            need = self._cause_of(line)
            if need is not None:
                return need
        handle = self._checked(line) if line.kind == "acknowledge" else None
        rules = model.known(line, handle)
        if rules is None:
            event = line.event if handle is None else {**line.event, "state": handle}
            rules = model.step(line, event, [_with_name(effect) for effect in line.effects])
        run = self._run
        run.rules.update(rules)
        run.events += 1
        if plan is None:
            plan = self._planned(line)
            if shape is not None:
                self._plans[shape.number] = plan
        for situation in plan.situations:
            run.witnessed.see(situation)
        base = line.base
        for act, relative, named in plan.acts:
            act(named if relative is None else base + relative)
        return None

    def _cause_of(self, line: Line) -> Need | None:
        """The message that this event receives, if it was not sent yet; None if nothing is missing."""
        kind, event, attempt = line.kind, line.given, line.attempt
        if kind == "task_status" and event.get("status") == "RUNNING":
            why = f"{event.get('task')} runs in attempt {attempt}, but it was not deployed in it"
            deployed = ("deployed", attempt, str(event.get("task")))
            if self._run.causes.count(deployed):
                return None
            return Need(deployed, 1, ("COORD-01", "ONCE-06"), why)
        if kind not in _FROM_TASKS:
            return None
        task, checkpoint = event.get("task"), line.checkpoint
        if type(checkpoint) is not int:
            return None
        if kind == "decline" and event.get("reason") == _PUBLICATION_FAILED:
            if checkpoint not in self._unpublished:
                raise Rejected(("COORD-09",), f"no publication of checkpoint {checkpoint} failed")
            kind = "acknowledge"  # the log has this line instead of the last acknowledgement's
        times = self._messages_of(kind, attempt, str(task)).receive(checkpoint)
        if not times:
            return None
        key: Key = (kind, attempt, str(task), checkpoint)
        rules = ("TASK-07", "ONCE-06") if kind == "acknowledge" else ("TASK-04", "TASK-08")
        sent = "was not sent" if times == 1 else "was sent {4} times and came {5} times"
        why = f"the {{0}} of {{1}} for checkpoint {{2}} in attempt {{3}} {sent}"
        return Need(key, times, rules, why, (kind, task, checkpoint, attempt, times - 1, times))

    def _messages_of(self, kind: str, attempt: int, task: str) -> Messages:
        """The messages of one kind to or from `task`. Those of the current attempt are cached."""
        if attempt != self._attempt:
            return self._run.causes.messages(kind, attempt, task)
        of_kind = self._messages.get(kind)
        if of_kind is None:
            of_kind = self._messages[kind] = {}
        found = of_kind.get(task)
        if found is None:
            found = of_kind[task] = self._run.causes.messages(kind, attempt, task)
        return found

    def _checked(self, line: Line) -> str | None:
        """Check attempt and offset in the handle of an acknowledgement. Returns the handle as a string.

        Returns None if the acknowledgement has no handle. Raises Rejected if a field is wrong.
        """
        state = line.state if isinstance(line, ShapedLine) else line.event.get("state")
        if not isinstance(state, dict):
            return state if type(state) is str else None
        attempt, task, checkpoint = line.attempt, str(line.given["task"]), line.checkpoint
        if state.get("attempt", attempt) != attempt:
            why = f"the state of {task} for checkpoint {checkpoint} is of attempt {state['attempt']}"
            raise Rejected(("ONCE-06",), f"{why}, but was acknowledged in attempt {attempt}")
        offset = self._run.offsets.get((task, checkpoint))
        if offset is not None and state.get("offset", offset) not in {offset, None}:
            why = f"{task} snapshotted offset {offset} for checkpoint {checkpoint}"
            raise Rejected(("ONCE-01",), f"{why}, its state has {state['offset']}")
        return _name_of(state)

    def _planned(self, line: Line) -> _Plan:
        """The plan of a line. All lines of its shape have the same plan in this attempt."""
        situations, acts, attempt = [], [], line.attempt
        failing = line.kind == "fail_tasks"
        if failing:
            situations.append("attempt failed")
        for kind, relative, named, effect in line.known_effects:
            act: Callable[[Any], object]
            match kind:
                case "trigger_task":
                    act = self._messages_of("trigger", attempt, effect["task"]).send
                    if effect["type"] != CHECKPOINT_TYPE:
                        acts.append((self._run.savepoints.add, relative, named))
                case "complete":
                    act = partial(self._complete, attempt)
                case "notify_complete":
                    acts.append((self._run.undelivered[attempt, effect["task"]].add, relative, named))
                    act = self._messages_of("complete", attempt, effect["task"]).send
                case "notify_abort":
                    act = self._messages_of("abort", attempt, effect["task"]).send
                case "restored":
                    act = self._answer
                    named = effect["checkpoint"]
                case "abort":
                    if effect["reason"] in _SITUATION_OF_ABORT:
                        situations.append(_SITUATION_OF_ABORT[effect["reason"]])
                    if failing:
                        situations.append("pending one ended by the failure")
                    continue
                case "notify_subsumed" | "rejected" | "acknowledged" | "discard" | "fail_job" | "fail":
                    continue  # no line of another file waits for these effects
                case _:
                    odd = next(one for one in line.effects if one["kind"] == kind)
                    raise unknown_effect("coordinator", odd)
            acts.append((act, relative, named))
        if "notify_subsumed" in line.kinds:
            situations.append("older one replaced")
        return _Plan(tuple(situations), tuple(acts), self._received_by(line))

    def _received_by(self, line: Line) -> Messages | None:
        """The field `received` of the line's plan."""
        kind, shape, event = line.kind, line.shape, line.given
        if kind not in _FROM_TASKS or shape is None or not shape.has_checkpoint:
            return None
        if event.get("reason") == _PUBLICATION_FAILED:
            return None
        return self._messages_of(kind, line.attempt, str(event.get("task")))

    def _complete(self, attempt: int, checkpoint: int) -> None:
        run = self._run
        run.completed.add(checkpoint)
        run.causes.happened(("completed", checkpoint))
        if checkpoint in run.savepoints:
            run.witnessed.see("savepoint completed")
        else:
            run.attempts_with_completion.add(attempt)
            run.witnessed.see("checkpoint completed")

    def _answer(self, checkpoint: int | None) -> None:
        """Record which checkpoint the coordinator has returned for a restore; None: no checkpoint."""
        self._answered = (checkpoint,)


def _with_name(wire: dict[str, Any]) -> dict[str, Any]:
    """Return the event or effect with its handle as a string, if the handle is an object.

    The string lacks the content of a small snapshot, because the handle has its checksum.
    """
    state = wire.get("state")
    if not isinstance(state, dict):
        return wire
    return {**wire, "state": _name_of(state)}


def _name_of(state: dict[str, Any]) -> str:
    named = {name: value for name, value in state.items() if name != "content"}
    return orjson.dumps(named, option=orjson.OPT_SORT_KEYS).decode()


def _upstream(fields: dict[str, Any]) -> Upstream:
    edges = [(str(above), str(below)) for above, below in fields["edges"]]
    return {
        task: frozenset(above for above, below in edges if below == task)
        for task in map(str, fields["tasks"])
    }


def recorded_first(file: LogFile) -> tuple[Upstream, dict[str, Any]]:
    """Read the tasks of the first attempt, with the senders of each, and the settings that the log records.

    Raises EventLogError if no line starts an attempt, or its fields are malformed.
    """
    recorded: dict[str, Any] = {}
    for line in file.lines():
        if line.component is not None:
            continue
        if line.fields["kind"] == "configured":
            recorded = {name: line.fields[name] for name in Settings._fields if name in line.fields}
        if line.fields["kind"] == "attempt_started":
            try:
                return _upstream(line.fields), recorded
            except (KeyError, TypeError, ValueError) as odd:
                why = f"expected 'edges', pairs of tasks, and 'tasks', {type(odd).__name__}: {odd}"
                raise EventLogError(file.name, line.number, why) from odd
    raise EventLogError(file.name, 0, "expected a line 'attempt_started'; the run has no attempt")
