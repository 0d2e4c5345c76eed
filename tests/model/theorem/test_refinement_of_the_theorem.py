"""The composed model takes only steps of the theorem, and a broken model or mapping does not."""

from collections import defaultdict

import pytest

from conformance.mutants.catalogue import load_catalogue
from model.any_dataflow.any_dataflow import AnyDataflow
from model.any_dataflow.bounds import JobBounds
from model.any_dataflow.environment import closed_any_dataflow
from model.any_dataflow.key_groups import Subtasks, scaled_out
from model.dataflow import actions, dataflow
from model.dataflow.actions import Deliver, Produce, Receive, StartCheckpoint
from model.dataflow.dataflow import Wires
from model.dataflow.environment import Scope, closed_dataflow
from model.dataflow.messages import TRIGGER, Message
from model.theorem.assumed_rules import RUN, rules_used
from model.theorem.exactly_once import EXACTLY_ONCE
from model.theorem.finite import refinement
from model.theorem.finite.any_refinement import AnyRefinement
from model.theorem.finite.refinement import NoRefinementError, Refinement, compared
from model.theorem.finite.small_dataflow import first_state
from model.theorem.variants import VARIANTS
from spec.rules import load_rules


def checked(sources, limit=10_000):
    tasks = sources + 2
    wires = Wires((False,) * tasks, (False,) * (tasks - 1) + (True,), (False,) * tasks)
    scope = Scope(1, 1, 1, failures=1, time_outs=0, sources=sources, wires=wires, loses=False)
    return compared(closed_dataflow(scope), Refinement(sources, 1, 1), limit)


def test_each_state_satisfies_the_invariant_and_each_step_is_one_of_the_theorem():
    assert checked(sources=1) == (144, 214)


PAIR = ((1, 2),)
FAN = ((1, 2), (1, 3))
FINISHES = JobBounds(checkpoints=1, failures=0, ends=True)
STOPS = JobBounds(checkpoints=1, aborts=1, stops=frozenset({1}))
SCALES = JobBounds(checkpoints=1, parallelism=scaled_out)
UNALIGNED = JobBounds(checkpoints=1, failures=0, slow=frozenset({1, 2}), unaligned=frozenset({1}))


class FinishesEarly(AnyDataflow):
    def is_settled(self, job, task):
        return True


class KeepsNothing(AnyDataflow):
    def overtake(self, job, channel):
        known = super().overtake(job, channel)
        return known._replace(
            checkpoints=tuple(one._replace(kept=self.nothing.kept) for one in known.checkpoints)
        )


class ReadsOn(AnyDataflow):
    def is_suspended(self, job, task):
        return False


class OneKeyGroup(AnyDataflow):
    """The snapshot of a subtask holds only the state of its first key group."""

    def snapshot(self, job, task, checkpoint, awaited=frozenset()):
        known = super().snapshot(job, task, checkpoint, awaited)
        lost = [one for one in self.group(job, task) if one != task]
        parts = tuple(
            one._replace(
                captured=tuple(
                    part and part._replace(history=()) if number in lost else part
                    for number, part in enumerate(one.captured, start=1)
                )
            )
            for one in known.checkpoints
        )
        return known._replace(checkpoints=parts)


def any_checked(bounds, broken=AnyDataflow, channels=PAIR):
    subtasks = Subtasks(channels, bounds.parallelism)
    dataflow = broken(channels, bounds.capacity, bounds.slow, bounds.unaligned, bounds.stops, subtasks)
    return compared(closed_any_dataflow(dataflow, bounds), AnyRefinement(dataflow, bounds), 10_000)


def test_a_savepoint_that_stops_and_is_aborted_takes_only_steps_of_the_theorem():
    assert any_checked(STOPS) == (172, 243)


def test_a_restore_at_another_parallelism_takes_only_steps_of_the_theorem():
    assert any_checked(SCALES, channels=FAN) == (244, 413)


