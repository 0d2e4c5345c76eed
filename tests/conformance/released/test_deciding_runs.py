"""Each switch has a run that decides it, and the releases that the page names have decided it."""

from contextlib import nullcontext
from dataclasses import fields
from pathlib import Path

import pytest
from click.testing import CliRunner

import model.gate.wire
import model.subtask.wire
from conformance.adapters.flink.releases import release, releases
from conformance.adapters.in_process import ModelAdapter
from conformance.adapters.protocol import Hung
from conformance.commands.implementations.flink import command
from conformance.scenarios.deciding_runs import (
    AGREES,
    GENERATIONS,
    RECORD,
    Decided,
    Outcome,
    RecordError,
    deciding_runs,
    digest,
    digest_for,
    drive,
    first_difference,
    read,
    switches,
    write,
)
from conformance.scenarios.switch_page import page, undecided
from conformance.verdict import Exit
from model.components import COMPONENTS
from model.coordinator import generations as coordinator_generations
from model.coordinator.events import RestoreRequest
from model.coordinator.wire import coordinator as wire
from model.gate import generations as gate_generations
from model.gate import unaligned_generations
from model.gate.buffering import Buffer
from model.gate.polled_gate import Inbox
from model.gate.polled_unaligned_gate import Passage
from model.gate.tracking import Tracker
from model.gate.two_threads import Threads
from model.properties import of_component
from model.store import generations as store_generations
from model.subtask import generations as subtask_generations

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "switches.md"
RUNS = list(deciding_runs().values())
ONE_SIDED = {
    ("gate", "stores_blocked", False),
    ("gate", "has_unaligned", False),
    ("coordinator", "limits_deletions", False),
    ("coordinator", "after_finish_configurable", False),
    ("coordinator", "restores_savepoints", False),
    ("coordinator", "has_claim_modes", False),
}
"""Switches of which one side lacks the option that the run needs."""
UNDECIDED = {
    "gate.cancels_twice with it",  # no package has a jar of 1.7
    "gate.tracker_counts_ends without it",
    "gate.has_announcements without it",  # the harness has the event of each release only
    "gate.network_starts without it",
    "coordinator.savepoints_may_wait without it",  # 1.10 has no unaligned checkpoints
} | {f"{component}.{switch} without it" for component, switch, _ in ONE_SIDED}
NOT_IN_A_PROPERTY = {
    ("gate", "ends_count"),  # a default of the configuration
    ("coordinator", "after_finish_by_default"),
    ("gate", "stores_blocked"),
    ("gate", "has_unaligned"),
    ("gate", "has_announcements"),
    ("gate", "network_starts"),
    *((component, switch) for component, switch, _ in ONE_SIDED),
}
"""Switches that say which options or events exist, or which value is the default."""


def test_each_switch_has_a_run():
    named = {(component, switch) for component in GENERATIONS for switch in switches(component)}

    assert named == set(deciding_runs())


@pytest.mark.parametrize("run", RUNS, ids=lambda run: f"{run.component}.{run.switch}")
def test_a_run_distinguishes_each_generation_from_all_with_the_other_value(run):
    known = GENERATIONS[run.component]
    decided = {name: run.decided_by(name) for name in known if run.answers(name) is not None}

    assert all(decided.values()), decided
    for value in (False, True):
        has_side = any(getattr(known[name], run.switch) == value for name in decided)
        assert has_side == ((*run.place, value) not in ONE_SIDED)


@pytest.mark.parametrize(
    "run",
    [
        run
        for run in RUNS
        if run.component in ("gate", "subtask", "coordinator") and run.place not in NOT_IN_A_PROPERTY
    ],
    ids=lambda run: f"{run.component}.{run.switch}",
)
def test_a_property_forbids_the_run_of_a_generation_whose_switch_is_the_other_way(run, monkeypatch):
    steps = _recorded(monkeypatch)
    unforbidden = set()
    for name, profile in GENERATIONS[run.component].items():
        steps.clear()
        if run.transcript(name) is None:
            continue
        flipped = _flipped(profile, run.switch, monkeypatch)
        if not [broken for step in steps for broken in _broken(step, profile, flipped)]:
            unforbidden.add(name)
        assert not [broken for step in steps for broken in _broken(step, profile, profile)]

    assert unforbidden == run.unforbidden


