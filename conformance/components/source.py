"""The task of a source in the suite: its configurations and random events, and its binding to TLA+."""

from collections.abc import Sequence
from random import Random

from conformance.adapters.protocol import Wire
from conformance.compare.projection import Given, Projection, projected
from conformance.components.component import Component
from conformance.components.tla_records import IDS, Record, field, fields
from conformance.divergence import Divergence
from conformance.drive.oracle import Edge
from conformance.generators.chooser import STRAY, Chooser, every
from conformance.suites.components import source_alphabets
from conformance.vectors.tla.binding import Binding, highest, rules_of
from conformance.vectors.tla.text import Word, filled, plain, steps
from model.source.environment import closed_source
from model.source.properties import FUNCTION, PLAIN, READER
from model.source.source_task import NEWEST_SOURCE, SOURCE_PROFILES

SOURCE = Record(*fields("running"), *fields("triggered", "ahead", of=IDS))


def _event(event: Wire) -> Word:
    """An event in the form of TLA+, where a trigger has a boolean: whether it arrives at the task."""
    if event["kind"] != "trigger":
        return plain("source", event)
    return plain("source", {**event, "to": filled("source", event)["to"] == "here"})


def project_source(given: Given) -> Projection:
    """Pairs SourceModel.tla with the closed model of the source."""
    profile = SOURCE_PROFILES["1.15" if given.flag("Declines") else "1.10"]
    external = READER if given.flag("Pairs") else FUNCTION if given.flag("External") else PLAIN
    closed = closed_source(given.number("M"), external, profile)
    return projected(closed, "source", ("source", SOURCE), event=_event)


def bind_source(divergence: Divergence, edges: Sequence[Edge]) -> Binding:
    """Binds a divergence of a source's task to SourceModel.tla."""
    external = divergence.config.get("external", "no")
    profile = SOURCE_PROFILES[divergence.config.get("profile", NEWEST_SOURCE.name)]
    return Binding(
        "source",
        module="SourceModel",
        state="source",
        constants={
            "M": highest(divergence.events, "checkpoint"),
            "External": external != "no",
            "Pairs": external == "reader" and profile.readers_await_triggers,
            "Declines": profile.declines_refused,
        },
        steps=steps(
            "source",
            "source",
            trigger="OnTriggerArrives(source, event[2], event[3])",
            status="OnSourceStatus(source, event[2])",
        ),
        fields=SOURCE.shows("source", told=field("triggered", IDS.text)),
        rules=rules_of("source_reader"),
        guard='event[1] = "induce" => External',
        event=lambda event, edge: _event(event),
        failure=("fail", "CheckpointException"),
    )


# ---------------------------------------------------------------- random events

CONFIGS: list[Wire] = list(every(profile=("1.15", "1.14", "1.10"), external=("reader", "function", "no")))
"""The configurations of walks."""


def walk_source(config: Wire, rng: Random, injects: bool) -> Chooser:
    """A function that draws triggers, calls of the hook and ends of checkpoints. Most ids ascend."""
    draw = rng.random
    newest = 1

    def choose(observed: Wire) -> Wire:
        nonlocal newest
        luck = draw()
        if luck < STRAY:
            return {"kind": "induce" if draw() < 0.5 else "trigger", "checkpoint": -1}
        if not observed["running"] and luck < 0.3:
            return {"kind": "status", "running": True}
        if draw() < 0.3:
            newest += 1
        waiting = [*observed["told"], *observed["ahead"]]
        meant = max(0, newest - int(draw() * 3))
        if waiting and draw() < 0.5:
            meant = waiting[int(draw() * len(waiting))]
        luck = draw()
        if luck < 0.45:
            elsewhere = {"to": "elsewhere"} if draw() < 0.1 else {}
            return {"kind": "trigger", "checkpoint": meant, **elsewhere}
        if luck < 0.8 and config.get("external", "no") != "no":
            return {"kind": "induce", "checkpoint": meant}
        if luck < 0.95:
            return {"kind": "ended", "checkpoint": meant}
        return {"kind": "status", "running": draw() < 0.5}

    return choose


COMPONENT = Component(
    alphabets=source_alphabets,
    configs=CONFIGS,
    walk=walk_source,
    projections={"SourceModel": project_source},
    bind=bind_source,
)
