"""Makes the page with every generation's answers to the same events, from runs of the model and of Flink.

Generations with equal answers share a column. The page lists a release under a column only if the release
itself was run and gave exactly these answers; if an answer differed, the page states it.
"""

import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import resources
from typing import Any, NamedTuple

from conformance.adapters.protocol import Adapter, Wire
from conformance.drive.lockstep import replay
from conformance.drive.oracle import Oracle
from conformance.report.divergence import phrases
from conformance.vectors import transcripts
from model.components import WireError
from model.coordinator.profiles import COORDINATOR_PROFILES, NEWEST_COORDINATOR, PROPOSED_COORDINATORS
from model.fields import to_wire
from model.gate.profiles import PROFILES
from model.generations import CLAIMS, contrasts

INTRODUCTION = """\
# Generations side by side

Made by `barrierspec flink side-by-side`; do not edit it, edit `conformance/scenarios.toml`. Each column is \
what the model answers in the generations above it. *Seen on* lists the releases whose own classes received \
the events and gave exactly these answers. The command runs the last patch of each generation of a minor \
release. A generation of the coordinator lasts until the next one: 1.9 includes 1.10, 1.14.0 includes 1.14.1 \
and 1.14.2, 1.14.3 includes 1.14.4, 1.15.0 includes 1.15.1, 1.16.0 includes 1.16.1. `1.14` is the \
coordinator of 1.14.5 and 1.14.6, and `1.17` also that of 1.16.2 and 1.16.3. No package of PyPI has a jar of \
1.7 or 1.8: their column rests on the rule index and the model alone.
"""


class ScenarioError(ValueError):
    """The file of scenarios cannot be read; the message has the faulty text."""


class Scenario(NamedTuple):
    """One sequence of events, and the reason for the different answers."""

    name: str
    why: str
    config: Wire
    events: tuple[Wire, ...]
    component: str = "gate"
    opening: tuple[Wire, ...] = ()
    """Events before the sequence, whose answers are not shown."""

    @property
    def profiles(self) -> Mapping[str, str]:
        """The generations of the component: the name on the page, by the name in the adapter protocol."""
        if self.component == "gate":
            return {name: profile.releases for name, profile in PROFILES.items()}
        return {name: name for name in COORDINATOR_PROFILES}


class Seen(NamedTuple):
    """A release that was driven through a scenario."""

    version: str
    profile: str
    diverged_at: int | None
    """The step at which it differed from the model, from 1; None if it did not."""


class Driven(NamedTuple):
    """A release to drive: its version, the profiles of its gate and coordinator, and the adapter."""

    version: str
    profile: str
    coordinator: str
    adapter: Adapter

    def generation(self, component: str) -> str:
        """The profile of the release for this component, a gate or a coordinator."""
        return self.profile if component == "gate" else self.coordinator


def scenarios() -> list[Scenario]:
    """The scenarios, in the order of the page; raises ScenarioError."""
    text = resources.files("conformance").joinpath("scenarios.toml").read_text(encoding="utf-8")
    return [_scenario(row) for row in tomllib.loads(text)["scenario"]]


def _scenario(row: dict[str, Any]) -> Scenario:
    name, config, component = row["name"], row["config"], row.get("component", "gate")
    events = tuple(event_of(text) for text in row["events"])
    opening: tuple[Wire, ...] = ()
    if component == "coordinator":  # the job and all of its tasks begin to run
        opening = running(config["tasks"])
    return Scenario(name, row["why"], config, events, component, opening)


def running(tasks: Iterable[Wire]) -> tuple[Wire, ...]:
    """The events by which a job and all of its tasks begin to run."""
    statuses = ({"kind": "task_status", "task": task["id"], "status": "RUNNING"} for task in tasks)
    return ({"kind": "job_status", "status": "RUNNING"}, *statuses)


def event_of(text: str) -> Wire:
    """The wire event of a text such as `barrier channel=0 checkpoint=1`; values are JSON.

    Raises ScenarioError if a value is no JSON.
    """
    try:
        return transcripts.event_of(text)
    except ValueError as wrong:
        raise ScenarioError(f"scenarios.toml: expected `kind field=value ...`, got {text!r}") from wrong


def page(driven: Iterable[Driven], progress: Callable[[str], None]) -> str:
    """The whole page in Markdown. Drives each release through all scenarios, one release after the other."""
    seen: dict[str, list[Seen | None]] = {scenario.name: [] for scenario in scenarios()}
    for release in driven:
        progress(f"Flink {release.version}")
        for scenario in scenarios():
            seen[scenario.name].append(_drive(scenario, release))
    parts = [INTRODUCTION, *(_section(scenario, seen[scenario.name]) for scenario in scenarios())]
    return "\n".join(
        [
            *parts,
            _proposed(),
            _alike(),
            _distinguishing_runs(),
        ]
    )


def answers(scenario: Scenario, profile: str) -> tuple[str, ...] | None:
    """The model's answer to each event in a generation; None if the generation lacks the scenario's mode."""
    try:
        oracle = Oracle(scenario.component, {**scenario.config, "profile": profile})
        edges = oracle.transcript((*scenario.opening, *scenario.events))[len(scenario.opening) :]
    except WireError:
        return None
    found: list[str] = []
    failed = False
    for edge in edges:
        found.append("the task has failed" if failed else phrases.of_effects(edge.effects))
        failed = failed or edge.fails
    return tuple(found)


