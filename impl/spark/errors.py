"""The errors of a job on Spark, one type for each cause."""

from typing import Self


class SparkRuntimeError(Exception):
    """The base of all errors of the Spark runtime."""


class JavaNotFoundError(SparkRuntimeError):
    """No Java runtime was found. Spark needs Java 17 or newer."""


class TooFewSlotsError(SparkRuntimeError):
    """The master runs fewer tasks at once than the job has subtasks, but all subtasks must run at once."""


class UnsupportedSettingError(SparkRuntimeError):
    """A Spark setting would remove subtasks or start them twice: dynamic allocation or speculation."""


class SparkStartError(SparkRuntimeError):
    """The SparkSession did not start. The message has the end of Spark's output."""


class OutputInUseError(SparkRuntimeError):
    """Another job writes to this output folder."""


class HandshakeRefusedError(SparkRuntimeError):
    """The other side does not know the job's secret, or belongs to another attempt (ONCE-06)."""


class StaleAttemptError(SparkRuntimeError):
    """A frame has the id of another attempt (ONCE-06)."""


class ConnectionLostError(SparkRuntimeError):
    """A connection to another process is lost."""


class HandshakeTimeoutError(ConnectionLostError):
    """A handshake was not complete at its deadline."""


class FrameError(SparkRuntimeError):
    """Received bytes are no frame or message, or a frame is too long or has an unexpected kind."""


class RecordTooLargeError(SparkRuntimeError):
    """One record exceeds the limit of a frame. The job fails, because every attempt would fail like this."""


class GateFailedError(SparkRuntimeError):
    """The gate or the snapshot steps of a subtask have failed. The message has the reason."""


class UnknownEffectError(SparkRuntimeError):
    """A protocol component has returned an effect that this runtime does not expect from it."""

    @classmethod
    def of(cls, component: str, effect: object) -> Self:
        """The error for an effect of `component`."""
        return cls(
            f"expected an effect of the {component} that this runtime carries out, got {effect!r}; runtime "
            "and protocol components must be of one version: install the package anew, or report this"
        )


class InjectedFaultError(SparkRuntimeError):
    """A planned fault with action `error` has happened, or a planned fault found no process to kill."""


class AttemptFailedError(SparkRuntimeError):
    """An attempt has failed. The message has the first reason."""


class JobFailedError(SparkRuntimeError):
    """The job has failed: no restart is left, or no restart helps."""


class JobCancelledError(SparkRuntimeError):
    """A user has cancelled the job."""


class JobSuspendedError(SparkRuntimeError):
    """A user has suspended the job. Its driver has ended, and all checkpoints stay for the next driver."""


class CheckpointFailedError(SparkRuntimeError):
    """A requested checkpoint has failed. The message has the reason."""


class SavepointFailedError(SparkRuntimeError):
    """A requested savepoint has failed, or the job did not stop with it. The message has the reason."""


class SavepointAbortedError(SavepointFailedError):
    """A job in another process has answered that a request to it failed. The message has the reason."""
