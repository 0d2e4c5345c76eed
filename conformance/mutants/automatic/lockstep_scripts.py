"""The scripts that lock-step plays with a mutant: runs without a seed, walks, illegal events, and tours."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from conformance.adapters.protocol import Wire
    from conformance.drive.oracle import Oracle

WALKS = 300
"""Number of seeded walks, which come before the tours."""
ILLEGAL = 5
"""On average, an illegal event is inserted before one of this many events."""
TRIES = 8
"""Number of events that are tried in a state, to find one that is illegal there."""
AFTER_FAILURE = 3
"""Maximum number of events that are sent after a failure of the task. The task must refuse each of them."""
LENGTH = 40
"""Number of events of a walk in a configuration that the suite itself does not use."""
SEED = 20261121


class Script(NamedTuple):
    """The events of one case of lock-step.

    A script without events tests whether the configuration is accepted.
    """

    component: str
    config: "Wire"
    events: "tuple[Wire, ...]"


def scripts_of(component: str) -> Iterator[Script]:
    """Runs without a seed, walks, other configurations, runs and walks with illegal events, and tours."""
    from conformance.cases.directed import graphs_of
    from conformance.cases.scripts import scripted, tours_of
    from conformance.cases.seedless_runs import seedless_runs
    from conformance.cases.walks import WalkOptions, walks
    from conformance.drive.lockstep import Case, drawn
    from conformance.drive.oracle import Oracle

    def played(cases: Iterable[Case | None]) -> "Iterator[tuple[Oracle, tuple[Wire, ...]]]":
        for case in cases:
            if case is not None and isinstance(case.oracle, Oracle):
                events, _ = drawn(case.oracle, case.choose, case.length)
                yield case.oracle, tuple(events)

    short = [
        *played(seedless_runs(component)),
        *played(islice(walks(component, SEED, WalkOptions(injects=True)), WALKS)),
    ]
    yield from (Script(component, oracle.config, events) for oracle, events in short)
    yield from other_configurations(component)
    yield from with_illegal_events(component, short)
    toured = (one for graph in graphs_of(component) for one in tours_of(graph))
    yield from (
        Script(component, oracle.config, events) for oracle, events in played(scripted(toured, "tour"))
    )


def other_configurations(component: str) -> Iterator[Script]:
    """Walks in changed configurations: one option is missing, or has another word or a value at its bounds.

    If an implementation must refuse the configuration, the script has no events.
    """
    from conformance.adapters.protocol import canonical
    from conformance.drive.lockstep import drawn
    from conformance.drive.oracle import Oracle
    from conformance.generators import generate
    from model.components import WireError

    kinds = {tuple(config.get(key) for key in ("profile", "mode", "level", "external")): config
             for config in generate.configs(component)}  # fmt: skip
    varied = ((one, config) for config in kinds.values() for one in _varied(component, config))
    for spelled, (one, config) in {canonical(pair[0]): pair for pair in varied}.items():
        events: Sequence[Wire] = ()
        try:
            oracle = Oracle(component, one)
            chooser = generate.chooser(component, {**config, **one}, Random(spelled), injects=True)
            events, _ = drawn(oracle, chooser, LENGTH)
        except (WireError, KeyError):
            pass  # no events: the model refuses the configuration, or no walk fits it (KeyError)
        yield Script(component, one, tuple(events))


def _varied(component: str, config: "Wire") -> "Iterator[Wire]":
    """Yields the configuration with one changed or missing option."""
    from spec.vocabulary import types, vocabulary

    for option in vocabulary()[component].config:
        yield {name: value for name, value in config.items() if name != option.name}
        for value in _values(types()[option.type]):
            yield {**config, option.name: value}


def _values(schema: Mapping[str, Any]) -> Iterator[object]:
    """Yields values of a type: each word, numbers around its lower bound, lists of several lengths."""
    yield from schema.get("enum", ())
    if schema.get("type") == "boolean":
        yield from (True, False)
    if "integer" in schema.get("type", ()):
        least = schema.get("minimum", 0)
        yield from range(least - 1, least + 3)
    if "null" in schema.get("type", ()):
        yield None
    if schema.get("items", {}).get("type") == "string":
        yield from ([], ["reader"], ["reader", "hook"], ["reader", "reader"])


def with_illegal_events(
    component: str, runs: "Iterable[tuple[Oracle, tuple[Wire, ...]]]"
) -> Iterator[Script]:
    """The runs with inserted events that the model refuses.

    An inserted event is legal in another state, or it has an impossible number or name. After a failure up to
    AFTER_FAILURE further events follow.
    """
    runs = list(runs)
    every = list({repr(event): event for _, events in runs for event in events}.values())
    wrong = [one for event in {event["kind"]: event for event in every}.values() for one in _wrong(event)]
    chance = Random(SEED)

    def refused(oracle: "Oracle", node: Any) -> "list[Wire]":  # noqa: ANN401 - a state of the oracle
        tried = chance.sample(every, min(TRIES, len(every)))
        tried.insert(chance.choice((0, len(tried))), chance.choice(wrong or every))
        return [one for one in tried if oracle.step(node, one).refused is not None]

    for oracle, events in runs:
        node, mixed, illegal, fails = oracle.start, list[Any](), 0, False
        for event in events:
            if not chance.randrange(ILLEGAL):
                between = refused(oracle, node)[:1]
                mixed += between
                illegal += len(between)
            mixed.append(event)
            edge = oracle.step(node, event)
            node, fails = edge.after, edge.fails
        after = refused(oracle, node)[:AFTER_FAILURE] if fails else []
        if illegal or after:
            yield Script(component, oracle.config, (*mixed, *after))


def _wrong(event: "Wire") -> "Iterator[Wire]":
    """Yields the event with one impossible field: a negative number, or a name that does not exist."""
    for name, value in event.items():
        if name != "kind" and type(value) in (int, str):
            yield {**event, name: -2 if type(value) is int else "unknown"}
