"""How a job checkpoints, restarts and runs: immutable records, checked when they are made.

Option names are Flink's own, with the unit in the name. A value that cannot work is refused here, before
Spark is started, with a `ConfigError` that has the expected and the given value.
"""

import importlib.util
from dataclasses import dataclass

EXACTLY_ONCE = "EXACTLY_ONCE"
AT_LEAST_ONCE = "AT_LEAST_ONCE"
MODES = {EXACTLY_ONCE: "exactly-once", AT_LEAST_ONCE: "at-least-once"}
"""By the option's value: the mode of every task's gate."""
UNALIGNED = "unaligned"
ALTERNATING = "alternating"
MEMORY = "memory"
ROCKSDB = "rocksdb"
STATE_BACKENDS = (MEMORY, ROCKSDB)
RETAIN_ON_CANCELLATION = "RETAIN_ON_CANCELLATION"
DELETE_ON_CANCELLATION = "DELETE_ON_CANCELLATION"
NO_EXTERNALIZED_CHECKPOINTS = "NO_EXTERNALIZED_CHECKPOINTS"
NO_CLAIM, CLAIM = "NO_CLAIM", "CLAIM"
CLAIM_MODES = (NO_CLAIM, CLAIM)
_DELETED_AT = {
    None: (),
    RETAIN_ON_CANCELLATION: ("FINISHED",),
    DELETE_ON_CANCELLATION: ("FINISHED", "CANCELED"),
    NO_EXTERNALIZED_CHECKPOINTS: ("FINISHED", "CANCELED", "FAILED"),
}
"""By retention: the ends of a job at which its completed checkpoints are deleted (COORD-25)."""
INLINE_BYTES, MOST_INLINE_BYTES = 4_096, 1 << 20
"""The default of `data_inline_threshold_bytes`, and its highest value."""


class ConfigError(ValueError):
    """A setting that cannot work: names the option, what it takes, and what was given."""


def _at_least(option: str, value: object, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ConfigError(f"{option} takes an int of at least {least}, not {value!r}")


@dataclass(frozen=True, slots=True)
class CheckpointConfig:
    """When checkpoints are taken, and how many may fail.

    `checkpointing_mode`: EXACTLY_ONCE aligns barriers; AT_LEAST_ONCE never blocks a channel, so that a task
    does not wait, and after a failure records behind a barrier may count twice (TRACK-01).
    `unaligned_checkpoints_enabled`: barriers overtake the records that wait, which are stored with the
    checkpoint, so that it completes quickly although a slow task holds all others back (UNAL-32). With an
    `aligned_checkpoint_timeout_ms` above 0 they align first, and overtake after that time since the trigger
    (UNAL-16, UNAL-33).
    `max_concurrent_checkpoints` bounds the pending checkpoints (COORD-03), `num_retained_checkpoints` the
    completed ones (SUB-07); a restore survives one altered checkpoint less than are retained.
    `tolerable_checkpoint_failure_number`: consecutive failed checkpoints that do not fail the attempt, -1 for
    any number. `checkpointing_start_delay_ms`: from the start of an attempt to its first checkpoint, None for
    one interval. Without a `checkpointing_interval_ms`, None, checkpoints are taken on request only
    (`RunningJob.checkpoint`), and at the end of the data.
    A task's snapshot of at most `data_inline_threshold_bytes` is stored in the checkpoint's `_metadata`, a
    larger one in a file of its own; with 0 each has a file.
    `externalized_checkpoint_retention`: None keeps the completed checkpoints at every end of the job; Flink's
    RETAIN_ON_CANCELLATION, DELETE_ON_CANCELLATION and NO_EXTERNALIZED_CHECKPOINTS delete them when it has
    finished, the last two also when it was cancelled, and the last one also when it has failed (COORD-25).
    """

    checkpointing_interval_ms: int | None = 500
    checkpointing_mode: str = EXACTLY_ONCE
    checkpoint_timeout_ms: int = 600_000
    min_pause_between_checkpoints_ms: int = 0
    max_concurrent_checkpoints: int = 1
    num_retained_checkpoints: int = 3
    tolerable_checkpoint_failure_number: int = 0
    checkpointing_start_delay_ms: int | None = None
    unaligned_checkpoints_enabled: bool = False
    aligned_checkpoint_timeout_ms: int = 0
    data_inline_threshold_bytes: int = INLINE_BYTES
    externalized_checkpoint_retention: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.unaligned_checkpoints_enabled, bool):
            raise ConfigError(
                f"unaligned_checkpoints_enabled takes a bool, not {self.unaligned_checkpoints_enabled!r}"
            )
        if self.externalized_checkpoint_retention not in _DELETED_AT:
            names = ", ".join(str(one) for one in _DELETED_AT)
            raise ConfigError(
                f"externalized_checkpoint_retention takes {names}, not "
                f"{self.externalized_checkpoint_retention!r}"
            )
        if self.checkpointing_mode not in MODES:
            raise ConfigError(f"checkpointing_mode takes {', '.join(MODES)}, not {self.checkpointing_mode!r}")
        if self.checkpointing_interval_ms is not None:
            _at_least("checkpointing_interval_ms", self.checkpointing_interval_ms, 10)
        elif self.checkpointing_start_delay_ms is not None:
            raise ConfigError("checkpointing_start_delay_ms takes a checkpointing_interval_ms")
        _at_least("checkpoint_timeout_ms", self.checkpoint_timeout_ms, 10)
        _at_least("min_pause_between_checkpoints_ms", self.min_pause_between_checkpoints_ms, 0)
        _at_least("max_concurrent_checkpoints", self.max_concurrent_checkpoints, 1)
        if self.unaligned_checkpoints_enabled and self.checkpointing_mode != EXACTLY_ONCE:
            raise ConfigError("unaligned_checkpoints_enabled takes checkpointing_mode EXACTLY_ONCE")
        if self.unaligned_checkpoints_enabled and self.max_concurrent_checkpoints != 1:
            raise ConfigError("unaligned_checkpoints_enabled takes max_concurrent_checkpoints 1")
        _at_least("aligned_checkpoint_timeout_ms", self.aligned_checkpoint_timeout_ms, 0)
        if self.aligned_checkpoint_timeout_ms and not self.unaligned_checkpoints_enabled:
            raise ConfigError("aligned_checkpoint_timeout_ms takes unaligned_checkpoints_enabled True")
        _at_least("data_inline_threshold_bytes", self.data_inline_threshold_bytes, 0)
        if self.data_inline_threshold_bytes > MOST_INLINE_BYTES:
            raise ConfigError(
                f"data_inline_threshold_bytes takes at most {MOST_INLINE_BYTES}, not "
                f"{self.data_inline_threshold_bytes}: acknowledgements carry what is inline"
            )
        _at_least("num_retained_checkpoints", self.num_retained_checkpoints, 1)
        _at_least("tolerable_checkpoint_failure_number", self.tolerable_checkpoint_failure_number, -1)
        if self.checkpointing_start_delay_ms is not None:
            _at_least("checkpointing_start_delay_ms", self.checkpointing_start_delay_ms, 0)

    @property
    def gate_mode(self) -> str:
        """The mode of every task's gate, as the protocol names it."""
        if self.unaligned_checkpoints_enabled:
            return ALTERNATING if self.aligned_checkpoint_timeout_ms else UNALIGNED
        return MODES[self.checkpointing_mode]

    def deletes_checkpoints(self, status: str) -> bool:
        """Whether the completed checkpoints are deleted when the job ends in this status."""
        return status in _DELETED_AT[self.externalized_checkpoint_retention]

    @property
    def first_delay_ms(self) -> int:
        """The time from the start of an attempt to its first checkpoint, where there is a schedule."""
        delay = self.checkpointing_start_delay_ms
        return (self.checkpointing_interval_ms or 0) if delay is None else delay


