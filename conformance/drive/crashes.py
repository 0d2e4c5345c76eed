"""Known crashes: cases end before an event at which the implementation is known to crash.

After each crash a new process has to start. A list of known divergences accepts every crash that looks like a
listed one, whatever events came before, so further crashes show little. After TRIED crashes in one situation
a case ends before the next such event, if at least half of the events in this situation have crashed. A
situation is the event, the answer that is expected, and the state before it, without ids, channels and
numbers.
"""

from collections import Counter
from collections.abc import Sequence

from conformance.adapters.protocol import Wire
from conformance.divergence import Divergence
from conformance.drive.oracle import Edge, Expects, Node, Oracle
from conformance.drive.signatures import Signature, expected_of

TRIED = 2
"""The number of known crashes that are played in one situation."""


class Crashes:
    """The known crashes of one component that have occurred in this run, by their situations."""

    def __init__(self) -> None:
        self.last: Divergence | None = None
        """The last crash that has occurred."""
        self._crashed: Counter[Signature] = Counter()
        self._sent: Counter[Signature] = Counter()

    def copy(self) -> "Crashes":
        """A copy, which later crashes do not change."""
        copied = Crashes()
        copied._crashed, copied._sent = self._crashed.copy(), self._sent.copy()
        return copied

    def meet(self, found: Divergence) -> None:
        """Count a known divergence, if it is a crash."""
        if found.lost is not None:
            self.last = found
            oracle = Oracle(found.component, found.config)
            edges = oracle.transcript(found.events)
            before = edges[-2].after if len(edges) > 1 else oracle.start
            self._crashed[_situation(found.config, found.event, before, edges[-1])] += 1

    def send(self, oracle: Expects, events: Sequence[Wire]) -> None:
        """Count the sent events of a case whose situation is that of a known crash."""
        node = oracle.start
        for event in events if self._crashed else ():
            edge = oracle.step(node, event)
            situation = _situation(oracle.config, event, node, edge)
            self._sent[situation] += situation in self._crashed
            node = edge.after

    def are_expected(self, config: Wire, event: Wire, before: Node, edge: Edge) -> bool:
        """Whether the event is left out, because its situation has often crashed."""
        if not self._crashed:
            return False
        situation = _situation(config, event, before, edge)
        return self._crashed[situation] >= max(TRIED, self._sent[situation] / 2)


def _situation(config: Wire, event: Wire, before: Node, edge: Edge) -> Signature:
    state = tuple(_form(value) for value in before.observed.values())
    return (*expected_of(config.get("mode"), event, edge), state)


def _form(value: object) -> object:
    """A value of the state without numbers: of an int its sign, of a collection whether it is empty."""
    if isinstance(value, list | tuple | dict):
        return len(value) > 0
    return value < 0 if type(value) is int else value
