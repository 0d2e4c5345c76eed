"""Examine how a component takes events at once: histories by seed; the first unexplained is made shorter."""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from conformance.adapters.protocol import CONCURRENT, Adapter, Concurrent, Hung, Offer, Unsupported, canonical
from conformance.concurrent.histories import LARGEST, MESSAGES, Outcome, Step, grouped, play, shortest
from conformance.drive.answers import allowed_run
from conformance.drive.oracle import Oracle
from conformance.generators import generate

LENGTH = 30
"""Events of one history."""
REPEATS = 5
"""How often the shortest history is played again: what happens at once differs from run to run."""


@dataclass(frozen=True)
class Concurrency:
    """What came of the histories of one component."""

    histories: int
    groups: int
    wrong: str = ""
    doubt: str = ""

    def describe(self) -> str:
        """The bound, in one line."""
        return f"at once: {self.histories} histories with {self.groups:,} groups of 2 to {LARGEST} events"


def examine_concurrent(
    component: str, adapter: Adapter, offer: Offer, examples: int, seed: int, may_go_on: Callable[[], bool]
) -> Concurrency | None:
    """Play `examples` histories; None if the component does not offer `concurrent`, or takes no messages."""
    if component not in MESSAGES or CONCURRENT not in offer.capabilities:
        return None
    if not isinstance(adapter, Concurrent):
        return Concurrency(0, 0, doubt="at once: this adapter sends no events at once; start it as a process")
    random = Random(f"{seed} at once {component}")
    configs = generate.fitting(component, generate.offered(offer))
    histories = groups = 0
    while histories < examples and may_go_on():
        oracle = Oracle(component, configs[histories % len(configs)])
        injects = generate.injects(component, offer)
        run = allowed_run(oracle, f"{seed} at once {component} {histories}", LENGTH, injects=injects)
        outcome = play(oracle, grouped(component, run, random), adapter)
        histories, groups = histories + 1, groups + outcome.groups
        if not outcome.is_sound:
            doubt, wrong = _judged(oracle, outcome, adapter)
            return Concurrency(histories, groups, wrong, doubt)
    return Concurrency(histories, groups)


def _judged(oracle: Oracle, outcome: Outcome, adapter: Concurrent) -> tuple[str, str]:
    """The doubt and what is wrong; one of them is empty."""
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
