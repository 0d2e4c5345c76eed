"""Proofs over ropes agree with the model: with 1 to 6 channels, steps and properties give the same."""

import random
import signal
from importlib import import_module
from itertools import combinations, islice, product

import pytest
import z3

from conformance.commands.specification.prove import alone, search_of
from conformance.mutants.catalogue import mutant_of
from conformance.report.any_number import variant_line
from model.checker.any_number import cases, sums
from model.checker.any_number.cases import prove
from model.checker.any_number.claims import UNBOUNDED, refute, reread
from model.checker.any_number.expansion import Numbers
from model.checker.any_number.frames import is_permitted
from model.checker.any_number.members import Behaviour, Group, Many
from model.checker.any_number.recompiled_model import SHARED, Edit, Reread
from model.checker.any_number.rope import Rope, cells_of
from model.checker.any_number.sequence_functions import (
    all_,
    any_,
    combinations_,
    display,
    enumerate_,
    len_,
    sum_,
    tuple_,
    zip_,
)
from model.checker.paths import Ground, UndecidedError, paths
from model.checker.symbolic import SymbolicBool, SymbolicInt, SymbolicUseError, formula
from model.event_frames import is_permitted as plain_is_permitted
from model.gate.profiles import PROFILES
from model.gate.proofs.any_number.aligned import aligned_cases
from model.gate.proofs.any_number.channels import ALL, BEFORE, BEHIND
from model.registry import Start
from model.sink.proofs import any_number as sink_proofs
from model.sink.proofs.any_number import FILED, IDS
from model.store.proofs import any_number as store_proofs
from model.subtask import subtask
from model.subtask.profiles import TASK_PROFILES
from model.subtask.proofs import any_number as subtask_proofs
from model.subtask.proofs.any_number import RUNNING, ids

SOME = Group("some")


def flags(name: str) -> Rope:
    of = z3.Function(name, z3.IntSort(), z3.BoolSort())
    value = SymbolicBool(of(SOME.variable))
    return Rope((Many(SOME, SOME.variable, [Behaviour(z3.BoolVal(True), (value,))], every=True),))


def test_the_laws_of_sums_hold_for_any_number_of_members():
    for lemma in sums.lemmas():
        for term in (lemma.at_none, lemma.at_one_more):
            solver = z3.Solver()
            solver.set("rlimit", 10_000_000)
            solver.add(term)
            assert solver.check() == z3.unsat, lemma.name


@pytest.mark.parametrize("number", range(7))
def test_functions_of_ropes_agree_with_those_of_tuples(number):
    left, right = flags("left"), flags("right")
    sums.known.clear()
    command = (
        any_(one for one in left),
        all_(one or not other for one, other in zip_(left, right, strict=True)),
        any_(one for place, one in enumerate_(left) if not any_(right[place:])),
        sum_(1 for one, other in zip_(left, right) if one and other),
        tuple_(place for place, one in enumerate_(left) if one),
        tuple_(one or other for one, other in zip_(left, right)),
        len_(left),
        any_(one and other for one, other in combinations_(left, 2)),
        all_(one or other for one, other in combinations_(display((True, left), (True, right)), 2)),
    )
    for ones, others in product(product((False, True), repeat=number), repeat=2):
        if random.Random(str((ones, others))).random() > 6 / 4**number:
            continue
        numbers = Numbers({SOME: number}, {SOME: 0}, own=-1)
        numbers.take((left, right), (ones, others))
        numbers.take_totals(sums.known)
        assert tuple(map(numbers.plain, command)) == (
            any(ones),
            all(one or not other for one, other in zip(ones, others, strict=True)),
            any(one for place, one in enumerate(ones) if not any(others[place:])),
            sum(1 for one, other in zip(ones, others, strict=True) if one and other),
            tuple(place for place, one in enumerate(ones) if one),
            tuple(one or other for one, other in zip(ones, others, strict=True)),
            number,
            any(one and other for one, other in combinations(ones, 2)),
            all(one or other for one, other in combinations((*ones, *others), 2)),
        )


