"""What can go wrong around a job, one type for each: what was expected, what came, what to do."""

from typing import Self


class SparkRuntimeError(Exception):
    """Anything the Spark runtime reports."""


class JavaNotFoundError(SparkRuntimeError):
    """No Java runtime was found; Spark needs Java 17 or newer."""


class TooFewSlotsError(SparkRuntimeError):
    """The master runs fewer tasks at once than the job has subtasks; barrier execution needs them all."""


class UnsupportedSettingError(SparkRuntimeError):
    """A Spark setting under which subtasks cannot stay: dynamic allocation or speculation."""


class SparkStartError(SparkRuntimeError):
    """The SparkSession did not start; the message carries the end of Spark's own output."""


class OutputInUseError(SparkRuntimeError):
    """A job runs into this output folder already; one at a time may."""


class HandshakeRefusedError(SparkRuntimeError):
    """The other side does not hold the job's secret, or belongs to another attempt (ONCE-06)."""


class StaleAttemptError(SparkRuntimeError):
    """A frame or a file carries the id of another attempt (ONCE-06)."""


class ConnectionLostError(SparkRuntimeError):
    """The other side of a connection is gone."""


class HandshakeTimeoutError(ConnectionLostError):
    """A handshake was not complete at its deadline, however often single bytes came."""


class FrameError(SparkRuntimeError):
    """Bytes that are no frame of ours, or none that belongs here: too long, or of a wrong kind."""


class RecordTooLargeError(SparkRuntimeError):
    """One record is larger than a frame may be. Every attempt would meet it again, so the job fails."""


class GateFailedError(SparkRuntimeError):
    """The gate or the snapshot steps of a subtask have failed it; carries their reason."""


class UnknownEffectError(SparkRuntimeError):
    """A protocol component asks for something that this runtime does not do: the two do not fit together."""

    @classmethod
    def of(cls, component: str, effect: object) -> Self:
        """The error for an effect of `component`."""
        return cls(
            f"expected an effect of the {component} that this runtime carries out, came {effect!r}; runtime "
            "and protocol components must be of one version: install the package anew, or report this"
        )


class InjectedFaultError(SparkRuntimeError):
    """A fault of the job's plan, with action `error`, has fired here."""


class AttemptFailedError(SparkRuntimeError):
    """An execution attempt has ended before its job; carries the first reason."""


class JobFailedError(SparkRuntimeError):
    """The job gave up: no restart is left, or it failed where no restart helps."""


class CheckpointFailedError(SparkRuntimeError):
    """Somebody asked for a checkpoint and gets none; says why."""


class SavepointFailedError(SparkRuntimeError):
    """Somebody asked for a savepoint and gets none, or the job did not stop with it; says why."""


class SavepointAbortedError(SavepointFailedError):
    """The job has answered another process that it has not taken the savepoint; says why."""
