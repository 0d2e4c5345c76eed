"""The alphabets of store, sink, source, offsets, subtask and channel. Their ids go from 1 to a bound."""

from collections.abc import Iterator
from typing import Any

from conformance.adapters.protocol import Wire
from conformance.suites.alphabet import Alphabet, Letter, letter

TYPES = ("checkpoint", "savepoint", "stop")
SUBTASK_IDS = 2
SINK_IDS = 2
TRANSACTIONS = 3
"""The highest number of a transaction of a sink."""
SOURCE_IDS = 2
OFFSETS_IDS = 3
CHANNEL_IDS = 1
CHANNEL_ITEMS = 1
"""Maximum number of items at each end of a channel."""


def store_alphabets(config: Wire) -> Iterator[Alphabet]:
    """A store: checkpoints of every type. The number of ids is one more than the store retains."""
    ids = range(1, config["retain"] + 2)
    letters = [letter("add", checkpoint=one, type=kind) for one in ids for kind in TYPES]
    letters += [letter("latest"), letter("shutdown", discard=True), letter("shutdown", discard=False)]

    def allows(state: Any, event: Wire) -> bool:  # noqa: ANN401 - the model's own state
        return event["kind"] != "add" or bool(len(state.entries) <= config["retain"])

    yield Alphabet("store", config, tuple(letters), f"ids to {ids[-1]}", allows)


def sink_alphabets(config: Wire) -> Iterator[Alphabet]:
    """A sink: writes, snapshots with growing ids, notifications, crashes and restores."""
    ids = range(1, SINK_IDS + 1)
    letters: list[Letter] = [letter("write", value=0)]
    letters += (letter("snapshot", checkpoint=one) for one in ids)
    letters += (letter("notify_complete", checkpoint=one) for one in ids)
    letters += (letter("notify_abort", checkpoint=one) for one in ids)
    letters += (letter(kind) for kind in ("finish", "close", "crash"))
    letters += (letter("restore", checkpoint=one) for one in (None, *ids))

    def allows(state: Any, event: Wire) -> bool:  # noqa: ANN401 - the model's own state
        return state.next_transaction <= TRANSACTIONS or event["kind"] not in ("snapshot", "restore")

    bound = f"ids to {SINK_IDS}, transactions to {TRANSACTIONS}"
    yield Alphabet("sink", config, tuple(letters), bound, allows)


def source_alphabets(config: Wire) -> Iterator[Alphabet]:
    """The task of a source: triggers, induced checkpoints and their ends, starts and ends of the task."""
    ids = range(1, SOURCE_IDS + 1)
    letters = [letter("trigger", checkpoint=one) for one in ids]
    letters += (letter("trigger", checkpoint=one, to="elsewhere") for one in ids)
    letters += (letter("induce", checkpoint=one) for one in ids if config.get("external", "no") != "no")
    letters += (letter("ended", checkpoint=one) for one in ids)
    letters += (letter("status", running=running) for running in (True, False))
    yield Alphabet("source", config, tuple(letters), f"ids to {SOURCE_IDS}")


def offsets_alphabets(config: Wire) -> Iterator[Alphabet]:
    """A source that commits offsets: growing ids. Each id has other offsets."""
    ids = range(1, OFFSETS_IDS + 1)
    letters = [letter("snapshot", checkpoint=one, offsets=one) for one in ids]
    letters += (letter("notify_complete", checkpoint=one) for one in ids)
    letters += (letter("notify_abort", checkpoint=one) for one in ids)
    letters += (letter("crash"), *(letter("restore", offsets=offsets) for offsets in (0, 1)))
    yield Alphabet("offsets", config, tuple(letters), f"ids to {OFFSETS_IDS}")


def subtask_alphabets(config: Wire) -> Iterator[Alphabet]:
    """The snapshot steps of a subtask: every event, for two ids."""
    ids = range(1, SUBTASK_IDS + 1)
    letters: list[Letter] = []
    for one in ids:
        letters += (letter(kind, checkpoint=one) for kind in _OF_SUBTASK)
        letters.append(letter("abort_on_barrier", checkpoint=one, reason="SUBSUMED"))
        letters.append(letter("abort_notification", checkpoint=one, completed=-1 if one == 1 else 1))
    letters += (letter("status", running=running) for running in (True, False))
    letters.append(letter("close"))
    yield Alphabet("subtask", config, tuple(letters), f"ids to {SUBTASK_IDS}")


_OF_SUBTASK = ("checkpoint", "complete_notification", "subsumed_notification", "async_done", "async_failed")


def channel_alphabets(config: Wire) -> Iterator[Alphabet]:
    """A channel: the calls of sender and receiver with one id, and few items at each end."""
    ids = range(1, CHANNEL_IDS + 1)
    letters = [letter("emit", value=0)]
    letters += (letter("send_barrier", checkpoint=one, alignment=how) for one in ids for how in _ALIGNMENTS)
    letters += (letter(kind, checkpoint=one) for kind in _OF_CHANNEL for one in ids)
    letters += (letter(kind) for kind in ("transfer", "take", "resume"))

    def allows(state: Any, event: Wire) -> bool:  # noqa: ANN401 - the model's own state
        if event["kind"] in ("emit", "send_barrier"):
            return len(state.output) < CHANNEL_ITEMS
        return event["kind"] != "transfer" or len(state.input) < CHANNEL_ITEMS

    bound = f"ids to {CHANNEL_IDS}, at most {CHANNEL_ITEMS} item at each end"
    yield Alphabet("channel", config, tuple(letters), bound, allows)


_ALIGNMENTS = ("aligned", "unaligned", "timeout")
_OF_CHANNEL = ("time_out", "abort", "start_persisting", "stop_persisting", "prioritise")
