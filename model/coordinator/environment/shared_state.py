"""The closed model of the store and the registry of shared files. SharedState.tla specifies the same system.

A task may acknowledge any incomplete checkpoint with any existing files. Checkpoints complete once, in the
order of ids. No checkpoint uses a deleted file. The closed model does not distinguish states by the order of
registration, nor by the checkpoint that first used a file.
"""

from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

from model.checker.closed_model import ClosedModel, Environment
from model.coordinator import shared_state
from model.coordinator.generations import coordinator_steps
from model.coordinator.pending import new_pending
from model.coordinator.shared_state import DiscardState
from model.coordinator.state import Coordinator, Plan, new_coordinator
from model.events import Event, Step
from model.store.store import CHECKPOINT


class UseFiles(NamedTuple):
    """A task acknowledges a checkpoint with the files that it uses."""

    checkpoint: int
    files: tuple[int, ...]
    kind: str = "use"


class CompleteCheckpoint(NamedTuple):
    """A checkpoint is complete."""

    checkpoint: int
    kind: str = "complete"


class Files(NamedTuple):
    """The coordinator with its registry and store, and a history of acknowledged and deleted files."""

    coordinator: Coordinator
    brought: tuple[tuple[int, ...], ...]
    """By checkpoint: the files acknowledged with it so far, ascending."""
    done: tuple[bool, ...]
    """By checkpoint: the checkpoint is complete."""
    gone: tuple[int, ...]
    """The deleted files, ascending."""


def closed_files(files: tuple[int, ...], ids: int, retain: int) -> ClosedModel:
    """The closed model in which checkpoints 1 to `ids` use `files`, and `retain` checkpoints are retained."""
    subsets = tuple(used for size in range(1, len(files) + 1) for used in combinations(files, size))

    def offers(state: Files) -> Iterator[tuple[str, Event]]:
        for checkpoint in range(1, ids + 1):
            if not any(state.done[checkpoint - 1 :]):
                yield "Complete", CompleteCheckpoint(checkpoint)
            for used in subsets:
                if not state.done[checkpoint - 1] and not set(used) & set(state.gone):
                    yield "Use", UseFiles(checkpoint, used)

    return ClosedModel(
        f"shared files {files}, ids to {ids}, retaining {retain}",
        "files",
        Files(new_coordinator(Plan((True,), 1, 1), retain), ((),) * ids, (False,) * ids, ()),
        (),
        offers,
        _anything,
        step,
        toured=False,
    )


def step(state: Files, event: Event) -> Step[Files]:
    """The step of one event, with its deletions as effects."""
    if type(event) is UseFiles:
        place = event.checkpoint - 1
        both = tuple(sorted({*state.brought[place], *event.files}))
        registered = shared_state.register(state.coordinator.shared, event.checkpoint, event.files)
        state = state._replace(brought=(*state.brought[:place], both, *state.brought[place + 1 :]))
        return Step(with_coordinator(state, state.coordinator._replace(shared=registered)), (), ("SUB-12",))
    assert type(event) is CompleteCheckpoint
    place = event.checkpoint - 1
    done = new_pending(
        event.checkpoint, CHECKPOINT, 0, (True,), forced=False, coordinators=0, hooks=0
    )._replace(shared=(state.brought[place],))
    added = coordinator_steps(state.coordinator).add_to_store(state.coordinator, done)
    deleted = tuple(effect for effect in added.effects if type(effect) is DiscardState)
    state = state._replace(
        done=(*state.done[:place], True, *state.done[place + 1 :]),
        gone=tuple(sorted({*state.gone, *(effect.handle for effect in deleted)})),
    )
    return Step(with_coordinator(state, added.state), deleted, added.rules)


def with_coordinator(state: Files, coordinator: Coordinator) -> Files:
    """The state with the registry in canonical form.

    The form omits the registry's list of completed checkpoints and files, because `brought` has these files.
    """
    shared = coordinator.shared
    registered = tuple(sorted(known._replace(first=0) for known in shared.registered))
    shared = shared._replace(registered=registered, completed=())
    return state._replace(coordinator=coordinator._replace(shared=shared))


def _anything(environment: Environment, event: Event) -> Environment:
    return environment
