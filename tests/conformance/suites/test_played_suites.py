"""Complete suites in `conform`: a gate with hidden memory is refused, and the verdict states n and k."""

from conformance.adapters.in_process import InProcess, ModelInstance, model_adapter
from conformance.adapters.protocol import Offer
from conformance.drive.bounds.examination import Examination
from conformance.drive.examine import examine
from conformance.drive.lockstep import Played, given
from conformance.drive.loop import drive
from conformance.drive.oracle import Oracle
from conformance.drive.plan import Plan, for_offer
from conformance.suites import play
from conformance.suites.hidden_states import tour_words
from conformance.suites.play import machine_of
from conformance.suites.registry import alphabets
from conformance.verdict import Verdict
from model.components import COMPONENTS, WireError

OFFER = Offer(("exactly-once",), ("flink-1.14",), ("handler",))
CONFIG = {
    "channels": 2,
    "level": "handler",
    "checkpoints_after_tasks_finish": True,
    "mode": "exactly-once",
    "profile": "flink-1.14",
}


class LosesTrigger(ModelInstance):
    """A gate that remembers a late barrier until the next event, and does not show it.

    If the barrier came on channel 1 while only channel 0 was blocked, and channel 1 ends next, the gate does
    not trigger.
    """

    is_armed = False

    def apply(self, event):
        before = self.observe()
        was_armed, self.is_armed = self.is_armed, False
        effects = super().apply(event)
        late = event["kind"] == "barrier" and event["checkpoint"] < before["current"]
        self.is_armed = late and event["channel"] == 1 and before["blocked"] == [0]
        if was_armed and event["kind"] == "end_of_partition" and event["channel"] == 1:
            return [effect for effect in effects if effect["kind"] != "trigger"]
        return effects


def forgetful():
    return InProcess(
        "forgetful", {"gate": lambda config: LosesTrigger(COMPONENTS["gate"], config)}, (WireError,)
    )


def examined(adapter, extra_states) -> Examination:
    plan = Plan(
        seed=0, examples=10, pinned={"checkpoints_after_tasks_finish": True}, extra_states=extra_states
    )
    return examine("gate", adapter, for_offer(plan, "gate", OFFER))


def test_a_hidden_state_is_refused_by_the_suite_and_shrunk_to_the_shortest_sequence():
    done = examined(forgetful(), extra_states=1)
    assert done.verdict is Verdict.DIVERGES
    assert [event["kind"] for event in done.divergence.events] == ["barrier", "barrier", "end_of_partition"]


def test_without_the_suite_the_same_gate_conforms():
    assert examined(forgetful(), extra_states=None).verdict is Verdict.CONFORMS


def test_tours_of_the_same_machine_do_not_see_the_hidden_state():
    (alphabet,) = alphabets("gate", CONFIG, injects=False)
    read, compared = Oracle("gate", CONFIG), Oracle("gate", CONFIG)
    words = tour_words(machine_of(alphabet))
    played = drive((given(compared, alphabet.events(read, word)) for word in words), forgetful())
    assert played.is_sound
    assert played.steps > 150


def test_a_verdict_states_n_k_letters_and_sequences():
    done = examined(model_adapter(), extra_states=1)
    (guarantee,) = done.guarantees
    assert (guarantee.states, guarantee.extra, guarantee.letters) == (11, 1, 14)
    assert guarantee.sequences > 2_000
    line = f"n=11, k=1, 14 letters, {guarantee.sequences:,} sequences, {guarantee.events:,} events"
    assert line in done.bound


def test_a_suite_that_does_not_fit_is_played_with_a_smaller_k_and_the_verdict_states_it(monkeypatch):
    monkeypatch.setattr(play, "SEQUENCES_AT_MOST", 200)
    (guarantee,) = examined(model_adapter(), extra_states=1).guarantees
    assert guarantee.extra == 0
    assert "k=1 has about 2,156 sequences" in guarantee.reason


def test_a_suite_that_does_not_fit_at_all_is_stated(monkeypatch):
    monkeypatch.setattr(play, "SEQUENCES_AT_MOST", 10)
    done = examined(model_adapter(), extra_states=1)
    assert done.verdict is Verdict.CONFORMS
    assert "no complete suite for gate, 2 channels" in done.bound
    assert "k=0 has about 154 sequences" in done.bound


def test_a_coordinator_that_draws_its_ids_itself_has_suites_and_the_verdict_names_what_has_none():
    plan = Plan(0, 1, pinned={"profile": "2.3", "tasks": [{"id": "src-0", "source": True}]}, extra_states=0)
    total = Played()
    guarantees = play.play_suites("coordinator", model_adapter(), plan._replace(chosen=plan.pinned), total)
    assert total.is_sound
    assert [(one.states, one.extra) for one in guarantees] == [(65, 0), (100, 0), (81, 0), (0, None)]
    assert guarantees[-1].reason.startswith("only one or two tasks")


def test_a_budget_that_ends_within_a_suite_gives_no_guarantee():
    steps = iter(range(100_000))
    plan = Plan(seed=0, examples=1, extra_states=1, may_go_on=lambda: next(steps) < 300)
    done = examine("gate", model_adapter(), for_offer(plan, "gate", OFFER))
    assert done.verdict is Verdict.UNDETERMINED
    assert all(guarantee.extra is None for guarantee in done.guarantees)
