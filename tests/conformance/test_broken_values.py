"""Gates that are wrong for some values only: each is refused, and none of them by the values as they are."""

import sys
from pathlib import Path

import pytest

from conformance.adapters.choose import ours
from conformance.adapters.in_process import InProcess
from conformance.adapters.protocol import Hello, Offer
from conformance.cases.walks import walks
from conformance.drive.bounds import growth, lives
from conformance.drive.examine import examine
from conformance.drive.lockstep import Played
from conformance.drive.loop import Limits, drive
from conformance.drive.plan import Plan, for_offer
from conformance.verdict import Verdict

OFFER = Offer(("exactly-once",), ("flink-1.14",), ("handler",))


def _right_gate():
    folder = str(Path(__file__).parent.parent / "adapters")
    sys.path.insert(0, folder)
    try:
        import gate_forgets_subsumption as forgetful
    finally:
        sys.path.remove(folder)

    class Right(forgetful.Gate):
        """As `fake_gates right`."""

        def barrier(self, channel, checkpoint):
            overtaken = self.pending and checkpoint > self.current
            older, effects = self.current, super().barrier(channel, checkpoint)
            if overtaken:
                at = next(place for place, effect in enumerate(effects) if effect["kind"] == "block")
                effects.insert(at, {"kind": "abort", "checkpoint": older, "reason": "SUBSUMED"})
            return effects

        def observe(self):
            return self.state()

    return Right


Right = _right_gate()


def compared_by(key):
    """A gate that compares ids by a key, and answers with the true ones."""

    class Id(int):
        def __lt__(self, other):
            return key(self) < key(other)

        def __gt__(self, other):
            return key(self) > key(other)

        def __eq__(self, other):
            return key(self) == key(other)

        __hash__ = int.__hash__

    class Gate(Right):
        def apply(self, event):
            named = {name: Id(event[name]) for name in ("checkpoint",) if name in event}
            return super().apply({**event, **named})

    return Gate


class NextOnly(Right):
    """Takes only the successor of an id for a newer one."""

    def barrier(self, channel, checkpoint):
        if self.current >= 0 and checkpoint > self.current + 3:
            return [{"kind": "resume", "channel": channel}]
        return super().barrier(channel, checkpoint)


def counting(of):
    """A gate that counts the channels that have arrived in a narrow number."""

    class Gate(Right):
        def complete_if_all_arrived(self):
            if of(self.blocked) + len(self.closed) < self.channels:
                return []
            return [{"kind": "trigger", "checkpoint": self.current}, *self.release()]

    return Gate


def masked(bits):
    return counting(lambda blocked: len({channel % bits for channel in blocked}))


class Adapter(InProcess):
    """One gate; `clock` and `memory` count what the instances keep."""

    def __init__(self, gate):
        super().__init__("gate", {"gate": gate}, (ValueError,))

    def hello(self):
        return Hello("gate", "1", "python", {"gate": OFFER})


def examined(gate, **plan):
    return examine("gate", Adapter(gate), for_offer(Plan(0, 20, 100, **plan), "gate", OFFER))


def test_a_right_gate_conforms():
    done = examined(Right)

    assert (done.verdict, done.doubts) == (Verdict.CONFORMS, ())
    assert "1,000, 32,768" in done.tried.lines()["channels"]


@pytest.mark.parametrize(
    "gate",
    [
        compared_by(lambda one: (int(one) + 2**31) % 2**32 - 2**31),
        compared_by(lambda one: int(one) % 2**32),
        compared_by(float),
        NextOnly,
        masked(32),
        masked(64),
        masked(128),
        counting(lambda blocked: len(blocked) % 256),
    ],
    ids=["int32", "uint32", "double", "successor", "32", "64", "128", "byte"],
)
def test_a_gate_of_narrow_numbers_is_refused(gate):
    ordinary = walks("gate", 0, pinned={"mode": "exactly-once", "profile": "flink-1.14", "level": "handler"})
    assert drive(ordinary, Adapter(gate), Limits(cases=100)).is_sound or gate is NextOnly

    done = examined(gate)

    assert done.verdict is Verdict.DIVERGES
