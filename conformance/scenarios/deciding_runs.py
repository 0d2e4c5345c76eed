"""Drives released Flinks through one run for each switch of a generation.

A *deciding run* of a switch is a sequence of events. Its answers distinguish generations with the switch from
generations without it. If a release gives the answers of its generation, it has decided the switch. The file
`conformance/released/deciding-runs.toml` has the runs, and `decided.jsonl` the results of the releases.
"""

import hashlib
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import fields
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from conformance.adapters.flink.releases import Release
from conformance.adapters.protocol import Adapter, Unsupported, Wire, canonical
from conformance.drive.lockstep import replay
from conformance.drive.oracle import Edge, Oracle
from conformance.errors import InputError
from conformance.machine import HOME
from conformance.scenarios.side_by_side import event_of, running
from model.channel.channel import CHANNEL_PROFILES
from model.components import WireError
from model.coordinator.profiles import COORDINATOR_PROFILES
from model.gate.profiles import PROFILES
from model.sink.two_phase_commit import SINK_PROFILES
from model.source.source_task import SOURCE_PROFILES
from model.subtask.profiles import TASK_PROFILES

GENERATIONS: Mapping[str, Mapping[str, Any]] = {
    "gate": PROFILES,
    "subtask": TASK_PROFILES,
    "coordinator": COORDINATOR_PROFILES,
    "channel": CHANNEL_PROFILES,
    "sink": SINK_PROFILES,
    "source": SOURCE_PROFILES,
}
"""By component with switches: its profiles, oldest first, by their names in the adapter protocol."""
RECORD = HOME / "conformance" / "released" / "decided.jsonl"
"""The results that the page of the documentation shows."""
AGREES = "agrees"
"""An outcome: the release gave the answers of its generation."""
NO_OPTION = "no such option"
"""An outcome: the release's generation lacks a mode or an option of the run, so nothing was driven."""
_DIFFERS, _NOT_OFFERED = "differs", "not offered"
Place = tuple[str, str]
"""The component and the name of a switch."""


class RecordError(InputError):
    """The file of results cannot be read. The message states the fix."""


class DecidingRun(NamedTuple):
    """The run of one switch."""

    component: str
    switch: str
    config: Wire
    """The configuration without the profile."""
    opening: tuple[Wire, ...]
    """Events before the run: a coordinator's job and its tasks begin to run."""
    events: tuple[Wire, ...]
    unforbidden: frozenset[str]
    """Generations in which no property forbids the run after the switch is turned to its other value."""

    @property
    def place(self) -> Place:
        """Component and switch."""
        return self.component, self.switch

    def transcript(self, profile: str) -> tuple[Edge, ...] | None:
        """The model's answers in a generation; None if it lacks a mode or an option of the run."""
        try:
            oracle = Oracle(self.component, {**self.config, "profile": profile})
        except WireError:
            return None
        return tuple(oracle.transcript((*self.opening, *self.events)))

    def answers(self, profile: str) -> tuple[object, ...] | None:
        """As `transcript`, but only the observable part of each answer: effects, state, and refusal."""
        edges = self.transcript(profile)
        if edges is None:
            return None
        return tuple((edge.spelled, edge.after.spelled, edge.refused is None) for edge in edges)

    def decided_by(self, profile: str) -> bool:
        """Whether the generation's answers differ from those of every generation with the other value.

        If all those generations lack an option of the run, the answers only show that this one has it.
        """
        known = GENERATIONS[self.component]
        own, value = self.answers(profile), getattr(known[profile], self.switch)
        others = [self.answers(name) for name, one in known.items() if getattr(one, self.switch) != value]
        return own is not None and own not in others


def _shown(edge: Edge) -> bytes:
    return edge.spelled if edge.refused is None else b"refused"


class Outcome(NamedTuple):
    """The result of one release in one run."""

    result: str
    """AGREES, NO_OPTION, or the reason in words why the release has not decided the switch."""
    digest: str
    """The digest of the run in the release's generation."""

    @property
    def differs(self) -> bool:
        """Whether the release answered differently from its generation."""
        return self.result.startswith(_DIFFERS)

    @property
    def is_odd(self) -> bool:
        """Whether the release answered differently, or did not answer."""
        return self.result not in (AGREES, NO_OPTION) and self.why_not_offered is None

    @property
    def why_not_offered(self) -> str | None:
        """The reason why the release cannot be driven through the run; None if it can."""
        word, _, why = self.result.partition(": ")
        return why if word == _NOT_OFFERED else None


class Decided(NamedTuple):
    """The results of one release."""

    version: str
    commit: str
    """The commit of this specification in the last run of the release. Results that it kept are older."""
    outcomes: Mapping[Place, Outcome]


def switches(component: str) -> tuple[str, ...]:
    """The switches of a component, in the order of its profiles' fields."""
    newest = list(GENERATIONS[component].values())[-1]
    names = getattr(newest, "_fields", None) or tuple(one.name for one in fields(newest))
    return tuple(name for name in names if type(getattr(newest, name)) is bool and name != "proposed")


@cache
def deciding_runs() -> Mapping[Place, DecidingRun]:
    """All runs, in the order of the file."""
    text = resources.files("conformance.released").joinpath("deciding-runs.toml").read_text(encoding="utf-8")
    runs = (
        _run(component, switch, row)
        for component, rows in tomllib.loads(text).items()
        for switch, row in rows.items()
    )
    return {run.place: run for run in runs}


