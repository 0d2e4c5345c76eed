"""Events and effects of a source's task."""

from typing import NamedTuple


class TriggerArrives(NamedTuple):
    """The coordinator's trigger arrives at a source's task, or (not `here`) where that task does not run."""

    checkpoint: int
    here: bool = True
    kind: str = "trigger"


class Induce(NamedTuple):
    """The hook of an externally induced source names a checkpoint at the current position."""

    checkpoint: int
    kind: str = "induce"


class Ended(NamedTuple):
    """The task learns that a checkpoint was aborted or subsumed, or has declined it."""

    checkpoint: int
    kind: str = "ended"


class Answer(NamedTuple):
    """The task reports to the coordinator whether it runs, and begins nothing."""

    checkpoint: int
    accepts: bool
    kind: str = "answer"


class StopReading(NamedTuple):
    """The source stops reading until a `GoOnReading`."""

    kind: str = "stop_reading"


class GoOnReading(NamedTuple):
    """The source reads again."""

    kind: str = "go_on_reading"
