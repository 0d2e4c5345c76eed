"""The evidence of a run: its divergence, hang or flaky answer in the simplest case that shows it.

Shrinking a divergence costs little. A hang costs a time limit each time, and a flaky answer may need many
plays, so both have a budget: HANGS and PLAYS. The result is confirmed with the whole time limit; a divergence
that does not occur again is flaky.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from conformance.adapters.process import ProcessAdapter
from conformance.adapters.protocol import Adapter, Applied, Failure, Made, Wire
from conformance.adapters.python_object import PythonObject
from conformance.divergence import Divergence
from conformance.drive.lockstep import Played
from conformance.drive.shrinking.shrink import Play, kept, player
from conformance.drive.shrinking.simplest import simplest

HANGS, HANG_SHARES = 20, (10, 2)
"""Shrinking ends after HANGS hangs. At first it waits a tenth of the time limit for each answer.

If the result does not hang with the whole limit, answers were only slow (a loaded machine). Shrinking then
begins again, and waits half of the limit.
"""
PLAYS = 400
"""Shrinking a flaky answer ends after this number of plays."""
TRIES = 5
"""The number of plays in which a shorter sequence may show a flaky answer."""
REPEATS = 20
"""The number of plays in which the frequency of a flaky answer is counted."""
CONFIRMED = 2
"""The number of further plays in which a divergence must occur again."""


def evidence(played: Played, adapter: Adapter, fixed: Mapping[str, object]) -> Divergence | None:
    """The divergence of a run that is reported and saved; None if nothing differed and nothing hung.

    `fixed`: the values that options of the configuration must keep.
    """
    if played.divergence is not None:
        play = player(played.divergence.component, adapter)
        smallest = simplest(played.divergence, play, fixed)
        again = (kept(play(smallest.config, smallest.events), smallest) for _ in range(CONFIRMED))
        return smallest if all(again) else repeated(smallest, adapter)
    if played.hung is not None:
        return _hung(played.hung, adapter, fixed)
    return None if played.unrepeatable is None else _flaky(played.unrepeatable, adapter, fixed)


def repeated(divergence: Divergence, adapter: Adapter) -> Divergence:
    """The divergence with the number of plays that repeat it; a hang is slow, and is played once."""
    if divergence.lost == "hung":
        return replace(divergence, repeats=(0, 1))
    play = player(divergence.component, adapter)
    plays = [kept(play(divergence.config, divergence.events), divergence) for _ in range(REPEATS)]
    return replace(divergence, repeats=(sum(one is not None for one in plays), REPEATS))


def budget_of(divergence: Divergence) -> str:
    """The budget within which the case was shrunk, in a few words."""
    if divergence.repeats is not None:
        return f"shrunk in at most {PLAYS} plays"
    return f"shrunk with at most {HANGS} hangs" if divergence.lost == "hung" else "no event can be left out"


def _hung(divergence: Divergence, adapter: Adapter, fixed: Mapping[str, object]) -> Divergence:
    """The simplest case that hangs with the whole time limit; `divergence` if no simpler one is confirmed."""
    if not isinstance(adapter, ProcessAdapter | PythonObject):
        return divergence
    patient = player(divergence.component, adapter)
    left = HANGS
    for share in HANG_SHARES:
        impatient = player(divergence.component, _Impatient(adapter, share))

        def play(config: Wire, events: Sequence[Wire], impatient: Play = impatient) -> Divergence | None:
            nonlocal left
            found = impatient(config, events) if left else None
            left -= found is not None and found.lost == "hung"
            return found

        smallest = simplest(divergence, play, fixed)
        if found := kept(patient(smallest.config, smallest.events), divergence):
            return found
    return divergence


class _Impatient:
    """An adapter that waits for each answer only for a part of the time limit."""

    def __init__(self, adapter: ProcessAdapter | PythonObject, share: int) -> None:
        self._adapter = adapter
        self._share = share
        self.hello, self.bye = adapter.hello, adapter.bye

    def new(self, component: str, config: Wire) -> Made | Failure:
        return self._adapter.new(component, config)

    def apply(self, events: Sequence[Wire]) -> Applied | Failure:
        whole = self._adapter.seconds
        self._adapter.seconds = whole / self._share
        try:
            return self._adapter.apply(events)
        finally:
            self._adapter.seconds = whole


def _flaky(divergence: Divergence, adapter: Adapter, fixed: Mapping[str, object]) -> Divergence:
    """The simplest case that shows a flaky answer, and how often it does."""
    if divergence.lost == "hung":
        return repeated(divergence, adapter)
    once = player(divergence.component, adapter)
    left = PLAYS

    def play(config: Wire, events: Sequence[Wire]) -> Divergence | None:
        nonlocal left
        for _ in range(min(TRIES, left)):
            left -= 1
            found = kept(once(config, events), divergence)
            if found is not None:
                return found
        return None

    return repeated(simplest(divergence, play, fixed), adapter)
