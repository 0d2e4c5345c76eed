"""Runs a small dataflow of the model's components by a seed, and writes its event log.

It has two sources, two counters and one sink. Channels are queues, messages arrive in any order, and an
attempt may fail at a given step. This module states no rule: it sends each event to a component, and carries
out the effects.
"""

import json
import random
from collections import deque
from pathlib import Path
from typing import Any

from model.components import COMPONENTS

SOURCES, COUNTERS, SINKS = ("src-0", "src-1"), ("count-0", "count-1"), ("sink-0",)
TASKS = (*SOURCES, *COUNTERS, *SINKS)
UPSTREAM = {
    **dict.fromkeys(SOURCES, ()),
    **dict.fromkeys(COUNTERS, SOURCES),
    **dict.fromkeys(SINKS, COUNTERS),
}
DOWNSTREAM = {task: tuple(below for below in TASKS if task in UPSTREAM[below]) for task in TASKS}
Wire = dict[str, Any]
ROOM = 6  # so many items fill a channel; its source then waits


class Recorded:
    """A component of the model that writes its events to the log."""

    def __init__(self, run: "SimulatedRun", name: str, config: Wire, file: str, task: str) -> None:
        self.run, self.name, self.file, self.task = run, name, file, task
        self.state = COMPONENTS[name].new(config)

    def apply(self, event: Wire, **extras: Any) -> list[Wire]:
        self.state, effects, _ = COMPONENTS[self.name].apply(self.state, event)
        fields = {"component": self.name, "event": event, "effects": effects, **extras}
        self.run.line(self.file, self.task, fields)
        return effects


class SimulatedTask:
    def __init__(self, run: "SimulatedRun", task: str, restored: int | None) -> None:
        self.run, self.task = run, task
        self.file = f"{run.attempt}-{task}"
        run.line(
            self.file, task, {"kind": "deployed", "channels": list(UPSTREAM[task]), "restored": restored}
        )
        self.sent = dict.fromkeys(DOWNSTREAM[task], 0)
        self.received = [0] * len(UPSTREAM[task])
        self.inputs: list[deque[tuple[str, int]]] = [deque() for _ in UPSTREAM[task]]
        config = {"channels": max(1, len(self.inputs)), "level": "handler"}
        self.gate = Recorded(run, "gate", config, self.file, task)
        known = {} if restored is None else {"restored": restored}
        config = {"max_concurrent": run.max_concurrent, **known}
        self.steps = Recorded(run, "subtask", config, self.file, task)
        self.offset = run.offsets.get((task, restored), 0)
        self.rows = self.rows_before = 0
        self.writing: list[int] = []
        self.ended = False
        if task in SINKS:
            if restored is not None:
                sink = run.sinks[task]
                sink.file = self.file
                sink.state = COMPONENTS["sink"].apply(sink.state, {"kind": "crash"})[0]
                sink.apply({"kind": "restore", "checkpoint": restored})
            else:
                run.sinks[task] = Recorded(run, "sink", {}, self.file, task)

    def emit(self, below: str, what: tuple[str, int]) -> None:
        self.run.tasks[below].inputs[UPSTREAM[below].index(self.task)].append(what)

    def moves(self) -> list[Any]:
        """The possible next actions of this task."""
        found: list[Any] = [lambda n=n: self.written(n) for n in self.writing]
        if self.task in SOURCES:
            waiting = max(
                len(queue) for below in DOWNSTREAM[self.task] for queue in self.run.tasks[below].inputs
            )
            if self.offset < self.run.records and waiting < ROOM:
                found.append(self.produce)
            return found
        blocked = self.gate.state.inbox.gate.blocked
        return found + [
            lambda c=channel: self.receive(c)
            for channel, queue in enumerate(self.inputs)
            if queue and not blocked[channel]
        ]

    def produce(self) -> None:
        self.offset += 1
        self.pass_on(self.offset)

    def pass_on(self, number: int) -> None:
        below = DOWNSTREAM[self.task][number % len(DOWNSTREAM[self.task])]
        self.sent[below] += 1
        self.emit(below, ("record", number))

    def receive(self, channel: int) -> None:
        kind, value = self.inputs[channel].popleft()
        if kind == "record":
            self.received[channel] += 1
            if self.task in SINKS:
                self.rows += 1
            else:
                self.pass_on(value)
            return
        event = {"kind": kind, "channel": channel} | ({} if value < 0 else {"checkpoint": value})
        extras = {"records": self.received[channel]} if kind == "barrier" else {}
        for effect in self.gate.apply(event, **extras):
            if effect["kind"] == "trigger":
                self.step({"kind": "checkpoint", "checkpoint": effect["checkpoint"]})
            elif effect["kind"] == "abort":
                self.step({**effect, "kind": "abort_on_barrier"})
        if kind == "end_of_partition" and all(self.gate.state.inbox.gate.closed):
            self.end()

    def end(self) -> None:
        for below in DOWNSTREAM[self.task]:
            self.emit(below, ("end_of_partition", -1))
        self.ended = True
        self.run.line(self.file, self.task, {"kind": "finished"})

    def written(self, checkpoint: int) -> None:
        self.writing.remove(checkpoint)
        self.step({"kind": "async_done", "checkpoint": checkpoint})

    def step(self, event: Wire) -> None:
        extras: Wire = {}
        if event["kind"] == "checkpoint":
            extras["sent"] = dict(self.sent)
            if self.task in SOURCES:
                extras["offset"] = self.offset
        for effect in self.steps.apply(event, **extras):
            self.carry_out(effect)

    def carry_out(self, effect: Wire) -> None:
        kind, checkpoint = effect["kind"], effect["checkpoint"]
        if kind.startswith("broadcast_"):
            for below in DOWNSTREAM[self.task]:
                self.emit(below, (kind.removeprefix("broadcast_"), checkpoint))
        elif kind == "snapshot":
            self.run.offsets[self.task, checkpoint] = self.offset
            self.writing.append(checkpoint)
            if self.task in SINKS:
                self.run.sinks[self.task].apply(
                    {"kind": "snapshot", "checkpoint": checkpoint}, rows=self.rows - self.rows_before
                )
                self.rows_before = self.rows
        elif kind in {"acknowledge", "decline"}:
            self.run.messages.append(("coordinator", {**effect, "task": self.task}))
        elif kind.startswith("notify_") and self.task in SINKS:
            self.run.sinks[self.task].apply(effect)


