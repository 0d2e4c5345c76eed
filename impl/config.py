"""The settings of a job: checkpoints, restarts and execution, as immutable records.

Options have Flink's names, with the unit at the end of the name. The constructor of a record checks the
values, so Spark never starts with an invalid value. It raises a `ConfigError` that names the option, the
expected values and the given value.
"""

import importlib.util
from dataclasses import dataclass

EXACTLY_ONCE = "EXACTLY_ONCE"
AT_LEAST_ONCE = "AT_LEAST_ONCE"
MODES = {EXACTLY_ONCE: "exactly-once", AT_LEAST_ONCE: "at-least-once"}
"""Maps each value of `checkpointing_mode` to the mode of the gates, named as in the protocol."""
UNALIGNED = "unaligned"
ALTERNATING = "alternating"
MEMORY = "memory"
ROCKSDB = "rocksdb"
STATE_BACKENDS = (MEMORY, ROCKSDB)
RETAIN_ON_CANCELLATION = "RETAIN_ON_CANCELLATION"
DELETE_ON_CANCELLATION = "DELETE_ON_CANCELLATION"
NO_EXTERNALIZED_CHECKPOINTS = "NO_EXTERNALIZED_CHECKPOINTS"
FILESYSTEM, JOBMANAGER = "filesystem", "jobmanager"
CHECKPOINT_STORAGES = (FILESYSTEM, JOBMANAGER)
NO_CLAIM, CLAIM = "NO_CLAIM", "CLAIM"
CLAIM_MODES = (NO_CLAIM, CLAIM)
_DELETED_AT = {
    None: (),
    RETAIN_ON_CANCELLATION: ("FINISHED",),
    DELETE_ON_CANCELLATION: ("FINISHED", "CANCELED"),
    NO_EXTERNALIZED_CHECKPOINTS: ("FINISHED", "CANCELED", "FAILED"),
}
"""Maps each retention to the final statuses at which a job deletes its completed checkpoints (COORD-25)."""
_RETAINED_IN_MEMORY = (None, NO_EXTERNALIZED_CHECKPOINTS)
INLINE_BYTES, MOST_INLINE_BYTES = 4_096, 1 << 20
"""The default and the highest value of `data_inline_threshold_bytes`, in bytes."""


class ConfigError(ValueError):
    """A setting is not valid. The message names the option, the expected values and the given value."""


