# Made from spec/vocabulary by `pytest tests/spec/test_model_classes.py --rewrite`; do not edit.
"""Events and effects of the component `source`. What a source's task does when it is triggered."""

from typing import NamedTuple

from model.shared_events import Decline, Fail, Status, Trigger

__all__ = [
    "EVENTS",
    "Answer",
    "Decline",
    "Ended",
    "Fail",
    "GoOnReading",
    "Induce",
    "Status",
    "StopReading",
    "Trigger",
    "TriggerArrives",
]


class TriggerArrives(NamedTuple):
    """The coordinator's trigger reaches the task (`to` is `here`), or a task manager that does not have the
    task (`elsewhere`).
    """

    checkpoint: int
    here: bool = True
    kind: str = "trigger"


class Induce(NamedTuple):
    """The source's own hook announces the checkpoint."""

    checkpoint: int
    kind: str = "induce"


class Ended(NamedTuple):
    """The checkpoint was aborted, subsumed or declined."""

    checkpoint: int
    kind: str = "ended"


class Answer(NamedTuple):
    """The task answers whether it runs, and does not begin the checkpoint."""

    checkpoint: int
    accepts: bool
    kind: str = "answer"


class StopReading(NamedTuple):
    """The source stops reading until the next `go_on_reading`."""

    kind: str = "stop_reading"


class GoOnReading(NamedTuple):
    """The source reads again."""

    kind: str = "go_on_reading"


EVENTS: tuple[type, ...] = (
    TriggerArrives,
    Induce,
    Ended,
    Status,
)
