"""Events and effects of the store of completed checkpoints."""

from typing import NamedTuple


class Add(NamedTuple):
    """The coordinator adds a completed checkpoint; `type` is CHECKPOINT, SAVEPOINT or STOP."""

    checkpoint: int
    type: int
    kind: str = "add"


class LatestRequest(NamedTuple):
    """A request for the checkpoint to restore."""

    kind: str = "latest_request"


class Shutdown(NamedTuple):
    """The job has ended for good; `discard`: its checkpoints are not kept."""

    discard: bool
    kind: str = "shutdown"


class Subsumed(NamedTuple):
    """The highest checkpoint that an addition has dropped and deleted."""

    checkpoint: int
    kind: str = "subsumed"


class Latest(NamedTuple):
    """The store's latest checkpoint, -1 for none."""

    checkpoint: int
    kind: str = "latest"
