"""Tests the source's task of a release: plain, and externally induced by a function or by a reader."""

from collections.abc import Iterator
from dataclasses import dataclass

from conformance.adapters.protocol import Errored, Unsupported, Wire
from conformance.released.comparison import Search
from conformance.released.results import Target

IDS = 3
"""The highest checkpoint id of the toured models."""
KINDS = ("reader", "function", "no")
"""The kinds of sources, as the option `external` names them."""
READERS = (1, 11)
"""The first minor release with a task of readers."""


@dataclass(frozen=True)
class SourceTarget(Target):
    """The source's task of one release."""

    def configs(self) -> list[Wire]:
        """One configuration for each kind of source that the release has."""
        absent = absent_kinds(self)
        return [{"profile": self.profile, "external": kind} for kind in KINDS if kind not in absent]


def absent_kinds(target: Target) -> tuple[str, ...]:
    """The kinds of sources that the release does not have."""
    return () if target.minor >= READERS else ("reader",)


def target(version: str, profile: str) -> SourceTarget:
    """The target for a release."""
    return SourceTarget(version, profile, "source", "", after_finish=True, component="source")


class SourceSearch(Search):
    """Tours of every kind of source, and random sequences."""

    def begin(self) -> bool:
        """Begin as `Search` does. The release must answer `unsupported` to each kind that it lacks."""
        if not super().begin():
            return False
        for kind in absent_kinds(self._target):
            made = self._adapter.new("source", {"profile": self._target.profile, "external": kind})
            if not isinstance(made, Unsupported):
                self._done.stopped = Errored(f"expected no source of the kind {kind}, got {made}")
                return False
            self._done.not_offered.append(made.why)
        return True

    def small(self) -> list[Wire]:
        """Every kind of source that the release has."""
        return self._target.configs()

    def alphabet(self, config: Wire, observed: Wire) -> Iterator[Wire]:
        """Every event, with ids from 1 to `IDS`. The model refuses the hook of a plain source."""
        yield from ({"kind": "status", "running": running} for running in (True, False))
        for checkpoint in range(1, IDS + 1):
            yield {"kind": "trigger", "checkpoint": checkpoint}
            yield {"kind": "trigger", "checkpoint": checkpoint, "to": "elsewhere"}
            yield {"kind": "induce", "checkpoint": checkpoint}
            yield {"kind": "ended", "checkpoint": checkpoint}
