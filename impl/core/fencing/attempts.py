"""The decisions of fencing, from the recorded attempts. Rules FENCE-02 and FENCE-05.

The callers pass the records of all attempts. The component `fencing` holds these records in memory,
`impl.state.checkpoint_storage` reads them from its storage, and a claim of an output stores a copy of them.
"""

from collections.abc import Collection, Mapping


def to_close(drawn: Collection[int], recorded: Collection[int], attempt: int) -> list[int]:
    """The attempts that `attempt` must close before it looks for its checkpoint, ascending (FENCE-02).

    `drawn`: all attempts. `recorded`: the attempts that have started or were closed.
    """
    return sorted(one for one in drawn if one < attempt and one not in recorded)


def overtaken_by(starts: Mapping[int, int | None], checkpoint: int, publisher: int) -> int | None:
    """The first attempt that makes a published checkpoint dead, or None if it is not dead (FENCE-05).

    Such an attempt is newer than `publisher`, and has started from a checkpoint before `checkpoint` or from
    the beginning. `starts` maps each started attempt to the checkpoint that it restored; None: the beginning.
    """
    for attempt, start in sorted(starts.items()):
        if attempt > publisher and (start is None or start < checkpoint):
            return attempt
    return None
