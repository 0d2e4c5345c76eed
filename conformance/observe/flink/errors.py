"""What makes a log unreadable or unjudgeable: each says what was expected, what came, and what to do."""


class FlinkLogError(ValueError):
    """The log cannot be read as a log of Flink's checkpointing; nothing was judged."""


class NotAFlinkLogError(FlinkLogError):
    """No line looks like one of Flink's."""


class TruncatedLogError(FlinkLogError):
    """The log breaks off, or its beginning is missing."""


class TooLargeError(FlinkLogError):
    """A line, an archive or the lines of the protocol are beyond a documented limit."""


class MissingLevelsError(FlinkLogError):
    """The loggers whose lines are needed were not at their levels."""


class ReleaseTooOldError(FlinkLogError):
    """The log was written by a release whose lines do not say which checkpoint they are about."""


class SeveralJobsError(FlinkLogError):
    """The log tells of more than one job."""


class UnjudgedError(Exception):
    """The log can be read, but holds something that the model's coordinator or gate has no rule for."""
