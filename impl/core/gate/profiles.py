"""The generations of Flink at an input gate, as far as their behaviour differs.

`GENERATIONS` is by the name of the wire's `profile`. Each field is one difference; a component is given
its generation when it is made and asks the field where it matters.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from impl.core.errors import UnsupportedError


@dataclass(frozen=True)
class Generation:
    """What one generation of gates does differently from the newest."""

    after_finish: bool = True
    """An ended channel counts as aligned unless the configuration says otherwise."""
    answers_late: bool = True
    """A late barrier is answered with the resume of its channel."""
    release_then_trigger: bool = False
    """On completion channels are let go before the snapshot."""
    abort_then_release: bool = False
    """An alignment that a newer barrier or an end aborts is aborted before its channels are let go."""
    refuses_repeats: bool = False
    """A repeated barrier is an error of the stream."""
    counts_repeats: bool = False
    """A repeated barrier stands in for a channel that delivered none."""
    subsumes_on_cancel: bool = False
    """A newer cancellation during an alignment is told twice, first as a subsumption."""
    overtakes: bool = True
    """Unaligned checkpoints are offered."""
    first_barrier_decides: bool = False
    """The first barrier of a checkpoint decides between aligned and unaligned; there is no time-out."""
    type_decides: bool = False
    """What the first barrier decides by is whether its checkpoint is a savepoint; those align."""
    network_takes_part: bool = False
    """The network tells a gate that never aligns of each barrier as it comes in, which may begin its
    checkpoint."""
    patience_from_first_word: bool = False
    """The time-out of an alignment counts from its first barrier or announcement, not from its timestamp."""
    hurries_savepoints: bool = False
    """The alignment of a savepoint may be given up, too."""
    single_passes: bool = False
    """The only channel of a gate is never blocked; its barrier is answered with a trigger at once."""
    injects: bool = True
    """A task whose predecessors have finished is triggered itself."""
    gate_stores: bool = False
    """Input of blocked channels is stored by the gate and not held back by the network."""
    counting_tracker: bool = False
    """At-least-once, barriers are counted up to the number of all channels, ended and repeating ones too."""
    deaf_tracker: bool = False
    """At-least-once, the end of a channel changes nothing."""


_UP_TO_1_12: Final = Generation(
    after_finish=False, injects=False, release_then_trigger=True, refuses_repeats=True, counting_tracker=True
)
_STORING: Final = Generation(
    after_finish=False,
    injects=False,
    answers_late=False,
    release_then_trigger=True,
    abort_then_release=True,
    refuses_repeats=True,
    single_passes=True,
    gate_stores=True,
    counting_tracker=True,
    overtakes=False,
)
NEWEST: Final = "flink-1.14"
GENERATIONS: Final[Mapping[str, Generation]] = {
    "flink-1.7": replace(_STORING, subsumes_on_cancel=True, deaf_tracker=True),
    "flink-1.9": _STORING,
    "flink-1.11": replace(
        _UP_TO_1_12,
        abort_then_release=True,
        single_passes=True,
        first_barrier_decides=True,
        type_decides=True,
        network_takes_part=True,
    ),
    "flink-1.12": replace(_UP_TO_1_12, first_barrier_decides=True),
    "flink-1.13": Generation(
        after_finish=False,
        injects=False,
        counts_repeats=True,
        patience_from_first_word=True,
        hurries_savepoints=True,
        counting_tracker=True,
    ),
    NEWEST: Generation(),
}


def generation(name: str) -> Generation:
    """The generation of that name; `UnsupportedError` if there is none."""
    found = GENERATIONS.get(name)
    if found is None:
        raise UnsupportedError(
            f"profile is offered as {', '.join(GENERATIONS)}; came {name!r}; ask for one of those"
        )
    return found
