"""The coordinator's file, replayed: every message it got was sent, and what it starts is an attempt.

Beside the model's own guards: an acknowledgement was sent by that task in that attempt (TASK-07), each
counts as often as it was sent, and an attempt starts from what the coordinator answered (ONCE-04).
"""

from collections.abc import Iterator
from typing import Any

import orjson

from conformance.observe.causes import Key, Need
from conformance.observe.eventlog import EventLogError, Line, LogFile
from conformance.observe.replay import Effects, Rejected, Replayed, unknown_effect
from conformance.observe.run import Attempt, Run, Settings, task_of
from model.coordinator.wire.coordinator import CoordinatorSession
from model.store.store import CHECKPOINT, Entry

CHECKPOINT_TYPE = "checkpoint"
"""Of what belongs to the job itself; savepoints, whether they stop it or not, are their users'."""
_PUBLICATION_FAILED = "FINALIZE_CHECKPOINT_FAILURE"


class CoordinatorReader:
    """Replays the coordinator's file over all attempts."""

    def __init__(self, run: Run, file: LogFile, settings: Settings) -> None:
        self.file = file
        self.line: Line | None = None
        self._run = run
        self._lines = file.lines()
        self._plan, told = _told_first(file)
        self.settings = settings._replace(**told)
        self._model: Replayed | None = None
        self._attempt = 0
        self._answered: tuple[int | None] | None = None
        self._received: dict[Key, int] = {}
        self._unpublished: set[int] = set()
        self._published: set[int] = set()
        self._finished = False

    def advance(self) -> Need | None:
        """Replay until the end, or until an event has to wait. Raises Rejected and EventLogError."""
        while True:
            if self.line is None:
                self.line = next(self._lines, None)
                if self.line is None:
                    return None
            if self.line.component is None:
                self._engine(self.line)
            else:
                need = self._event(self.line)
                if need is not None:
                    return need
            self.line = None

    def remaining(self) -> Iterator[Line]:
        """What was not replayed, the waiting line first; the file cannot be replayed after this."""
        if self.line is not None:
            yield self.line
        yield from self._lines

    # ------------------------------------------------------------ words of the engine

    def _engine(self, line: Line) -> None:
        fields = line.fields
        match fields["kind"]:
            case "attempt_started":
                self._start(line.attempt, fields)
            case "coordinator_started":
                self._take_over(int(fields["first_id"]), [int(one) for one in fields["completed"]])
            case "finished":
                self._finished = True
            case "publishing":  # it stands, if the driver dies now, although nobody logs its completion
                self._published.add(int(fields["checkpoint"]))
            case "publication_failed":
                self._unpublished.add(int(fields["checkpoint"]))
                self._published.discard(int(fields["checkpoint"]))
            case "configured" | "attempt_failed" | "checkpoint_refused" | "fault":
                pass  # the bounds are read before; the others explain a run to its reader
            case unknown:
                raise EventLogError(self.file.name, line.number, f"the coordinator's file has no {unknown!r}")

    def _start(self, number: int, fields: dict[str, Any]) -> None:
        if number in self._run.attempts or number < self._attempt:
            raise Rejected(("ONCE-06",), f"attempt {number} starts after attempt {self._attempt}")
        if self._answered is None:
            raise Rejected(("ONCE-04",), f"attempt {number} starts and nobody asked what to restore")
        restored = fields["restored"]
        if restored != self._answered[0]:
            why = f"attempt {number} starts from {restored}, the coordinator answered {self._answered[0]}"
            raise Rejected(("ONCE-04",), why)
        self._answered = None
        self._attempt = number
        told = fields.get("exchanges", ())
        exchanges = tuple((str(one["from"]), str(one["to"]), str(one["partitioning"])) for one in told)
        states = frozenset(map(str, fields.get("states", ())))
        self._run.attempts[number] = Attempt(number, restored, _upstream(fields), exchanges, states)
        seen = "started from the beginning" if restored is None else "restored from a checkpoint"
        self._run.witnessed.see(seen)
        self._run.causes.happened(("attempt", number))

    def _take_over(self, first_id: int, completed: list[int]) -> None:
        """A new coordinator goes on from what is published; ids never go back (COORD-02)."""
        known = self._run.completed | self._run.taken_over
        if self._model is not None:
            if not self._finished:
                self._run.witnessed.see("attempt failed")  # with the driver, which has logged no failure
            expected = self._model.state.coordinator.next_id
            if first_id < expected:
                why = f"the new coordinator begins with id {first_id}, {expected} was to be next"
                raise Rejected(("COORD-02",), why)
            strange = sorted(set(completed) - known - self._unpublished - self._published)
            if strange:
                raise Rejected(("ONCE-04",), f"{strange} are taken over as complete; they never completed")
        self._run.taken_over.update(set(completed) - self._run.completed)
        for checkpoint in sorted(set(completed) - self._run.completed):
            self._run.completed.add(checkpoint)
            self._run.causes.happened(("completed", checkpoint))
        self._model = self._new_model(first_id, completed)

    def _new_model(self, first_id: int, completed: list[int]) -> Replayed:
        tasks, upstream = self._plan
        config = {"tasks": task_of(tasks, upstream), **self.settings._asdict()}
        model = Replayed("coordinator", config, self._run.record)
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
        if self._model is None:
            self._model = self._new_model(1, [])
        event = line.event
        kind = event["kind"]
        need = self._cause_of(line.attempt, kind, event)
        if need is not None:
            if self._run.causes.count(need.key) < need.times:
                return need
            self._received[need.key] = need.times
        if kind == "acknowledge":
            event = self._checked(line.attempt, event)
        rules = self._model.step(line, event, _spelled(line.effects))
        self._run.rules.update(rules)
        self._run.events += 1
        self._carry(line)
        if not self._model.state.coordinator.pending:  # no handle is remembered any more
            self._model.state = self._model.state._replace(handles=())
        return None

    def _cause_of(self, attempt: int, kind: str, event: dict[str, Any]) -> Need | None:
        """The message that this event is the receipt of; None for what comes from outside."""
        task, checkpoint = event.get("task"), event.get("checkpoint")
        if kind == "task_status" and event.get("status") == "RUNNING":
            why = f"{task} runs in attempt {attempt}, but it was not deployed in it"
            return Need(("deployed", attempt, str(task)), 1, ("COORD-01", "ONCE-06"), why)
        if kind not in {"acknowledge", "decline"} or type(checkpoint) is not int:
            return None
        if kind == "decline" and event.get("reason") == _PUBLICATION_FAILED:
            if checkpoint not in self._unpublished:
                raise Rejected(("COORD-09",), f"no publication of checkpoint {checkpoint} failed")
            kind = "acknowledge"  # the last one, whose publication failed
        key = (kind, attempt, str(task), checkpoint)
        count = self._received.get(key, 0) + 1
        times = "was not sent" if count == 1 else f"was sent {count - 1} times and came {count} times"
        why = f"the {kind} of {task} for checkpoint {checkpoint} in attempt {attempt} {times}"
        rules = ("TASK-07", "ONCE-06") if kind == "acknowledge" else ("TASK-04", "TASK-08")
        return Need(key, count, rules, why)

    def _checked(self, attempt: int, event: dict[str, Any]) -> dict[str, Any]:
        """The acknowledgement with its handle as one word; what the handle tells is compared."""
        state = event.get("state")
        if not isinstance(state, dict):
            return event
        task, checkpoint = str(event["task"]), event["checkpoint"]
        if state.get("attempt", attempt) != attempt:
            why = f"the state of {task} for checkpoint {checkpoint} is of attempt {state['attempt']}"
            raise Rejected(("ONCE-06",), f"{why}, it came in attempt {attempt}")
        offset = self._run.offsets.get((task, checkpoint))
        if offset is not None and state.get("offset", offset) not in {offset, None}:
            why = f"{task} snapshotted offset {offset} for checkpoint {checkpoint}"
            raise Rejected(("ONCE-01",), f"{why}, its state says {state['offset']}")
        return {**event, "state": _word(state)}

    def _carry(self, line: Line) -> None:
        """What the coordinator says is a cause elsewhere, and perhaps a situation."""
        run, attempt = self._run, line.attempt
        see, happened = run.witnessed.see, run.causes.happened
        failing = line.kind == "fail_tasks"
        if failing:
            see("attempt failed")
        if any(effect["kind"] == "notify_subsumed" for effect in line.effects):
            see("older one replaced")
        for effect in line.effects:
            match effect:
                case {"kind": "trigger_task", "task": str(task), "checkpoint": int(checkpoint), "type": of}:
                    if of != CHECKPOINT_TYPE:
                        run.savepoints.add(checkpoint)
                    happened(("trigger", attempt, task, checkpoint))
                case {"kind": "complete", "checkpoint": int(checkpoint)}:
                    run.completed.add(checkpoint)
                    happened(("completed", checkpoint))
                    if checkpoint in run.savepoints:
                        see("savepoint completed")
                    else:
                        run.went_on.add(attempt)
                        see("checkpoint completed")
                case {"kind": "notify_complete", "task": str(task), "checkpoint": int(checkpoint)}:
                    run.told.append((attempt, task, checkpoint))
                    happened(("complete", attempt, task, checkpoint))
                case {"kind": "notify_abort", "task": str(task), "checkpoint": int(checkpoint)}:
                    happened(("abort", attempt, task, checkpoint))
                case {"kind": "restored", "checkpoint": checkpoint}:
                    self._answered = (checkpoint,)
                case {"kind": "abort", "reason": str(reason)}:
                    self._aborted(reason, failing)
                case {
                    "kind": "rejected" | "acknowledged" | "discard" | "notify_subsumed" | "fail_job" | "fail"
                }:
                    pass  # no cause of anything in another file
                case _:
                    raise unknown_effect("coordinator", effect)

    def _aborted(self, reason: str, failing: bool) -> None:
        see = self._run.witnessed.see
        if reason == "CHECKPOINT_SUBSUMED":
            see("older one replaced")
        if reason == "CHECKPOINT_EXPIRED":
            see("expired")
        if failing:
            see("pending one ended by the failure")


