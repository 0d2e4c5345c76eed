"""The theorem holds, its broken variants do not, and a run of a small dataflow satisfies it."""

import re
import subprocess
from pathlib import Path

import pytest
import z3

from conformance.own_process import own_process
from model.theorem import EXACTLY_ONCE, THEORIES, prove
from model.theorem.dataflow import CHANNEL, ID, POSITION, TASK
from model.theorem.finite.counterexamples import failure_after, run_of
from model.theorem.finite.small_dataflow import SMALL, Small, Taken, failed, first_state, taken
from model.theorem.finite.small_scope import SCOPE, refuted
from model.theorem.logic import State
from model.theorem.necessity import holds_without, parts_of, refuted_parts
from model.theorem.variants import VARIANTS, Variant

SECONDS = r"\b\d+\.\d s\b"
PAGE = Path(__file__).parents[3] / "docs/learn/the-theorem.md"


@pytest.fixture(scope="module")
def proved():
    """The output of the command. A fresh process, because z3's unsat cores depend on its earlier queries."""
    done = subprocess.run(own_process("conformance.cli", "prove", "theorem"), capture_output=True, text=True)
    return done.returncode, re.sub(SECONDS, "0.5 s", done.stdout)


@pytest.mark.parametrize("theory", THEORIES, ids=lambda theory: theory.name)
def test_every_obligation_is_proved(theory, proved):
    (found,) = re.findall(rf"^{theory.name}: (\d+) of (\d+) obligations", proved[1], re.MULTILINE)
    least = len(theory.invariant) * (1 + len(theory.actions)) + len(theory.theorem)

    assert found == (str(least), str(least))


def test_the_page_shows_what_the_command_prints(proved):
    code, printed = proved

    assert (code, printed.splitlines()[-1]) == (0, "PROVED")
    assert f"$ barrierspec prove theorem\n{printed}```\n" in PAGE.read_text(encoding="utf-8")


def test_the_page_names_each_premise_and_no_premise_is_about_what_steps_change():
    page = PAGE.read_text(encoding="utf-8")
    domain = prove.Unbounded()
    for theory in THEORIES:
        constants = State({field.name: domain.function(field) for field in theory.constants}, domain)
        for axiom in theory.axioms:
            row = rf"^\| {axiom.name} \| .* \| {re.escape(axiom.sentence)} \|$"
            assert re.search(row, page, re.MULTILINE)
            prove.stated(axiom, constants, domain)  # an AttributeError if it names a field that steps change


def test_each_assumption_of_one_theory_is_proved_by_another():
    (theory,) = (theory for theory in THEORIES if theory.given)
    (found,) = (clause for clause in EXACTLY_ONCE.theorem if clause.name == theory.given_by)
    state = first_state(EXACTLY_ONCE)
    assert found.holds(state, 0) is True
    nothing_sent = state.after({"first_history": lambda _: "another"})
    assert found.holds(nothing_sent, 0) is False
    (whole,) = (clause for clause in EXACTLY_ONCE.theorem if clause.name == "run until now")
    assert whole.holds(state) is True
    assert whole.holds(nothing_sent) is False
    assert whole.holds(state.after({"length": lambda _: 1})) is False


def test_obligations_are_written_for_another_solver():
    theory = EXACTLY_ONCE._replace(invariant=(), actions=(), theorem=(EXACTLY_ONCE.axioms[0],))
    (lemma,) = prove.prove_theory(theory)
    solver = z3.Solver()
    solver.from_string(lemma.smt_lib)
    assert (lemma.uses, len(solver.assertions()), solver.check()) == (("acyclic",), 2, z3.unsat)


def test_a_broken_variant_is_refuted_by_the_lemma_that_it_names_and_the_theory_is_not(monkeypatch):
    for sort in (TASK, CHANNEL, ID, POSITION):  # two of each already refute it
        monkeypatch.setitem(SCOPE, sort, 2)
    variant = Variant("process", "the channel is not blocked", "blocked")
    assert variant in VARIANTS
    assert list(refuted(variant.theory, [variant.obligation])) == [variant.obligation]
    assert list(refuted(EXACTLY_ONCE, [variant.obligation])) == []


def test_a_variant_of_an_unknown_action_or_condition_is_an_error():
    with pytest.raises(LookupError, match="no action is named 'sleep'"):
        _ = Variant("sleep", "the job runs", "fifo").theory
    broken = Variant("crash", "an unknown guard", "fifo").theory
    crash = next(action for action in broken.actions if action.name == "crash")
    with pytest.raises(LookupError, match="neither guard nor field"):
        crash.step(first_state(EXACTLY_ONCE))


