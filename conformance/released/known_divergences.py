"""Known divergences: reads the files that list where a release of Flink differs from its profile.

Each file of `conformance/known-divergences` has entries. An entry has the releases and the configuration for
which it holds, the shortest sequence that shows the divergence, the consequence for a user, and the broken
rule. A divergence in another sequence is known if it looks the same at the step that differs: the event, the
rules, and the kinds of the expected and the actual answer. An entry that no longer diverges is a finding.
"""

import tomllib
from collections.abc import Iterator
from importlib import resources
from typing import Any, NamedTuple

from conformance.adapters.protocol import Adapter, Wire
from conformance.divergence import Answer, Divergence
from conformance.drive.lockstep import replay
from conformance.drive.oracle import Oracle

FOLDER = "known-divergences"


class KnownError(ValueError):
    """A file of known divergences cannot be read. The message states what is missing or wrong."""


class Known(NamedTuple):
    """One entry of a file."""

    name: str
    releases: tuple[str, ...]
    """Versions. A version of two numbers, such as 1.20, means all its patch releases."""
    config: Wire
    """`profile` and other options of the component. A gate has `channels`, `mode`, and perhaps `level`."""
    events: tuple[Wire, ...]
    """The shortest sequence; its last event shows the divergence."""
    seen: str
    """The consequence for a user."""
    rule: str
    """The rule that is broken."""
    component: str = "gate"

    def holds_for(self, version: str, mode: str, level: str) -> bool:
        """Whether the entry is about this release, mode (or other component) and level."""
        if self.component != "gate":
            return self.component == mode and self.concerns(version)
        same = self.config["mode"] == mode and self.config.get("level", level) == level
        return same and self.concerns(version)

    def concerns(self, version: str) -> bool:
        """Whether the entry is about this release."""
        return version in self.releases or version.rpartition(".")[0] in self.releases


def known_divergences() -> list[Known]:
    """All entries of all files, by name. Raises KnownError."""
    folder = resources.files("conformance").joinpath(FOLDER)
    files = [file for file in folder.iterdir() if file.name.endswith(".toml")]
    entries = [known for file in files for known in read(file.read_text("utf-8"), file.name)]
    return sorted(entries, key=lambda known: known.name)


def read(text: str, name: str) -> Iterator[Known]:
    """Yield the entries of one file. `name`: the file's name, for errors. Raises KnownError."""
    try:
        parsed = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise KnownError(f"{name}: {error}") from error
    rows = parsed.get("divergence", [])
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise KnownError(f"{name}: expected tables [[divergence]], got {rows!r:.100}")
    for row in rows:
        yield _entry(row, name)


def _entry(row: dict[str, Any], name: str) -> Known:
    expected = (
        ("name", str), ("releases", list), ("config", dict), ("events", list), ("seen", str), ("rule", str),
    )  # fmt: skip
    wrong = [field for field, kind in expected if not isinstance(row.get(field), kind)]
    wrong += [field for field in row if field not in {**dict(expected), "component": str}]
    component = row.get("component", "gate")
    needed = ("channels", "mode", "profile") if component == "gate" else ("profile",)
    missing = [field for field in needed if not wrong and field not in row["config"]]
    if wrong or missing or not row["events"] or not row["releases"]:
        what = ", ".join([*wrong, *(f"config.{field}" for field in missing)]) or "events or releases (empty)"
        raise KnownError(
            f"{name}, {row.get('name', 'an entry')}: missing, of a wrong type, or unknown: {what}"
        )
    releases, events = tuple(row["releases"]), tuple(row["events"])
    return Known(row["name"], releases, row["config"], events, row["seen"], row["rule"], component)


def shown_by(known: Known, level: str, adapter: Adapter, profile: str | None = None) -> Divergence | None:
    """Play the entry's sequence. Returns its divergence; None if the last event no longer diverges.

    `profile`: the release's profile, if the entry is about releases of several profiles; None: the entry's.
    """
    config = {**known.config, "level": level} if known.component == "gate" else known.config
    if profile is not None:
        config = {**config, "profile": profile}
    played = replay(Oracle(known.component, config), adapter, known.events)
    divergence = played.divergence
    return divergence if divergence is not None and divergence.step == len(known.events) else None


def is_alignment_clock(divergence: Divergence) -> bool:
    """Whether a tracking gate with ended channels fails in the same way as releases from 1.14 on.

    While one channel is open, a newer checkpoint is triggered at once (TRACK-17), which also ends the timed
    alignment. When the newest tracked checkpoint then completes (TRACK-04), Flink ends its alignment a second
    time and throws, but the profile triggers.
    """
    got = divergence.got
    if not isinstance(got, Answer) or [effect["kind"] for effect in got.effects] != ["fail"]:
        return False
    if divergence.component != "gate" or divergence.config.get("mode") != "at-least-once":
        return False
    oracle = Oracle(divergence.component, divergence.config)
    node, is_reset = oracle.start, False
    for event in divergence.events[:-1]:
        edge = oracle.step(node, event)
        if "TRACK-17" in edge.rules:
            is_reset = True
        elif _newest(edge.after.observed) != _newest(node.observed):
            is_reset = False
        node = edge.after
    edge = oracle.step(node, divergence.event)
    triggered = [effect["checkpoint"] for effect in edge.effects if effect["kind"] == "trigger"]
    return is_reset and "TRACK-04" in edge.rules and triggered == [_newest(node.observed)]


def _newest(observed: Wire) -> int | None:
    """The highest tracked id; None if none is tracked."""
    return max((entry[0] for entry in observed["tracked"]), default=None)
