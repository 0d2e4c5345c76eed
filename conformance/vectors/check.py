"""Playing vectors: what an implementation, or the model of today, answers in the place of what is written."""

from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from conformance.adapters.in_process import INJECT, model_adapter
from conformance.adapters.protocol import (
    Adapter,
    Applied,
    Errored,
    Failure,
    Hello,
    Offer,
    Unsupported,
    Wire,
)
from conformance.drive.oracle import GOES_ON, canonical
from conformance.generators import generate
from conformance.vectors.vector import Expected, Vector


class Difference(NamedTuple):
    """The first step of a vector that came out otherwise."""

    vector: Vector
    step: int
    """From 1; 0 if no instance could be made."""
    written: object
    came: object

    def lines(self) -> list[str]:
        """As a difference is shown: what is written, what came."""
        event = self.vector.steps[self.step - 1].event if self.step else "new"
        return [
            f"{self.vector.component} {self.vector.id} ({self.vector.origin}), step {self.step}: {event}",
            f"  - {self.written}",
            f"  + {self.came}",
        ]


def is_offered(vector: Vector, offers: Mapping[str, Offer]) -> bool:
    """Whether `hello` has named the component with this mode, generation and level; left out, it is the
    newest of exactly-once, polled."""
    offer = offers.get(vector.component)
    if offer is None:
        return False
    if not generate.injects(vector.component, offer) and _has_injection(vector):
        return False
    known = _model_offers()[vector.component].profiles
    left_out: Wire = {"mode": "exactly-once", "level": "polled", "profile": known[-1] if known else None}
    return generate.fits({**left_out, **vector.config}, generate.offered(offer))


def _has_injection(vector: Vector) -> bool:
    return any(step.event["kind"] == INJECT for step in vector.steps)


@cache
def _model_offers() -> Mapping[str, Offer]:
    hello = model_adapter().hello()
    assert isinstance(hello, Hello)
    return hello.components


def check(vector: Vector, adapter: Adapter) -> Difference | Unsupported | None:
    """None if all came as it is written; `Unsupported` if the implementation does not have this."""
    made = adapter.new(vector.component, vector.config)
    if isinstance(made, Unsupported):
        return made
    if isinstance(made, Failure):
        return Difference(vector, 0, "an instance", made.describe())
    for number, step in enumerate(vector.steps, 1):
        answer = adapter.apply([step.event])
        if isinstance(answer, Unsupported):
            return answer
        fails = vector.component not in GOES_ON and any(one["kind"] == "fail" for one in step.effects)
        difference = _difference(step, answer, fails=fails)
        if difference is not None:
            return Difference(vector, number, *difference)
        if fails:
            return None  # the instance is not used again
    return None


def _difference(step: Expected, answer: Applied | Failure, *, fails: bool) -> tuple[object, object] | None:
    """What is written and what came; `fails`: the task ends here, so that neither text nor state counts."""
    if step.refused:
        refused = isinstance(answer, Errored)
        came = answer.effects[0] if isinstance(answer, Applied) else answer
        return None if refused else ("an error", came)
    if not isinstance(answer, Applied):
        return list(step.effects), answer.describe()
    came, written = ([*answer.effects[0]], [*step.effects])
    if fails:
        came, written = [_wordless(effect) for effect in came], [_wordless(effect) for effect in written]
    if canonical(came) != canonical(written):
        return written, came
    seen = {name: answer.state[name] for name in step.state if name in answer.state}
    shown = {name: step.state[name] for name in seen}
    return (shown, seen) if not fails and canonical(seen) != canonical(shown) else None


def _wordless(effect: Wire) -> Wire:
    """The text of a failure that ends the task is everybody's own."""
    return {"kind": "fail"} if effect.get("kind") == "fail" else effect