def _at_least(option: str, value: object, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ConfigError(f"{option} takes an int of at least {least}, not {value!r}")


@dataclass(frozen=True, slots=True)
class CheckpointConfig:
    """The settings of checkpoints: how they are taken, how many may fail, and which are retained.

    `checkpointing_interval_ms`: None: no periodic checkpoints. The job takes checkpoints only on request
    (`RunningJob.checkpoint`) and at the end of the data.

    `checkpointing_start_delay_ms`: the time from the start of an attempt to its first periodic checkpoint.
    None: one interval.

    `checkpointing_mode`: EXACTLY_ONCE aligns barriers. AT_LEAST_ONCE never blocks a channel. No task waits
    then, but after a failure the records behind a barrier may count twice (TRACK-01).

    `unaligned_checkpoints_enabled`: barriers overtake queued records, and the checkpoint stores these
    records. The checkpoint then completes quickly even if a slow task causes backpressure (UNAL-32).

    `aligned_checkpoint_timeout_ms`: above 0, barriers align until this time has passed since the trigger, and
    overtake records afterwards (UNAL-16, UNAL-33).

    `checkpoint_timeout_ms`: a checkpoint that is not complete this time after its trigger is aborted.

    `min_pause_between_checkpoints_ms`: the minimum time from a completion to the next periodic checkpoint.

    `max_concurrent_checkpoints`: while this number of checkpoints is pending, a further one waits. Savepoints
    do not wait if checkpoints are aligned (COORD-03).

    `num_retained_checkpoints`: the maximum number of completed checkpoints that the job retains (SUB-07). A
    restore needs at least one retained checkpoint without damage.

    `tolerable_checkpoint_failure_number`: how many consecutive checkpoints may fail before the attempt fails.
    -1: any number.

    `data_inline_threshold_bytes`: a task's snapshot of at most this size is stored in the checkpoint's
    `_metadata`, and a larger snapshot in its own file. 0: each snapshot has a file.

    `externalized_checkpoint_retention`: None keeps the completed checkpoints after the end of the job. The
    other values are Flink's (COORD-25). RETAIN_ON_CANCELLATION deletes them when the job has finished,
    DELETE_ON_CANCELLATION also when it was cancelled, NO_EXTERNALIZED_CHECKPOINTS also when it has failed.

    `checkpoint_storage`: Flink's `execution.checkpointing.storage`. "filesystem" writes files, into a folder
    or an object store. "jobmanager" keeps the snapshots in the memory of the driver, at most 1 MiB for each
    task. These checkpoints are lost when the driver ends.
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
    checkpoint_storage: str = FILESYSTEM

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
        if self.checkpoint_storage not in CHECKPOINT_STORAGES:
            raise ConfigError(
                f"checkpoint_storage takes filesystem or jobmanager, not {self.checkpoint_storage!r}"
            )
        if self.is_in_memory and self.externalized_checkpoint_retention not in _RETAINED_IN_MEMORY:
            raise ConfigError(
                "checkpoint_storage jobmanager retains no checkpoint after the end of the job, got "
                f"externalized_checkpoint_retention {self.externalized_checkpoint_retention!r}; leave it "
                "out, or take checkpoint_storage filesystem"
            )
        if self.checkpointing_mode not in MODES:
            raise ConfigError(f"checkpointing_mode takes {', '.join(MODES)}, not {self.checkpointing_mode!r}")
        if self.checkpointing_interval_ms is not None:
            _at_least("checkpointing_interval_ms", self.checkpointing_interval_ms, 10)
        elif self.checkpointing_start_delay_ms is not None:
            raise ConfigError(
                "checkpointing_start_delay_ms needs checkpointing_interval_ms, got None; set both, or neither"
            )
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
                f"{self.data_inline_threshold_bytes}: acknowledgements contain inline snapshots"
            )
        _at_least("num_retained_checkpoints", self.num_retained_checkpoints, 1)
        _at_least("tolerable_checkpoint_failure_number", self.tolerable_checkpoint_failure_number, -1)
        if self.checkpointing_start_delay_ms is not None:
            _at_least("checkpointing_start_delay_ms", self.checkpointing_start_delay_ms, 0)

    @property
    def is_in_memory(self) -> bool:
        """Whether the driver keeps the checkpoints in its memory."""
        return self.checkpoint_storage == JOBMANAGER

    @property
    def gate_mode(self) -> str:
        """The mode of every task's gate, with its name in the protocol."""
        if self.unaligned_checkpoints_enabled:
            return ALTERNATING if self.aligned_checkpoint_timeout_ms else UNALIGNED
        return MODES[self.checkpointing_mode]

    def deletes_checkpoints(self, status: str) -> bool:
        """Whether a job that ends with `status` deletes its completed checkpoints (COORD-25)."""
        return status in _DELETED_AT[self.externalized_checkpoint_retention]

    def shuts_down(self, status: str) -> bool:
        """Whether a job with the final `status` shuts down its coordinator.

        SUSPENDED does, and each status at which the job deletes its completed checkpoints.
        """
        return status == "SUSPENDED" or self.deletes_checkpoints(status)

    @property
    def first_delay_ms(self) -> int:
        """The ms from the start of an attempt to its first periodic checkpoint; 0 without an interval."""
        delay = self.checkpointing_start_delay_ms
        return (self.checkpointing_interval_ms or 0) if delay is None else delay


@dataclass(frozen=True, slots=True)
class RestartConfig:
    """The maximum number of restarts of a job (`attempts`)."""

    attempts: int = 3

    def __post_init__(self) -> None:
        _at_least("restart attempts", self.attempts, 0)


@dataclass(frozen=True, slots=True)
class ExecutionConfig:
    """The settings of the runtime. None of them changes the result of a job.

    `batch_rows`: the maximum number of rows in a frame.

    `channel_batches`: the number of frames that a channel's queue holds. A full queue stops the sender of the
    channel (backpressure).

    `socket_buffer_bytes`: the size of the kernel's buffers for the data between two subtasks. A barrier
    cannot overtake the data in these buffers.

    `heartbeat_interval_ms`: the interval between two heartbeats of a worker.

    `heartbeat_timeout_ms`: a worker that sends no heartbeat for this time counts as hung: the attempt fails.

    `startup_timeout_ms`: the attempt fails if a worker has not registered within this time.

    `max_parallelism`: the number of key groups. No stage may have a greater parallelism.

    `state_backend`: "memory" writes all keyed state at every checkpoint. "rocksdb" is for state larger than
    memory, and writes only new files of RocksDB.

    A resumed job must keep its `max_parallelism` and its `state_backend`.
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
            raise ConfigError(
                "state_backend rocksdb needs the package rocksdict, which is missing: "
                "pip install 'barrierspec[rocksdb]'"
            )


@dataclass(frozen=True, slots=True)
class JobConfig:
    """All settings of a job."""

    checkpoints: CheckpointConfig
    restarts: RestartConfig
    execution: ExecutionConfig

    def __post_init__(self) -> None:
        if self.checkpoints.is_in_memory and self.execution.state_backend == ROCKSDB:
            raise ConfigError(
                "checkpoint_storage jobmanager takes state_backend memory, not rocksdb, whose checkpoints "
                "are files; take checkpoint_storage filesystem"
            )
