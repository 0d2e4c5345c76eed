"""Tests the sink of a release: Flink's own two-phase commit, with numbered transactions."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from conformance.adapters.protocol import Wire
from conformance.released.comparison import Search
from conformance.released.results import Target

IDS = 3
"""The highest checkpoint id of the toured model."""
TRANSACTIONS = 4
"""Maximum number of transactions in the toured model, which needs a bound: each transaction has a new id."""


@dataclass(frozen=True)
class SinkTarget(Target):
    """The sink of one release."""

    def configs(self) -> list[Wire]:
        """The one configuration: a sink has only its profile."""
        return [{"profile": self.profile}]


def target(version: str, profile: str) -> SinkTarget:
    """The target for a release."""
    return SinkTarget(version, profile, "sink", "", after_finish=True, component="sink")


class SinkSearch(Search):
    """Tours of a small model, and random histories."""

    def alphabet(self, config: Wire, observed: Wire) -> Iterator[Wire]:
        """The events of the toured model, as in the function `alphabet`."""
        return alphabet(config, observed)


def alphabet(config: Wire, observed: Wire) -> Iterator[Wire]:
    """Yield the events of the toured model, with failing commits. The model refuses impossible ones."""
    used = [observed["open"] or 0, *observed["committed"], *(filed[1] for filed in observed["pending"])]
    if max(used, default=0) >= TRANSACTIONS:
        return
    ids = range(1, IDS + 1)
    if not observed["running"]:
        yield {"kind": "restore", "checkpoint": None}
        yield from ({"kind": "restore", "checkpoint": checkpoint} for checkpoint in ids)
        for checkpoint, failing in product(ids, (1, 2)):
            yield {"kind": "restore", "checkpoint": checkpoint, "fails": failing}
        return
    yield from ({"kind": kind} for kind in ("finish", "close", "crash"))
    yield {"kind": "write", "value": 7}
    for kind, checkpoint in product(("snapshot", "notify_complete", "notify_abort"), ids):
        yield {"kind": kind, "checkpoint": checkpoint}
    for checkpoint, filed in product(ids, observed["pending"]):
        yield {"kind": "notify_complete", "checkpoint": checkpoint, "fails": filed[1]}
