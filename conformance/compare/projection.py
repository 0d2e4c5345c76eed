"""The declared projections: which TLA+ value is which record of the model.

One entry for each closed model that stands in both languages: how the constants of its configuration
make the Python closed model, and how a TLA+ state reads as a node of that closed model with the words of
its last step.
"""

from collections.abc import Callable, Collection, Mapping
from typing import Any, NamedTuple

from conformance.compare import (
    projection_channel,
    projection_coordinator,
    projection_dataflow,
    projection_parts,
    projection_source,
)
from model.checker.closed_model import ClosedModel
from model.checker.prove import Case
from model.coordinator.profiles import CoordinatorProfile
from model.events import Effect, Event
from model.fields import names_of
from model.gate.aligned import Gate
from model.gate.buffering import UNLIMITED
from model.gate.environment.aligned import closed_gate
from model.gate.environment.buffering import OF_RECORDS, closed_buffer
from model.gate.environment.tracking import closed_tracker
from model.gate.environment.unaligned import PLAIN, RARE, Bounds, closed_unaligned
from model.gate.events import Barrier, Cancel, EndOfPartition, Record
from model.gate.polled_gate import Item
from model.gate.profiles import NEWEST, PROFILES, Profile
from model.gate.tracking import Tracked, Tracker
from model.gate.unaligned import new_gate
from model.gate.unaligned_events import Announce, Inject, OptionedBarrier, Options
from model.offsets.environment import closed_offsets
from model.offsets.offsets import Reader, Remembered
from model.store.environment import closed_store
from model.store.events import Add
from model.store.store import Entry, Store
from model.store.wire import TYPES
from spec.manifest import Model
from spec.values import State

ALIGNMENTS = {name: code for code, name in names_of("alignment").items()}
Said = tuple[tuple[Any, ...], ...]
"""The value of `out`: the event and its effects, each as a tuple that begins with its kind."""

Node = tuple[Any, tuple[int, ...], Said]
"""A node of the compared graph: the component, what the environment remembers, what was said last."""


class ProjectionError(ValueError):
    """A TLA+ model or state that no projection is declared for."""


class Projection(NamedTuple):
    """One closed model in both languages."""

    closed_model: ClosedModel
    node: Callable[[State], Node]
    said: Callable[[Event, tuple[Effect, ...]], Said]
    cases: Callable[[], list[Case]] | None
    """The symbolic cases that cover the closed model's steps; None where there are too many shapes for
    that, and
    only TLC and the explorer are compared."""


def projection_of(model: Model) -> Projection:
    """The projection of a model of spec/manifests; raises ProjectionError if there is none."""
    constants = constants_of(model)
    if model.module == "AlignedModel":
        return _gate(constants, profile_of(model), injects=("Injects", "Yes") in model.configuration.replaced)
    if model.module == "BufferingModel":
        return _storing(constants, profile_of(model))
    if model.module == "UnalignedModel":
        return _unaligned(constants)
    if model.module == "TrackingModel":
        return _tracker(constants, profile_of(model))
    if model.module == "ChannelModel":
        return _channel(constants)
    if model.module == "StoreModel":
        return _store(constants, configuration_of(model).profile)
    if model.module == "SourceModel":
        return _source(constants)
    if model.module == "OffsetsModel":
        return _offsets(constants)
    if model.module == "CoordinatorModel":
        return _coordinator(configuration_of(model))
    if model.module == "FailuresModel":
        return _failures(configuration_of(model))
    if model.module == "DataflowModel":
        return _dataflow(configuration_of(model))
    if model.module == "FirstDecidesModel":
        return _deciding(constants, profile_of(model))
    if model.module == "SharedStateModel":
        return _files(configuration_of(model))
    raise ProjectionError(f"{model.name}: no projection is declared for the module {model.module}")


def constants_of(model: Model) -> Mapping[str, int | bool]:
    """The constants of the model's configuration that are no sets."""
    return {name: value for name, value in model.configuration.constants if not isinstance(value, tuple)}


