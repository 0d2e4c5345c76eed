"""What a run has left behind, held against the protocol.

`eventlog` reads a run's event log; `validate` replays it through the model, component by component
(`replay`, `task`, `inflight`, `coordinator`), and joins the files by what caused what (`causes`);
`situations` counts what the run has witnessed, so that a trace that exercises nothing is not green.
`guarantee` holds a run's output and state against its input and says which guarantee is left, by `anomalies`.
"""

from conformance.observe.eventlog import EventLogError
from conformance.observe.run import Settings
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
