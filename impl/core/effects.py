"""The base of all effects, the effect `fail`, and the reasons that several components give.

Each component declares its effects in its own module `events`.
"""

from typing import Final

from impl.core.wire import Word, word

SUBSUMED: Final = "SUBSUMED"
ON_CANCELLATION_BARRIER: Final = "ON_CANCELLATION_BARRIER"
INPUT_END_OF_STREAM: Final = "INPUT_END_OF_STREAM"
ALIGNMENT_LIMIT_EXCEEDED: Final = "ALIGNMENT_LIMIT_EXCEEDED"
TASK_NOT_READY: Final = "TASK_NOT_READY"
ASYNC_EXCEPTION: Final = "ASYNC_EXCEPTION"
JOB_FAILURE: Final = "JOB_FAILURE"


class Effect(Word):
    """An action that the runtime must carry out for a component."""

    __slots__ = ()


@word("fail")
class Fail(Effect):
    """The component refuses the event with an exception.

    A failed gate or subtask accepts no further event. Other components continue.
    """

    error: str