@pytest.mark.parametrize("number", range(7))
def test_the_functions_of_the_subtask_with_a_loop_are_those_over_ropes(number):
    draw, known = random.Random(number), ids(RUNNING)
    new = SymbolicInt(z3.Int("new"))
    answers = (subtask_proofs.ascending(Rope((known,)), new), subtask_proofs.pruned(Rope((known,)), new))
    for _ in range(6):
        running, other = tuple(sorted(draw.sample(range(20), number))), draw.randrange(20)
        if other in running:
            continue
        numbers = Numbers({RUNNING: number}, {RUNNING: 0}, own=-1)
        numbers.take((Rope((known,)), new), (running, other))
        assert tuple(map(numbers.plain, answers)) == (
            subtask.ascending(running, other),
            subtask.pruned(running, other),
        )


@pytest.mark.parametrize("number", range(4))
def test_committing_one_by_one_is_the_union_over_ropes(number):
    sinks, draw = Reread(plain=True).module("model.sink.two_phase_commit"), random.Random(number)
    state = (sink_proofs.committed_ids(), sink_proofs.filed(reread(), FILED))
    answers = sink_proofs.with_committed(*state)
    for _ in range(4):
        committed = tuple(sorted(draw.sample(range(1, 8), number)))
        entries = tuple(sinks.PreCommitted(0, draw.randrange(1, 8)) for _ in range(number))
        numbers = Numbers({FILED: number, IDS: 8}, {FILED: 0, IDS: 0}, own=-1)
        numbers.give("is committed", tuple(index in committed for index in range(8)))
        numbers.give(f"transaction of {FILED}", tuple(entry.transaction for entry in entries))
        assert numbers.plain(answers) == sinks.with_committed(committed, entries)


def test_a_statement_that_walks_over_a_rope_is_refused():
    with pytest.raises(SymbolicUseError, match="a statement iterates over"):
        for _ in flags("left"):
            pass


def test_effects_of_any_number_match_a_frame_only_at_every_number():
    of = z3.Function("resumed", z3.IntSort(), z3.BoolSort())
    resumes = Many(SOME, SOME.variable, [Behaviour(of(SOME.variable), ("resume",))], every=False)
    for pattern, cells, expected in (
        ("block (trigger resume*)?", ("block", "trigger", resumes), True),
        ("block trigger", ("block", "trigger", resumes), False),
        ("block (trigger resume?)?", ("block", "trigger", resumes), False),
        ("(resume | block)* trigger", ("block", resumes, "trigger"), True),
    ):
        permitted = [path.result for path in paths(lambda p=pattern, c=cells: is_permitted(p, Rope(c)))]
        assert all(permitted) == expected
        at_numbers = [
            plain_is_permitted(
                pattern,
                tuple(
                    kind for cell in cells for kind in ([cell] if isinstance(cell, str) else ["resume"] * n)
                ),
            )
            for n in range(7)
        ]
        assert all(at_numbers) == expected


def ground_of(path):
    solver = z3.Solver()
    solver.add(*path.decided)
    return Ground(solver)


