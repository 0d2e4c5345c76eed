"""Counts the rows that a task has sent. A task sends every row along each of its outgoing edges."""

from collections.abc import Mapping, Sequence

BROADCAST = "broadcast"


def rows_along(exchanges: Sequence[tuple[str, str, str]], task: str, sent: Mapping[str, int]) -> int:
    """Return the number of rows that `task` has sent.

    `exchanges`: the edges between stages: from, to, and partitioning. Without them the plan is a chain of
    stages, and all channels belong to one edge. `sent`: by receiving task, the rows on its channel. Raises
    ValueError if two edges, or two channels of a broadcast, have different numbers of rows.
    """
    if not exchanges:
        return sum(sent.values())
    stage = _stage(task)
    edges = [(to, spread) for above, to, spread in exchanges if above == stage]
    if not edges:
        return sum(sent.values())
    totals: dict[str, int] = {}
    for to, spread in edges:
        rows = {channel: count for channel, count in sent.items() if _stage(channel) == to}
        if spread == BROADCAST and len(set(rows.values())) > 1:
            raise ValueError(f"a broadcast to {to} has {rows}")
        totals[to] = max(rows.values(), default=0) if spread == BROADCAST else sum(rows.values())
    if len(set(totals.values())) > 1:
        numbers = ", ".join(f"{count} to {to}" for to, count in totals.items())
        raise ValueError(f"the edges have different numbers of rows: {numbers}")
    return next(iter(totals.values()))


def _stage(task: str) -> str:
    return task.rpartition("-")[0]
