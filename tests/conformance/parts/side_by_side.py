"""Several implementations in one examination: each case is drawn once, and all of them take it.

While all answers are equal, the result of the examination is the result of each implementation.
"""

from collections.abc import Mapping, Sequence

from conformance.adapters.in_process import InProcess
from conformance.adapters.protocol import Applied, Crashed, Errored, Failure, Hello, Made, Wire, canonical
from conformance.drive.examine import Examination, examine
from conformance.drive.oracle import GOES_ON
from conformance.drive.plan import Plan
from conformance.verdict import Verdict


class SideBySide:
    """An adapter that drives several; where their answers differ, its own answer is a crash."""

    def __init__(self, adapters: Sequence[InProcess]) -> None:
        self._adapters = adapters

    def hello(self) -> Hello | Failure:
        """The first one's."""
        return self._adapters[0].hello()

    def new(self, component: str, config: Wire) -> Made | Failure:
        """An instance of each."""
        self._may_fail = component not in GOES_ON
        return self._common([one.new(component, config) for one in self._adapters])

    def apply(self, events: Sequence[Wire]) -> Applied | Failure:
        """The batch for each."""
        return self._common([one.apply(events) for one in self._adapters])

    def bye(self) -> None:
        """Drop the instances."""
        for one in self._adapters:
            one.bye()

    def _common(self, answers):
        first, *others = map(self._compared, answers)
        return answers[0] if all(other == first for other in others) else Crashed("the answers differ", "")

    def _compared(self, answer: object) -> object:
        """What has to be equal, as in `conformance.drive.lockstep`: not the text of an error or of a failure,
        nor what is left of a failed task; nor the rules, which only the model states."""
        match answer:
            case Applied(effects, state):
                kinds = [[effect["kind"] for effect in one] for one in effects]
                if self._may_fail and any("fail" in one for one in kinds):
                    others = [[effect for effect in one if effect["kind"] != "fail"] for one in effects]
                    return kinds, canonical(others)
                return canonical(effects), canonical(state)
            case Errored(_, at):
                return Errored, at
        return answer


def examined_beside(
    component: str, adapters: Mapping[str, InProcess], plan: Plan
) -> Mapping[str, Examination]:
    """The examination of each adapter, by its name; one by one if they do not all conform together."""
    together = examine(component, SideBySide([*adapters.values()]), plan)
    if together.verdict is Verdict.CONFORMS:
        return dict.fromkeys(adapters, together)
    return {name: examine(component, adapter, plan) for name, adapter in adapters.items()}
