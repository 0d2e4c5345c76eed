"""The sizes within which every step of a component leads to a shape of its proof.

They are stated where collections have no bound. The first step that leaves a size is proved, too; what
follows is not. The generations and the numbers of channels are those of the cases.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from model.sink.proofs import is_within


class Size(NamedTuple):
    """A bound on the collections of one component."""

    text: str
    """The bound in words."""
    holds: Callable[[Any], bool]
    """Whether a state is within it."""


SIZES: Mapping[str, Size] = {
    "network": Size("newest generation, at most 1 item waits", lambda inbox: len(inbox.waiting) <= 1),
    "buffer": Size("at most 2 channels, 2 items stored", lambda buffer: len(buffer.stored) <= 2),
    "tracker": Size(
        "2 channels, 2 tracked checkpoints",
        lambda tracker: len(tracker.closed) <= 2 and tracker.tracked_at_most == 2,
    ),
    "unaligned": Size("2 channels without announcements and injections, else 1", lambda _: True),
    "passage": Size(
        "2 channels, mode alternating, ends count, at most 1 item waits",
        lambda passage: len(passage.gate.closed) == 2 and len(passage.waiting) <= 1,
    ),
    "threads": Size(
        "1 channel, at most 2 effects in the mail",
        lambda threads: len(threads.gate.closed) == 1 and len(threads.mail) <= 2,
    ),
    "channel": Size(
        "at most 2 items in flight, 1 before release 2.3",
        lambda channel: len(channel.output) + len(channel.input) <= 1 + channel.profile.passes_block,
    ),
    "subtask": Size(
        "2 running snapshots, 2 remembered aborts",
        lambda subtask: len(subtask.running) <= 2 and subtask.remembered_at_most <= 2,
    ),
    "sink": Size("2 transactions filed or committed, 1 snapshot with 1 of them; 1.9: no snapshot", is_within),
    "source": Size("2 awaited ids", lambda source: len(source.triggered) + len(source.ahead) <= 2),
}
