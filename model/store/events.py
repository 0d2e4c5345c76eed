"""Events and effects of the store of completed checkpoints."""

from typing import NamedTuple


class Add(NamedTuple):
    """A completed checkpoint is put into the store; `type` is one of the store's three."""

    checkpoint: int
    type: int
    kind: str = "add"


class LatestRequest(NamedTuple):
    """Somebody asks the store for the checkpoint to restore."""

    kind: str = "latest_request"


class Shutdown(NamedTuple):
    """The job has ended for good; `discard` if its checkpoints are not kept."""

    discard: bool
    kind: str = "shutdown"


class Subsumed(NamedTuple):
    """The highest checkpoint that an addition dropped and deleted."""

    checkpoint: int
    kind: str = "subsumed"


class Latest(NamedTuple):
    """The store's answer, -1 for none."""

    checkpoint: int
    kind: str = "latest"
