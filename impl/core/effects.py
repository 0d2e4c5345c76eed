"""The effects that gate, subtask, sink and offsets answer, in the order of docs/adapter-protocol.md.

Those of the coordinator and its store are in `coordinator_effects`. The kind on the wire is the name given
to `word`. Where two components use one kind with different fields, the class says whose it is.
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
    """Something that a component wants done."""

    __slots__ = ()


@word("fail")
class Fail(Effect):
    """Fail the task: the event is refused with an exception, and the instance is used no more."""

    error: str
