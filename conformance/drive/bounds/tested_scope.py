"""The bound of a verdict: the scope that the cases of one component reached, as text and as JSON values."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from conformance.adapters.flink.releases import driven_profiles
from conformance.adapters.protocol import FIRST_ID, Wire
from conformance.drive.bounds.ids import BOUNDS, fields_of
from conformance.drive.bounds.times import BOUNDS as TIMES
from conformance.drive.bounds.wide_gate_cases import LARGE
from conformance.report.divergence.phrases import of_reached

_NEAR = 2**20
"""Below this id, the scope states the highest id. Above it, the scope states the bounds near the ids."""
OPTIONS = {"mode": "modes", "profile": "profiles", "level": "levels"}
"""The options of a configuration that a `hello` may name, and the field of `TestedScope` for their values."""


@dataclass
class TestedScope:
    """The options, ids, times and lengths that the cases of one component reached."""

    modes: set[str] = field(default_factory=set)
    profiles: set[str] = field(default_factory=set)
    levels: set[str] = field(default_factory=set)
    unseen: set[str] = field(default_factory=set)
    """Tested profiles that no released jar was compared with; `all` if no jar has the component."""
    channels: set[int] = field(default_factory=set)
    highest_id: int = -1
    """The highest id that is not near one of BOUNDS; -1 if there is none."""
    bounds: set[int] = field(default_factory=set)
    """The elements of BOUNDS that some id was near."""
    times: set[int] = field(default_factory=set)
    """The bounds of times that cases reached."""
    longest: int = 0
    """Events of the longest life of one instance."""
    checkpoints: int = 0
    """Checkpoints of the longest life."""
    lives: int = 0
    """The number of instances that had a long life."""
    watched: set[str] = field(default_factory=set)
    """The measures that were taken in every long life; empty if the lives were too short to measure."""
    grows: list[str] = field(default_factory=list)
    """One sentence for each measure that grew over a life."""
    reached: dict[str, int] = field(default_factory=dict)
    """The numbers of different states, transitions, pairs and paths that random walks reached."""
    cut: int = 0
    """The number of cases that end early, because their next event is known to crash the implementation."""
    declined: dict[str, str] = field(default_factory=dict)
    """The bounds at which the implementation answered `unsupported`, each with the reason."""

    def take(self, component: str, config: Wire, events: Iterable[Wire]) -> None:
        """Count one case."""
        for option, name in OPTIONS.items():
            if option in config:
                getattr(self, name).add(config[option])
        driven, profile = driven_profiles(component), config.get("profile", "")
        if profile not in driven and (profile or not driven):
            self.unseen.add(profile or "all")
        if "channels" in config:
            self.channels.add(config["channels"])
        if FIRST_ID in config:
            self._reach(config[FIRST_ID])
        fields = fields_of(component)
        length = passed = 0
        for event in events:
            length += 1
            ms = event.get("ms", 0)
            passed += ms if type(ms) is int else 0
            for name in fields:
                checkpoint = event.get(name)
                if type(checkpoint) is int and checkpoint > self.highest_id:
                    self._reach(checkpoint)
        self.longest = max(self.longest, length)
        self.times.update(
            [bound for bound in TIMES if passed >= bound - _NEAR][-1:] if passed > _NEAR else ()
        )

    def lived(self, checkpoints: int, events: int, watched: Collection[str]) -> None:
        """Count one long life and its measurements."""
        self.lives += 1
        self.checkpoints = max(self.checkpoints, checkpoints)
        self.longest = max(self.longest, events)
        self.watched.update(watched)

    def _reach(self, checkpoint: int) -> None:
        if checkpoint < _NEAR:
            self.highest_id = max(self.highest_id, checkpoint)
        else:
            self.bounds.update(bound for bound in BOUNDS if abs(checkpoint - bound) < _NEAR)

    def add(self, other: "TestedScope") -> None:
        """Add the scope that another case has reached."""
        for name in ("modes", "profiles", "levels", "unseen", "channels", "bounds", "times", "watched"):
            getattr(self, name).update(getattr(other, name))
        self.highest_id = max(self.highest_id, other.highest_id)
        self.longest = max(self.longest, other.longest)
        self.checkpoints = max(self.checkpoints, other.checkpoints)
        self.lives += other.lives
        self.cut += other.cut
        self.grows += other.grows
        self.reached.update(other.reached)
        self.declined.update(other.declined)

    def describe(self) -> str:
        """All lines as one sentence, without a full stop."""
        return "; ".join(f"{name} {text}" if name != "tried" else text for name, text in self.lines().items())

    def lines(self) -> dict[str, str]:
        """The lines of the bound by subject: `tried` for options, `channels`, `ids`, `walks`, `lives`, ..."""
        options = [
            f"{name} {', '.join(sorted(values, key=by_number))}"
            for name, values in (("modes", self.modes), ("profiles", self.profiles), ("levels", self.levels))
            if values
        ]
        lines = {"tried": "; ".join(options), "channels": ranges(self.channels), "ids": self._ids()}
        lines["walks"] = f"reached {of_reached(self.reached)}" if self.reached else ""
        lines["lives"] = f"at most {self.longest:,} events"
        if self.lives:
            each = f"{self.lives} of " if self.lives > 1 else ""
            lines["lives"] = f"{each}{self.checkpoints:,} checkpoints, {lines['lives']}; {self._watched()}"
        lines["from sources"] = self._unseen()
        lines["left out"] = f"{self.cut:,} cases end before a known crash" if self.cut else ""
        return {name: text for name, text in lines.items() if text}

    @property
    def profiles_without_jar(self) -> list[str]:
        """The profiles that no released jar was compared with; empty if no jar has the component."""
        return sorted(self.unseen - {"all"}, key=by_number)

    def _unseen(self) -> str:
        if not self.unseen:
            return ""
        profiles = self.profiles_without_jar
        what = f"profiles {', '.join(profiles)}" if profiles else "this component"
        return f"no released jar was compared with {what}"

    def _ids(self) -> str:
        if self.highest_id < 0:
            return ""
        around = "".join(f", around {BOUNDS[bound]}" for bound in sorted(self.bounds))
        times = ", ".join(f"around {TIMES[bound]}" for bound in sorted(self.times))
        return f"to {self.highest_id:,}{around}" + (f"; times {times}" if times else "")

    def _watched(self) -> str:
        if not self.watched:
            return "too short to measure growth"
        grows = "some of it grows" if self.grows else "nothing grows"
        return f"measured: {' and '.join(sorted(self.watched))}, {grows}"

    def values(self) -> dict[str, object]:
        """The scope as JSON values."""
        return {
            "modes": sorted(self.modes, key=by_number),
            "profiles": sorted(self.profiles, key=by_number),
            "levels": sorted(self.levels),
            "without_jar": sorted(self.unseen, key=by_number),
            "channels": sorted(self.channels),
            "highest_id": self.highest_id if self.highest_id >= 0 else None,
            "id_bounds": [BOUNDS[bound] for bound in sorted(self.bounds)],
            "time_bounds": [TIMES[bound] for bound in sorted(self.times)],
            "reached": dict(self.reached),
            "cut": self.cut,
            "longest_life": self.longest,
            "lives": {
                "count": self.lives,
                "checkpoints": self.checkpoints,
                "measured": sorted(self.watched),
                "grows": list(self.grows),
            },
        }


def not_tested(
    tried: TestedScope,
    offered: Mapping[str, Sequence[object]],
    chosen: Mapping[str, object],
    *,
    injects: bool,
) -> list[str]:
    """The values and events that an implementation offers but the suite did not test, each with the reason.

    `offered`: for each option (`mode`, `profile`, `level`), the values that its `hello` names. `chosen`: the
    values that the user has chosen. `injects`: whether the gate offers the capability `inject`; true for a
    component that has no such capability.
    """
    left: list[str] = []
    for option, name in OPTIONS.items():
        missing = [str(word) for word in offered.get(option, ()) if word not in getattr(tried, name)]
        if missing:
            with_it = " with this --config" if chosen else ""
            of_suite = f"no configuration of the suite has it{with_it}"
            reason = "--config leaves it out" if option in chosen else of_suite
            left.append(f"{option} {', '.join(missing)} ({reason})")
    if not injects:
        channels = chosen.get("channels")
        is_huge = type(channels) is int and channels > LARGE[0]
        left.append(f"event inject ({'too many channels' if is_huge else 'not among the capabilities'})")
    left += [f"{what} (unsupported: {why})" for what, why in tried.declined.items()]
    return left


def beyond(limits: Mapping[str, int]) -> list[str]:
    """The values that the suite does not send to an implementation, because its `hello` declares a limit."""
    return [f"{what} above {greatest:,} (a limit of hello)" for what, greatest in limits.items()]


def ranges(numbers: Iterable[int]) -> str:
    """The numbers as text, with runs joined, such as `1 to 4, 33, 65`."""
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(_run(run) for run in runs)


def _run(run: Sequence[int]) -> str:
    return f"{run[0]:,} to {run[-1]:,}" if len(run) > 2 else ", ".join(f"{one:,}" for one in run)


def by_number(word: str) -> tuple[object, ...]:
    """The key that sorts releases by number: 1.9 before 1.11."""
    return tuple((0, int(part), "") if part.isdecimal() else (1, 0, part) for part in _parts(word))


def _parts(word: str) -> list[str]:
    return word.replace("-", ".").split(".")
