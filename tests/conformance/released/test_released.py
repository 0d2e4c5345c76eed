"""Comparing a release: new, known and vanished divergences, and undetermined verdicts. No JVM."""

import sys
from dataclasses import replace
from functools import partial

import pytest

from conformance.adapters.flink.releases import release, releases
from conformance.adapters.process import ProcessAdapter
from conformance.adapters.protocol import Crashed, Unsupported
from conformance.cases.directed import Directed
from conformance.drive.lockstep import replay
from conformance.drive.oracle import Oracle
from conformance.drive.signatures import signature
from conformance.parts import released as parts
from conformance.parts.released import LEVELS, MODES
from conformance.released import comparison, gate
from conformance.released.gate import GateSearch, GateTarget, alphabet
from conformance.released.known_divergences import Known, KnownError, known_divergences, read
from conformance.released.matrix import Cell
from conformance.released.results import Conformed
from conformance.report import released as reported
from conformance.rules import index as rule_index
from conformance.verdict import Verdict
from model.closed_model_runs import Script

conform = partial(comparison.conform, kind=GateSearch)
TARGET = GateTarget("9.9.9", "flink-1.14", "exactly-once", "handler", after_finish=True)
OVERTAKEN = (
    {"kind": "barrier", "channel": 0, "checkpoint": 1},
    {"kind": "barrier", "channel": 0, "checkpoint": 2},
)
ENTRY = Known(
    "forgets",
    ("9.9.9",),
    {"channels": 2, "mode": "exactly-once", "profile": "flink-1.14"},
    OVERTAKEN,
    "the older checkpoint is never declined",
    "ALIGN-03",
)

DIRECTED = Directed((Script("gate", {}, (), OVERTAKEN),), paths=5, hit=1, excluded=2)


@pytest.fixture
def entries(monkeypatch):
    """A function that sets the known divergences; at first none."""

    def put(*known):
        monkeypatch.setattr(comparison, "known_divergences", lambda: list(known))

    put()
    return put


@pytest.fixture
def no_injections(monkeypatch):
    """Removes the event `inject`, which the small broken gates do not implement."""
    every = gate.alphabet
    monkeypatch.setattr(gate, "INJECTED", 0)
    monkeypatch.setattr(
        gate,
        "alphabet",
        lambda *seen: (event for event in every(*seen) if event["kind"] != "inject"),
    )


@pytest.fixture
def impl():
    with ProcessAdapter([sys.executable, "-m", "conformance.cli", "serve", "impl"], 60) as adapter:
        yield adapter


def shown(done):
    return reported.matrix([Cell.of(done, "here")])


def test_an_implementation_that_does_as_the_model_conforms(impl, entries):
    done = conform(impl, TARGET, 60, tour_nodes=30, directed=DIRECTED)
    assert done.verdict is Verdict.CONFORMS
    assert done.sequences > 60
    assert done.transitions > 100
    assert done.events > 1000
    assert "ALIGN-03" in done.rules
    assert reported.line(done).startswith("  CONFORMS     Flink 9.9.9   exactly-once, handler: ")
    assert reported.details(done).startswith(f"    reached: {done.reached['states']:,} different states, ")
    assert shown(done).splitlines()[1].split() == ["9.9.9", f"{done.sequences}", "/", "0"]


@pytest.mark.rule("ALIGN-03")
def test_a_new_divergence_is_shrunk_and_reported(start, entries, no_injections):
    done = conform(start("gate_forgets_subsumption"), TARGET, 60, tour_nodes=30)
    assert done.verdict is Verdict.DIVERGES
    assert {found.rule for found in done.new} == {"ALIGN-03"}
    assert all(len(found.events) <= 3 for found in done.new)
    assert any(found.events == OVERTAKEN or len(found.events) == 2 for found in done.new)
    assert "ALIGN-03" in reported.details(done)
    assert f"/ {len(done.new)}" in shown(done)


@pytest.mark.rule("ALIGN-03")
def test_the_search_continues_after_a_known_divergence(start, entries, no_injections):
    adapter = start("gate_forgets_subsumption")
    entries(ENTRY)
    first = conform(adapter, TARGET, 0, tour_nodes=30)
    others = [
        ENTRY._replace(name=f"forgets {at}", config=found.config, events=found.events)
        for at, found in enumerate(first.new)
    ]
    entries(ENTRY, *others)
    done = conform(adapter, TARGET, 120, tour_nodes=30)
    assert done.verdict is Verdict.CONFORMS
    assert done.known["forgets"] > 10
    assert done.sequences > 120
    assert "ended at known divergences" in reported.line(done)
    assert "x forgets" in reported.details(done)
    assert "known)" in shown(done)


def shared_conform(adapter, target, shared):
    kind = partial(GateSearch, shared=shared)
    return comparison.conform(adapter, target, 40, tour_nodes=20, directed=DIRECTED, kind=kind)


