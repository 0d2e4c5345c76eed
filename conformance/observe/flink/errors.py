"""The errors of a log that cannot be read or judged: what was expected, what was found, and what to do."""


class FlinkLogError(ValueError):
    """The log cannot be read as a log of Flink's checkpointing; nothing was judged."""


class NotAFlinkLogError(FlinkLogError):
    """No line looks like a log line of Flink."""


class TruncatedLogError(FlinkLogError):
    """The log breaks off, or its beginning is missing."""


class TooLargeError(FlinkLogError):
    """A line, an archive or the number of lines about the protocol exceeds its limit."""


class MissingLevelsError(FlinkLogError):
    """A logger whose lines are needed was not at its level."""


class ReleaseTooOldError(FlinkLogError):
    """The log was written by a release whose lines do not all name their checkpoint."""


class SeveralJobsError(FlinkLogError):
    """The log has lines of more than one job."""


class UnjudgedError(Exception):
    """The log can be read, but the replay has no rule for some of its lines."""
