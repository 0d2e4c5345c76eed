"""Validation of recorded runs.

`eventlog` reads a run's event log. `validate` replays it through the model, component by component (`replay`,
`task`, `sources`, `sink`, `inflight`, `coordinator`), and reads the files in an order in which each cause
comes before its effect (`causes`, `waiting_events`). `memo` caches steps of the model, `cuts` validates parts
of a log in parallel, and `following` validates a log while it is written. `situations` counts the situations
that the run has shown: a run without a required situation is UNDETERMINED. `flink` validates logs of Flink
jobs, and `monitor` checks jobs while they run. `guarantees` compares a run's output and state with its input.
"""

from conformance.observe.eventlog import EventLogError
from conformance.observe.run_state import Settings
from conformance.observe.situations import REQUIRED, SITUATIONS, possible
from conformance.observe.validate import Rejection, TraceResult, validate

__all__ = [
    "REQUIRED",
    "SITUATIONS",
    "EventLogError",
    "Rejection",
    "Settings",
    "TraceResult",
    "possible",
    "validate",
]