def without_release(done):
    return replace(done, target=TARGET, seconds=0.0)


def test_the_next_release_of_a_generation_gets_the_same_sequences_and_results(impl, entries, monkeypatch):
    alone, shared = conform(impl, TARGET, 40, tour_nodes=20, directed=DIRECTED), comparison.Shared()
    first = shared_conform(impl, TARGET, shared)
    played = list(shared.drawn.cases)
    monkeypatch.setattr(GateSearch, "chooser", None)  # no event is drawn again
    second = shared_conform(impl, replace(TARGET, version="9.9.10"), shared)

    assert first.sequences > 40
    assert without_release(first) == without_release(second) == without_release(alone)
    assert list(shared.drawn.cases) == played


def test_a_release_with_other_draws_gets_its_own_sequences(impl, entries):
    shared = comparison.Shared()
    shared_conform(impl, TARGET, shared)
    basis = shared.drawn.basis
    other = replace(TARGET, after_finish=False)

    assert without_release(shared_conform(impl, other, shared)) == without_release(
        conform(impl, other, 40, tour_nodes=20, directed=DIRECTED)
    )
    assert shared.drawn.basis != basis


@pytest.mark.rule("ALIGN-03")
def test_sequences_with_a_divergence_are_not_reused(impl, start, entries, no_injections):
    shared = comparison.Shared()
    shared_conform(impl, TARGET, shared)
    broken = shared_conform(start("gate_forgets_subsumption"), TARGET, shared)

    assert broken.verdict is Verdict.DIVERGES
    assert {found.rule for found in broken.new} == {"ALIGN-03"}
    assert shared.drawn is None


def test_a_release_that_stops_is_not_credited_with_what_another_one_reached(impl, entries, monkeypatch):
    shared = comparison.Shared()
    shared_conform(impl, TARGET, shared)
    monkeypatch.setattr(comparison, "differing", lambda adapter, cases: iter([Crashed("it has ended", "")]))
    stopped = shared_conform(impl, TARGET, shared)

    assert stopped.verdict is Verdict.UNDETERMINED
    assert (stopped.rules, stopped.transitions, stopped.paths) == (set(), 0, None)
    assert not any(stopped.reached.values())
    assert shared.drawn is None


def test_releases_of_the_same_generations_are_compared_together(monkeypatch):
    monkeypatch.setattr(parts, "AT_ONCE", 4)
    versions = ["1.19.0", "1.20.0", "1.20.1", "1.20.2", "1.20.3", "1.20.4", "1.19.1", "2.0.0"]
    groups = [[one.version for one in some] for some in parts._alike(map(release, versions))]

    assert groups == [["1.20.0", "1.20.1", "1.20.2", "1.20.3"], ["1.19.0", "1.19.1"], ["1.20.4", "2.0.0"]]


@pytest.mark.rule("ALIGN-03")
def test_nothing_after_a_known_divergence_counts_as_reached(start, entries):
    entries(ENTRY)
    search = GateSearch(start("gate_forgets_subsumption"), TARGET, done := Conformed(TARGET))
    assert search.begin()
    later = (*OVERTAKEN, {"kind": "barrier", "channel": 1, "checkpoint": 2})
    search.play(iter([search._case(search._oracle(TARGET.configs()[0]), later, (3,))]))
    search.finish()
    assert done.known == {"forgets": 1}
    assert done.reached == {"states": 2, "transitions": 1, "pairs": 0, "paths": 1}


def test_a_known_divergence_that_no_longer_occurs_fails_the_run(impl, entries):
    entries(ENTRY, ENTRY._replace(name="of another release", releases=("1.0.0",)))
    done = conform(impl, TARGET, 5, tour_nodes=5)
    assert done.verdict is Verdict.DIVERGES
    assert [known.name for known in done.gone] == ["forgets"]
    assert "gone: 'forgets' no longer diverges" in reported.details(done)


def test_an_event_that_is_not_offered_prevents_a_pass(start, entries):
    search = GateSearch(start("misbehaving", "lacking"), TARGET, done := Conformed(TARGET))
    case = search._case(search._oracle(TARGET.configs()[0]), OVERTAKEN, (len(OVERTAKEN),))
    assert not search.play(iter([case]))
    assert "it does not offer" in done.stopped.describe()
    assert (done.verdict, done.skipped) == (Verdict.UNDETERMINED, False)


def test_a_release_that_cannot_be_driven_does_not_pass(start, entries):
    skipped = conform(start("misbehaving", "unsupported"), TARGET, 5)
    assert isinstance(skipped.stopped, Unsupported)
    assert (skipped.verdict, skipped.skipped) == (Verdict.UNDETERMINED, True)
    assert reported.line(skipped).startswith("  skipped")
    assert shown(skipped).endswith("-")
    crashed = conform(start("misbehaving", "crash"), TARGET, 5)
    assert isinstance(crashed.stopped, Crashed)
    assert (crashed.verdict, crashed.skipped) == (Verdict.UNDETERMINED, False)
    assert "crashed" in reported.details(crashed)
    unknown = conform(start("misbehaving", "crash"), replace(TARGET, profile="flink-0.1"), 5)
    assert "the model: profile" in unknown.stopped.why