class SimulatedRun:
    """One run of the dataflow.

    `fail_at`: the steps at which the attempt fails. `checkpoint_every`: the steps between two requests; 0
    means that a checkpoint starts whenever nothing else can happen. `checkpoints`: the number of checkpoints
    before the last one.
    """

    def __init__(
        self,
        folder: Path,
        *,
        seed: int = 0,
        records: int = 40,
        fail_at: tuple[int, ...] = (),
        checkpoint_every: int = 30,
        max_concurrent: int = 1,
        checkpoints: int = 12,
    ) -> None:
        self.folder, self.records, self.max_concurrent = folder, records, max_concurrent
        self.random = random.Random(seed)
        self.fail_at, self.checkpoint_every, self.checkpoints = set(fail_at), checkpoint_every, checkpoints
        self.logged: dict[str, list[str]] = {}
        self.attempt = 1
        self.offsets: dict[tuple[str, int | None], int] = {}
        self.sinks: dict[str, Recorded] = {}
        self.tasks: dict[str, SimulatedTask] = {}
        self.ending = False
        self.messages: list[tuple[str, Wire]] = []
        self.line("coordinator", "coordinator", {"kind": "configured", "max_concurrent": max_concurrent})
        plan = [{"id": task, "source": task in SOURCES} for task in TASKS]
        config = {"tasks": plan, "max_concurrent": max_concurrent}
        self.coordinator = Recorded(self, "coordinator", config, "coordinator", "coordinator")

    def line(self, file: str, task: str, fields: Wire) -> None:
        lines = self.logged.setdefault(file, [])
        lines.append(json.dumps({"attempt": self.attempt, "task": task, "seq": len(lines), **fields}))

    def execute(self) -> Path:
        """Runs to the end. Returns the folder of the event log."""
        self.start()
        step = 0
        while not all(task.ended for task in self.tasks.values()):
            step += 1
            if step in self.fail_at:
                self.fail()
            moves = [move for task in self.tasks.values() for move in task.moves()]
            moves += [lambda m=message: self.deliver(m) for message in self.messages]
            if not moves or (self.checkpoint_every and step % self.checkpoint_every == 0):
                self.checkpoint_or_end(idle=not moves)
            else:
                self.random.choice(moves)()
        self.coordinate({"kind": "job_status", "status": "FINISHED"})
        self.folder.mkdir(parents=True, exist_ok=True)
        for file, lines in self.logged.items():
            (self.folder / f"{file}.jsonl").write_text("\n".join(lines) + "\n")
        return self.folder

    def checkpoint_or_end(self, *, idle: bool) -> None:
        """Requests a checkpoint.

        When nothing else can happen, it requests the last one, and then ends the inputs.
        """
        if self.ending:
            assert not idle, "the simulated run is stuck"
            return
        coordinator = self.coordinator.state.coordinator
        if not self.checkpoint_every and coordinator.next_id <= self.checkpoints and not coordinator.pending:
            if idle:
                self.coordinate({"kind": "trigger", "type": "checkpoint"})
            return
        if idle and self.sinks["sink-0"].state.finished:
            self.ending = True
            for task in SOURCES:
                self.tasks[task].end()
            return
        if idle and self.coordinator.state.coordinator.pending:  # it will never be acknowledged
            self.coordinate({"kind": "advance", "ms": 600_000})
            return
        if idle:
            self.sinks["sink-0"].apply({"kind": "finish"})
        state = self.coordinator.state.coordinator
        if idle or (len(state.pending) < self.max_concurrent and state.next_id <= self.checkpoints):
            self.coordinate({"kind": "trigger", "type": "checkpoint"})

    def start(self) -> None:
        restored = self.coordinate({"kind": "restore"})[0]["checkpoint"]
        edges = [[above, below] for below in TASKS for above in UPSTREAM[below]]
        started = {"kind": "attempt_started", "restored": restored, "tasks": list(TASKS), "edges": edges}
        self.line("coordinator", "coordinator", started)
        self.messages = []
        self.ending = False
        self.tasks = {task: SimulatedTask(self, task, restored) for task in TASKS}
        for task in TASKS:
            self.coordinate({"kind": "task_status", "task": task, "status": "RUNNING"})
        self.coordinate({"kind": "job_status", "status": "RUNNING"})

    def fail(self) -> None:
        self.line("coordinator", "coordinator", {"kind": "attempt_failed", "reason": "told so"})
        self.coordinate({"kind": "fail_tasks", "tasks": list(TASKS)})
        self.attempt += 1
        self.start()

    def deliver(self, message: tuple[str, Wire]) -> None:
        self.messages.remove(message)
        task, said = message
        if task != "coordinator":
            self.tasks[task].step(said)
        else:
            acknowledges = said["kind"] == "acknowledge"
            handle = {"state": f"{said['task']}@{said['checkpoint']}"} if acknowledges else {}
            self.coordinate({**said, **handle})

    def coordinate(self, event: Wire) -> list[Wire]:
        effects = self.coordinator.apply(event)
        completed = [entry.checkpoint for entry in self.coordinator.state.coordinator.store.entries]
        words = {"trigger_task": "checkpoint", "notify_complete": "complete_notification"}
        for effect in effects:
            if effect["kind"] in words:
                told = {"kind": words[effect["kind"]], "checkpoint": effect["checkpoint"]}
                self.messages.append((effect["task"], told))
            elif effect["kind"] == "notify_abort" and event["kind"] != "fail_tasks":
                newest = completed[-1] if completed else -1
                told = {"kind": "abort_notification", "checkpoint": effect["checkpoint"], "completed": newest}
                self.messages.append((effect["task"], told))
        return effects
