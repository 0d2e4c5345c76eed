"""Which seat a divergence takes."""

from collections.abc import Callable, Mapping, Sequence

from conformance.divergence import Divergence
from conformance.drive.oracle import Edge
from conformance.vectors.tla.binding import NotInTlaError, Seat
from conformance.vectors.tla.channel import channel_seat
from conformance.vectors.tla.coordinator import coordinator_seat
from conformance.vectors.tla.gates import gate_seat
from conformance.vectors.tla.operators import offsets_seat, sink_seat, source_seat, store_seat, subtask_seat

SEATS: Mapping[str, Callable[[Divergence, Sequence[Edge]], Seat]] = {
    "gate": gate_seat,
    "channel": channel_seat,
    "subtask": subtask_seat,
    "coordinator": coordinator_seat,
    "store": store_seat,
    "sink": sink_seat,
    "offsets": offsets_seat,
    "source": source_seat,
}
"""By component of the wire."""


def seat_of(divergence: Divergence, edges: Sequence[Edge]) -> Seat:
    """The seat; raises NotInTlaError where no module describes what has happened."""
    component = divergence.component
    if component not in SEATS:
        raise NotInTlaError(f"no module describes a {component} alone; there are those of {', '.join(SEATS)}")
    seat = SEATS[component](divergence, edges)
    asked = {
        seat.event(event, edge)[0]
        for event, edge in zip(divergence.events, edges, strict=True)
        if edge.refused is None
    }
    unknown = sorted(asked - set(seat.takes))
    if unknown:
        known = ", ".join(seat.takes)
        raise NotInTlaError(f"{seat.module} has no event {', '.join(unknown)}; it has {known}")
    return seat
