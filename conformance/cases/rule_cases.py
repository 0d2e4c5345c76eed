"""Rule cases: for each rule a short run whose last event fires it, so that coverage depends on no seed.

`conformance/rule-cases.txt` has one run a line, without a configuration; a rule that needs other events in
other configurations has several. The runs were found with the model alone and shrunk until no event can be
left out. A test reports missing runs, and writes the file again.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib import resources
from typing import NamedTuple

from conformance.adapters.in_process import INJECT
from conformance.adapters.protocol import Wire, canonical
from conformance.drive.bounds.wide_gate_cases import widened
from conformance.drive.oracle import Oracle, Oracles
from conformance.generators import generate
from conformance.rules.coverage import coverage
from conformance.vectors.transcripts import event_of

FILE = "rule-cases.txt"
SHORT_RUNS = "short-runs.txt"
SWITCH_RUNS = "switch-runs.txt"
SMALL = 4
"""Gates with at most this number of channels have separate cases."""
LARGE = 129
"""Gates of more channels have no case in which every channel delivers an item."""


class RuleCase(NamedTuple):
    """A run that fires a rule with its last event, in those configurations that allow it."""

    component: str
    rule: str
    events: tuple[Wire, ...]


def chosen_cases(
    component: str,
    oracles: Oracles,
    pinned: Mapping[str, object],
    selected: frozenset[str] = frozenset(),
    *,
    injects: bool = False,
) -> Iterator[tuple[str, Oracle, tuple[Wire, ...]]]:
    """The case of each chosen rule, in the first configuration that fires it.

    If a gate has more channels than the cases, the last channel of a case stands for all further ones.
    """
    configs = generate.fitting(component, pinned)
    chosen_from = (component, injects, canonical(dict(pinned)))
    for rule in coverage(component, (), pinned, selected, injects=injects).missing:
        if (*chosen_from, rule) not in _FOUND:
            cases = [
                case.events
                for case in rule_cases()
                if (case.component, case.rule) == (component, rule)
                and (injects or not any(event["kind"] == INJECT for event in case.events))
            ]
            _FOUND[*chosen_from, rule] = _first(rule, map(oracles.of, configs), cases)
        found = _FOUND[*chosen_from, rule]
        if found is not None:
            config, events = found
            yield rule, oracles.of(config), events


_FOUND: dict[tuple[object, ...], tuple[Wire, tuple[Wire, ...]] | None] = {}
"""A cache of the cases that were searched for: an examination needs each of them three times."""


def fires(oracle: Oracle, rule: str, events: Sequence[Wire]) -> bool:
    """Whether the rule fires with the last of these events, and the protocol allows all of them."""
    *before, last = oracle.transcript(events)
    return rule in last.rules and not any(edge.fails or edge.refused is not None for edge in before)


@cache
def rule_cases(file: str = FILE) -> tuple[RuleCase, ...]:
    """The rule cases, in the order of the file. In SHORT_RUNS and SWITCH_RUNS a name replaces the rule."""
    text = resources.files("conformance").joinpath(file).read_text(encoding="utf-8")
    return tuple(read(line) for line in text.splitlines() if not line.startswith("#"))


def read(line: str) -> RuleCase:
    """Parse a line such as `store SUB-06: add checkpoint=1 type="checkpoint"; latest`."""
    named, _, text_of_events = line.partition(": ")
    component, rule = named.split(" ")
    return RuleCase(component, rule, tuple(map(event_of, text_of_events.split("; "))))


def written(case: RuleCase) -> str:
    """A case as its line."""
    return f"{case.component} {case.rule}: {'; '.join(map(_line_of, case.events))}"


def _line_of(event: Wire) -> str:
    fields = {name: value for name, value in event.items() if name != "kind"}
    pairs = [f"{name}={json.dumps(value, separators=(',', ':'))}" for name, value in fields.items()]
    return " ".join([event["kind"], *pairs])


def _first(
    rule: str, oracles: Iterator[Oracle], cases: Sequence[tuple[Wire, ...]]
) -> tuple[Wire, tuple[Wire, ...]] | None:
    """The first configuration in which a case fires the rule, with that case.

    A large gate is searched only if a small one fires the rule. It gets no case in which each of its channels
    delivers an item.
    """
    for oracle in oracles:
        is_large = oracle.config.get("channels", 0) > LARGE
        small = Oracle(oracle.component, {**oracle.config, "channels": SMALL + 2}) if is_large else None
        for events in cases:
            if (small is None or fires(small, rule, events)) and fires(oracle, rule, events):
                return oracle.config, events
            if is_large:
                continue
            wide = _widened(oracle.config, events)
            if wide and fires(oracle, rule, wide):
                return oracle.config, wide
    return None


def _widened(config: Wire, events: tuple[Wire, ...]) -> tuple[Wire, ...]:
    """The case, widened for a gate of more channels than the case names; empty for other gates."""
    named = [event["channel"] for event in events if type(event.get("channel")) is int]
    known, channels = max(named, default=0) + 1, config.get("channels", 0)
    if channels <= max(known, SMALL):
        return ()
    return tuple(widened(events, max(known, 2), channels, first=False))
