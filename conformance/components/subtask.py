"""The snapshot steps of a subtask in the suite: configurations, random events, and the binding to TLA+."""

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from random import Random
from typing import TYPE_CHECKING

from conformance.adapters.protocol import Wire
from conformance.compare.projection import Given, Projection, projected
from conformance.components.component import Component
from conformance.components.tla_records import IDS, Record, fields
from conformance.divergence import Divergence
from conformance.drive.oracle import Edge
from conformance.generators.chooser import Chooser, every
from conformance.suites.components import subtask_alphabets
from conformance.vectors.tla.binding import Binding, highest, rules_of
from conformance.vectors.tla.text import Raw, Word, filled, plain, steps
from model.events import NONE
from model.subtask.environment import closed_subtask
from model.subtask.profiles import NEWEST_TASK, TASK_PROFILES
from model.subtask.subtask import CheckpointOnBarrier

if TYPE_CHECKING:
    from model.checker.prove import Case

SUBTASK = Record(
    *fields("last", "aborted", "completed", "failed", runs="task_runs", highest="highest_aborted"),
    *fields("running", of=IDS),
)

_FAILURE: Word = ("fail", "snapshot")
"""The failure of a task in the TLA+ module, which does not have the text of a failure."""
_TASK_SWITCHES = ("1.9", "1.10", "1.11", "1.14", "1.15", "1.17")
"""The first release of each generation: each has a set of switches in SubtaskGenerations.tla."""


def project_subtask(given: Given) -> Projection:
    """Pairs SubtaskModel.tla with the closed model of the subtask.

    Only models of two ids have a z3 relation; making that of three ids takes a second.
    """
    from model.subtask.proofs.subtask import subtask_cases

    ids, remembered = given.number("M"), given.number("MaxRemembered")
    profile = TASK_PROFILES[given.generation("TaskSwitches", "Task_") or NEWEST_TASK.name]
    closed = closed_subtask(
        ids,
        remembered,
        profile,
        completable=given.sets["Completable"],
        barriers=given.flag("Barriers"),
        restored=max(given.sets["Restored"], default=NONE),
    )

    def cases() -> "list[Case]":
        shapes = product(range(remembered + 1), range(ids + 1))
        return [case for shape in shapes for case in subtask_cases(*shape, remembered, profile)]

    return projected(
        closed, "subtask", ("task", SUBTASK), event=_event, effect=_effect, cases=cases if ids == 2 else None
    )


def _event(event: Wire) -> Word:
    if event["kind"] == "checkpoint_on_barrier":  # not in the adapter protocol
        return ("checkpoint_on_barrier", event["checkpoint"], event["fails"])
    return plain("subtask", filled("subtask", event))


def _effect(effect: Wire) -> Word:
    return _FAILURE if effect["kind"] == "fail" else plain("subtask", effect)


def _switches_since(release: str) -> str:
    releases = list(TASK_PROFILES)
    since = [one for one in _TASK_SWITCHES if releases.index(one) <= releases.index(release)]
    return since[-1].replace(".", "_")


def bind_subtask(divergence: Divergence, edges: Sequence[Edge]) -> Binding:
    """The binding of the snapshot steps of a subtask."""
    config = divergence.config
    named = config.get("profile", NEWEST_TASK.name)
    restored = config.get("restored", NONE)
    ids = max(highest(divergence.events, "checkpoint", "completed"), restored)
    return Binding(
        "subtask",
        module="SubtaskModel",
        state="task",
        constants={
            "M": ids,
            "Completable": frozenset(range(1, ids + 1)),
            "Barriers": False,
            "Restored": frozenset({restored} - {NONE}),
            "MaxRemembered": TASK_PROFILES[named].remembers or config.get("max_concurrent", 1),
            "TaskSwitches": Raw(f"Task_{_switches_since(named)}"),
        },
        steps=steps("subtask", "task", checkpoint="OnTrigger(task, event[2], event[3])"),
        fields=SUBTASK.shows("subtask", running_task=lambda seen: {"runs": str(seen).upper()}),
        rules=rules_of("subtask"),
        guard="""~task.failed
    /\\ event[1] = "checkpoint" => TaskHas("orders_triggers") \\/ event[2] \\notin task.running""",
        event=lambda event, edge: _event(event),
        failure=_FAILURE,
    )


# ---------------------------------------------------------------- random events

_PROFILES = ("2.3", "1.9", "2.3", "1.10", "1.11", "1.14", "2.3", "1.15", "1.17")
CONFIGS: list[Wire] = [
    *every(max_concurrent=(1, 2, 3), profile=_PROFILES),
    *every(max_concurrent=2, profile=("2.3", "1.11", "2.3", "1.14"), restored=2),
]
"""The configurations of walks. The newest generation occurs more often than each other one."""

