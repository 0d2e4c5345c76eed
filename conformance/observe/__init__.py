"""Validation of recorded runs.

`eventlog` reads a run's event log. `validate` replays it through the model, component by component (`replay`,
`task`, `sources`, `sink`, `inflight`, `coordinator`), and reads the files in an order in which each cause
comes before its effect (`causes`, `waiting_events`).
`situations` counts the situations that the run has reached: a run that exercises nothing is UNDETERMINED.
`flink` does the same with logs of Flink jobs. `guarantees` compares a run's output and state with its input.
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