@pytest.mark.parametrize(
    ("profile", "mutant"),
    [("flink-1.14", "model-gate-any-is-enough"), ("flink-1.13", "")],
)
def test_steps_and_properties_over_ropes_are_those_over_tuples(profile, mutant):
    """Compares each path of the step with 1 to 6 channels in random states, and each property of it."""
    edits = ()
    if mutant:
        found = mutant_of(mutant)
        edits = (Edit(found.module, found.find, found.replace),)
    plain, draw = Reread(edits, plain=True), random.Random(7)
    gates, step = plain.module("model.gate.aligned"), plain.module("model.steps").step_of("gate")
    properties = plain.module("model.gate.properties.aligned").GATE.properties
    compared = 0
    for case in aligned_cases(reread(*edits), PROFILES[profile]):
        if type(case.event) is Start:
            continue
        sums.known.clear()
        terms = {}
        lifted = list(paths(lambda case=case: case.step(case.state, case.event)))
        for channels in (1, 2, 3, 4, 5, 6):
            for _ in range(1):
                own = draw.randrange(channels)
                state = gates.Gate(
                    draw.choice((-1, 1, 2)),
                    draw.random() < 0.7,
                    tuple(draw.random() < 0.4 for _ in range(channels)),
                    tuple(place != own and draw.random() < 0.3 for place in range(channels)),
                    draw.random() < 0.6,
                    PROFILES[profile],
                    draw.randrange(3) if PROFILES[profile].repeats_count else 0,
                )
                values = {"channel": own, "checkpoint": draw.choice((1, 2, 3))}
                event = case.event._replace(
                    **{name: values[name] for name in values if name in case.event._fields}
                )
                numbers = Numbers(
                    {BEFORE: own, BEHIND: channels - own - 1, ALL: channels},
                    {BEFORE: 0, BEHIND: own + 1, ALL: 0},
                    own,
                )
                numbers.take((case.state, case.event), (state, event))
                numbers.take_totals(sums.known)
                done = step(state, event)
                (path,) = (one for one in lifted if all(numbers.of(term) for term in one.decided))
                assert numbers.plain(path.result.effects) == done.effects
                assert numbers.plain(path.result.state) == tuple(done.state)
                assert path.result.rules == done.rules
                for stated, found in zip(case.properties, properties, strict=True):
                    effects = Rope(cells_of(path.result.effects))
                    arguments = (case.state, case.event, effects, path.result.state)
                    if not stated.over_steps:
                        arguments = arguments[3:]
                    expected = (
                        found.holds(state, event, done.effects, done.state) if found.over_steps else None
                    )
                    if expected is None:
                        expected = found.holds(done.state)
                    if (term := terms.get((id(path), stated))) is None:
                        ground = ground_of(path)
                        term = terms[id(path), stated] = formula(
                            lambda s=stated, a=arguments: s.holds(*a), ground
                        )
                    numbers.take_totals(sums.known)
                    assert numbers.of(term) == bool(expected), stated.name
                    compared += 1
    assert compared > 300


def test_the_gate_is_proved_for_any_number_of_channels_and_a_mutant_refuted():
    result = prove(aligned_cases(reread()))

    assert result.refutations == ()
    assert {"ALIGN-05", "ALIGN-06", "ALIGN-19", "SUB-01"} <= result.proved

    found = mutant_of("model-gate-never-blocks")
    edited = reread(Edit(found.module, found.find, found.replace))
    result = prove(aligned_cases(edited), stop_at={found.rule})
    assert found.rule in {refutation.rule for refutation in result.refutations}


def test_an_undecided_path_ends_a_proof_and_is_left_out_of_a_search(monkeypatch):
    found = mutant_of("model-gate-never-blocks")
    edited = reread(Edit(found.module, found.find, found.replace))

    def undecided(*_):
        raise UndecidedError("z3 could not decide")

    monkeypatch.setattr(cases, "satisfiable", undecided)
    with pytest.raises(UndecidedError, match=r"ALIGN-\d+, \w+ in "):
        prove(aligned_cases(edited))
    result = prove(islice(aligned_cases(edited), 3), stop_at={found.rule})
    assert (result.refutations, result.proved) == ((), frozenset())


def test_a_new_solver_gets_a_query_that_the_solver_of_the_path_leaves_open(monkeypatch):
    x = z3.Int("x")
    solvers = []

    def satisfiable(solver, *conditions):
        solvers.append(solver)
        if len(solvers) == 1:
            raise UndecidedError("z3 could not decide")
        return solver.check(*conditions) == z3.sat

    monkeypatch.setattr(cases, "satisfiable", satisfiable)
    known = z3.Solver()
    known.add(x > 1)
    assert cases._solution(known, (x < 3,))[x] == 2
    assert solvers[1] is not known

    solvers.clear()
    assert cases._solution(known, (x < 1,)) is None


