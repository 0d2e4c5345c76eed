"""A user's list of known divergences: each entry must still diverge, and does not end a run.

If a run finds a divergence like a listed one, the run continues. A listed divergence that passes is a
finding, so that users notice the repair. With a list that grows, the run adds each new divergence to
the list and continues, so that one run finds all divergences that several runs would find.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from conformance.adapters.protocol import Adapter, Wire, canonical
from conformance.divergence import Divergence
from conformance.drive.bounds.check_replay import again
from conformance.drive.bounds.failed_check import FailedCheck, failed_check_of
from conformance.drive.lockstep import replay
from conformance.drive.oracle import Oracle
from conformance.drive.shrinking.known_signatures import Signatures
from conformance.errors import InputError
from model.components import WireError

FORMAT = 1


class ListError(InputError):
    """The file is not a list of known divergences; the message states what was expected."""


class Listed(NamedTuple):
    """One entry: the shortest sequence, whose last event diverges."""

    component: str
    config: Wire
    events: tuple[Wire, ...]
    rule: str | None
    why: str = ""
    """A comment for readers."""
    check: str = ""
    """The check that fails, one of CHECKS; empty if a sequence of events diverges."""
    before: tuple[Wire, ...] = ()
    checkpoints: int = 0
    """`before` and `checkpoints` have the same meaning as in FailedCheck."""

    @property
    def evidence(self) -> FailedCheck:
        """The failed check."""
        return FailedCheck(self.check, *self[:3], self.before, self.checkpoints)


class Known:
    """The list during a run: finds divergences that look like a listed one, and entries that pass.

    With `grows` each new divergence becomes an entry.
    """

    def __init__(self, entries: Iterable[Listed], *, grows: bool = False) -> None:
        self.entries = list(entries)
        self.passing: list[Listed] = []
        self.added = 0
        """The number of entries that this run has added."""
        self.met = 0
        """The number of divergences that looked like a listed one."""
        self._grows = grows
        self._signatures: Signatures | None = None

    def replay(self, adapter: Adapter, components: Iterable[str]) -> None:
        """Play every entry of these components; raises ListError for one that the model cannot play."""
        self._signatures = Signatures(adapter)
        for entry in self.entries:
            if entry.component not in components:
                continue
            try:
                if entry.check:
                    if again(entry.evidence, adapter) is None:
                        self.passing.append(entry)
                    continue
                played = replay(Oracle(entry.component, entry.config), adapter, entry.events)
            except (WireError, KeyError) as wrong:
                raise ListError(
                    f"an entry of {entry.component} cannot be played: {wrong}; remove it"
                ) from wrong
            divergence = played.divergence
            if divergence is not None and divergence.step == len(entry.events):
                self._signatures.add(entry.component, divergence)
            elif played.stopped is None:
                self.passing.append(entry)

    def holds(self, divergence: Divergence) -> bool:
        """Whether the divergence looks like a listed one; counts it. A list that grows adds a new one.

        Call `replay` first.
        """
        assert self._signatures is not None
        name, smallest = self._signatures.place(divergence)
        if smallest is not None and self._grows:
            self.entries.append(Listed(smallest.component, smallest.config, smallest.events, smallest.charge))
            self.added += 1
            name = smallest.component
            self._signatures.add(name, smallest, divergence)
        self.met += name is not None
        return name is not None

    def holds_check(self, evidence: FailedCheck) -> bool:
        """Whether the same check of the component and mode is listed; counts and adds as `holds` does."""
        about = _about(evidence.check, evidence.component, evidence.config)
        is_listed = any(_about(one.check, one.component, one.config) == about for one in self.entries)
        if not is_listed and self._grows:
            self.entries.append(
                Listed(*evidence[1:4], None, "", evidence.check, evidence.before, evidence.checkpoints)
            )
            self.added += 1
            is_listed = True
        self.met += is_listed
        return is_listed

    def kept(self) -> list[Listed]:
        """The entries that still diverge, without duplicates."""
        rows = {canonical(entry._replace(why="")._asdict()): entry for entry in reversed(self.entries)}
        once = [entry for entry in self.entries if any(entry is row for row in rows.values())]
        return [entry for entry in once if entry not in self.passing]


def _about(check: str, component: str, config: Wire) -> tuple[object, ...]:
    return check, component, config.get("mode")


def read(file: Path) -> list[Listed]:
    """The entries of a file; raises ListError. A file that is not there is an empty list."""
    if not file.exists():
        return []
    try:
        whole: dict[str, Any] = orjson.loads(file.read_bytes())
        if whole["format"] != FORMAT:
            raise ListError(f"{file}: expected format {FORMAT}, got {whole['format']!r}")
        return [_listed(row) for row in whole["divergences"]]
    except ListError:
        raise
    except (AttributeError, KeyError, TypeError, ValueError) as wrong:  # ValueError: the file is not JSON
        raise ListError(f"{file}: expected a list as `conform --fix` writes it, got {wrong!r}") from wrong


def _listed(row: dict[str, Any]) -> Listed:
    """One entry; raises TypeError or KeyError for any other value."""
    entry = Listed(**{**row, "events": tuple(row["events"]), "before": tuple(row.get("before", ()))})
    if entry.check:
        failed_check_of(entry._asdict())
    if not isinstance(entry.component, str) or not isinstance(entry.config, dict):
        raise TypeError("expected a component and a config")
    if not isinstance(entry.rule, str | None) or not all(isinstance(event, dict) for event in entry.events):
        raise TypeError("expected a rule, and events that are objects")
    return entry


def write(file: Path, entries: Iterable[Listed]) -> None:
    """Write a list, indented for readers."""
    of_check = ("check", "before", "checkpoints")
    rows = [
        {name: value for name, value in entry._asdict().items() if entry.check or name not in of_check}
        for entry in entries
    ]
    text = orjson.dumps({"format": FORMAT, "divergences": rows}, option=orjson.OPT_INDENT_2)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text + b"\n")
