"""Events and effects of an input gate."""

from typing import NamedTuple


class Record(NamedTuple):
    """A record arrives on a channel of a gate."""

    channel: int
    value: int
    kind: str = "record"


class Barrier(NamedTuple):
    """Barrier `checkpoint` arrives on a channel of a gate."""

    channel: int
    checkpoint: int
    kind: str = "barrier"


class Cancel(NamedTuple):
    """A cancellation marker of `checkpoint` arrives on a channel of a gate."""

    channel: int
    checkpoint: int
    kind: str = "cancel"


class EndOfPartition(NamedTuple):
    """A channel of a gate has delivered its last item."""

    channel: int
    kind: str = "end_of_partition"


class Injection(NamedTuple):
    """A checkpoint is triggered on the task itself, whose predecessors have finished."""

    checkpoint: int
    kind: str = "inject"


class Process(NamedTuple):
    """The record reaches the operator."""

    channel: int
    value: int
    kind: str = "process"


class Block(NamedTuple):
    """The channel is not read until it is resumed."""

    channel: int
    kind: str = "block"


class Resume(NamedTuple):
    """The channel, whose sender stopped after its barrier, is read again."""

    channel: int
    kind: str = "resume"


class Trigger(NamedTuple):
    """The subtask takes its snapshot now."""

    checkpoint: int
    kind: str = "trigger"


class Abort(NamedTuple):
    """The checkpoint ends here without success."""

    checkpoint: int
    reason: str
    kind: str = "abort"
