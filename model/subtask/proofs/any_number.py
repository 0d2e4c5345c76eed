"""The subtask with any number of running snapshots and of remembered aborts, in every generation.

There are no remembered aborts, or a first one and any number of others. The first one is separate, because a
step that exceeds the bound drops it. `HELPERS` replaces two functions of the model by functions over ropes.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import z3

from model.checker.any_number.cases import RopeCase, start_case, step_by
from model.checker.any_number.frames import is_permitted
from model.checker.any_number.members import Behaviour, Group, Many
from model.checker.any_number.recompiled_model import Helpers, Reread
from model.checker.any_number.rope import Rope
from model.checker.any_number.sequence_functions import any_, display, enumerate_, tuple_
from model.checker.symbolic import SymbolicInt, int_term, symbolic_like
from model.events import Close, Event, Status
from model.subtask.events import (
    AbortNotification,
    AbortOnBarrier,
    AsyncDone,
    AsyncFailed,
    Checkpoint,
    CompleteNotification,
    SubsumedNotification,
)
from model.subtask.profiles import DISTINCT, NEWEST_TASK, TaskProfile

ABORTED, RUNNING = Group("later aborts", distinct=True), Group("running snapshots", distinct=True)
SIZES = (ABORTED.size >= 0, RUNNING.size >= 0)
FEW = (ABORTED.size == 0, RUNNING.size == 0)
"""At most one remembered abort, and no running snapshot."""


def ascending(ids: tuple[int, ...], new: int) -> tuple[int, ...]:
    """`model.subtask.subtask.ascending` for a rope: the ids below the new one, the new one, the others."""
    below, others = (
        tuple_(known for known in ids if known < new),
        tuple_(known for known in ids if known >= new),
    )
    return display((True, below), (False, new), (True, others))


def pruned(aborted: tuple[int, ...], last: int) -> tuple[int, ...]:
    """`model.subtask.subtask.pruned` for a rope: the aborts from the first one that is not below `last`."""
    return tuple_(
        known
        for place, known in enumerate_(aborted)
        if any_(earlier >= last for earlier in aborted[: place + 1])
    )


HELPERS: Mapping[str, Helpers] = {
    "model.event_frames": {"is_permitted": is_permitted},
    "model.subtask.subtask": {"ascending": ascending, "pruned": pruned},
}


def ids(group: Group) -> Many:
    """A symbolic id for each member of the group."""
    of: Callable[[z3.ArithRef], z3.ArithRef] = z3.Function(f"{group}", z3.IntSort(), z3.IntSort())
    value = SymbolicInt(of(group.variable))
    return Many(group, group.variable, [Behaviour(z3.BoolVal(True), (value,))], every=True)


def subtask_cases(reread: Reread, profile: TaskProfile = NEWEST_TASK) -> Iterator[RopeCase]:
    """Yields a new subtask, and every event at a subtask in any state."""
    subtask = reread.module("model.subtask.subtask")
    registries = (
        reread.module("model.subtask.properties.subtask").SUBTASK,
        reread.module("model.subtask.properties.generations").SUBTASK_GENERATIONS,
    )
    properties = tuple(found for registry in registries for found in registry.properties)
    step = step_by(reread.module("model.subtask.generations").subtask_steps)
    new = subtask.new_subtask(symbolic_like(0, "at once"), profile, symbolic_like(0, "restored"))
    bound = int_term(new.remembered_at_most) > 0
    yield start_case("subtask", new, properties, (bound, *SIZES))
    for aborts in _aborts(profile):
        state: Any = symbolic_like(new._replace(remembered_at_most=0), "subtask")._replace(
            aborted=aborts, running=Rope((ids(RUNNING),)), failed=False, profile=profile
        )
        state = state._replace(remembered_at_most=new.remembered_at_most)
        if not profile.orders_triggers:
            state = state._replace(last=new.last)
        if not profile.completes_in_order:
            state = state._replace(completed=new.completed)
        if not profile.infers_aborts:
            state = state._replace(highest_aborted=new.highest_aborted)
        for event in _events(subtask.CheckpointOnBarrier(0, False)):
            label = f"{profile!r}, {'any' if aborts.cells else 'no'} aborts, {event[-1]}"
            yield RopeCase(
                "subtask", label, state, event, step, properties, (bound, *SIZES, *_permitted(state, event))
            )


def _aborts(profile: TaskProfile) -> Iterator[Rope]:
    """The remembered aborts: none, or a first one and any number of others."""
    yield Rope(())
    if profile.notified_of_aborts:
        yield Rope((symbolic_like(0, "first abort"), ids(ABORTED)))


def _events(on_barrier: Event) -> Iterator[Any]:
    """Yields one event of every class.

    `on_barrier`: a `CheckpointOnBarrier` of the recompiled module, which also has the steps and properties.
    """
    for event in (
        Checkpoint(0),
        on_barrier,
        AbortOnBarrier(0, "SUBSUMED"),
        AbortNotification(0, 0),
        CompleteNotification(0),
        SubsumedNotification(0),
        AsyncDone(0),
        AsyncFailed(0),
        AsyncFailed(0, "IO_EXCEPTION"),
        Status(True),
        Close(),
    ):
        yield symbolic_like(event, "event")


def _permitted(state: Any, event: Any) -> tuple[z3.BoolRef, ...]:  # noqa: ANN401 - of either module
    """`model.subtask.proofs.subtask._starts_once` for a rope of running snapshots."""
    if event.kind not in ("checkpoint", "checkpoint_on_barrier") or state.profile.orders_triggers:
        return ()
    return (z3.Not(any_(known == event.checkpoint for known in state.running).term),)


def all_subtask_cases(reread: Reread) -> Iterator[RopeCase]:
    """The subtask in every generation that differs."""
    for profile in DISTINCT:
        yield from subtask_cases(reread, profile)