@dataclass(frozen=True, slots=True)
class RestartConfig:
    """How often a failed attempt is followed by another: `attempts` restarts at most."""

    attempts: int = 3

    def __post_init__(self) -> None:
        _at_least("restart attempts", self.attempts, 0)


@dataclass(frozen=True, slots=True)
class ExecutionConfig:
    """The engine's own bounds; none of them changes a result.

    A frame has `batch_rows` rows. A channel's queue holds `channel_batches` frames before its reader stops
    (back-pressure). `socket_buffer_bytes` bounds the bytes in the kernel between two subtasks: a barrier
    waits behind them. A worker without a heartbeat for `heartbeat_timeout_ms` counts as hung; an attempt
    fails whose workers have not all registered within `startup_timeout_ms`. `max_parallelism` is the number
    of key groups, which bounds the parallelism of every stage: a job keeps it as long as its checkpoints.
    `state_backend`: "memory" writes all keyed state at every checkpoint, "rocksdb" is for state larger than
    memory and writes what is new; a job keeps it as long as its checkpoints too.
    """

    batch_rows: int = 1_000
    channel_batches: int = 4
    socket_buffer_bytes: int = 65_536
    heartbeat_interval_ms: int = 200
    heartbeat_timeout_ms: int = 5_000
    startup_timeout_ms: int = 60_000
    max_parallelism: int = 128
    state_backend: str = MEMORY

    def __post_init__(self) -> None:
        _at_least("batch_rows", self.batch_rows, 1)
        _at_least("channel_batches", self.channel_batches, 1)
        _at_least("socket_buffer_bytes", self.socket_buffer_bytes, 4_096)
        _at_least("heartbeat_interval_ms", self.heartbeat_interval_ms, 10)
        _at_least("heartbeat_timeout_ms", self.heartbeat_timeout_ms, 3 * self.heartbeat_interval_ms)
        _at_least("startup_timeout_ms", self.startup_timeout_ms, 100)
        _at_least("max_parallelism", self.max_parallelism, 1)
        if self.state_backend not in STATE_BACKENDS:
            raise ConfigError(f"state_backend takes memory or rocksdb, not {self.state_backend!r}")
        if self.state_backend == ROCKSDB and importlib.util.find_spec("rocksdict") is None:
            raise ConfigError("state_backend rocksdb takes rocksdict: pip install 'barrierspec[rocksdb]'")


@dataclass(frozen=True, slots=True)
class JobConfig:
    """All settings of a job."""

    checkpoints: CheckpointConfig
    restarts: RestartConfig
    execution: ExecutionConfig
