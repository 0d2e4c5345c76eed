"""Two gates that are broken on purpose diverge. The report has a minimal sequence and names the rule."""

import pytest

from conformance.adapters.choose import ours
from conformance.cases.hypothesis_machines import Source, run_machine
from conformance.cases.walks import WalkOptions, walks
from conformance.drive.examine import examine
from conformance.drive.lockstep import replay
from conformance.drive.loop import Limits, drive
from conformance.drive.oracle import Oracle
from conformance.drive.plan import Plan
from conformance.drive.shrinking.shrink import shrink
from conformance.verdict import Verdict

BROKEN = [
    pytest.param("gate_forgets_subsumption", "ALIGN-03", 2, marks=pytest.mark.rule("ALIGN-03")),
    pytest.param("gate_unblocks_on_late_barrier", "ALIGN-04", 2, marks=pytest.mark.rule("ALIGN-04")),
]

OFFERED = {"mode": "exactly-once", "level": "handler", "profile": "flink-1.14"}
"""The options that the gates offer in `hello`."""
PINNED = {**OFFERED, "channels": 2}


@pytest.mark.parametrize(("script", "rule", "length"), BROKEN)
def test_the_broken_gate_diverges_at_its_rule(start, script, rule, length):
    adapter = start(script)
    done = examine("gate", adapter, Plan(seed=1, examples=5, batch=50, pinned=OFFERED))
    assert done.verdict is Verdict.DIVERGES
    found = done.divergence
    assert (found.rule, found.step, found.config["channels"]) == (rule, length, 2)

    oracle = Oracle("gate", found.config)
    assert replay(oracle, adapter, found.events).divergence == found
    for left_out in range(found.step):
        fewer = [event for position, event in enumerate(found.events) if position != left_out]
        assert replay(oracle, adapter, fewer).divergence is None
    assert replay(oracle, ours("impl"), found.events).divergence is None


@pytest.mark.parametrize(("script", "rule", "length"), BROKEN)
def test_shrinking_gives_the_same_sequence_for_every_walk(start, script, rule, length):
    adapter = start(script)
    shrunk = []
    for seed in (2, 2, 3):
        walked = walks("gate", seed, WalkOptions({**PINNED, "channels": 3}))
        played = drive(walked, adapter, Limits(batch=20, cases=20))
        shrunk.append(shrink(played.divergence, adapter))
    assert shrunk[0] == shrunk[1]
    assert {(one.rule, one.step) for one in shrunk} == {(rule, length)}


@pytest.mark.parametrize(("script", "rule", "length"), BROKEN)
def test_a_hypothesis_state_machine_also_finds_the_defect(start, script, rule, length):
    adapter = start(script)
    found = run_machine("gate", adapter, Source(3, 150, steps=15, pinned=PINNED)).divergence
    smallest = shrink(found, adapter)
    assert (smallest.rule, smallest.step) == (rule, length)


def test_a_run_at_an_unsupported_level_does_not_pass(start):
    done = examine("gate", start("gate_forgets_subsumption"), Plan(1, 1, pinned={"level": "polled"}))
    assert done.verdict is Verdict.UNDETERMINED
    assert done.undetermined[0].startswith("skipped, not supported: only a gate at handler level")
    assert done.cases == 0