_REASONS = ("SUBSUMED", "ON_CANCELLATION_BARRIER", "INPUT_END_OF_STREAM")


def walk_subtask(config: Wire, rng: Random, injects: bool) -> Chooser:
    """A function that draws triggers, aborts, notifications, and ends of asynchronous parts and the task."""
    draw = rng.random
    drawn = _Drawn(draw, 1 + int(draw() * 3))
    makers = (
        (0.3, drawn.checkpoint),
        (0.48, drawn.abort_notification),
        (0.58, drawn.abort_on_barrier),
        (0.68, drawn.complete_notification),
        (0.73, drawn.subsumed_notification),
        (0.83, drawn.async_done),
        (0.94, drawn.async_failed),
        (0.96, drawn.status),
        (0.98, drawn.close),
        (1.0, drawn.stray),
    )

    def choose(observed: Wire) -> Wire:
        if not observed["running_task"] and draw() < 0.5:
            return {"kind": "status", "running": True}
        luck = draw()
        return next(maker for below, maker in makers if luck < below)(observed)

    return choose


class _Drawn:
    """Draws events. It has a method for each kind, whose argument is the observable state."""

    def __init__(self, draw: Callable[[], float], spread: int) -> None:
        self._draw = draw
        self._spread = spread
        """The distance by which an abort may precede its trigger."""

    def _near(self, observed: Wire) -> int:
        newest = max(observed["last"], *observed["running"], 0)
        return max(0, int(newest) + int(self._draw() * 5) - 1)

    def _known(self, observed: Wire) -> int:
        running = observed["running"]
        if running and self._draw() < 0.8:
            return int(running[int(self._draw() * len(running))])
        return self._near(observed)

    def checkpoint(self, observed: Wire) -> Wire:
        aborted = observed["aborted"]
        again = aborted[0] if aborted and self._draw() < 0.5 else self._near(observed)
        if self._draw() < 0.03:
            return {"kind": "checkpoint", "checkpoint": again, "fails": True}
        return {"kind": "checkpoint", "checkpoint": again}

    def abort_notification(self, observed: Wire) -> Wire:
        completed = max(-1, int(observed["completed"]) + int(self._draw() * 3) - 1)
        if self._draw() < 0.3:
            checkpoint = self._known(observed)
        else:
            checkpoint = self._near(observed) + int(self._draw() * self._spread)
        return {"kind": "abort_notification", "checkpoint": checkpoint, "completed": completed}

    def abort_on_barrier(self, observed: Wire) -> Wire:
        reason = _REASONS[int(self._draw() * len(_REASONS))]
        return {"kind": "abort_on_barrier", "checkpoint": self._near(observed), "reason": reason}

    def complete_notification(self, observed: Wire) -> Wire:
        completed = max(0, int(observed["completed"]) + int(self._draw() * 4) - 1)
        return {"kind": "complete_notification", "checkpoint": completed}

    def subsumed_notification(self, observed: Wire) -> Wire:
        return {"kind": "subsumed_notification", "checkpoint": self._near(observed)}

    def async_done(self, observed: Wire) -> Wire:
        return {"kind": "async_done", "checkpoint": self._known(observed)}

    def async_failed(self, observed: Wire) -> Wire:
        if self._draw() < 0.4:
            return {"kind": "async_failed", "checkpoint": self._known(observed), "reason": "IO_EXCEPTION"}
        return {"kind": "async_failed", "checkpoint": self._known(observed)}

    def status(self, observed: Wire) -> Wire:
        return {"kind": "status", "running": self._draw() < 0.4}

    def close(self, observed: Wire) -> Wire:
        return {"kind": "close"}

    def stray(self, observed: Wire) -> Wire:
        if self._draw() < 0.5:
            return {"kind": "checkpoint", "checkpoint": -1}
        return {"kind": "no_such_event"}


def directed_subtask() -> "Iterator[Case]":
    """The symbolic cases of a subtask with at most two remembered aborts and two snapshots, no barriers."""
    from model.subtask.proofs.subtask import subtask_cases

    for aborted, running in product((0, 1, 2), repeat=2):
        cases = subtask_cases(aborted, running, 2)
        yield from (case for case in cases if type(case.event) is not CheckpointOnBarrier)


COMPONENT = Component(
    alphabets=subtask_alphabets,
    configs=CONFIGS,
    walks=1000,
    paths_hit=190,
    walk=walk_subtask,
    cases=directed_subtask,
    projections={"SubtaskModel": project_subtask},
    bind=bind_subtask,
)
