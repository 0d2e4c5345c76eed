"""Chooses the rounds that a campaign runs, by kind: their names, and the number of faults at which they end.

A campaign of all kinds has few rounds of the slow kinds, and ends when enough faults are injected in total. A
campaign of named kinds injects an equal share of its faults in each kind. Both leave out the rounds that
cannot run with the campaign's storage or source.
"""

import itertools
import math
from collections.abc import Callable, Iterable, Iterator
from typing import Protocol

from conformance.torture.rounds import (
    DRIVER,
    EXECUTOR,
    FROZEN,
    JUMPING,
    KILLS_A_ROUND,
    LOCAL,
    PARQUET,
    POSTGRES,
    SERVER,
    SINK_KINDS,
    STANDALONE,
    Round,
)

_ORDER = (FROZEN, SERVER, JUMPING, LOCAL, DRIVER, EXECUTOR, STANDALONE)
"""The order in which the rounds of the kinds run."""
_FAULTS_FOR_ONE_ROUND = {FROZEN: 15, SERVER: 30, JUMPING: 60, DRIVER: 75, EXECUTOR: 150}
"""A campaign of all kinds has one round of each slow kind for this number of faults."""
FOLDERS, STORE = "folders", "s3"
GENERATED, KAFKA = "generated", "kafka"


class Options(Protocol):
    """The settings that determine the rounds of a campaign."""

    faults: int
    kinds: tuple[str, ...]
    storage: str
    source: str
    skipped: str | None
    """The reason why the PostgreSQL server cannot be started; None if no reason is known."""


class RoundsByKind:
    """Chooses the rounds of each kind. `only`: the names of all rounds to run; empty: the options decide."""

    def __init__(self, options: Options, plan: Callable[[str], Round], only: tuple[str, ...]) -> None:
        self._options = options
        self._plan = plan
        self._only = only

    def names(self, kind: str) -> Iterator[str]:
        """The names of the rounds of a kind. The iterator does not end unless their number is limited."""
        options = self._options
        if self._is_excluded(kind):
            return iter(())
        names: Iterable[str] = (f"{kind}-{number}" for number in itertools.count())
        if self._only:
            names = [one for one in self._only if one.partition("-")[0] == kind]
        elif options.kinds:
            names = names if kind in options.kinds else ()
        elif kind == STANDALONE:
            names = ()  # not every machine can start such a cluster, so `kinds` or `only` must name it
        elif kind != LOCAL:
            names = itertools.islice(names, options.faults // _FAULTS_FOR_ONE_ROUND[kind])
        return filter(self._fits, names)

    def enough(self, kind: str) -> float:
        """The number of faults, counted over all kinds so far, at which the rounds of the kind end."""
        faults, kinds = self._options.faults, self._options.kinds
        if self._only:
            return math.inf
        if kinds:
            return faults * sum(one in kinds for one in _ORDER[: _ORDER.index(kind) + 1]) / len(kinds)
        later = (name for one in (DRIVER, EXECUTOR) for name in self.names(one))
        return faults - KILLS_A_ROUND * sum(1 for _ in later) if kind == LOCAL else math.inf

    def any(self, kind: str) -> bool:
        """Whether there is a round of the kind."""
        return next(self.names(kind), None) is not None

    def need_server(self, *kinds: str) -> bool:
        """Whether rounds of these kinds, by default of any kind, need a PostgreSQL server."""
        some = max(len(self._only), len(SINK_KINDS))  # the kinds of sinks take turns
        return any(
            kind == SERVER or (kind == FROZEN and self._plan(name).sink == POSTGRES)
            for kind in kinds or _ORDER
            for name in itertools.islice(self.names(kind), some)
        )

    def _is_excluded(self, kind: str) -> bool:
        options = self._options
        if kind == SERVER and (options.storage == STORE or options.skipped is not None):
            return True
        if kind == JUMPING and options.storage == STORE:
            return True  # checkpoints take too long: too few would complete after a jump
        if kind == STANDALONE and options.storage != STORE:
            return True  # the hosts share no disk
        return options.source == KAFKA and kind in (FROZEN, SERVER, JUMPING, STANDALONE)  # they use no broker

    def _fits(self, name: str) -> bool:
        """Whether the storage can hold the round's output, and the server that it needs can be started."""
        sink = self._plan(name).sink
        if self._options.storage == STORE:
            return sink == PARQUET
        return sink != POSTGRES or self._options.skipped is None
