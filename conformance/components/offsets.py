"""Offsets that a source commits, in the suite: configurations, random events, and the binding to TLA+."""

from collections.abc import Iterator, Mapping, Sequence
from random import Random
from typing import TYPE_CHECKING, Any

from conformance.adapters.protocol import Wire
from conformance.compare.projection import Given, Projection, projected
from conformance.components.component import Component
from conformance.components.tla_records import Record, Spelling, each, fields
from conformance.divergence import Divergence
from conformance.drive.oracle import Edge
from conformance.generators.chooser import STRAY, Chooser
from conformance.suites.components import offsets_alphabets
from conformance.vectors.tla.binding import Binding, highest, rules_of
from conformance.vectors.tla.text import steps, value
from model.offsets.environment import closed_offsets
from model.offsets.offsets import Remembered

if TYPE_CHECKING:
    from model.checker.prove import Case

READER = Record(
    *fields("running", "newest"),
    *fields("remembered", of=each(lambda filed: Remembered(*filed))),
    *fields("committed", of=Spelling(lambda there, before: Remembered(*there), tuple)),
)


def project_offsets(given: Given) -> Projection:
    """Pairs OffsetsModel.tla with the closed model of the reader."""
    from model.offsets.proofs import offsets_cases

    bound = given.number("Bound")
    closed = closed_offsets(bound, given.number("M"), given.number("Offsets"))
    return projected(closed, "offsets", ("reader", READER), cases=lambda: list(offsets_cases(bound)))


def bind_offsets(divergence: Divergence, edges: Sequence[Edge]) -> Binding:
    """The binding of a source that commits its offsets."""

    def committed(seen: Any) -> Mapping[str, str]:  # noqa: ANN401 - a pair, or null
        return {"committed": value(seen) if seen else "Nothing"}

    return Binding(
        "offsets",
        module="OffsetsModel",
        state="reader",
        constants={
            "Bound": divergence.config.get("remembered", 100),
            "M": highest(divergence.events, "checkpoint"),
            "Offsets": highest(divergence.events, "offsets") + 1,
        },
        steps=steps("offsets", "reader"),
        fields=READER.shows("offsets", committed=committed),
        rules=rules_of("offsets_bound_2"),
        guard="""
    /\\ (event[1] = "restore") # reader.running
    /\\ event[1] = "snapshot" => event[2] > reader.newest""",
    )


# ---------------------------------------------------------------- random events

CONFIGS: list[Wire] = [{}, *({"remembered": remembered} for remembered in (1, 2, 4))]
"""The configurations of walks."""


def walk_offsets(config: Wire, rng: Random, injects: bool) -> Chooser:
    """A function that draws snapshots, completions of known and unknown checkpoints, crashes and restores."""
    draw = rng.random
    newest = 0
    offsets = 0

    def choose(observed: Wire) -> Wire:
        nonlocal newest, offsets
        luck = draw()
        if luck < STRAY:
            again: Wire = {"kind": "snapshot", "checkpoint": newest, "offsets": offsets}
            return again if draw() < 0.5 else {"kind": "restore", "offsets": offsets}
        if not observed["running"]:
            offsets = int(draw() * (offsets + 1))
            return {"kind": "restore", "offsets": offsets}
        luck = draw()
        if luck < 0.5:
            newest += 1 + int(draw() * 2)
            offsets += int(draw() * 4)
            return {"kind": "snapshot", "checkpoint": newest, "offsets": offsets}
        remembered = observed["remembered"]
        meant = max(0, newest + int(draw() * 6) - 4)
        if remembered and draw() < 0.5:
            meant = remembered[int(draw() * len(remembered))][0]
        if luck < 0.8:
            return {"kind": "notify_complete", "checkpoint": meant}
        if luck < 0.93:
            return {"kind": "notify_abort", "checkpoint": meant}
        return {"kind": "crash"}

    return choose


def directed_offsets() -> "Iterator[Case]":
    """The symbolic cases of a reader that remembers one or two snapshots."""
    from model.offsets.proofs import offsets_cases

    for bound in (1, 2):
        yield from offsets_cases(bound)


COMPONENT = Component(
    alphabets=offsets_alphabets,
    configs=CONFIGS,
    paths_hit=26,
    walk=walk_offsets,
    cases=directed_offsets,
    projections={"OffsetsModel": project_offsets},
    bind=bind_offsets,
)
