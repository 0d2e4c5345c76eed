"""The declared projections of smaller models: FirstDecidesModel.tla and SharedStateModel.tla."""

from collections.abc import Collection, Mapping
from typing import Any

from model.coordinator.environment.shared_state import CompleteCheckpoint, Files, UseFiles, closed_files
from model.coordinator.events import DiscardState
from model.coordinator.shared_state import Registered
from model.events import Effect, Event, Fail
from model.fields import names_of
from model.gate.environment.unaligned import closed_deciding
from model.gate.events import Trigger
from model.gate.unaligned import UnalignedGate
from model.gate.unaligned_events import OptionedBarrier, TriggerUnaligned
from model.store.store import CHECKPOINT, Entry

Said = tuple[tuple[Any, ...], ...]
_ALIGNMENT_NAMES = names_of("alignment")


# ---------------------------------------------------------------- gates whose first barrier decides


def deciding_gate_of(rest: UnalignedGate, gate: Mapping[str, Any]) -> UnalignedGate:
    """The record of the model that a TLA+ gate is; one that is pending has read a barrier."""
    channels = range(len(rest.closed))

    def flags(members: Collection[int]) -> tuple[bool, ...]:
        return tuple(channel in members for channel in channels)

    return rest._replace(
        current=gate["current"],
        pending=gate["pending"],
        begun=gate["pending"],
        overtaking=gate["overtaking"],
        arrived=flags(gate["arrived"]),
        blocked=flags(gate["blocked"]),
        closed=flags(gate["closed"]),
        repeats=gate["repeats"],
        failed=gate["failed"],
    )


def deciding_words_of(out: tuple[tuple[Any, ...], ...]) -> Said:
    """The words of a TLA+ state, in which a barrier carries a record of options."""
    return tuple(
        (*word[:3], word[3]["alignment"], word[3]["savepoint"]) if word[0] == "barrier" else word
        for word in out
    )


def deciding_said(event: Event, effects: tuple[Effect, ...]) -> Said:
    """The words of one step; a refusal does not say why."""
    return tuple(_deciding_word(word) for word in (event, *effects))


def _deciding_word(word: Any) -> tuple[Any, ...]:  # noqa: ANN401 - an event or an effect
    match word:
        case OptionedBarrier():
            return (
                "barrier",
                word.channel,
                word.checkpoint,
                _ALIGNMENT_NAMES[word.alignment],
                word.savepoint,
            )
        case Trigger():
            return ("trigger", word.checkpoint, False)
        case TriggerUnaligned():
            return ("trigger", word.checkpoint, word.unaligned)
        case Fail():
            return ("fail",)
        case _:
            return (word[-1], *word[:-1])


# ---------------------------------------------------------------- shared files


def files_of(rest: Files, state: Mapping[str, Any]) -> Files:
    """The record of the model that a state of SharedStateModel.tla is."""
    known = state["files"]
    registered = tuple(
        Registered(file, newest, 0) for file, newest in enumerate(known["last"], start=1) if newest
    )
    there = rest.coordinator
    store = there.store._replace(entries=tuple(Entry(stored, CHECKPOINT) for stored in known["store"]))
    ids = range(1, len(rest.done) + 1)
    return Files(
        there._replace(store=store, shared=there.shared._replace(registered=registered)),
        tuple(tuple(sorted(used)) for used in known["uses"]),
        tuple(checkpoint in state["done"] for checkpoint in ids),
        tuple(sorted(state["gone"])),
    )


def files_words_of(out: tuple[tuple[Any, ...], ...]) -> Said:
    """The words of a TLA+ state, in which files are a set."""
    return tuple((*word[:2], tuple(sorted(word[2]))) if word[0] == "use" else word for word in out)


def files_said(event: Event, effects: tuple[Effect, ...]) -> Said:
    """The words of one step."""
    assert isinstance(event, UseFiles | CompleteCheckpoint)
    deleted = tuple(("delete", effect.handle) for effect in effects if type(effect) is DiscardState)
    return ((event[-1], *event[:-1]), *deleted)


__all__ = [
    "closed_deciding",
    "closed_files",
    "deciding_gate_of",
    "deciding_said",
    "deciding_words_of",
    "files_of",
    "files_said",
    "files_words_of",
]
