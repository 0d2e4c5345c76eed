"""Fencing in the suite (drivers that share a storage): its random events, alphabets and binding to TLA+."""

from collections.abc import Iterator, Sequence
from random import Random

from conformance.adapters.protocol import Wire
from conformance.compare.projection import Given, Projection, projected
from conformance.components.component import Component
from conformance.components.tla_records import Record, Spelling, each, fields
from conformance.divergence import Divergence
from conformance.drive.oracle import Edge
from conformance.generators.chooser import STRAY, Chooser
from conformance.suites.alphabet import Alphabet, letter
from conformance.vectors.tla.binding import Binding, rules_of
from conformance.vectors.tla.text import steps
from model.fencing.environment import closed_fencing
from model.fencing.fencing import Fencing
from model.fencing.wire import PHASES

_PHASES = Spelling(
    lambda there, before: tuple(map(PHASES.index, there)), lambda many: tuple(PHASES[one] for one in many)
)
_NUMBERS = each(int)
FENCING = Record(
    *fields("phases", of=_PHASES),
    *fields("attempts", "checkpoints", "starts", "published", "completed", of=_NUMBERS),
)
_NEXT = {
    "idle": ("draw",),
    "drawn": ("close", "find"),
    "found": ("start",),
    "running": ("reserve", "check"),
    "checked": ("publish",),
    "published": ("confirm",),
}
"""For each phase of a driver, the steps that may come next."""


def project_fencing(given: Given) -> Projection:
    """Pairs FencingModel.tla with the closed model of the drivers."""
    closed = closed_fencing(given.number("Drivers"), given.number("Attempts"), given.number("Checkpoints"))
    return projected(closed, "fencing", ("fencing", FENCING))


def bind_fencing(divergence: Divergence, edges: Sequence[Edge]) -> Binding:
    """The binding of drivers that share a storage."""
    size = len(divergence.events) + 1
    return Binding(
        "fencing",
        module="FencingModel",
        state="fencing",
        constants={"Drivers": divergence.config.get("drivers", 2), "Attempts": size, "Checkpoints": size},
        steps=steps("fencing", "fencing"),
        fields=FENCING.shows("fencing"),
        rules=rules_of("fencing"),
        guard="""
    LET d == event[2]  phase == fencing.phases[d]  c == fencing.checkpoints[d] IN
    /\\ d \\in 1 .. Drivers
    /\\ CASE event[1] = "draw" -> phase = "idle"
         [] event[1] = "close" -> phase = "drawn" /\\ ToClose(fencing, d) # {}
         [] event[1] = "find" -> phase = "drawn" /\\ ToClose(fencing, d) = {}
         [] event[1] = "start" -> phase = "found"
         [] event[1] = "reserve" -> phase = "running" /\\ c = 0
         [] event[1] = "check" -> phase = "running" /\\ c # 0
         [] event[1] = "publish" -> phase = "checked"
         [] event[1] = "confirm" -> phase = "published"
         [] event[1] = "fail" -> phase # "idle"
         [] OTHER -> fencing.attempts[d] # 0""",
    )


def walk_fencing(config: Wire, rng: Random, injects: bool) -> Chooser:
    """A function that draws steps of all drivers, some failures and crashes, a few steps out of order."""
    draw = rng.random

    def choose(observed: Wire) -> Wire:
        phases = observed["phases"]
        place = int(draw() * len(phases))
        kinds = _NEXT[phases[place]]
        luck = draw()
        if luck < STRAY:
            kinds = ("start", "publish", "confirm", "crash")
        elif luck < 0.1 and observed["attempts"][place]:
            kinds = ("crash",) if luck < 0.06 or phases[place] == "idle" else ("fail",)
        elif len(kinds) == 2:
            attempt = observed["attempts"][place]
            is_second = (
                observed["checkpoints"][place] > 0
                if phases[place] == "running"
                else -2 not in observed["starts"][: attempt - 1]
            )
            kinds = (kinds[is_second],)
        return {"kind": kinds[int(draw() * len(kinds))], "driver": place + 1}

    return choose


def fencing_alphabets(config: Wire) -> Iterator[Alphabet]:
    """The alphabets for two attempts: of one driver with a checkpoint, and of two drivers without one."""

    def allows(state: Fencing, event: Wire) -> bool:
        if event["kind"] == "reserve":
            return not state.published
        return event["kind"] != "draw" or len(state.starts) < ATTEMPTS

    kinds = [kind for some in _NEXT.values() for kind in some] + ["fail", "crash"]
    alone = tuple(letter(kind, driver=1) for kind in kinds)
    yield Alphabet("fencing", config, alone, f"one driver, attempts to {ATTEMPTS}, a checkpoint", allows)
    if config.get("drivers", 2) > 1:
        starting = [kind for kind in kinds if kind not in ("reserve", "check", "publish", "confirm")]
        both = tuple(letter(kind, driver=driver) for kind in starting for driver in (1, 2))
        yield Alphabet("fencing", config, both, f"two drivers, attempts to {ATTEMPTS}", allows)


ATTEMPTS = 2
"""The number of attempts in an alphabet."""
CONFIGS: list[Wire] = [{}, {"drivers": 3}, {"drivers": 1}]
"""The configurations of walks."""

COMPONENT = Component(
    alphabets=fencing_alphabets,
    configs=CONFIGS,
    walk=walk_fencing,
    projections={"FencingModel": project_fencing},
    bind=bind_fencing,
)
