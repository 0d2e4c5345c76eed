"""A first look at an adapter: does it speak the protocol, before anybody asks whether it is right.

What an implementation answers is judged by its form (the schemas), by whether it answers alike when it is
asked alike, and by whether it refuses what it has to. Then a few random cases are played beside the model.
Each check says what it asks, and what to do if it fails.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from random import Random
from typing import NamedTuple

from conformance.adapters.hello_words import unknown_words
from conformance.adapters.process import ProcessAdapter
from conformance.adapters.protocol import (
    FAILURES,
    Adapter,
    Applied,
    Crashed,
    Errored,
    Failure,
    Hello,
    Hung,
    Made,
    Malformed,
    Offer,
    Unsupported,
    Wire,
)
from conformance.adapters.validation import complaints
from conformance.cases.walks import walks
from conformance.drive.oracle import Oracle, canonical
from conformance.generators import generate

LENGTH = 40
"""Events of the run that is repeated."""
FIRST_LOOK = 100
"""Random cases beside the model, for each component."""
LARGEST_ANSWER = 65_536
"""Bytes of the effects of one event and of the state after it, in a check of one component."""
SHOWN = 500
"""Letters of what came that a check shows."""
STRAY: Wire = {"kind": "no_such_event"}
Answers = list[tuple[Sequence[Wire], Wire]]
"""For each event the effects, and the state after it."""


class Check(NamedTuple):
    """One thing that was asked of the adapter."""

    subject: str
    """`hello`, a component, or `bye`."""
    asks: str
    wrong: str | None = None
    """What came instead, and what to do; None: all is well."""
    note: str = ""
    """What else there is to say."""


def smoke(adapter: Adapter, seed: int = 0) -> Iterator[Check]:
    """Every check in its order; where an adapter does not answer at all, nothing more of that component."""
    hello = adapter.hello()
    if not isinstance(hello, Hello):
        yield Check("hello", "says who it is", _said(hello))
        return
    known = {name: offer for name, offer in hello.components.items() if name in generate.COMPONENTS}
    who = f"{hello.implementation} {hello.version}, {hello.language}, with {', '.join(known) or 'nothing'}"
    if not known:
        expected = f"offer at least one of {', '.join(generate.COMPONENTS)}"
        yield Check("hello", "says who it is", f"it offers {list(hello.components)}; {expected}")
        return
    yield Check("hello", "says who it is", "; ".join(unknown_words(hello)) or None, who)
    made = adapter.new("no_such_component", {})
    refused = isinstance(made, Errored | Unsupported)
    yield Check("hello", "refuses a component that nobody has", None if refused else _said(made))
    for name, offer in known.items():
        yield from _component(adapter, name, offer, seed)
    if isinstance(adapter, ProcessAdapter) and adapter.runs:
        adapter.bye()
        ended = (
            None if adapter.exit_code == 0 else f"exit code {adapter.exit_code}; None: it had to be killed"
        )
        yield Check("bye", "ends with exit code 0", ended)


def legal_run(component: str, config: Wire, seed: int, *, injects: bool = False) -> list[Wire]:
    """A run that the protocol allows and in which nothing fails."""
    oracle = Oracle(component, config)
    choose = generate.chooser(component, config, Random(f"{seed}/{component}"), injects=injects)
    events: list[Wire] = []
    node = oracle.start
    for _ in range(4 * LENGTH):
        event = choose(node.observed)
        if event is None or len(events) == LENGTH:
            break
        edge = oracle.step(node, event)
        if edge.refused is None and not edge.fails:
            events.append(event)
            node = edge.after
    return events


# ---------------------------------------------------------------- one component


def _component(adapter: Adapter, name: str, offer: Offer, seed: int) -> Iterator[Check]:
    pinned = generate.offered(offer)
    config = next(iter(generate.fitting(name, pinned)), None)
    if config is None:
        wrong = f"no configuration has {pinned}: {generate.why_not(name, pinned)}"
        yield Check(name, "offers modes, profiles and levels that exist", wrong)
        return
    injects = generate.injects(name, offer)
    events = legal_run(name, config, seed, injects=injects)
    made = adapter.new(name, config)
    yield Check(
        name, "makes an instance", None if isinstance(made, Made) else _said(made), note=_plain(config)
    )
    if not isinstance(made, Made):
        return
    answers = _one_by_one(adapter, events)
    if not isinstance(answers, list):
        yield Check(name, f"answers {len(events)} events, one at a time", _said(answers))
        return
    yield Check(name, f"answers {len(events)} events, one at a time")
    yield Check(name, "answers in the words of the protocol", _misspelled(name, answers))
    yield Check(name, "answers alike when it is asked again", _again(adapter, name, config, events, answers))
    yield Check(name, "answers a batch as its events", _batched(adapter, name, config, events, answers))
    yield Check(name, "refuses a strange event, and goes on", _stray(adapter, name, config, events, answers))
    yield Check(name, "says which event of a batch it refuses", _position(adapter, name, config, events))
    yield _first_look(adapter, name, pinned, seed, injects=injects)


def _one_by_one(adapter: Adapter, events: Sequence[Wire]) -> Answers | Failure:
    answers: Answers = []
    for event in events:
        answer = adapter.apply([event])
        if not isinstance(answer, Applied):
            return answer
        answers.append((answer.effects[0], answer.state))
    return answers


def _misspelled(name: str, answers: Answers) -> str | None:
    for number, (effects, state) in enumerate(answers):
        size = len(canonical([effects, state]))
        if size > LARGEST_ANSWER:
            return (
                f"event {number + 1}: expected effects and a state of at most {LARGEST_ANSWER:,} bytes, "
                f"many times what any case of this check needs, got {size:,}"
            )
        said = [("effect", effect) for effect in effects]
        for definition, wire in (*said, ("state", state)):
            for complaint in islice(complaints(name, definition, wire), 1):
                shown = f"event {number + 1}: {definition} {_shown(wire)}: {_shown(complaint)}"
                return f"{shown}; see `barrierspec schema {name}`"
    return None


def _again(adapter: Adapter, name: str, config: Wire, events: Sequence[Wire], answers: Answers) -> str | None:
    made = adapter.new(name, config)
    again = _one_by_one(adapter, events) if isinstance(made, Made) else made
    if not isinstance(again, list):
        return _said(again)
    first = next(
        (at for at, (one, other) in enumerate(zip(answers, again, strict=True)) if one != other), None
    )
    if first is None:
        return None
    return (
        f"event {first + 1}, {events[first]}: first {_shown(answers[first])}, then "
        f"{_shown(again[first])}; `new` has to begin from nothing, and no answer may hang on time or chance"
    )


def _batched(
    adapter: Adapter, name: str, config: Wire, events: Sequence[Wire], answers: Answers
) -> str | None:
    made = adapter.new(name, config)
    batch = adapter.apply(events) if isinstance(made, Made) else made
    if not isinstance(batch, Applied):
        return _said(batch)
    for at, (came, (expected, _)) in enumerate(zip(batch.effects, answers, strict=True)):
        if list(came) != list(expected):
            differ = f"{_shown(expected)} alone, {_shown(came)} in the batch"
            return f"event {at + 1}: {differ}; send one list for each event"
    if batch.state != answers[-1][1]:
        return (
            f"the state after the batch is {_shown(batch.state)}, after its events {_shown(answers[-1][1])}"
        )
    return None


def _stray(adapter: Adapter, name: str, config: Wire, events: Sequence[Wire], answers: Answers) -> str | None:
    half = len(events) // 2
    made = adapter.new(name, config)
    before = _one_by_one(adapter, events[:half]) if isinstance(made, Made) else made
    if not isinstance(before, list):
        return _said(before)
    refused = adapter.apply([STRAY])
    if not isinstance(refused, Errored):
        return f"{_said(refused)}; answer {STRAY} with `error`"
    after = _one_by_one(adapter, events[half:])
    if not isinstance(after, list):
        return f"after {STRAY}: {_said(after)}"
    return None if after == answers[half:] else f"what comes after {STRAY} differs: it has to change nothing"


def _position(adapter: Adapter, name: str, config: Wire, events: Sequence[Wire]) -> str | None:
    made = adapter.new(name, config)
    refused = adapter.apply([events[0], STRAY]) if isinstance(made, Made) else made
    if not isinstance(refused, Errored):
        return _said(refused)
    return None if refused.at == 1 else f'"at": expected 1, the second of the batch, got {refused.at}'


def _first_look(
    adapter: Adapter, name: str, pinned: Mapping[str, object], seed: int, *, injects: bool
) -> Check:
    asks = f"does as the model in {FIRST_LOOK} random cases"
    played, skipped = walks(name, adapter, seed, FIRST_LOOK, batch=20, pinned=pinned, injects=injects)
    wrong = None
    if played.divergence is not None:
        rule = played.divergence.charge or "a step that fires no rule"
        wrong = (
            f"it diverges at {rule} after {played.divergence.step} events; conform tells the shortest story"
        )
    elif played.unrepeatable is not None:
        wrong = "it differed once, and not when the same events came again"
    elif played.stopped is not None:
        wrong = _said(played.stopped)
    notes = [f"{played.steps:,} steps, {len(played.fired)} rules"]
    if played.unseen:
        notes.append(f"state not shown: {', '.join(sorted(played.unseen))}")
    notes += (f"skipped: {why}" for why in skipped)
    return Check(name, asks, wrong, note="; ".join(notes))


# ---------------------------------------------------------------- words


def _shown(value: object) -> str:
    """A value, or its beginning."""
    text = str(value)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}... ({len(text):,} letters)"


def _said(answer: object) -> str:
    if isinstance(answer, Crashed | Hung | Malformed) and answer.stderr.strip():
        return f"{answer.describe()}; stderr ends with: {answer.stderr.strip().splitlines()[-1]}"
    if isinstance(answer, FAILURES):
        return answer.describe()
    return f"it took what it has to refuse: {_shown(answer)}"


def _plain(config: Wire) -> str:
    return ", ".join(f"{key}={value}" for key, value in config.items() if not isinstance(value, list))