@cache
def first_difference(place: Place) -> int:
    """The number of the first event, from 0, at which generations with and without the switch differ.

    Only effects are compared. If no effects differ, the result is the last event.
    """
    run = deciding_runs()[place]
    sides: dict[bool, list[list[bytes]]] = {False: [], True: []}
    for name, one in GENERATIONS[run.component].items():
        edges = run.transcript(name)
        if edges is not None:
            sides[getattr(one, run.switch)].append([_shown(edge) for edge in edges[len(run.opening) :]])
    last = len(run.events) - 1
    for at in range(last):
        without, with_it = ({answers[at] for answers in sides[value]} for value in (False, True))
        if without and with_it and not without & with_it:
            return at
    return last


@cache
def digest(place: Place, profile: str) -> str:
    """A digest of the run, the generation and its answers. A result with another digest is not kept."""
    run = deciding_runs()[place]
    head = canonical([run.component, run.config, [*run.opening, *run.events], profile])
    return hashlib.sha256(head + repr(run.answers(profile)).encode()).hexdigest()[:12]


@cache
def distinguished(place: Place) -> frozenset[str]:
    """The generations whose answers in a run differ from those of every generation with the other value."""
    run = deciding_runs()[place]
    return frozenset(name for name in GENERATIONS[run.component] if run.decided_by(name))


def _run(component: str, switch: str, row: dict[str, Any]) -> DecidingRun:
    config = row.get("config", {})
    opening: tuple[Wire, ...] = ()
    if component == "coordinator":
        tasks = [{"id": task, "source": task == "src"} for task in config["tasks"]]
        config, opening = {**config, "tasks": tasks}, running(tasks)
    events, unforbidden = tuple(map(event_of, row["events"])), frozenset(row.get("unforbidden", ()))
    return DecidingRun(component, switch, config, opening, events, unforbidden)


def generation(release: Release, component: str) -> str:
    """The name of the release's generation of a component; empty if the component is not driven."""
    return str(release.profile if component == "gate" else getattr(release, component))


def drive(release: Release, adapter: Adapter, known: Mapping[Place, Outcome]) -> dict[Place, Outcome]:
    """Drive a release through every run. A result in `known` of the same run is kept."""
    found = {}
    for place, run in deciding_runs().items():
        kept = known.get(place)
        if kept is None or not is_settled(kept, place, release):
            kept = Outcome(_driven(run, release, adapter), digest_for(place, release))
        found[place] = kept
    return found


def digest_for(place: Place, release: Release) -> str:
    """The digest of a run in the release's generation."""
    return digest(place, generation(release, place[0]) or next(iter(GENERATIONS[place[0]])))


def is_settled(outcome: Outcome, place: Place, release: Release) -> bool:
    """Whether a later run keeps the outcome: the release has answered, and the digest is the same."""
    is_answer = outcome.differs or not outcome.is_odd
    return is_answer and outcome.digest == digest_for(place, release)


def _driven(run: DecidingRun, release: Release, adapter: Adapter) -> str:
    profile = generation(release, run.component)
    if not profile:
        return f"{_NOT_OFFERED}: this suite does not drive the {run.component} of this release"
    if run.answers(profile) is None:
        return NO_OPTION
    oracle = Oracle(run.component, {**run.config, "profile": profile})
    played = replay(oracle, adapter, (*run.opening, *run.events))
    if played.divergence is not None:
        return f"{_DIFFERS} at step {played.divergence.step - len(run.opening)}"
    if isinstance(played.stopped, Unsupported) or played.skipped:
        why = played.skipped[0] if played.stopped is None else played.stopped.describe()
        return f"{_NOT_OFFERED}: {why.removeprefix('unsupported: ')}"
    return AGREES if played.stopped is None else played.stopped.describe()


def read(file: Path) -> dict[str, Decided]:
    """The results by version. Raises RecordError if the file is not one that `write` has written."""
    if not file.exists():
        return {}
    try:
        return {one.version: one for one in map(_decided, file.read_bytes().splitlines())}
    except (AttributeError, KeyError, TypeError, ValueError) as wrong:
        raise RecordError(
            f"{file}: expected a file that `flink switches` has written, got {wrong!r}; delete it"
        ) from wrong


def _decided(line: bytes) -> Decided:
    row = orjson.loads(line)
    outcomes = {
        (component, switch): Outcome(*outcome)
        for component, rows in row["outcomes"].items()
        for switch, outcome in rows.items()
    }
    return Decided(row["version"], row["commit"], outcomes)


def write(results: Iterable[Decided], file: Path) -> None:
    """Write the results, one release a line, oldest first."""
    lines = []
    for one in sorted(results, key=lambda one: tuple(map(int, one.version.split(".")))):
        outcomes: dict[str, dict[str, list[str]]] = {}
        for (component, switch), outcome in one.outcomes.items():
            outcomes.setdefault(component, {})[switch] = [*outcome]
        lines.append(orjson.dumps({"version": one.version, "commit": one.commit, "outcomes": outcomes}))
    file.write_bytes(b"".join(line + b"\n" for line in lines))
