"""What was tried: the bound of a verdict, in the words of its reader and as values for machines."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from conformance.adapters.protocol import Wire
from conformance.drive.bounds.ids import BOUNDS, fields_of

_NEAR = 2**20
"""Of ids below it the highest one is stated, of ids above it the bounds that they are near."""
OPTIONS = {"mode": "modes", "profile": "profiles", "level": "levels"}
"""The options of a configuration that a `hello` may name, and the field that has their values."""


@dataclass
class Tried:
    """What the cases of one component reached."""

    modes: set[str] = field(default_factory=set)
    profiles: set[str] = field(default_factory=set)
    levels: set[str] = field(default_factory=set)
    channels: set[int] = field(default_factory=set)
    highest_id: int = -1
    """Of the ids that are not near one of BOUNDS; -1: none."""
    bounds: set[int] = field(default_factory=set)
    """Those of BOUNDS that an id was near to."""
    longest: int = 0
    """Events of the longest life of one instance."""
    declined: dict[str, str] = field(default_factory=dict)
    """What the implementation has answered with `unsupported` at a bound, and why."""

    def take(self, component: str, config: Wire, events: Iterable[Wire]) -> None:
        """Count one case."""
        for option, name in OPTIONS.items():
            if option in config:
                getattr(self, name).add(config[option])
        if "channels" in config:
            self.channels.add(config["channels"])
        fields = fields_of(component)
        length = 0
        for event in events:
            length += 1
            for name in fields:
                checkpoint = event.get(name)
                if type(checkpoint) is int and checkpoint > self.highest_id:
                    self._reach(checkpoint)
        self.longest = max(self.longest, length)

    def _reach(self, checkpoint: int) -> None:
        if checkpoint < _NEAR:
            self.highest_id = checkpoint
        else:
            self.bounds.update(bound for bound in BOUNDS if abs(checkpoint - bound) < _NEAR)

    def add(self, other: "Tried") -> None:
        """Take what another case reached."""
        for name in ("modes", "profiles", "levels", "channels", "bounds"):
            getattr(self, name).update(getattr(other, name))
        self.highest_id = max(self.highest_id, other.highest_id)
        self.longest = max(self.longest, other.longest)
        self.declined.update(other.declined)

    def describe(self) -> str:
        """One sentence, without its end: modes, profiles, levels, channels, ids, the longest life."""
        parts = [
            f"{name} {', '.join(sorted(values, key=by_number))}"
            for name, values in (("modes", self.modes), ("profiles", self.profiles), ("levels", self.levels))
            if values
        ]
        if self.channels:
            parts.append(f"channels {ranges(self.channels)}")
        if self.highest_id >= 0:
            around = "".join(f", around {BOUNDS[bound]}" for bound in sorted(self.bounds))
            parts.append(f"ids to {self.highest_id:,}{around}")
        parts.append(f"at most {self.longest:,} events in one life")
        return "; ".join(parts)

    def values(self) -> dict[str, object]:
        """The same as JSON values."""
        return {
            "modes": sorted(self.modes, key=by_number),
            "profiles": sorted(self.profiles, key=by_number),
            "levels": sorted(self.levels),
            "channels": sorted(self.channels),
            "highest_id": self.highest_id if self.highest_id >= 0 else None,
            "id_bounds": [BOUNDS[bound] for bound in sorted(self.bounds)],
            "longest_life": self.longest,
        }


def not_asked(
    tried: Tried, offered: Mapping[str, Sequence[str]], chosen: Mapping[str, object], *, injects: bool
) -> list[str]:
    """What an implementation offers and was not tested, each with the reason.

    `offered`: by option (`mode`, `profile`, `level`) what its `hello` names. `chosen`: what the user has
    chosen of it. `injects`: the gate offers the capability `inject`; true where there is none to offer.
    """
    left: list[str] = []
    for option, name in OPTIONS.items():
        missing = [word for word in offered.get(option, ()) if word not in getattr(tried, name)]
        if missing:
            reason = "--config leaves it out" if chosen else "no configuration of the suite has it"
            left.append(f"{option} {', '.join(missing)} ({reason})")
    if not injects:
        left.append("event inject (not among the capabilities)")
    left += [f"{what} (unsupported: {why})" for what, why in tried.declined.items()]
    return left


def ranges(numbers: Iterable[int]) -> str:
    """`1 to 4, 33, 65`."""
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(_run(run) for run in runs)


def _run(run: Sequence[int]) -> str:
    return f"{run[0]} to {run[-1]}" if len(run) > 2 else ", ".join(map(str, run))


def by_number(word: str) -> tuple[object, ...]:
    """1.9 before 1.11."""
    return tuple((0, int(part), "") if part.isdecimal() else (1, 0, part) for part in _parts(word))


def _parts(word: str) -> list[str]:
    return word.replace("-", ".").split(".")