@pytest.mark.parametrize("run", RUNS, ids=lambda run: f"{run.component}.{run.switch}")
def test_the_answers_on_the_page_differ(run):
    sides = {False: set(), True: set()}
    for name, profile in GENERATIONS[run.component].items():
        edges = run.transcript(name)
        if edges is not None and name not in run.unforbidden:
            edge = edges[len(run.opening) + first_difference(run.place)]
            sides[getattr(profile, run.switch)].add(edge.spelled if edge.refused is None else b"refused")

    if run.place != ("gate", "tracker_counts_ends"):  # only its state differs, in 1.7
        assert not sides[False] & sides[True]


def test_the_page_is_made_from_the_record():
    assert PAGE.read_text(encoding="utf-8") == page(read(RECORD))


def test_every_listed_release_was_driven_through_the_runs_as_they_are_today():
    results = read(RECORD)

    assert list(results) == list(releases())
    for decided in results.values():
        assert {place: one.digest for place, one in decided.outcomes.items()} == {
            place: digest_for(place, release(decided.version)) for place in deciding_runs()
        }
        assert not [one for one in decided.outcomes.values() if one.is_odd]


def test_every_switch_is_decided_on_both_sides_but_for_those_that_no_jar_can_decide():
    assert set(undecided(read(RECORD))) == UNDECIDED


def test_a_release_of_another_generation_is_detected():
    """An implementation that answers as 1.12 is driven as the release 1.13.6."""
    outcomes = drive(release("1.13.6"), _Model("flink-1.12", "1.12"), {})

    assert {place for place, one in outcomes.items() if one.differs} >= {
        ("gate", "triggers_first"),
        ("gate", "repeats_count"),
        ("coordinator", "finished_tasks_prevent_start"),
    }
    assert outcomes["gate", "releases_first"].result == AGREES


def test_a_release_that_answers_as_its_generation_agrees_in_every_run():
    outcomes = drive(release("1.13.6"), _Model("flink-1.13", "1.13"), {})

    driven = {place: one for place, one in outcomes.items() if one.why_not_offered is None}
    assert {place for place, one in driven.items() if one.is_odd} == set()
    assert len(driven) > len(RUNS) - 4


def test_only_results_of_the_same_run_are_kept():
    place = ("gate", "resumes_late")
    kept = Outcome("differs at step 7", digest(place, "flink-1.13"))
    outcomes = drive(release("1.13.6"), _Model("flink-1.13", "1.13"), {place: kept})
    assert outcomes[place] == kept

    outcomes = drive(release("1.13.6"), _Model("flink-1.13", "1.13"), {place: kept._replace(digest="old")})
    assert outcomes[place].result == AGREES


def test_a_record_is_read_as_it_was_written(tmp_path):
    some = [
        Decided("1.13.6", "abc", {("gate", "resumes_late"): Outcome(AGREES, "1")}),
        Decided("1.9.3", "abc", {("sink", "waits_at_the_end"): Outcome("differs at step 1", "2")}),
    ]
    write(some, tmp_path / "decided.jsonl")

    assert list(read(tmp_path / "decided.jsonl").values()) == some[::-1]


@pytest.mark.parametrize(("gate", "expected"), [("flink-1.13", Exit.CONFORMS), ("flink-1.12", Exit.DIVERGES)])
def test_the_command_stores_each_release_and_writes_the_page(monkeypatch, tmp_path, gate, expected):
    record, out = tmp_path / "decided.jsonl", tmp_path / "switches.md"
    arguments = ["switches", "1.13.6", "--record", str(record), "--out", str(out)]
    started = []

    def adapter(one):
        started.append(one.version)
        return nullcontext(_Model(gate, "1.13"))

    monkeypatch.setattr("conformance.adapters.flink.adapter.flink_adapter", adapter)
    monkeypatch.setattr("conformance.parts.released.removed_again", nullcontext)

    done = CliRunner().invoke(command, arguments, standalone_mode=False)
    assert done.return_value == expected
    assert out.read_text(encoding="utf-8") == page(read(record))
    assert ("gate.repeats_count: differs" in done.output) == (expected == Exit.DIVERGES)
    CliRunner().invoke(command, [*arguments, "--resume"], standalone_mode=False)
    assert started == ["1.13.6"]


def test_a_release_that_does_not_answer_is_undetermined_and_driven_again(monkeypatch, tmp_path):
    arguments = ["switches", "1.13.6", "--resume"]
    arguments += ["--record", str(tmp_path / "decided.jsonl"), "--out", str(tmp_path / "switches.md")]
    monkeypatch.setattr("conformance.parts.released.removed_again", nullcontext)
    model = _Model("flink-1.13", "1.13")
    monkeypatch.setattr("conformance.adapters.flink.adapter.flink_adapter", lambda one: nullcontext(model))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(model, "apply", lambda events: Hung(3, ""))
        done = CliRunner().invoke(command, arguments, standalone_mode=False)
        assert done.return_value == Exit.UNDETERMINED

    assert CliRunner().invoke(command, arguments, standalone_mode=False).return_value == Exit.CONFORMS


