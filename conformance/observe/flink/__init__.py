"""Validation of the logs of real Flink jobs.

`records` reads a log in any layout, `grammar` parses its lines by the table in `lines.toml`, `unreadable`
finds lines about the protocol that match nothing in the table, and `reading` does all this in one pass.
`survey` collects what all lines show of the job. `order` replays them thread by thread through `jobmanager`
(with `coordinator`) and `subtask`, and `validate` returns the result. `corruptions` changes accepted logs by
`edits`, to show which defects the validation detects.
"""

from conformance.observe.flink.errors import FlinkLogError, UnjudgedError
from conformance.observe.flink.records import lines_of, read_lines
from conformance.observe.flink.run_state import Settings
from conformance.observe.flink.validate import FlinkRejection, FlinkResult, validate_flink
from conformance.observe.situations import FLINK, REORDERINGS

__all__ = [
    "REORDERINGS",
    "FlinkLogError",
    "FlinkRejection",
    "FlinkResult",
    "Settings",
    "UnjudgedError",
    "lines_of",
    "read_lines",
    "validate_flink",
]

SITUATIONS, RARE, REQUIRED = FLINK
