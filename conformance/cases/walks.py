"""Seeded walks: many short random cases, each with a fresh instance, until one diverges or all are done."""

from collections.abc import Callable, Collection, Mapping

from conformance.adapters.protocol import Adapter, Wire
from conformance.drive.lockstep import Divergence, Played, drawn, replay, walk
from conformance.drive.oracle import Oracle, canonical
from conformance.drive.series import Series
from conformance.generators import generate

LENGTH = 60
"""Events of one case: long enough for several checkpoints, short enough to be read before shrinking."""


class Oracles:
    """One oracle for each configuration, kept over cases for what it remembers."""

    def __init__(self, component: str) -> None:
        self._component = component
        self._by_config: dict[bytes, Oracle] = {}

    def of(self, config: Wire) -> Oracle:
        """The oracle of a configuration."""
        key = canonical(config)
        oracle = self._by_config.get(key)
        if oracle is None:
            oracle = self._by_config[key] = Oracle(self._component, config)
        return oracle


def walks(
    component: str,
    adapter: Adapter,
    seed: int,
    cases: int,
    *,
    length: int = LENGTH,
    batch: int = 1,
    pinned: Mapping[str, object] | None = None,
    may_go_on: Callable[[], bool] = lambda: True,
    is_known: Callable[[Divergence], bool] = lambda _: False,
    asked: Collection[str] = (),
    steps: int = 0,
    injects: bool = False,
) -> tuple[Played, list[str]]:
    """So many cases; what came of them, and why cases were skipped (each reason once).

    `pinned` keeps the configurations that have these values. `may_go_on` is asked before each case. The
    walks end at the first divergence that is not `is_known`. With `asked`, only those of the cases are played
    that exercise one of these rules. `steps`: go on with further cases until so many steps are done.
    Without `injects` no gate's task is triggered itself.
    """
    oracles = Oracles(component)
    series = Series(is_known)
    with_these = pinned or {}
    if not generate.fitting(component, with_these):
        return series.total, [generate.why_not(component, with_these)]
    for number, (config, rng) in enumerate(generate.cases(component, seed, with_these)):
        if (number >= cases and series.total.steps >= steps) or not may_go_on():
            break
        oracle = oracles.of(config)
        choose = generate.chooser(component, config, rng, injects=injects)
        if asked:
            events, fired = drawn(oracle, choose, length)
            if not fired.intersection(asked):
                continue
            series.take(replay(oracle, adapter, events, batch))
        else:
            series.take(walk(oracle, adapter, choose, length, batch))
        if series.is_over:
            break
    return series.total, series.skipped
