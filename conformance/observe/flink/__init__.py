"""Validation of the logs of real Flink jobs.

`records` reads a log in any layout, `grammar` parses its lines by the table in `lines.toml`, `unreadable`
finds lines about the protocol that match nothing in the table, and `reading` joins them in one pass. `survey`
looks over all lines, `order` replays them thread by thread through `jobmanager` and `subtask`, and `validate`
gives the result. `corruptions` corrupts accepted logs, to show what the validation detects.
"""

from conformance.observe.flink.errors import FlinkLogError as FlinkLogError
from conformance.observe.flink.errors import UnjudgedError as UnjudgedError
from conformance.observe.flink.records import lines_of as lines_of
from conformance.observe.flink.records import read_lines as read_lines
from conformance.observe.flink.run import Settings as Settings
from conformance.observe.flink.validate import FlinkRejection as FlinkRejection
from conformance.observe.flink.validate import FlinkResult as FlinkResult
from conformance.observe.flink.validate import validate_flink as validate_flink
from conformance.observe.situations import FLINK
from conformance.observe.situations import REORDERINGS as REORDERINGS

SITUATIONS, RARE, REQUIRED = FLINK
