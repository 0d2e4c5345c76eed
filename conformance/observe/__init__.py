"""Validation of recorded runs.

`eventlog` reads a run's event log. `validate` replays it through the model, component by component (`replay`,
`task`, `sink`, `inflight`, `coordinator`), and joins the files by causes (`causes`, `stuck`). `situations`
counts what the run has witnessed: a run that exercises nothing is UNDETERMINED. `flink` does the same with
logs of Flink jobs. `guarantees` compares a run's output and state with its input.
"""

from conformance.observe.eventlog import EventLogError as EventLogError
from conformance.observe.run import Settings as Settings
from conformance.observe.situations import REQUIRED as REQUIRED
from conformance.observe.situations import SITUATIONS as SITUATIONS
from conformance.observe.situations import possible as possible
from conformance.observe.validate import Rejection as Rejection
from conformance.observe.validate import TraceResult as TraceResult
from conformance.observe.validate import validate as validate