def test_a_condition_is_unnecessary_if_every_clause_is_proved_without_it(monkeypatch):
    monkeypatch.setattr(prove, "SEEDS", range(1))
    by_name = {action.name: action for action in EXACTLY_ONCE.actions}
    parts = {part[:2]: part for part in parts_of(EXACTLY_ONCE)}
    unneeded, needed = parts["commit", "a sink's output"], parts["complete", "completed"]
    assert holds_without(EXACTLY_ONCE, by_name["commit"], [unneeded])
    assert not holds_without(EXACTLY_ONCE, by_name["complete"], [needed])
    assert needed[:2] in refuted_parts()


def test_each_condition_and_effect_has_its_own_name():
    parts = [part[:2] for part in parts_of(EXACTLY_ONCE)]
    assert len(set(parts)) == len(parts)


def test_each_part_that_a_variant_leaves_out_exists():
    parts = {part[:2] for part in parts_of(EXACTLY_ONCE)}
    assert {(v.action, v.left_out) for v in VARIANTS if v.instead is None} <= parts


ACTIONS = {action.name: action for action in EXACTLY_ONCE.actions}
CHECKPOINT = (
    ("process", 0, 0), ("process", 2, 2), ("begin", 1), ("snapshot", 0, 1), ("receive", 2, 1),
    ("process", 1, 1), ("process", 2, 3), ("snapshot", 1, 1), ("receive", 3, 1), ("snapshot", 2, 1),
    ("store", 0, 1), ("store", 1, 1), ("store", 2, 1), ("process", 0, 0), ("process", 2, 2),
    ("acknowledge", 0, 1), ("acknowledge", 1, 1), ("acknowledge", 2, 1), ("complete", 1), ("commit", 4, 1),
    ("crash",), ("restore",), ("process", 1, 1), ("process", 2, 3),
)  # fmt: skip
"""Two records reach the output; a third is read after the checkpoint, and undone by a crash."""


def played(theory, steps, small=SMALL):
    """The last state. Each state before it satisfies the invariant and the theorem."""
    actions = {action.name: action for action in theory.actions}
    state = first_state(theory, small)
    for name, *elements in steps:
        step = Taken(actions[name], tuple(elements))
        after = taken(theory, state, step, small)
        assert after is not None, step.text
        assert failed((*theory.invariant, *theory.theorem), after, small) is None, step.text
        state = after
    return state


def test_a_checkpoint_a_crash_and_a_restore_of_a_small_dataflow():
    state = played(EXACTLY_ONCE, CHECKPOINT)
    assert [state.times(4, position) for position in range(4)] == [1, 1, 0, 0]
    assert state.length(2) == 3  # two records before the checkpoint, one after the restore


UNALIGNED = (
    ("begin", 1), ("give up", 2, 1), ("abort", 1), ("begin", 2), ("process", 0, 0), ("snapshot", 0, 2),
    ("snapshot", 2, 2), ("overtake", 2, 2),
)  # fmt: skip
"""An aborted checkpoint, and one whose barrier overtakes a record."""


def test_premises_hold_in_the_small_dataflow_and_every_action_occurs_in_a_run_of_it():
    """So premises, invariant and conditions do not contradict each other. `played` checks the invariant."""
    assert played(EXACTLY_ONCE, UNALIGNED).kept(2, 2, 0) is True
    runs = (UNALIGNED, CHECKPOINT, FINISHED, END)
    assert {step[0] for run in runs for step in run} == set(ACTIONS)
    (counts,) = (axiom for axiom in EXACTLY_ONCE.axioms if axiom.name == "counts")
    others = [axiom for axiom in EXACTLY_ONCE.axioms if axiom is not counts]
    for small in (SMALL, ENDS):
        state = first_state(EXACTLY_ONCE, small)
        assert failed(others, state, small) is None
        assert all(counts.holds(state, c, state.state(t)) for t in range(3) for c in range(5))
        turned = state.after({"rank": lambda task: -task})
        assert failed(others, turned, small).clause.name == "acyclic"


ENDS = Small(ids=3, positions=3, overtakes=-1, stops=-1, size=1)
"""Each input has one record."""
FINISHED = (
    ("process", 0, 0), ("finish", 0), ("process", 2, 2), ("receive end", 2), ("begin", 1), ("snapshot", 0, 1),
    ("process", 1, 1), ("snapshot", 1, 1), ("process", 2, 3), ("receive", 3, 1), ("snapshot", 2, 1),
    ("store", 0, 1), ("store", 1, 1), ("store", 2, 1),
    ("acknowledge", 0, 1), ("acknowledge", 1, 1), ("acknowledge", 2, 1), ("complete", 1), ("commit", 4, 1),
)  # fmt: skip
"""A checkpoint after source `a` has finished; its end counts at the join, its final state is in the cut."""
END = (("finish", 1), ("receive end", 3), ("finish", 2))
RESTORED = (("crash",), ("restore",), ("receive end", 2), *END)


