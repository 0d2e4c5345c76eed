"""The named situations that a Flink log may witness."""

from collections import Counter
from collections.abc import Collection, Mapping
from types import MappingProxyType

SITUATIONS: Mapping[str, str] = MappingProxyType(
    {
        "request refused": "a checkpoint was not started because a task did not run yet",
        "started from the beginning": "the job found no checkpoint to restore",
        "checkpoint triggered": "the coordinator started a checkpoint and triggered the sources",
        "channel blocked": "a channel that had delivered its barrier waited for the others",
        "another channel last": "a gate's last barrier came on another channel than the time before",
        "aligned": "the barriers of all channels came and the snapshot was triggered",
        "snapshot taken": "a task took the synchronous part of a snapshot",
        "snapshot written": "a task wrote the asynchronous part of a snapshot",
        "snapshot acknowledged": "the coordinator counted a task's acknowledgement",
        "checkpoint completed": "the last acknowledgement completed a checkpoint",
        "older one replaced": "a completed checkpoint dropped an older one from the store",
        "completion notified": "a task told its operators of a completion",
        "task failed": "an execution failed",
        "pending one ended by the failure": "a checkpoint was pending when the job left RUNNING",
        "abort notified": "a task told its operators of an abort",
        "restored from a checkpoint": "the job restored a completed checkpoint",
        "job finished": "every task came to its end",
    }
)
"""What the log of a job with one failure witnesses, and what each means."""

RARE: Mapping[str, str] = MappingProxyType(
    {
        "subsumption notified": "a task was told which checkpoint was subsumed (1.15 and newer)",
        "overtaken at the gate": "a barrier of a newer checkpoint ended the alignment of an older one",
        "late barrier": "a barrier of an ended checkpoint came",
        "cancelled at the gate": "a cancellation marker ended an alignment",
        "ended channel counted": "a channel whose sender had finished counted as aligned",
        "triggered after tasks finished": "a checkpoint started without the tasks that had finished",
        "abort stopped the writing": "an abort cancelled an asynchronous part",
        "abort before its trigger": "an abort was remembered and the trigger answered with a cancellation",
        "declined": "a task declined a checkpoint",
        "expired": "a checkpoint took too long",
        "ended for another reason": "a checkpoint failed for a reason outside the protocol",
        "savepoint": "a savepoint was triggered",
        "id burnt": "an attempt to start a checkpoint drew an id and failed before it said so",
    }
)

REQUIRED: tuple[str, ...] = (
    "checkpoint triggered",
    "channel blocked",
    "aligned",
    "snapshot acknowledged",
    "checkpoint completed",
    "completion notified",
)
"""What a log has to witness to be accepted, if nothing else is asked for."""


class Witnessed:
    """How often each situation was seen."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()

    def see(self, situation: str) -> None:
        """It was seen once more."""
        self.counts[situation] += 1

    def told(self) -> dict[str, int]:
        """Every named situation with its count, 0 among them; the rare ones only if they were seen."""
        rare = {name: self.counts[name] for name in RARE if self.counts[name]}
        return {name: self.counts[name] for name in SITUATIONS} | rare

    def missing(self, required: Collection[str]) -> tuple[str, ...]:
        """The required ones that were not seen. Raises ValueError for a name that is none."""
        strange = sorted(set(required) - {*SITUATIONS, *RARE})
        if strange:
            known = ", ".join((*SITUATIONS, *RARE))
            raise ValueError(f"no situation is called {', '.join(map(repr, strange))}; they are {known}")
        return tuple(name for name in (*SITUATIONS, *RARE) if name in required and not self.counts[name])