def test_a_subtask_that_saves_one_key_group_of_two_differs_from_the_theorem():
    with pytest.raises(NoRefinementError, match="saved differ"):
        any_checked(SCALES, OneKeyGroup, FAN)


@pytest.mark.parametrize(
    ("bounds", "states", "steps"),
    [(FINISHES, 47, 75), (UNALIGNED, 79, 148)],
    ids=["tasks that finish", "unaligned"],
)
def test_any_dataflow_takes_only_steps_of_the_theorem(bounds, states, steps):
    assert any_checked(bounds) == (states, steps)


@pytest.mark.parametrize(
    ("bounds", "broken", "found"),
    [
        (FINISHES, FinishesEarly, r"finish \(1,\): not 'the open transaction is empty'"),
        (UNALIGNED, KeepsNothing, "kept differ"),
        (STOPS, ReadsOn, r"process .*: not 'a source does not read behind a savepoint that stops'"),
    ],
)
def test_a_broken_model_of_any_dataflow_takes_a_step_that_the_theorem_does_not_allow(bounds, broken, found):
    with pytest.raises(NoRefinementError, match=found):
        any_checked(bounds, broken)


def test_a_model_that_reads_a_blocked_channel_takes_a_step_that_the_theorem_does_not_allow():
    closed = closed_dataflow(Scope(1, 1, 1, failures=0, time_outs=0))
    mapping = Refinement(2, 1, 1)
    coupled = mapping.start(closed.state)
    trigger = Deliver(Message(1, 0, TRIGGER, 1))
    for event in (StartCheckpoint(), trigger, Receive(0), Produce(0)):
        coupled = mapping.after(coupled, event, closed.step(coupled.dataflow, event))
    assert mapping.differences(coupled) == ()
    step = closed.step(coupled.dataflow, Receive(0))  # offered only by a model that does not block
    with pytest.raises(NoRefinementError, match=r"process .*: not 'the channel is not blocked'"):
        mapping.after(coupled, Receive(0), step)


def test_a_model_that_restores_no_offsets_differs_from_the_theorem(monkeypatch):
    def restarted(cut, most):
        return dataflow.deployed(cut._replace(offsets=(0,) * len(cut.offsets)), most)

    monkeypatch.setattr(actions, "deployed", restarted)
    with pytest.raises(NoRefinementError, match="offsets differ"):
        checked(sources=1)


@pytest.mark.parametrize(
    ("action", "field", "clause"),
    [
        ("process", "history", "states"),
        ("snapshot", "captured", "captured states"),
        ("restore", "read", "positions now"),
    ],
)
def test_a_mapping_without_an_effect_makes_a_clause_false(monkeypatch, action, field, clause):
    broken = next(known for known in VARIANTS if (known.action, known.left_out) == (action, field))
    by_name = {found.name: found for found in broken.theory.actions}
    monkeypatch.setattr(refinement, "ACTIONS", by_name)
    with pytest.raises(NoRefinementError, match=f"'{clause}' is false after"):
        checked(sources=1)


def test_each_condition_and_effect_names_rules_that_exist_or_is_of_the_dataflow_itself():
    state, parts = first_state(EXACTLY_ONCE), set()
    for action in EXACTLY_ONCE.actions:
        step = action.step(state, *(0 for _ in action.of))
        parts |= {(action.name, name) for name in (*step.guards, *step.changes) if name not in RUN}
    used = rules_used()
    assert set(used) == parts
    assert {rule for ids in used.values() for rule in ids} <= {rule.id for rule in load_rules()}


def test_each_rule_that_the_theorem_uses_has_a_mutant_that_its_proof_must_refute():
    """`barrierspec mutants` kills each by its rule; that of ONCE-06 is a model in TLA+."""
    layers = defaultdict(set)
    for mutant in load_catalogue():
        layers[mutant.rule].add(mutant.layer)
    unbroken = {rule for ids in rules_used().values() for rule in ids if "model" not in layers[rule]}
    assert {rule: layers[rule] for rule in unbroken} == {"ONCE-06": {"spec"}}
