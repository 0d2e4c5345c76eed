"""Logs of real Flink jobs, held against the protocol.

`lines` reads a log in whatever layout, `grammar` knows what the lines of each release say, `unreadable` what
is of the protocol and says nothing known, and `reading` joins them in one pass; `survey` looks over all of
it, and `order` replays it thread by thread through `jobmanager` and `subtask`; `validate` is the whole.
`situations` names what a log may witness; `corruptions` and `spoiling` spoil logs, to show what is seen.
"""

from conformance.observe.flink.errors import FlinkLogError, UnjudgedError
from conformance.observe.flink.lines import lines_of, read_lines
from conformance.observe.flink.order import REORDERINGS
from conformance.observe.flink.run import Settings
from conformance.observe.flink.situations import RARE, REQUIRED, SITUATIONS
from conformance.observe.flink.validate import FlinkRejection, FlinkResult, validate_flink

__all__ = [
    "RARE",
    "REORDERINGS",
    "REQUIRED",
    "SITUATIONS",
    "FlinkLogError",
    "FlinkRejection",
    "FlinkResult",
    "Settings",
    "UnjudgedError",
    "lines_of",
    "read_lines",
    "validate_flink",
]