def profile_of(model: Model) -> Profile:
    """The generation that the model's configuration picks (`Switches <- Flink_1_9`), else the newest."""
    chosen = dict(model.configuration.replaced).get("Switches")
    return NEWEST if chosen is None else PROFILES["flink-" + chosen.removeprefix("Flink_").replace("_", ".")]


def configuration_of(model: Model) -> projection_coordinator.Configuration:
    """The configuration of a model of the coordinator, of its store or of its failures."""
    sets = {name: value for name, value in model.configuration.constants if isinstance(value, tuple)}
    return projection_coordinator.Configuration(constants_of(model), sets, dict(model.configuration.replaced))


def _plain_words(event: Event, effects: tuple[Effect, ...]) -> Said:
    return tuple((said[-1], *said[:-1]) for said in (event, *effects))


def _gate(constants: Mapping[str, int | bool], profile: Profile, *, injects: bool) -> Projection:
    from model.gate.proofs.aligned import gate_cases

    channels = int(constants["N"])
    counts_as_aligned = bool(constants["AfterFinish"])
    closed_model = closed_gate(
        channels,
        int(constants["M"]),
        counts_as_aligned=counts_as_aligned,
        polled=bool(constants["Polled"]),
        profile=profile,
        injects=injects,
    )

    def node(state: State) -> Node:
        gate = state["gate"]
        return (
            _gate_of(gate, channels, counts_as_aligned, profile),
            tuple(state["last"][channel] for channel in range(channels)),
            state["out"],
        )

    return Projection(closed_model, node, _plain_words, lambda: list(gate_cases(channels, profile)))


def _unaligned(constants: Mapping[str, int | bool]) -> Projection:
    from model.gate.proofs.unaligned import unaligned_cases

    channels, timeout = int(constants["N"]), int(constants["Timeout"])
    alternating, counts_as_aligned = bool(constants["Alternating"]), bool(constants["AfterFinish"])
    bounds = Bounds(
        channels,
        int(constants["M"]),
        int(constants["Until"]),
        timeout,
        alternating,
        counts_as_aligned,
        (*PLAIN, *RARE) if constants["Rare"] else PLAIN,
        announced=bool(constants["Announced"]),
    )
    rest = new_gate(channels, counts_as_aligned, alternating=alternating, timeout=timeout)

    def flags(members: Collection[int]) -> tuple[bool, ...]:
        return tuple(channel in members for channel in range(channels))

    def node(state: State) -> Node:
        gate = state["gate"]
        first = gate["first"]
        return (
            rest._replace(
                current=gate["current"],
                pending=gate["pending"],
                begun=gate["begun"],
                overtaking=gate["overtaking"],
                arrived=flags(gate["arrived"]),
                blocked=flags(gate["blocked"]),
                announced=flags(gate["announced"]),
                closed=flags(gate["closed"]),
                first=Options(ALIGNMENTS[first["alignment"]], first["savepoint"], first["timestamp"]),
                now=gate["now"],
                timer=gate["timer"],
                failed=gate["failed"],
            ),
            tuple(state["last"][channel] for channel in range(channels)),
            state["out"],
        )

    def said(event: Event, effects: tuple[Effect, ...]) -> Said:
        words = _plain_words(event, effects)
        if type(event) is OptionedBarrier or type(event) is Announce or type(event) is Inject:
            named = (*words[0][:-3], _ALIGNMENT_NAMES[event.alignment], *words[0][-2:])
            return (named, *words[1:])
        return words

    def cases() -> list[Case]:
        return list(unaligned_cases(channels, alternating=alternating, counts_as_aligned=counts_as_aligned))

    return Projection(closed_unaligned(bounds), node, said, cases)


_ALIGNMENT_NAMES = names_of("alignment")


