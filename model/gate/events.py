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
    """A channel of a gate delivers its last item."""

    channel: int
    kind: str = "end_of_partition"


class Injection(NamedTuple):
    """The coordinator triggers a checkpoint on the task itself, because all tasks before it have finished."""

    checkpoint: int
    kind: str = "inject"


class Process(NamedTuple):
    """The operator processes the record."""

    channel: int
    value: int
    kind: str = "process"


class Block(NamedTuple):
    """The gate does not read the channel until it is resumed."""

    channel: int
    kind: str = "block"


class Resume(NamedTuple):
    """The gate reads the channel again; its sender, which stopped after its barrier, continues."""

    channel: int
    kind: str = "resume"


class Trigger(NamedTuple):
    """The subtask takes its snapshot."""

    checkpoint: int
    kind: str = "trigger"


class Abort(NamedTuple):
    """The checkpoint ends without success at this gate."""

    checkpoint: int
    reason: str
    kind: str = "abort"
