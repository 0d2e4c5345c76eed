"""A list of known divergences of somebody's own: what is listed may diverge, and has to.

A run that comes upon a divergence which looks like a listed one goes on. A listed one that passes is a
finding of its own, so that a list never hides what has been mended.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from conformance.adapters.protocol import Adapter, Wire
from conformance.drive.known import Signature, signature
from conformance.drive.lockstep import Divergence, replay
from conformance.drive.oracle import Oracle
from model.components import WireError

FORMAT = 1


class ListError(ValueError):
    """The file is no list of known divergences; the message says what was expected."""


class Listed(NamedTuple):
    """One entry: the shortest sequence, whose last event diverges."""

    component: str
    config: Wire
    events: tuple[Wire, ...]
    rule: str | None
    why: str = ""
    """For people: why it is as it is."""


class Known:
    """The list in use: which divergences look like a listed one, and which entries pass."""

    def __init__(self, entries: Iterable[Listed]) -> None:
        self.entries = list(entries)
        self.passing: list[Listed] = []
        self.met = 0
        """Divergences that looked like a listed one."""
        self._looks: set[Signature] = set()

    def replay(self, adapter: Adapter, components: Iterable[str]) -> None:
        """Play every entry of these components; raises ListError for one that the model cannot play."""
        for entry in self.entries:
            if entry.component not in components:
                continue
            try:
                played = replay(Oracle(entry.component, entry.config), adapter, entry.events)
            except (WireError, KeyError) as wrong:
                raise ListError(
                    f"an entry of {entry.component} cannot be played: {wrong}; remove it"
                ) from wrong
            divergence = played.divergence
            if divergence is not None and divergence.step == len(entry.events):
                self._looks.add(signature(divergence))
            elif played.stopped is None:
                self.passing.append(entry)

    def holds(self, divergence: Divergence) -> bool:
        """Whether it looks like a listed one; counted if so."""
        known = signature(divergence) in self._looks
        self.met += known
        return known

    def add(self, divergence: Divergence) -> None:
        """List a new one."""
        asked = (divergence.component, divergence.config, divergence.events, divergence.rule)
        self.entries.append(Listed(*asked))
        self._looks.add(signature(divergence))

    def without_passing(self) -> list[Listed]:
        """The entries that still diverge."""
        return [entry for entry in self.entries if entry not in self.passing]


def read(file: Path) -> list[Listed]:
    """The entries of a file; raises ListError. A file that is not there is an empty list."""
    if not file.exists():
        return []
    try:
        whole: dict[str, Any] = orjson.loads(file.read_bytes())
        if whole["format"] != FORMAT:
            raise ListError(f"{file}: expected format {FORMAT}, got {whole['format']!r}")
        return [_listed(row) for row in whole["divergences"]]
    except (AttributeError, orjson.JSONDecodeError, KeyError, TypeError) as wrong:
        raise ListError(f"{file}: expected a list as `conform --fix` writes it, got {wrong!r}") from wrong


def _listed(row: dict[str, Any]) -> Listed:
    """One entry; raises TypeError or KeyError for what is none."""
    entry = Listed(**{**row, "events": tuple(row["events"])})
    if not isinstance(entry.component, str) or not isinstance(entry.config, dict):
        raise TypeError("expected a component and a config")
    if not isinstance(entry.rule, str | None) or not all(isinstance(event, dict) for event in entry.events):
        raise TypeError("expected a rule, and events that are objects")
    return entry


def write(file: Path, entries: Iterable[Listed]) -> None:
    """Write a list, to be read by people too."""
    rows = [entry._asdict() for entry in entries]
    text = orjson.dumps({"format": FORMAT, "divergences": rows}, option=orjson.OPT_INDENT_2)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text + b"\n")
