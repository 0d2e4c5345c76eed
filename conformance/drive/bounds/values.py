"""Maps of the values of a case: its ids by one map, its times by another."""

from collections.abc import Iterator, Sequence
from itertools import cycle
from typing import NamedTuple

from conformance.adapters.protocol import Wire
from conformance.drive.bounds import ids as of_ids
from conformance.drive.bounds import times as of_times
from conformance.drive.bounds.ids import IdMap
from conformance.drive.bounds.times import TimeMap


class ValueMap(NamedTuple):
    """One map of the values of a case. None leaves the ids, or the times, as they are."""

    ids: IdMap | None
    times: TimeMap | None

    @property
    def declined(self) -> str:
        """The name of the bound, for the report of an implementation that answers `unsupported`."""
        return "; ".join(one.declined for one in self if one is not None)

    def config(self, component: str, config: Wire) -> Wire:
        """The configuration with its durations and its ids mapped."""
        times = self._times(component, config)
        config = config if self.ids is None else of_ids.mapped_config(component, config, self.ids)
        return config if times is None else of_times.mapped_config(component, config, times)

    def opening(self, component: str, config: Wire) -> list[Wire]:
        """The events to send before the first event of a case, so that it begins late."""
        times = self._times(component, config)
        return [] if times is None else list(of_times.opening(times))

    def event(
        self, component: str, config: Wire, event: Wire, highest: int = of_ids.ASSUMED_HIGHEST
    ) -> list[Wire]:
        """One event with its values mapped; `highest` is the highest id of the case."""
        return self._mapped(component, event, self._times(component, config), highest)

    def events(self, component: str, config: Wire, events: Sequence[Wire]) -> list[Wire]:
        """All events of a case of `config`."""
        times = self._times(component, config)
        if times is None and self.ids is None:
            return list(events)
        sent = [] if times is None else of_times.opening(times)
        highest = of_ids.highest_id(component, events, config)
        return [*sent, *(one for event in events for one in self._mapped(component, event, times, highest))]

    def _mapped(self, component: str, event: Wire, times: TimeMap | None, highest: int) -> list[Wire]:
        one = event if times is None else of_times.mapped_event(component, event, times)
        return [one] if self.ids is None else of_ids.mapped_event(component, one, self.ids, highest)

    def _times(self, component: str, config: Wire) -> TimeMap | None:
        times = self.times
        return times if times is not None and of_times.fits(component, config, times) else None


def combined(ids: Sequence[IdMap], times: Sequence[TimeMap]) -> tuple[ValueMap, ...]:
    """Pairs of a map of ids and a map of times, so that each map occurs at least once.

    Pair n has the n-th element of `ids` and the n-th of (None, *times). The shorter of these lists repeats.
    """
    return tuple(_combined(ids, times))


def _combined(ids: Sequence[IdMap], times: Sequence[TimeMap]) -> Iterator[ValueMap]:
    in_turn = cycle((None, *times))
    longest = max(len(ids), len(times) + 1 if times else 0)
    for number, of_time in zip(range(longest), in_turn, strict=False):
        yield ValueMap(ids[number % len(ids)] if ids else None, of_time)


UNMAPPED = ValueMap(None, None)
"""The map that changes no value."""
ALL = combined(of_ids.MAPS, of_times.MAPS)
"""The maps for an implementation without limits."""
