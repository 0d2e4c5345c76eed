"""The named situations that a run may witness (`situations.toml`), and the count of each.

A run in which a required situation never occurs is UNDETERMINED, even if the model accepts each event.
"""

import tomllib
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from importlib.resources import files
from typing import Any, NamedTuple

_FILE: Mapping[str, Any] = tomllib.loads(
    files("conformance.observe").joinpath("situations.toml").read_text(encoding="utf-8")
)
REORDERINGS: Mapping[str, str] = _FILE["reorderings"]
"""The reorderings in a Flink log that are tolerated, and the threads between which they occur."""


class Situations(NamedTuple):
    """The situations of one kind of log, each with its meaning."""

    usual: Mapping[str, str]
    """The situations that a full run witnesses, with their meanings."""
    rare: Mapping[str, str]
    required: frozenset[str]
    """The default of the situations without which the verdict is UNDETERMINED; a caller may name others."""

    def meanings(self) -> dict[str, str]:
        """The sentence of each situation, the usual ones first."""
        return {**self.usual, **self.rare}


TRACE, FLINK = (
    Situations(kind["usual"], kind["rare"], frozenset(kind["required"]))
    for kind in (_FILE["trace"], _FILE["flink"])
)
SITUATIONS, RARE, REQUIRED = TRACE


def possible(required: Collection[str], modes: Collection[str]) -> tuple[str, ...]:
    """The required situations that can occur in a run with gates of these modes; all if `modes` is empty."""
    of_modes: Mapping[str, list[str]] = _FILE["modes"]
    return tuple(
        situation
        for situation in required
        if not modes or situation not in of_modes or set(modes).intersection(of_modes[situation])
    )


def under_covered(missing: Collection[str]) -> str:
    """The finding about a run in which required situations did not occur, in plain words."""
    return f"under-covered: nothing was wrong, and these situations were not seen: {', '.join(missing)}"


class Witnessed:
    """The number of times that each situation occurred."""

    def __init__(self, situations: Situations) -> None:
        self._situations = situations
        self._counts: Counter[str] = Counter()
        self.watch: Callable[[str], None] | None = None
        """Called with each situation as it occurs."""

    def see(self, situation: str) -> None:
        """Count the situation once more."""
        self._counts[situation] += 1
        if self.watch is not None:
            self.watch(situation)

    def add(self, counts: Mapping[str, int]) -> None:
        """Count situations that occurred in another part of the same run."""
        self._counts.update(counts)

    def clear(self) -> None:
        """Set all counts to zero."""
        self._counts.clear()

    def counts(self) -> dict[str, int]:
        """The count of every usual situation, including 0, and of the rare ones that occurred."""
        usual, rare, _ = self._situations
        return {name: self._counts[name] for name in (*usual, *filter(self._counts.get, rare))}

    def missing(self, required: Collection[str]) -> tuple[str, ...]:
        """The required situations that did not occur, in the order of the file.

        Raises ValueError if `required` has an unknown name.
        """
        known = self._situations.meanings()
        unknown = sorted(set(required).difference(known))
        if unknown:
            names = ", ".join(map(repr, unknown))
            raise ValueError(f"no situation is called {names}; expected one of {', '.join(known)}")
        return tuple(name for name in known if name in required and not self._counts[name])