@pytest.mark.parametrize("then", [END, RESTORED], ids=["end", "restored"])
def test_tasks_finish_after_the_final_checkpoint_and_all_that_they_wrote_is_visible_once(then):
    state = played(EXACTLY_ONCE, [*FINISHED, *then], ENDS)
    assert [state.finished(task) for task in range(3)] == [True] * 3
    assert [state.times(4, position) for position in range(3)] == [1, 1, 0]


def test_a_restore_keeps_a_task_finished_that_was_finished_in_the_cut():
    state = played(EXACTLY_ONCE, [*FINISHED, ("finish", 1), ("crash",), ("restore",)], ENDS)
    assert [state.finished(task) for task in range(3)] == [True, False, False]


def test_a_sink_does_not_finish_before_its_last_transaction_is_committed():
    ended = [*FINISHED[:-1], ("finish", 1), ("receive end", 3)]
    played(EXACTLY_ONCE, ended, ENDS)
    with pytest.raises(AssertionError, match="join finishes"):
        played(EXACTLY_ONCE, [*ended, ("finish", 2)], ENDS)


def test_a_channel_that_is_not_blocked_makes_the_invariant_false():
    broken = Variant("process", "the channel is not blocked", "blocked").theory
    steps = [*CHECKPOINT[:5], ("process", 0, 0), ("process", 2, 2)]
    with pytest.raises(AssertionError, match="join reads the next record of 'a to join'"):
        played(broken, steps)


@pytest.mark.parametrize(
    ("name", "steps", "false"),
    [("process/the channel is not blocked", 15, "consistent cut"), ("commit/not yet", 19, "visible once")],
)
def test_a_broken_variant_has_a_run_that_breaks_the_statement_step_by_step(name, steps, false):
    variant = next(variant for variant in VARIANTS if variant.name == name)
    run = run_of(variant)
    assert run.breaks_statement
    assert (len(run.steps), run.failure.clause.name) == (steps, false)
    assert failure_after(variant.theory, run.steps, run.failure.clause, run.small) == run.failure
    right = [step._replace(action=ACTIONS[step.action.name]) for step in run.steps]
    assert failure_after(EXACTLY_ONCE, right, run.failure.clause, run.small) is None


READ = (("process", 0, 0), ("process", 1, 1), ("process", 2, 2), ("process", 2, 3))
ENDED = (("finish", 0), ("finish", 1), ("receive end", 2), ("receive end", 3), ("finish", 2))


def completed(n, *order):
    """The snapshots of checkpoint n, stored and acknowledged by all tasks, and its completion."""
    each = [(name, task, n) for name in ("store", "acknowledge") for task in range(3)]
    return (("begin", n), *order, *each, ("complete", n))


ALIGNED = (("snapshot", 0, 1), ("snapshot", 1, 1), ("receive", 2, 1), ("receive", 3, 1), ("snapshot", 2, 1))
FINISHED_LATER = (("snapshot", 0, 2), ("snapshot", 1, 2), *ENDED, ("snapshot", 2, 2))
TOO_EARLY = (
    ("snapshot", 1, 1), ("receive", 3, 1), ("snapshot", 2, 1), ("process", 0, 0), ("snapshot", 0, 1),
)  # fmt: skip


@pytest.mark.parametrize(
    ("name", "steps", "false"),
    [
        ("finish/the open transaction is empty", (*READ, *ENDED), "complete at the end"),
        (
            "receive end/the sender has finished",
            (("receive end", 2), *completed(1, *TOO_EARLY)),
            "nothing in flight",
        ),
        (
            "snapshot/of a finished task after those it reads from",
            (*READ, *completed(1, *ALIGNED), ("commit", 4, 1), *completed(2, *FINISHED_LATER)),
            "finished for good",
        ),
    ],
)
def test_a_run_shows_why_each_condition_of_tasks_that_finish_is_needed(name, steps, false):
    variant = next(variant for variant in VARIANTS if variant.name == name)
    clause = next(clause for clause in EXACTLY_ONCE.theorem if clause.name == false)
    for theory, fails in ((variant.theory, True), (EXACTLY_ONCE, False)):
        actions = {action.name: action for action in theory.actions}
        run = tuple(Taken(actions[step[0]], tuple(step[1:])) for step in steps)
        assert (failure_after(theory, run, clause, ENDS) is not None) is fails