def _drive(scenario: Scenario, release: Driven) -> Seen | None:
    profile = release.generation(scenario.component)
    if answers(scenario, profile) is None:
        return None
    oracle = Oracle(scenario.component, {**scenario.config, "profile": profile})
    played = replay(oracle, release.adapter, (*scenario.opening, *scenario.events))
    if played.stopped is not None:
        return None
    found = played.divergence
    return Seen(release.version, profile, None if found is None else found.step - len(scenario.opening))


def _section(scenario: Scenario, driven: Sequence[Seen | None]) -> str:
    columns: dict[tuple[str, ...], list[str]] = {}
    for name in scenario.profiles:
        found = answers(scenario, name)
        if found is not None:
            columns.setdefault(found, []).append(name)
    seen = [one for one in driven if one is not None]
    lines = [
        f"## {scenario.name[0].upper()}{scenario.name[1:]}",
        "",
        f"{phrases.of_config(scenario.component, scenario.config)}. {scenario.why}",
        "",
        table_row(
            ["", *(", ".join(map(scenario.profiles.__getitem__, names)) for names in columns.values())]
        ),
        table_row(["---"] * (len(columns) + 1)),
    ]
    for number, event in enumerate(scenario.events):
        lines.append(table_row([phrases.of_event(event), *(found[number] for found in columns)]))
    agreed = [
        ", ".join(one.version for one in seen if one.profile in names and one.diverged_at is None)
        for names in columns.values()
    ]
    lines.append(table_row(["*seen on*", *(versions or "-" for versions in agreed)]))
    lines += [
        f"\nFlink {one.version} departs from its column at step {one.diverged_at}."
        for one in seen
        if one.diverged_at is not None
    ]
    return "\n".join(lines) + "\n"


def _proposed() -> str:
    """The section about proposed generations: one sequence in the newest released one and in each of them."""
    made = _scenario(
        {
            "name": "a task declines behind a completed checkpoint",
            "why": "",
            "component": "coordinator",
            "config": {"tasks": [{"id": "left", "source": True}, {"id": "right", "source": True}]},
            "events": [
                'trigger type="checkpoint"',
                'acknowledge checkpoint=1 task="left"',
                'acknowledge checkpoint=1 task="right"',
                'trigger type="checkpoint"',
                'decline checkpoint=2 task="left" reason="ASYNC_EXCEPTION"',
                'acknowledge checkpoint=2 task="right"',
                'fail_tasks tasks=["left"]',
                "restore",
            ],
        }
    )
    names = (NEWEST_COORDINATOR.name, *PROPOSED_COORDINATORS)
    columns = [answers(made, name) or () for name in names]
    lines = [
        "## Proposed generations",
        "",
        "These generations come from public discussions of changes that are not merged. **No released jar** "
        "has them, so they are compared with no jar. No default picks them, and no implementation offers "
        "them. "
        "`docs/change/proposed-protocols.md` describes them.",
        "",
        f"Coordinator: {made.name}.",
        "",
        table_row(
            ["", *(f"{name} (no released jar)" if name in PROPOSED_COORDINATORS else name for name in names)]
        ),
        table_row(["---"] * (len(names) + 1)),
        *(
            table_row([phrases.of_event(event), *(found[number] for found in columns)])
            for number, event in enumerate(made.events)
        ),
    ]
    return "\n".join(lines) + "\n"


def _alike() -> str:
    """The section about generations that z3 proves to behave alike."""
    claims = [f"- {claim.describe()}" for claim in CLAIMS]
    return "\n".join(
        [
            "## Proved alike",
            "",
            "z3 proves these claims for every checkpoint id, at an aligned gate of 1 to 3 channels where the "
            "end of a channel aborts the pending checkpoint (`make verify`, part proofs). An outcome is a "
            "trigger, an abort or a failure.",
            "",
            *claims,
            "",
        ]
    )


def _distinguishing_runs() -> str:
    """The shortest runs at which neighbouring generations differ."""
    lines = [
        "## Shortest distinguishing runs",
        "",
        "Each row compares two neighbouring generations, each with its own defaults, and has the shortest "
        "run that shows a difference. A breadth-first search has found it in closed models of 1 to 3 "
        "channels with ids up to 2. *None* means that there is no difference within these bounds. *Outcomes* "
        "compares triggers, aborts and failures; *calls* compares all effects in their order.",
        "",
        table_row(["mode", "seen in", "run", "older", "newer"]),
        table_row(["---"] * 5),
    ]
    for one in contrasts():
        pair = f"{one.left.releases} and {one.right.releases}: {one.seen}"
        if one.difference is None:
            lines.append(table_row([one.mode, pair, "none", "", ""]))
            continue
        run = "; ".join(phrases.of_event(to_wire(event)) for event in one.difference.run)
        found = [
            phrases.of_effects([to_wire(effect) for effect in side])
            for side in (one.difference.left, one.difference.right)
        ]
        lines.append(table_row([one.mode, pair, run, *found]))
    return "\n".join([*lines, ""])


def table_row(cells: Sequence[str]) -> str:
    """A row of a table in Markdown."""
    return "| " + " | ".join(cells) + " |"