def test_a_file_that_is_no_record_is_refused(tmp_path):
    (tmp_path / "decided.jsonl").write_text("[]\n", encoding="utf-8")

    with pytest.raises(RecordError, match="delete it"):
        read(tmp_path / "decided.jsonl")


def test_a_release_that_has_not_decided_is_not_listed():
    results = read(RECORD)
    place = ("gate", "repeats_count")
    outcomes = {
        **results["1.13.6"].outcomes,
        place: Outcome("differs at step 2", "1"),
    }
    results["1.13.6"] = results["1.13.6"]._replace(outcomes=outcomes)

    assert "gate.repeats_count with it" in undecided(results)
    assert "- 1.13.6, `gate.repeats_count`: differs at step 2" in page(results)


class _Model(ModelAdapter):
    """The model as an implementation of one generation of gates, and one of coordinators."""

    def __init__(self, gate, coordinator):
        super().__init__(COMPONENTS)
        self._profiles = {"gate": gate, "coordinator": coordinator}

    def new(self, component, config):
        profile = self._profiles.get(component, config["profile"])
        return super().new(component, {**config, "profile": profile})


def _recorded(monkeypatch):
    """The list to which the model's steps are added, as (component, state, event, step)."""
    steps = []

    def recording(component, step):
        def recorded(state, event):
            taken = step(state, event)
            steps.append((component, state, event, taken))
            return taken

        return recorded

    class Restoring:
        def __init__(self, of_generation):
            self._of_generation = of_generation

        def on_restore(self, state, restarted):
            step = self._of_generation.on_restore
            return recording("coordinator", lambda state, event: step(state, event.tasks))(
                state, RestoreRequest(restarted)
            )

    steps_of = wire.coordinator_steps
    monkeypatch.setattr(wire, "coordinator_steps", lambda state: Restoring(steps_of(state)))
    monkeypatch.setattr(wire, "_STEP", recording("coordinator", wire._STEP))
    monkeypatch.setattr(model.subtask.wire, "_STEP", recording("subtask", model.subtask.wire._STEP))
    for (at, polled), component in _COMPONENTS_OF_A_GATE.items():
        step = recording(component, model.gate.wire._STEP_OF[at, polled])
        monkeypatch.setitem(model.gate.wire._STEP_OF, (at, polled), step)
    return steps


_COMPONENTS_OF_A_GATE = {
    (Inbox, True): "network",
    (Inbox, False): "gate",
    (Buffer, True): "buffer",
    (Tracker, True): "tracker",
    (Tracker, False): "tracker",
    (Passage, True): "passage",
    (Passage, False): "unaligned",
    (Threads, True): "threads",
    (Threads, False): "threads",
}


_GENERATIONS = (
    gate_generations,
    unaligned_generations,
    subtask_generations,
    coordinator_generations,
    store_generations,
)


def _flipped(profile, switch, monkeypatch):
    """The profile with the switch the other way, for which the properties find the same steps."""
    values = {one.name: getattr(profile, one.name) for one in fields(profile)}
    flipped = object.__new__(type(profile))
    for name, value in {**values, switch: not values[switch]}.items():
        object.__setattr__(flipped, name, value)
    for module in _GENERATIONS:
        for known in vars(module).values():
            if isinstance(known, dict) and profile in known:
                monkeypatch.setitem(known, flipped, known[profile])
    return flipped


def _broken(step, profile, flipped):
    """The properties that forbid a step of this profile if its states have the flipped one."""
    component, state, event, taken = step
    before, after = (_replaced(one, profile, flipped) for one in (state, taken.state))
    for one in of_component(component):
        if one.over_starts or one.name in ("switches_agree", "kept_while_pending"):
            continue  # skips properties that compare switches, or fields that follow from a switch
        try:
            if one.over_steps:
                is_held = not one.concerns(event) or one.holds(before, event, taken.effects, after)
            else:
                is_held = one.holds(after)
        except LookupError:
            assert flipped is not profile
            continue  # a generation with the flipped switch has no such state
        if not is_held:
            yield one.name


def _replaced(value, old, new):
    """The value with `new` for each `old` in it."""
    if value is old:
        return new
    if not isinstance(value, tuple):
        return value
    parts = [_replaced(one, old, new) for one in value]
    return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
