"""The answers of an implementation to runs that the protocol allows, without a comparison with the model."""

from collections.abc import Sequence
from random import Random

from conformance.adapters.protocol import Adapter, Applied, Failure, Made, Wire
from conformance.drive.lockstep import drawn
from conformance.drive.oracle import Oracle
from conformance.generators import generate

STRAY: Wire = {"kind": "no_such_event"}
"""An event that every implementation has to refuse."""


def allowed_run(oracle: Oracle, seed: str, length: int, *, injects: bool) -> list[Wire]:
    """At most `length` random events that the protocol allows and in which no task fails."""
    choose = generate.chooser(oracle.component, oracle.config, Random(seed), injects=injects)
    events, _ = drawn(oracle, choose, 2 * length)
    edges = zip(events, oracle.transcript(events), strict=True)
    return [event for event, edge in edges if edge.refused is None and not edge.fails][:length]


def batches(adapter: Adapter, sent: Sequence[Sequence[Wire]]) -> list[Applied] | Failure:
    """The answer to each batch, or the first failure."""
    answers: list[Applied] = []
    for batch in sent:
        answer = adapter.apply(batch)
        if not isinstance(answer, Applied):
            return answer
        answers.append(answer)
    return answers


def one_by_one(adapter: Adapter, events: Sequence[Wire]) -> list[Applied] | Failure:
    """The answer to each event, or the first failure."""
    return batches(adapter, [[event] for event in events])


def fresh(adapter: Adapter, oracle: Oracle, sent: Sequence[Sequence[Wire]]) -> list[Applied] | Failure:
    """The answer of a new instance to each batch, or the first failure."""
    made = adapter.new(oracle.component, oracle.config)
    return batches(adapter, sent) if isinstance(made, Made) else made
