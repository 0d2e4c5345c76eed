"""Smoke test of an adapter: checks that it speaks the protocol, before `conform` compares all its answers.

It checks that answers fit the schemas, that the same events get the same answers, and that illegal events are
refused. Then it compares a few random cases with the model. A failed check states what to do.
"""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from conformance.adapters.hello_names import unknown_names
from conformance.adapters.process import ProcessAdapter
from conformance.adapters.protocol import (
    FAILURES,
    Adapter,
    Applied,
    Crashed,
    Errored,
    Hello,
    Hung,
    Made,
    Malformed,
    Offer,
    Unsupported,
    Wire,
    canonical,
)
from conformance.adapters.validation import complaints
from conformance.cases.walks import WalkOptions, walks
from conformance.drive.answers import STRAY, allowed_run, fresh, one_by_one
from conformance.drive.lockstep import Played
from conformance.drive.loop import Limits, drive
from conformance.drive.oracle import Oracle
from conformance.generators import generate

LENGTH = 40
"""The number of events in the run that is repeated."""
FIRST_LOOK = 100
"""The number of random cases that are compared with the model, for each component."""
LARGEST_ANSWER = 65_536
"""The maximum size of the effects of one event and the state after it together, in bytes."""
SHOWN = 500
"""The number of characters of an answer that a check shows."""


class Check(NamedTuple):
    """One check of the adapter."""

    subject: str
    """`hello`, a component, or `bye`."""
    name: str
    """The expected behaviour of the adapter."""
    wrong: str | None = None
    """The wrong answer, and what to do; None if the check passes."""
    note: str = ""
    """The numbers of steps and rules, the state fields left out, and why cases were skipped."""


def smoke(adapter: Adapter, seed: int = 0) -> Iterator[Check]:
    """The results of the checks, in order. Without an answer, the component's other checks are skipped."""
    hello = adapter.hello()
    if not isinstance(hello, Hello):
        yield Check("hello", "names the implementation", _shown_answer(hello))
        return
    known = {name: offer for name, offer in hello.components.items() if name in generate.COMPONENTS}
    implementation = (
        f"{hello.implementation} {hello.version}, {hello.language}, with {', '.join(known) or 'nothing'}"
    )
    if not known:
        expected = f"offer at least one of {', '.join(generate.COMPONENTS)}"
        yield Check("hello", "names the implementation", f"it offers {list(hello.components)}; {expected}")
        return
    yield Check("hello", "names the implementation", "; ".join(unknown_names(hello)) or None, implementation)
    made = adapter.new("no_such_component", {})
    refused = isinstance(made, Errored | Unsupported)
    yield Check("hello", "refuses an unknown component", None if refused else _shown_answer(made))
    for name, offer in known.items():
        yield from _component(adapter, name, offer, seed)
    if isinstance(adapter, ProcessAdapter) and adapter.runs:
        adapter.bye()
        ended = (
            None if adapter.exit_code == 0 else f"exit code {adapter.exit_code}; None: it had to be killed"
        )
        yield Check("bye", "ends with exit code 0", ended)


# ---------------------------------------------------------------- one component


def _component(adapter: Adapter, name: str, offer: Offer, seed: int) -> Iterator[Check]:
    pinned = generate.offered(name, offer)
    config = next(iter(generate.fitting(name, pinned)), None)
    if config is None:
        shown = {option: values for option, values in pinned.items() if values != generate.LEFT_OUT}
        wrong = f"no configuration has {shown}: {generate.why_not(name, pinned)}"
        yield Check(name, "offers modes, profiles and levels that exist", wrong)
        return
    injects = generate.injects(name, offer)
    oracle = Oracle(name, config)
    events = allowed_run(oracle, f"{seed}/{name}", LENGTH, injects=injects)
    made = adapter.new(name, config)
    yield Check(
        name, "makes an instance", None if isinstance(made, Made) else _shown_answer(made), _plain(config)
    )
    if not isinstance(made, Made):
        return
    answers = one_by_one(adapter, events)
    if not isinstance(answers, list):
        yield Check(name, f"answers {len(events)} events, one at a time", _shown_answer(answers))
        return
    run = _Run(adapter, oracle, events, answers)
    yield Check(name, f"answers {len(events)} events, one at a time")
    yield Check(name, "answers use the names of the protocol", _misspelled(name, answers))
    yield Check(name, "gives the same answers to the same events", _again(run))
    yield Check(name, "answers a batch like its single events", _batched(run))
    yield Check(name, "refuses an unknown event, and continues", _stray(run))
    yield Check(name, "gives the position of a refused event in its batch", _position(run))
    played = drive(
        walks(name, seed, WalkOptions(pinned, injects=injects)), adapter, Limits(batch=20, cases=FIRST_LOOK)
    )
    notes = [f"{played.steps:,} steps, {len(played.fired)} rules"]
    if played.unseen:
        notes.append(f"state not shown: {', '.join(sorted(played.unseen))}")
    notes += (f"skipped: {why}" for why in played.skipped)
    expected = f"answers like the model in {FIRST_LOOK} random cases"
    yield Check(name, expected, _different(played), note="; ".join(notes))