@pytest.mark.parametrize("mode", ["unaligned", "alternating"])
def test_a_release_older_than_a_mode_is_reported_as_such(impl, entries, mode):
    older = conform(impl, GateTarget("1.9.3", "flink-1.9", mode, "handler", after_finish=False), 5)
    assert older.absent
    assert older.skipped
    assert reported.line(older).startswith("  absent")
    assert "not in this release: profile flink-1.9 has no unaligned checkpoints" in reported.line(older)
    assert shown(older).endswith("absent")


def test_where_the_type_decides_a_checkpoint_is_a_savepoint_on_all_channels_or_on_none():
    target = GateTarget("1.11.4", "flink-1.11", "alternating", "handler", after_finish=False)
    events = [event for event in alphabet(target.configs()[0], {}) if event["kind"] == "barrier"]
    types = {(event["checkpoint"], event.get("savepoint", False)) for event in events}
    assert types == {(1, False), (2, True), (3, False)}


def test_the_same_sequences_for_all_releases_of_a_profile(impl, entries):
    versions = (replace(TARGET, version="9.9.10"), TARGET)
    twice = [conform(impl, target, 40, tour_nodes=5) for target in versions]
    assert len({(done.sequences, done.events) for done in twice}) == 1


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("level", LEVELS)
def test_small_graphs_hold_every_kind_of_event(mode, level):
    target = GateTarget("9.9.9", "flink-1.14", mode, level, after_finish=True)
    config = target.configs()[0]
    kinds = {event["kind"] for _, event, _, _ in comparison.edges_of(Oracle("gate", config), 40, alphabet)}
    expected = {"barrier", "cancel", "end_of_partition"}
    expected |= {"inject"} if mode == "exactly-once" else set()
    expected |= {"record"} if level == "polled" else set()
    expected |= {"announce", "advance"} if mode == "alternating" else set()
    assert kinds == expected


def test_at_level_polled_nothing_is_sent_to_a_blocked_channel():
    config = {**TARGET.configs()[0], "level": "polled"}
    channels = {event.get("channel") for event in alphabet(config, {"blocked": [0]})}
    assert 0 not in channels


# ---------------------------------------------------------------- the files


def test_every_entry_speaks_of_listed_releases_and_rules():
    for known in known_divergences():
        versions = [version for version in releases() if known.concerns(version)]
        assert versions
        of = "profile" if known.component == "gate" else "coordinator"
        profiles = {getattr(releases()[version], of) for version in versions}
        assert known.config["profile"] in profiles
        assert rule_index.rule(known.rule).id == known.rule
        assert known.seen.strip()
        level = {"level": "handler"} if known.component == "gate" else {}
        for profile in profiles:
            oracle = Oracle(known.component, {**level, **known.config, "profile": profile})
            assert all(edge.refused is None for edge in oracle.transcript(known.events))
    names = [known.name for known in known_divergences()]
    assert len(names) == len(set(names))


GOOD = """
[[divergence]]
name = "a"
releases = ["1.0.0"]
rule = "ALIGN-03"
seen = "b"
config = { channels = 2, mode = "exactly-once", profile = "flink-1.14" }
events = [{ kind = "barrier", channel = 0, checkpoint = 1 }]
"""


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (('name = "a"', ""), "name"),
        (('releases = ["1.0.0"]', "releases = []"), "releases"),
        (("channels = 2, ", ""), r"config\.channels"),
        (('seen = "b"', 'seen = "b"\ncolour = "red"'), "colour"),
        (("events = [", "events = {"), "odd"),
    ],
)
def test_an_entry_that_is_not_whole_is_reported(damage, said):
    assert [known.name for known in read(GOOD, "odd")] == ["a"]
    with pytest.raises(KnownError, match=said):
        list(read(GOOD.replace(*damage), "odd"))


def test_divergences_of_the_same_form_have_one_signature(start):
    adapter = start("gate_forgets_subsumption")
    oracle = Oracle("gate", {**ENTRY.config, "level": "handler"})
    later = [{**event, "channel": 1, "checkpoint": event["checkpoint"] + 7} for event in OVERTAKEN]
    found = [replay(oracle, adapter, events).divergence for events in (OVERTAKEN, later)]
    assert signature(found[0]) == signature(found[1])
    other = start("gate_unblocks_on_late_barrier")
    late = [OVERTAKEN[1], OVERTAKEN[0]]
    assert signature(replay(oracle, other, late).divergence) != signature(found[0])
