"""Events and effects of a source's task."""

from typing import NamedTuple


class TriggerArrives(NamedTuple):
    """The coordinator's trigger comes to a source's task, or (not `here`) to where its task is not."""

    checkpoint: int
    here: bool = True
    kind: str = "trigger"


class Induce(NamedTuple):
    """The hook of an externally induced source: the checkpoint is here."""

    checkpoint: int
    kind: str = "induce"


class Ended(NamedTuple):
    """The task hears that a checkpoint was aborted or subsumed, or has declined it."""

    checkpoint: int
    kind: str = "ended"


class Answer(NamedTuple):
    """The task tells the coordinator whether it runs, and begins nothing."""

    checkpoint: int
    accepts: bool
    kind: str = "answer"


class StopReading(NamedTuple):
    """The source reads nothing until it is told to go on."""

    kind: str = "stop_reading"


class GoOnReading(NamedTuple):
    """The source reads again."""

    kind: str = "go_on_reading"
