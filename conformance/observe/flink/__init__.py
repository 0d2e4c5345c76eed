"""Logs of real Flink jobs, held against the protocol.

`lines` reads a log in whatever layout, `grammar` knows what the lines of each release say, `survey` looks
over all of them, and `order` replays them thread by thread through `jobmanager` and `subtask`; `validate`
is the whole. `situations` names what a log may witness; `corruptions` spoils logs, to show what is seen.
"""

from conformance.observe.flink.errors import FlinkLogError, UnjudgedError
from conformance.observe.flink.lines import read_lines
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
    "read_lines",
    "validate_flink",
]