def _spelled(effects: Effects) -> Effects:
    """The effects with the handle of a discarded state as one word."""
    if not any(isinstance(effect.get("state"), dict) for effect in effects):
        return effects
    return [
        {**effect, "state": _word(effect["state"])} if isinstance(effect.get("state"), dict) else effect
        for effect in effects
    ]


def _word(state: dict[str, Any]) -> str:
    """A handle; a small snapshot travels in its handle, which tells its checksum besides."""
    told = {name: value for name, value in state.items() if name != "content"}
    return orjson.dumps(told, option=orjson.OPT_SORT_KEYS).decode()


def _upstream(fields: dict[str, Any]) -> dict[str, frozenset[str]]:
    edges = [(str(above), str(below)) for above, below in fields["edges"]]
    return {
        task: frozenset(above for above, below in edges if below == task)
        for task in map(str, fields["tasks"])
    }


def _told_first(file: LogFile) -> tuple[tuple[list[str], dict[str, frozenset[str]]], dict[str, Any]]:
    """The plan, which stays the same over the attempts, and the settings that the log tells itself."""
    told: dict[str, Any] = {}
    for line in file.lines():
        if line.component is not None:
            continue
        if line.fields["kind"] == "configured":
            told = {name: line.fields[name] for name in Settings._fields if name in line.fields}
        if line.fields["kind"] == "attempt_started":
            try:
                upstream = _upstream(line.fields)
            except (KeyError, TypeError, ValueError) as odd:
                why = f"expected 'edges', pairs of tasks, and 'tasks', {type(odd).__name__}: {odd}"
                raise EventLogError(file.name, line.number, why) from odd
            return (list(upstream), upstream), told
    raise EventLogError(file.name, 0, "expected a line 'attempt_started'; the run has no attempt")
