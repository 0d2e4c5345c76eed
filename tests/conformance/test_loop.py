"""The loop that plays all cases: its ends, its counts, and the cases that it leaves out."""

from itertools import islice, repeat

from conformance.adapters.choose import ours
from conformance.adapters.in_process import ModelAdapter
from conformance.adapters.protocol import Hung, Unsupported
from conformance.drive.lockstep import Played, given
from conformance.drive.loop import Limits, drive, is_over
from conformance.drive.oracle import Oracle
from model.components import COMPONENTS

GATE = {"channels": 2, "mode": "exactly-once", "level": "handler", "profile": "flink-1.14"}
FIRST = {"kind": "barrier", "channel": 0, "checkpoint": 1}
SECOND = {"kind": "barrier", "channel": 1, "checkpoint": 1}


def cases(origin="tour"):
    oracle = Oracle("gate", GATE)
    return (given(oracle, events, origin) for events in repeat((FIRST, SECOND)))


class Silent(ModelAdapter):
    """The model without the effects of the second barrier."""

    def __init__(self):
        super().__init__(COMPONENTS)

    def apply(self, events):
        answer = super().apply(events)
        return answer if FIRST in events else answer._replace(effects=[[] for _ in events])


class Refusing(ModelAdapter):
    """Answers every `new` with `answer`, and creates no instance."""

    def __init__(self, answer):
        super().__init__(COMPONENTS)
        self.answer = answer

    def new(self, component, config):
        return self.answer


def test_the_loop_ends_after_its_number_of_cases_and_of_steps():
    assert drive(cases(), ours("impl"), Limits(cases=3)).steps == 6
    played = drive(cases(), ours("impl"), Limits(cases=3, steps=11))

    assert (played.cases, played.steps, dict(played.origins)) == (6, 12, {"tour": 6})
    assert played.is_sound


def test_a_case_that_is_left_out_counts_and_is_not_played():
    played = drive(iter([None, next(cases()), None, next(cases())]), ours("impl"), Limits(cases=3))

    assert played.cases == 1


def test_the_first_divergence_ends_the_loop_with_the_answers_before_it():
    played = drive(cases(), Silent())

    assert (played.cases, played.divergence.step, played.divergence.rule) == (1, 2, "ALIGN-02")
    assert [answer.effects for answer in played.divergence.before] == [[{"kind": "block", "channel": 0}]]
    assert is_over(played)
    assert drive(cases(), ours("impl"), total=played).cases == 1


def test_a_known_divergence_ends_its_case_only():
    played = drive(cases(), Silent(), Limits(cases=4, is_known=lambda found: found.step == 2))

    assert (played.cases, played.divergence) == (4, None)


def test_an_exact_case_compares_what_the_protocol_leaves_open():
    class Talkative(ModelAdapter):
        def apply(self, events):
            answer = super().apply(events)
            return answer._replace(state={**answer.state, "more": 1})

    adapter, oracle = Talkative(COMPONENTS), Oracle("gate", GATE)
    assert drive([given(oracle, [FIRST])], adapter).is_sound
    assert drive([given(oracle, [FIRST], is_exact=True)], adapter).divergence.step == 1


def test_unsupported_cases_are_skipped_and_each_reason_is_stated_once():
    played = drive(cases(), Refusing(Unsupported("no gate")), Limits(cases=5))

    assert (played.cases, played.skipped, played.is_sound) == (0, ["no gate"], True)


def test_a_bound_that_is_not_supported_ends_its_cases_and_is_stated():
    far = (case._replace(bound="large ids") for case in islice(cases(), 5))
    played = drive(far, Refusing(Unsupported("no such id")))

    assert (played.skipped, played.tried.declined) == ([], {"large ids": "no such id"})


def test_too_many_stops_end_the_loop():
    assert drive(cases(), Refusing(Hung(1.0, ""))).stops == 2
    assert drive(cases(), Refusing(Hung(1.0, "")), Limits(stops=1)).stops == 1


def test_the_budget_is_checked_before_each_case():
    left = iter([True, True, False])
    played = drive(cases(), ours("impl"), Limits(may_go_on=lambda: next(left)), Played())

    assert (played.cases, played.ended_early) == (2, True)
