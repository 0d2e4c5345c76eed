"""`conform` refuses gates that are wrong for some values only. Small values find few of them."""

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from conformance.adapters.choose import ours
from conformance.adapters.in_process import InProcess, offer_of
from conformance.adapters.protocol import Hello, Offer
from conformance.cases.walks import WalkOptions, walks
from conformance.drive.bounds import growth, lives
from conformance.drive.bounds.wide_gates import play_wide_gates
from conformance.drive.examine import examine
from conformance.drive.lockstep import Played
from conformance.drive.loop import Limits, drive
from conformance.drive.plan import Plan, for_offer
from conformance.generators import generate
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
        """The correct gate, as `fake_gates right`."""

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
    """A class of gates that compare `key(id)` instead of the id, and answer with the id itself."""

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
    """Treats an id that is more than 3 above the current one as late."""

    def barrier(self, channel, checkpoint):
        if self.current >= 0 and checkpoint > self.current + 3:
            return [{"kind": "resume", "channel": channel}]
        return super().barrier(channel, checkpoint)


def counting(of):
    """A class of gates that count the blocked channels with `of`, which may be too narrow."""

    class Gate(Right):
        def complete_if_all_arrived(self):
            if of(self.blocked) + len(self.closed) < self.channels:
                return []
            return [{"kind": "trigger", "checkpoint": self.current}, *self.release()]

    return Gate


def masked(bits):
    return counting(lambda blocked: len({channel % bits for channel in blocked}))


class Adapter(InProcess):
    """The adapter of one gate, in this process."""

    def __init__(self, gate):
        super().__init__("gate", {"gate": gate}, (ValueError,))

    def hello(self):
        return Hello("gate", "1", "python", {"gate": OFFER})


class Ageing(Adapter):
    """Each request of a life takes `leaks` bytes and makes answers slower. Time and memory are simulated."""

    def __init__(self, *, leaks=0, slows=0.0, starts=0):
        super().__init__(Right)
        self.leaks, self.slows = leaks, slows
        self.now, self.kept, self.starts = 0.0, 0, starts

    def new(self, component, config):
        self.kept = 0
        return super().new(component, config)

    def apply(self, events):
        self.kept += 1
        self.now += 1.0 + self.kept * self.slows
        return super().apply(events)

    def memory(self):
        return 10 * 2**20 + self.kept * self.leaks

    def bye(self):
        self.starts += 1


def examined(gate, examples=1):
    return examine("gate", Adapter(gate), for_offer(Plan(0, examples, 100), "gate", OFFER))


def test_a_right_gate_conforms():
    done = examined(Right, examples=20)

    assert (done.verdict, done.undetermined) == (Verdict.CONFORMS, ())
    assert "1,000, 32,768" in done.tried.lines()["channels"]


@pytest.mark.parametrize(
    "gate",
    [
        compared_by(lambda one: (int(one) + 2**31) % 2**32 - 2**31),
        compared_by(lambda one: int(one) % 2**32 if int(one) > 0 else int(one)),
        compared_by(float),
        NextOnly,
        masked(32),
        masked(64),
        masked(128),
    ],
    ids=["int32", "uint32", "double", "successor", "32", "64", "128"],
)
def test_a_gate_of_narrow_numbers_is_refused(gate):
    ordinary = walks(
        "gate", 0, WalkOptions({"mode": "exactly-once", "profile": "flink-1.14", "level": "handler"})
    )
    assert drive(ordinary, Adapter(gate), Limits(cases=20)).is_sound or gate is NextOnly

    done = examined(gate)

    assert done.verdict is Verdict.DIVERGES


def test_a_gate_that_counts_channels_in_a_byte_is_refused_at_the_smallest_gate():
    plan, total = for_offer(Plan(0, 20, 100), "gate", OFFER), Played()

    play_wide_gates(Adapter(counting(lambda blocked: len(blocked) % 256)), plan, total)

    assert total.divergence.config["channels"] == 256


@pytest.mark.parametrize(
    ("adapter", "says"),
    [
        (Ageing(), ""),
        (Ageing(leaks=10**6), "memory is "),
        (Ageing(slows=0.1), "an event takes "),
        (Ageing(slows=0.001), ""),
    ],
    ids=["right", "leaks", "slower", "a little slower"],
)
def test_a_life_with_growing_memory_does_not_conform(adapter, says, monkeypatch):
    monkeypatch.setattr(lives, "WATCHED", 1_000)
    monkeypatch.setattr(lives, "SAMPLED", 2)
    monkeypatch.setattr(lives, "time", SimpleNamespace(perf_counter=lambda: adapter.now))
    total = Played()
    plan = for_offer(Plan(0, 1, checkpoints=4_000), "gate", OFFER)

    assert lives.play_lives("gate", adapter, plan, total) == ()
    assert [one.partition(": ")[2].startswith(says) for one in total.tried.grows] == [True] * bool(says)
    assert adapter.starts == bool(says)  # measured again in a new process
    assert total.tried.watched == {"answer time", "memory"}


def test_growth_that_ends_is_not_reported():
    warming = [*range(100, 300, 2), *[300] * 100]

    assert growth.slower(warming) is None
    assert growth.slower(range(100, 400)) is not None
    assert growth.larger([one * 2**20 for one in range(10, 30)]) is not None
    assert growth.larger([one * 2**10 for one in range(10, 30)]) is None


def test_a_life_that_differs_late_states_where():
    class Wraps(Right):
        def barrier(self, channel, checkpoint):
            return super().barrier(channel, checkpoint % 1024)

        def state(self):
            return {**super().state(), "current": self.current}

    plan = for_offer(Plan(0, 1, checkpoints=2_000), "gate", OFFER)
    (wrong,) = lives.play_lives("gate", Adapter(Wraps), plan, Played())

    assert wrong.what.startswith("in a life of 2,000 checkpoints, after ")
    assert "'checkpoint': 1024}" in wrong.what


@pytest.mark.parametrize("component", generate.COMPONENTS)
def test_every_component_has_a_life_in_each_mode(component):
    offer = offer_of(component)
    plan, total = for_offer(Plan(0, 1, checkpoints=20), component, offer), Played()

    assert lives.play_lives(component, ours("impl"), plan, total) == ()
    assert total.is_sound
    assert total.tried.lives == max(1, len(offer.modes))