def test_every_claim_names_its_method():
    assert all(one.method and one.elements for one in UNBOUNDED.values())


def test_the_variants_of_a_claim_are_mutants_of_the_catalogue():
    assert all(
        mutant_of(name).component == one.component
        for one in UNBOUNDED.values()
        for name in one.variants or ()
    )


@pytest.mark.parametrize(
    ("profile", "mutant", "rule"),
    [("2.3", "keeps-one-more", "SUB-08"), ("1.11", "protects-early", "SUB-10")],
)
def test_the_store_is_proved_for_any_number_of_entries_and_a_mutant_refuted(profile, mutant, rule):
    result = prove(store_proofs.store_cases(reread(), profile))

    assert result.refutations == ()
    assert {"SUB-06", "SUB-07", "SUB-09", rule} <= result.proved
    assert result.permitted == result.cases

    found = mutant_of(f"model-store-{mutant}")
    edited = reread(Edit(found.module, found.find, found.replace))
    result = prove(store_proofs.store_cases(edited, profile), stop_at={found.rule})
    assert found.rule in {refutation.rule for refutation in result.refutations}


@pytest.mark.parametrize(
    ("mutant", "is_refuted"),
    [("unbounded", True), ("orders-early", True), ("stalls-downstream", True), ("hides-failure", False)],
)
def test_a_mutant_of_the_subtask_is_refuted_by_its_own_rule_alone(mutant, is_refuted):
    """No other rule is evaluated, so a mutant is not refuted by a rule that it does not break."""
    found = mutant_of(f"model-subtask-{mutant}")
    edit = Edit(found.module, found.find, found.replace)
    few = UNBOUNDED["subtask"]._replace(cases=lambda again: newest_cases(again, found.rule))
    rule = found.rule if is_refuted else "TASK-01"
    assert {one.rule for one in refute(few, edit, rule).refutations} == ({rule} if is_refuted else set())


def newest_cases(again, rule):
    """The cases of the newest subtask; for TASK-11 those of the oldest one."""
    profile = TASK_PROFILES["1.9" if rule == "TASK-11" else "2.3"]
    kinds = ("checkpoint", "abort_notification", "async_failed")
    return (one for one in subtask_proofs.subtask_cases(again, profile) if one.label.endswith(kinds))


def test_a_search_that_crashes_is_undetermined():
    mutant = mutant_of("model-store-prepends")
    assert alone(abs, -2) == 2
    assert alone(signal.raise_signal, signal.SIGKILL) is None
    assert "UNDETERMINED" in variant_line(mutant, None)
    found = alone(search_of, mutant)
    assert variant_line(mutant, found).startswith("model-store-prepends: refuted by SUB-06 (")
    assert "NOT refuted" in variant_line(mutant, found._replace(is_refuted=False))


def test_a_case_that_nothing_permits_is_an_error():
    case = next(aligned_cases(reread()))._replace(assumptions=(z3.BoolVal(False),))
    with pytest.raises(ValueError, match="the assumptions of the case"):
        prove([case])


def test_properties_proved_without_facts_of_sums_are_not_checked_again(monkeypatch):
    """A pass over a step that met new sums is repeated only for the properties that it has not proved."""
    followed = []
    monkeypatch.setattr(
        cases, "_followed", lambda *_, **__: followed.append(sums.number(flags_cell("new"))) or [[]]
    )
    (case, *_) = aligned_cases(reread())
    prove([case])
    assert len(followed) == 1


def flags_cell(name):
    (cell,) = (one for one in filtered(name).cells)
    return cell


def filtered(name):
    return Rope(cells_of(tuple_(one for one in flags(name) if one)))


def test_events_are_of_the_modules_that_are_read_again():
    """An event of the plain module would not be an instance of the class that steps and properties name."""
    for case in subtask_proofs.subtask_cases(reread()):
        kind = type(case.event)
        is_plain = kind is getattr(import_module(kind.__module__), kind.__name__)
        assert not is_plain or kind.__module__.rpartition(".")[2] in SHARED, case.label