def _tracker(constants: Mapping[str, int | bool], profile: Profile) -> Projection:
    from model.gate.proofs.tracking import tracker_cases

    channels, bound = int(constants["N"]), int(constants["Bound"])
    counts_as_aligned = bool(constants["AfterFinish"])
    closed_model = closed_tracker(
        channels,
        int(constants["M"]),
        counts_as_aligned=counts_as_aligned,
        tracked_at_most=bound,
        profile=profile,
    )

    def node(state: State) -> Node:
        tracker = state["tracker"]
        tracked = tuple(
            Tracked(
                entry["id"],
                tuple(entry["counted"][channel] for channel in range(channels)),
                entry["needed"],
                entry["aborted"],
            )
            for entry in tracker["tracked"]
        )
        closed = tuple(channel in tracker["closed"] for channel in range(channels))
        return (
            Tracker(tracker["latest"], tracked, closed, counts_as_aligned, bound, profile),
            tuple(state["last"][channel] for channel in range(channels)),
            state["out"],
        )

    def cases() -> list[Case]:
        return [
            case
            for tracked in range(bound + 1)
            for case in tracker_cases(
                channels, tracked, bound, counts_as_aligned=counts_as_aligned, profile=profile
            )
        ]

    return Projection(closed_model, node, _plain_words, cases)


def _gate_of(gate: Any, channels: int, counts_as_aligned: bool, profile: Profile) -> Gate:  # noqa: ANN401
    """The record of the model that a TLA+ gate is."""
    return Gate(
        gate["current"],
        gate["pending"],
        tuple(channel in gate["blocked"] for channel in range(channels)),
        tuple(channel in gate["closed"] for channel in range(channels)),
        counts_as_aligned,
        profile,
        gate["repeats"],
        gate["failed"],
    )


def _storing(constants: Mapping[str, int | bool], profile: Profile) -> Projection:
    channels, limit = int(constants["N"]), int(constants["Limit"]) or UNLIMITED
    closed_model = closed_buffer(channels, int(constants["M"]), int(constants["Room"]), limit)
    assert closed_model.state.gate.profile is profile

    def node(state: State) -> Node:
        gate = state["buffer"]["gate"]
        there = closed_model.state._replace(
            gate=_gate_of(gate, channels, bool(constants["AfterFinish"]), profile),
            stored=tuple(_ITEMS[item[0]](*item[1:]) for item in state["buffer"]["stored"]),
        )
        return there, tuple(state["last"][channel] for channel in range(channels)), state["out"]

    def said(event: Event, effects: tuple[Effect, ...]) -> Said:
        return tuple(
            words[:2] if words[0] in ("record", "process") else words
            for words in _plain_words(event, effects)
        )

    return Projection(closed_model, node, said, None)


_ITEMS: Mapping[str, Callable[..., Item]] = {
    "barrier": Barrier,
    "cancel": Cancel,
    "end_of_partition": EndOfPartition,
    "record": lambda channel: Record(channel, OF_RECORDS),
}


def _channel(constants: Mapping[str, int | bool]) -> Projection:
    closed_model = projection_channel.closed_channel_of(constants)

    def node(state: State) -> Node:
        profile = closed_model.state.channel.profile
        return projection_channel.exchange_of(state, profile), (state["failed"],), state["out"]

    return Projection(closed_model, node, projection_channel.said, None)


def _deciding(constants: Mapping[str, int | bool], profile: Profile) -> Projection:
    closed_model = projection_parts.closed_deciding(
        int(constants["N"]), int(constants["M"]), alternating=bool(constants["Alternating"]), profile=profile
    )

    def node(state: State) -> Node:
        gate = projection_parts.deciding_gate_of(closed_model.state, state["gate"])
        last = tuple(state["last"][channel] for channel in range(int(constants["N"])))
        return gate, last, projection_parts.deciding_words_of(state["out"])

    return Projection(closed_model, node, projection_parts.deciding_said, None)


def _files(configuration: projection_coordinator.Configuration) -> Projection:
    numbers = configuration.numbers
    closed_model = projection_parts.closed_files(
        configuration.sets["Files"], int(numbers["M"]), int(numbers["Retain"])
    )

    def node(state: State) -> Node:
        return (
            projection_parts.files_of(closed_model.state, state),
            (),
            projection_parts.files_words_of(state["out"]),
        )

    return Projection(closed_model, node, projection_parts.files_said, None)


_STORE_WORDS = {"discard_checkpoint": "discard"}


