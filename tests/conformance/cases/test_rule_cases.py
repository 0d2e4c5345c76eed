"""Every rule has a minimal rule case in every kind of configuration. `--rewrite` writes the cases again.

The cases are found with the model alone, among random walks whose seeds are fixed in this file.
"""

from itertools import islice
from pathlib import Path
from random import Random

import pytest

import conformance
from conformance.adapters.choose import ours
from conformance.cases.rule_cases import FILE, RuleCase, chosen_cases, fires, read, rule_cases, written
from conformance.cases.walks import LENGTH, walks
from conformance.divergence import Answer, Divergence
from conformance.drive.examine import examine
from conformance.drive.lockstep import drawn, given
from conformance.drive.loop import drive
from conformance.drive.oracle import Oracle, Oracles
from conformance.drive.plan import Plan
from conformance.drive.shrinking.shrink import fewest_events
from conformance.generators import generate
from conformance.rules.coverage import coverage
from conformance.verdict import Verdict
from model.coordinator.profiles import NEWEST_COORDINATOR

OPTIONS = (
    *("mode", "profile", "level", "checkpoints_after_tasks_finish", "cleaning", "io_failures"),
    "restored_savepoint",
)
"""The options that decide which rules can fire. Their values are the *kind* of a configuration."""
WALKS = 4000
"""Maximum number of walks that are drawn to find the rules of a kind."""
_OWN = {
    ("cleaning", "slow"): {"COORD-33"},
    ("io_failures", "injected"): {"COORD-34", "COORD-35", "COORD-36"},
    **{("restored_savepoint", one): {"COORD-37", "COORD-38", "SUB-13"} for one in range(1, 5)},
}
"""By option and value that few configurations have: the rules that need it."""
_PLAIN = {"cleaning": "immediate", "io_failures": "none", "restored_savepoint": None}
_NEWEST = (("profile", NEWEST_COORDINATOR.name), *_PLAIN.items())


def part(value):
    """The value of an option as part of a key."""
    return repr(value) if isinstance(value, list) else value


def kinds(component, *others):
    """The configurations by kind: the values of OPTIONS and of `others`."""
    found = {}
    defaults = _PLAIN if component == "coordinator" else {}
    for config in generate.configs(component):
        full = {**defaults, **config}
        kind = tuple((option, part(full[option])) for option in (*OPTIONS, *others) if option in full)
        found.setdefault(kind, []).append(Oracle(component, config))
    return found


def looked_through(component):
    """The kinds that get cases, by number of channels, and in the newest generation by set of tasks."""
    yield from kinds(component, "channels").items()
    by_tasks = {}
    for (*_, tasks), oracles in kinds(component, "tasks").items() if component == "coordinator" else ():
        newest = [
            oracle
            for oracle in oracles
            if oracle.config["profile"] == NEWEST_COORDINATOR.name
            and not oracle.config.keys() & _PLAIN.keys()
        ]
        by_tasks.setdefault((*_NEWEST, tasks), []).extend(newest)
    yield from by_tasks.items()


def possible(component, kind):
    """The rules that can fire in this kind; for an option in `_OWN`, only the rules of that option."""
    known = set(coverage(component, (), dict(kind), injects=True).missing)
    for option, rules in _OWN.items():
        if option in kind:
            return known & rules
    return known


def made(component, before=()):
    """One case for each rule and kind, unless an earlier case fires the rule in this kind."""
    cases = list(before)
    for kind, oracles in looked_through(component):
        left = possible(component, kind) - fired_by(cases, oracles)
        for number in range(WALKS):
            oracle = oracles[number % len(oracles)]
            events, fired = walked(oracle, number)
            cases += [
                RuleCase(component, rule, shortest(oracle, rule, events)) for rule in sorted(left & fired)
            ]
            left -= fired
            if not left:
                break
    return sorted(cases, key=lambda case: case.rule)


def fired_by(cases, oracles):
    """The rules that their cases fire in at least one of these configurations."""
    return {case.rule for case in cases for oracle in oracles if fires(oracle, case.rule, case.events)}


def walked(oracle, number):
    """The events of a walk, and the rules that it fires."""
    choose = generate.chooser(oracle.component, oracle.config, Random(f"rule cases {number}"), injects=True)
    return drawn(oracle, choose, LENGTH)


def shortest(oracle, rule, events):
    """The events, shrunk as those of a divergence, so that the last one still fires the rule."""

    def trial(chosen):
        for position in range(1, len(chosen) + 1):
            if fires(oracle, rule, chosen[:position]):
                nothing = Answer((), {})
                until = tuple(chosen[:position])
                return Divergence(oracle.component, oracle.config, until, nothing, nothing, (rule,))
        return None

    kept = [event for event, edge in zip(events, oracle.transcript(events), strict=True) if not edge.refused]
    return fewest_events(trial(kept), trial).events


def without_a_case(component):
    """By kind: the rules that can fire and that no case fires."""
    cases = [case for case in rule_cases() if case.component == component]
    found = {}
    for kind, oracles in kinds(component).items():
        if component == "coordinator" and dict(kind)["profile"] != "2.3":
            continue  # an older generation has few configurations, which do not cover every option
        found[kind] = possible(component, kind) - fired_by(cases, oracles)
    return found


def make_anew(component):
    lines = file().read_text(encoding="utf-8").splitlines()
    others = [line for line in lines if not line.startswith(f"{component} ")]
    file().write_text("\n".join([*others, *map(written, made(component))]) + "\n", encoding="utf-8")
    rule_cases.cache_clear()


def play_rule_cases(component, selected=frozenset()):
    chosen = chosen_cases(component, Oracles(component), {}, selected)
    return drive((given(oracle, events) for _, oracle, events in chosen), ours("impl"))


def file():
    return Path(conformance.__file__).parent / FILE


@pytest.mark.parametrize("component", generate.COMPONENTS)
def test_every_rule_has_a_case_in_every_kind_of_configuration(component, pytestconfig):
    if pytestconfig.getoption("--rewrite") and any(without_a_case(component).values()):
        make_anew(component)
    assert not any(without_a_case(component).values()), without_a_case(component)


@pytest.mark.parametrize("component", generate.COMPONENTS)
def test_every_rule_fires_whatever_the_seed(component):
    played = play_rule_cases(component)

    assert played.is_sound
    assert not played.skipped
    assert coverage(component, played.fired).missing == ()


def test_a_seed_whose_walks_miss_a_rule_conforms():
    walked = drive(islice(walks("gate", 771), 20), ours("model"))
    done = examine("gate", ours("impl"), Plan(seed=771, examples=2, greatest={"channels": 9}))

    assert "UNAL-19" not in walked.fired
    assert (done.verdict, done.undetermined) == (Verdict.CONFORMS, ())


def test_a_case_survives_writing_and_reading():
    assert [read(written(case)) for case in rule_cases()] == list(rule_cases())


@pytest.mark.rule("SUB-10")
def test_only_cases_of_the_selected_rules_are_played():
    played = play_rule_cases("store", frozenset({"SUB-10"}))

    assert (played.cases, "SUB-10" in played.fired) == (1, True)
