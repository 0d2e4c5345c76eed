"""`conform` accepts a tracking gate that throws where released Flinks throw, and refuses other errors."""

from pathlib import Path

import pytest

from conformance.adapters.in_process import InProcess
from conformance.drive.conform import Order, conform
from conformance.drive.lockstep import replay
from conformance.drive.oracle import Oracle
from conformance.drive.plan import Plan
from conformance.released.known_divergences import is_alignment_clock, known_divergences
from conformance.verdict import Verdict
from model.components import COMPONENTS, WireError

GATE = COMPONENTS["gate"]
CLOCK = [known for known in known_divergences() if known.name.startswith("alignment clock")]


class LikeFlink:
    """The model's gate with Flink's clock of alignments, which throws if an alignment ends twice.

    `always`: it throws each time TRACK-04 fires.
    """

    def __init__(self, config, *, always=False):
        self._state, self._always, self._reset = GATE.new(config), always, False

    def apply(self, event):
        before = self._newest()
        self._state, effects, rules = GATE.apply(self._state, event)
        if "TRACK-04" in rules and (self._always or (self._reset and before == effects[-1]["checkpoint"])):
            return [{"kind": "fail", "error": "IllegalStateException"}]
        if "TRACK-17" in rules:
            self._reset = True
        elif self._newest() != before:
            self._reset = False
        return effects

    def observe(self):
        return GATE.observe(self._state)

    def _newest(self):
        return max((entry[0] for entry in self.observe().get("tracked", ())), default=None)


def adapter_of(**how):
    return InProcess("clone", {"gate": lambda config: LikeFlink(config, **how)}, (WireError,))


def conformed(adapter, folder):
    pinned = {"mode": "at-least-once", "checkpoints_after_tasks_finish": True, "channels": 2}
    plan = Plan(0, 40, pinned=pinned, checkpoints=0)
    (verdict,) = conform(adapter, Order("clone", ["gate"], plan, folder), print).verdicts
    return verdict


@pytest.mark.rule("TRACK-04")
@pytest.mark.parametrize("known", CLOCK, ids=lambda known: known.name)
def test_the_sequences_in_which_released_gates_throw_are_recognised(known):
    config = {**known.config, "level": "handler"}
    played = replay(Oracle("gate", config), adapter_of(), known.events)
    assert played.divergence is not None
    assert is_alignment_clock(played.divergence)


@pytest.mark.rule("TRACK-04")
def test_a_faithful_clone_does_not_diverge(tmp_path: Path):
    assert conformed(adapter_of(), tmp_path) is not Verdict.DIVERGES


@pytest.mark.rule("TRACK-04")
def test_a_gate_that_throws_at_every_completion_diverges(tmp_path: Path):
    assert conformed(adapter_of(always=True), tmp_path) is Verdict.DIVERGES