class _Run(NamedTuple):
    """A run that the protocol allows, and the answers of the first instance that took it."""

    adapter: Adapter
    oracle: Oracle
    events: list[Wire]
    answers: list[Applied]


def _misspelled(name: str, answers: Sequence[Applied]) -> str | None:
    for number, answer in enumerate(answers):
        effects, state = answer.effects[0], answer.state
        size = len(canonical([effects, state]))
        if size > LARGEST_ANSWER:
            return (
                f"event {number + 1}: expected effects and a state of at most {LARGEST_ANSWER:,} bytes, "
                f"many times what any case of this check needs, got {size:,}"
            )
        for definition, wire in (*(("effect", effect) for effect in effects), ("state", state)):
            for complaint in islice(complaints(name, definition, wire), 1):
                shown = f"event {number + 1}: {definition} {_shown(wire)}: {_shown(complaint)}"
                return f"{shown}; see `barrierspec schema {name}`"
    return None


def _again(run: _Run) -> str | None:
    again = fresh(run.adapter, run.oracle, [[event] for event in run.events])
    if not isinstance(again, list):
        return _shown_answer(again)
    for number, (first, then) in enumerate(zip(run.answers, again, strict=True)):
        if first != then:
            return (
                f"event {number + 1}, {run.events[number]}: first {_shown(_pair(first))}, then "
                f"{_shown(_pair(then))}; `new` must begin from nothing, and no answer may "
                "depend on time or chance"
            )
    return None


def _batched(run: _Run) -> str | None:
    answered = fresh(run.adapter, run.oracle, [run.events])
    if not isinstance(answered, list):
        return _shown_answer(answered)
    (batch,) = answered
    for number, (received, alone) in enumerate(zip(batch.effects, run.answers, strict=True), 1):
        if list(received) != list(alone.effects[0]):
            differ = f"{_shown(alone.effects[0])} alone, {_shown(received)} in the batch"
            return f"event {number}: {differ}; send one list for each event"
    last = run.answers[-1].state
    if batch.state != last:
        return f"the state after the batch is {_shown(batch.state)}, after its events {_shown(last)}"
    return None


def _stray(run: _Run) -> str | None:
    half = len(run.events) // 2
    before = fresh(run.adapter, run.oracle, [[event] for event in run.events[:half]])
    if not isinstance(before, list):
        return _shown_answer(before)
    refused = run.adapter.apply([STRAY])
    if not isinstance(refused, Errored):
        return f"{_shown_answer(refused)}; answer {STRAY} with `error`"
    after = one_by_one(run.adapter, run.events[half:])
    if not isinstance(after, list):
        return f"after {STRAY}: {_shown_answer(after)}"
    same = after == run.answers[half:]
    return None if same else f"the answers after {STRAY} differ: a refused event has to change nothing"


def _position(run: _Run) -> str | None:
    refused = fresh(run.adapter, run.oracle, [[run.events[0], STRAY]])
    if not isinstance(refused, Errored):
        return _shown_answer(refused)
    return None if refused.at == 1 else f'"at": expected 1, the second of the batch, got {refused.at}'


def _different(played: Played) -> str | None:
    if played.divergence is not None:
        rule = played.divergence.charge or "a step that fires no rule"
        return f"it diverges at {rule} after {played.divergence.step} events; conform finds the shortest run"
    if played.unrepeatable is not None:
        return "it differed once, but not when the same events were sent again"
    return None if played.stopped is None else _shown_answer(played.stopped)


def _pair(answer: Applied) -> tuple[object, object]:
    return answer.effects[0], answer.state


# ---------------------------------------------------------------- texts


def _shown(value: object) -> str:
    """A value, or its beginning."""
    text = str(value)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}... ({len(text):,} characters)"


def _shown_answer(answer: object) -> str:
    if isinstance(answer, Crashed | Hung | Malformed) and answer.stderr.strip():
        first, *others = answer.stderr.strip().splitlines()
        last = f" ... {others[-1]}" if others else ""
        return f"{answer.describe()}; stderr: {_shown(first)}{last}"
    if isinstance(answer, FAILURES):
        return answer.describe()
    return f"expected a refusal, got {_shown(answer)}"


def _plain(config: Wire) -> str:
    return ", ".join(f"{key}={value}" for key, value in config.items() if not isinstance(value, list))
