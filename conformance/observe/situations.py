"""The named situations that a run may witness, and how often it has.

Fourteen of them make a run worth believing; a trace that lacks a required one is under-covered, and
its verdict is UNDETERMINED however well every event fits. The others are named because they are rare.
"""

from collections import Counter
from collections.abc import Callable, Collection, Mapping
from types import MappingProxyType

SITUATIONS: Mapping[str, str] = MappingProxyType(
    {
        "started from the beginning": "an attempt restored no checkpoint",
        "aligned": "the barriers of all channels came and the snapshot was triggered",
        "channel blocked": "a channel that had delivered its barrier was blocked while others were awaited",
        "another channel last": "a gate's last barrier came on another channel than the time before",
        "snapshot acknowledged": "a task acknowledged its snapshot",
        "checkpoint completed": "the last acknowledgement completed a checkpoint",
        "older one replaced": "a newer completed checkpoint subsumed an older one, stored or pending",
        "attempt failed": "an execution attempt failed",
        "pending one ended by the failure": "a checkpoint was pending when the attempt failed",
        "restored from a checkpoint": "an attempt restored a completed checkpoint",
        "commit on notification": "a sink committed when it was told of the completion",
        "commit on restore": "a sink committed when it was restored",
        "completion not heard": "a sink was never told of a completed checkpoint, its attempt having ended",
        "partition ended": "a channel reached its end",
    }
)
"""What a full run witnesses, and what each means."""

RARE: Mapping[str, str] = MappingProxyType(
    {
        "overtaken at the gate": "a barrier of a newer checkpoint ended the alignment of an older one",
        "late barrier": "a barrier of an ended checkpoint came",
        "savepoint completed": "a savepoint was complete, and the store was as before",
        "overtook": "a barrier overtook and its first arrival triggered the snapshot",
        "output overtaken": "a barrier went past records that waited at their sender",
        "input stored": "records that came before a barrier were stored by their receiver",
        "in-flight records restored": "an attempt began with records that were in flight at the checkpoint",
        "start declined": "a snapshot could not begin while restored records were unread",
        "cancelled at the gate": "a cancellation marker ended an alignment",
        "declined": "a task declined a checkpoint",
        "expired": "a checkpoint took too long",
        "aborted while writing": "an abort stopped a snapshot that was being written",
        "abort before its trigger": "an abort was remembered and the trigger answered with a cancellation",
        "last transaction": "a finished sink pre-committed and opened no other transaction",
    }
)

REQUIRED: frozenset[str] = frozenset(
    {
        "aligned",
        "channel blocked",
        "checkpoint completed",
        "older one replaced",
        "attempt failed",
        "restored from a checkpoint",
        "commit on notification",
        "commit on restore",
        "partition ended",
    }
)
"""What a trace has to witness to be accepted, if nothing else is asked for."""

_OF_MODE: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "aligned": frozenset({"exactly-once", "at-least-once", "alternating"}),
        "channel blocked": frozenset({"exactly-once", "alternating"}),
    }
)
"""Situations that come in some modes of a gate only."""


def possible(required: Collection[str], modes: Collection[str]) -> tuple[str, ...]:
    """Those of the required situations that can come in a run whose gates have these modes."""
    return tuple(
        situation
        for situation in required
        if not modes or not _OF_MODE.get(situation) or _OF_MODE[situation].intersection(modes)
    )


class Witnessed:
    """How often each situation was seen."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self.watch: Callable[[str], None] | None = None
        """Is told of each."""

    def see(self, situation: str) -> None:
        """It was seen once more."""
        self._counts[situation] += 1
        if self.watch is not None:
            self.watch(situation)

    def counts(self) -> dict[str, int]:
        """Every named situation with its count, 0 among them; the rare ones only if they were seen."""
        rare = {name: self._counts[name] for name in RARE if self._counts[name]}
        return {name: self._counts[name] for name in SITUATIONS} | rare

    def missing(self, required: Collection[str]) -> tuple[str, ...]:
        """The required ones that were not seen, in the order of the list.

        Raises ValueError for a name that is none.
        """
        known = (*SITUATIONS, *RARE)
        strange = sorted(set(required) - set(known))
        if strange:
            raise ValueError(f"no situation is called {strange}; they are {', '.join(known)}")
        return tuple(name for name in known if name in required and not self._counts[name])
