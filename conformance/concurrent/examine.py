"""Plays random histories with concurrent events, and shortens the first one that no order explains."""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from conformance.adapters.protocol import CONCURRENT, Adapter, Concurrent, Hung, Offer, Unsupported, canonical
from conformance.concurrent.histories import LARGEST, MESSAGES, Outcome, Step, drawn, play, shortest
from conformance.drive.oracle import Oracle
from conformance.generators import generate

PLAYS = 5
"""Number of plays of each history, because threads interleave differently in each play."""
REPEATS = 20
"""The number of repetitions of the shortest history."""


@dataclass(frozen=True)
class Concurrency:
    """The result of the histories of one component."""

    histories: int
    groups: int
    reordered: int = 0
    """Number of groups whose answers are explained only by another order than that of the request."""
    wrong: str = ""
    """The history that no order of the events explains; empty: none."""
    undetermined: str = ""
    """The reason for UNDETERMINED; empty: none."""

    def describe(self) -> str:
        """The bound, in one line."""
        order = f"{self.reordered:,} of them answered in another order than sent"
        return (
            f"at once: {self.histories} histories, {self.groups:,} groups of 2 to {LARGEST} events, {order}"
        )


def examine_concurrent(
    component: str, adapter: Adapter, offer: Offer, examples: int, seed: int, may_go_on: Callable[[], bool]
) -> Concurrency | None:
    """Play `examples` histories.

    Returns None if the implementation lacks the capability `concurrent`, or the component is not in MESSAGES.
    """
    if component not in MESSAGES or CONCURRENT not in offer.capabilities:
        return None
    if not isinstance(adapter, Concurrent):
        return Concurrency(
            0, 0, undetermined="at once: this adapter takes single events; start it as a process"
        )
    random = Random(f"{seed} at once {component}")
    configs = generate.fitting(component, generate.offered(component, offer))
    histories = groups = reordered = 0
    while histories < examples and may_go_on():
        oracle = Oracle(component, configs[histories % len(configs)])
        steps, histories = drawn(oracle, random), histories + 1
        for _ in range(PLAYS):
            outcome = play(oracle, steps, adapter)
            groups, reordered = groups + outcome.groups, reordered + outcome.reordered
            if not outcome.is_sound:
                undetermined, wrong = _judged(oracle, outcome, adapter)
                return Concurrency(histories, groups, reordered, wrong, undetermined)
    return Concurrency(histories, groups, reordered)


def _judged(oracle: Oracle, outcome: Outcome, adapter: Concurrent) -> tuple[str, str]:
    """The reason for UNDETERMINED and the unexplained history; one of them is empty."""
    if isinstance(outcome.failed, Hung | Unsupported):
        return f"at once: {outcome.failed.describe()}", ""
    outcome = shortest(oracle, outcome, adapter)
    again = sum(not play(oracle, outcome.steps, adapter).is_sound for _ in range(REPEATS))
    unexplained = "no order of the model explains the last answer"
    what = unexplained if outcome.failed is None else outcome.failed.describe()
    lines = [f"at once: {what} (seen in {again} of {REPEATS} repetitions)"]
    lines.append(f"config {canonical(oracle.config).decode()}")
    lines += (f"{number}. {_shown(step)}" for number, step in enumerate(outcome.steps, 1))
    if outcome.unexplained is not None:
        effects = " and ".join(canonical(one).decode() for one in outcome.unexplained.effects)
        lines.append(f"answered {effects}, state {canonical(outcome.unexplained.state).decode()}")
    return "", "\n".join(lines)


def _shown(step: Step) -> str:
    return ("at once: " if len(step) > 1 else "") + ", ".join(canonical(one).decode() for one in step)
