"""The unaligned gate of Flink 1.11: the network thread may be ahead of the task thread."""

import pytest

from impl.core import COMPONENTS
from impl.core.errors import ProtocolError

CONFIG = {"channels": 2, "mode": "unaligned", "profile": "flink-1.11", "level": "polled"}


def shown(*events):
    """The effects of each event, as short strings."""
    gate = COMPONENTS["gate"](CONFIG)
    return gate, [[_word(effect) for effect in gate.apply(event)] for event in events]


def _word(effect):
    return f"{effect['kind']} {effect.get('checkpoint', effect.get('channel'))}"


def received(channel, checkpoint):
    return {
        "kind": "receive_barrier",
        "channel": channel,
        "checkpoint": checkpoint,
        "alignment": "unaligned",
    }


def read(channel, checkpoint):
    return {"kind": "barrier", "channel": channel, "checkpoint": checkpoint, "alignment": "unaligned"}


MAIL = {"kind": "mail"}


@pytest.mark.rule("UNAL-30")
def test_the_network_thread_starts_a_checkpoint_and_the_task_follows_later():
    record = {"kind": "record", "channel": 1, "value": 7}
    gate, said = shown(received(0, 1), record, MAIL, read(0, 1))
    assert said == [["start_persisting 1"], ["persist 1"], ["trigger 1"], []]
    assert gate.observe() == {
        "current": 1, "pending": True, "blocked": [], "closed": [], "arrived": [0], "persisting": [1],
    }  # fmt: skip


@pytest.mark.rule("UNAL-30")
def test_the_task_reads_barriers_below_the_id_that_the_network_has_started():
    gate, said = shown(received(0, 2), read(1, 1), MAIL)
    assert said == [["start_persisting 2"], [], ["trigger 2"]]
    assert (gate.observe()["current"], gate.observe()["arrived"]) == (1, [0])


@pytest.mark.rule("UNAL-30")
def test_the_network_does_not_start_a_checkpoint_that_the_task_cancelled():
    cancel = {"kind": "cancel", "channel": 1, "checkpoint": 2}
    assert shown(cancel, received(0, 2), received(0, 1), MAIL)[1] == [["abort 2"], [], [], []]


@pytest.mark.rule("UNAL-31")
def test_an_outdated_snapshot_is_not_taken_and_its_abort_is_reported():
    _, said = shown(received(0, 1), received(0, 2), MAIL, MAIL)
    assert said == [["start_persisting 1"], ["start_persisting 2"], ["abort 1", "trigger 2"], []]


@pytest.mark.rule("UNAL-31")
def test_a_cancellation_overtakes_messages_in_the_mailbox():
    cancel = {"kind": "cancel", "channel": 1, "checkpoint": 2}
    assert shown(received(0, 1), cancel, MAIL)[1] == [["start_persisting 1"], ["abort 2"], []]


def test_the_network_thread_does_not_announce_savepoints():
    with pytest.raises(ProtocolError, match="savepoint"):
        shown({"kind": "receive_barrier", "channel": 0, "checkpoint": 1, "savepoint": True})


@pytest.mark.parametrize("profile", ["flink-1.12", "flink-1.14"])
def test_other_generations_have_one_thread(profile):
    gate = COMPONENTS["gate"]({**CONFIG, "profile": profile})
    with pytest.raises(ProtocolError, match="mail"):
        gate.apply(MAIL)