def _coordinator(configuration: projection_coordinator.Configuration) -> Projection:
    retain = int(configuration.numbers["Retain"])
    from model.coordinator.proofs.reached import met_cases

    closed_model = projection_coordinator.closed_relative(configuration.plan(), retain, configuration.scope())

    def node(state: State) -> Node:
        return (
            projection_coordinator.coordinator_of(closed_model.state, state["coordinator"]),
            (),
            state["out"],
        )

    cases = (lambda: list(met_cases(closed_model))) if configuration.is_small() else None
    return Projection(closed_model, node, projection_coordinator.said, cases)


def _failures(configuration: projection_coordinator.Configuration) -> Projection:
    ids = int(configuration.numbers["M"])
    reasons = (
        "CHECKPOINT_DECLINED",
        "ASYNC_EXCEPTION",
        "CHECKPOINT_EXPIRED",
        "IO_EXCEPTION",
        "FINALIZE_CHECKPOINT_FAILURE",
        "CHECKPOINT_SUBSUMED",
    )
    closed_model = projection_coordinator.closed_failures(
        configuration.profile, configuration.tolerable, ids, reasons
    )

    def node(state: State) -> Node:
        succeeded = tuple(int(checkpoint in state["succeeded"]) for checkpoint in range(1, ids + 1))
        return projection_coordinator.failures_of(state["failures"]), succeeded, state["out"]

    return Projection(closed_model, node, projection_coordinator.said, None)


def _dataflow(configuration: projection_coordinator.Configuration) -> Projection:
    closed_model = projection_dataflow.closed_dataflow_of(configuration)

    def node(state: State) -> Node:
        return projection_dataflow.dataflow_of(closed_model.state, state), (state["declined"],), ()

    def said(event: Event, effects: tuple[Effect, ...]) -> Said:
        return ()

    return Projection(closed_model, node, said, None)


def _store(constants: Mapping[str, int | bool], profile: CoordinatorProfile) -> Projection:
    from model.store.proofs import store_cases

    retain, ids = int(constants["Retain"]), int(constants["M"])

    def node(state: State) -> Node:
        entries = tuple(Entry(entry["id"], TYPES.index(entry["type"])) for entry in state["store"])
        added = tuple(int(checkpoint in state["added"]) for checkpoint in range(1, ids + 1))
        return Store(retain, entries, True, profile), added, state["out"]

    def said(event: Event, effects: tuple[Effect, ...]) -> Said:
        assert type(event) is Add
        words = tuple((_STORE_WORDS.get(str(one[-1]), one[-1]), *one[:-1]) for one in effects)
        return (("add", event.checkpoint, TYPES[event.type]), *words)

    def cases() -> list[Case]:
        return [
            case for entries in range(max(retain, 2) + 1) for case in store_cases(retain, entries, profile)
        ]

    return Projection(closed_store(retain, ids, profile), node, said, cases)


def _source(constants: Mapping[str, int | bool]) -> Projection:
    closed_model = projection_source.closed_source_of(constants)

    def node(state: State) -> Node:
        return projection_source.source_of(state, closed_model.state), (), state["out"]

    return Projection(closed_model, node, projection_source.said, None)


def _offsets(constants: Mapping[str, int | bool]) -> Projection:
    from model.offsets.proofs import offsets_cases

    bound = int(constants["Bound"])

    def node(state: State) -> Node:
        reader = state["reader"]
        remembered = tuple(Remembered(*filed) for filed in reader["remembered"])
        committed = Remembered(*reader["committed"])
        return Reader(reader["running"], bound, reader["newest"], remembered, committed), (), state["out"]

    def said(event: Event, effects: tuple[Effect, ...]) -> Said:
        words = _plain_words(event, effects)
        kind = _OFFSETS_WORDS.get(str(event[-1]), event[-1])
        fields = words[0][1:2] if kind == "notify_abort" else words[0][1:]
        return ((kind, *fields), *words[1:])

    closed_model = closed_offsets(bound, int(constants["M"]), int(constants["Offsets"]))
    return Projection(closed_model, node, said, lambda: list(offsets_cases(bound)))


_OFFSETS_WORDS = {
    "snapshot_offsets": "snapshot",
    "restore_offsets": "restore",
    "complete_notification": "notify_complete",
    "abort_notification": "notify_abort",
}
