"""Events for walks: what is legal and telling in a state, drawn with a seeded random.

A chooser is asked for the next event, given what is observable of the model's state; so it can aim at the
alignment that waits for one more channel or at the checkpoint that misses one acknowledgement. Mostly it
draws legal events; a stray one outside the protocol comes now and then, to see it refused.
"""

from collections.abc import Callable, Iterator, Mapping
from itertools import product
from random import Random
from types import MappingProxyType

from conformance.adapters.in_process import INJECT
from conformance.adapters.protocol import Offer, Wire, canonical
from conformance.adapters.validation import complaints
from conformance.generators.channel import CONFIGS as CHANNEL_CONFIGS
from conformance.generators.channel import channel_chooser
from conformance.generators.coordinator import CONFIGS as COORDINATOR_CONFIGS
from conformance.generators.coordinator import coordinator_chooser
from conformance.generators.gate import CONFIGS as GATE_CONFIGS
from conformance.generators.gate import STRAY, gate_chooser
from conformance.generators.gate import Chooser as Chooser
from conformance.generators.subtask import CONFIGS as SUBTASK_CONFIGS
from conformance.generators.subtask import subtask_chooser
from model.components import COMPONENTS as COMPONENT_MODELS
from model.components import WireError


def configs(component: str) -> list[Wire]:
    """The configurations that walks go through, in turn."""
    return _CONFIGS[component]


def offered(offer: Offer) -> dict[str, tuple[str, ...]]:
    """The options that an implementation names; one that it says nothing about is tried with every value."""
    levels = tuple(level for level in ("handler", "polled") if level in offer.capabilities)
    said = {"mode": offer.modes, "profile": offer.profiles, "level": levels}
    return {option: values for option, values in said.items() if values}


def fits(config: Wire, pinned: Mapping[str, object]) -> bool:
    """The configuration has the pinned values; a tuple stands for any of its own, and true is not 1."""
    return all(
        any(type(config.get(key)) is type(one) and config.get(key) == one for one in _values(value))
        for key, value in pinned.items()
    )


def injects(component: str, offer: Offer) -> bool:
    """The implementation takes the event `inject`; components that have no such event leave nothing out."""
    return component != "gate" or INJECT in offer.capabilities


def chooser(component: str, config: Wire, rng: Random, *, injects: bool = False) -> Chooser:
    """A fresh source of events for one instance; without `injects` no gate gets the event `inject`."""
    if component == "gate":
        return gate_chooser(config, rng, injects=injects)
    return _CHOOSERS[component](config, rng)


def cases(
    component: str, seed: int, pinned: Mapping[str, object] = MappingProxyType({})
) -> Iterator[tuple[Wire, Random]]:
    """Endless cases: a configuration and the random of its own; case k of a seed is always the same.

    `pinned`: only configurations that have these values. With none that has them there are no cases.
    """
    listed = configs(component)
    if not any(fits(config, pinned) for config in listed):
        listed = fitting(component, pinned)
    number = 0
    while listed:
        for config in listed:
            if fits(config, pinned):
                yield config, Random(f"{seed}/{component}/{number}")
            number += 1


def fitting(component: str, pinned: Mapping[str, object]) -> list[Wire]:
    """The configurations that have the pinned values.

    Where no configuration of the suite has them, the nearest ones are adapted: of those that the protocol
    allows the ones in which the fewest options change. Empty: it allows none.
    """
    found = [config for config in configs(component) if fits(config, pinned)]
    if found:
        return found
    adapted: dict[bytes, tuple[int, Wire]] = {}
    for config in configs(component):
        others = [key for key in pinned if not fits(config, {key: pinned[key]})]
        for values in product(*(_values(pinned[key]) for key in others)):
            made = {**config, **dict(zip(others, values, strict=True))}
            before = adapted.get(canonical(made))
            if (before is None or len(others) < before[0]) and _refusal(component, made) is None:
                adapted[canonical(made)] = (len(others), made)
    fewest = min((changed for changed, _ in adapted.values()), default=0)
    return [made for changed, made in adapted.values() if changed == fewest]


def why_not(component: str, pinned: Mapping[str, object]) -> str:
    """Why no configuration has the pinned values, in the words of the protocol."""
    refused: list[str] = []
    for config in configs(component):
        values = {key: _values(value)[0] for key, value in pinned.items() if not fits(config, {key: value})}
        wrong = _refusal(component, {**config, **values})
        if wrong is not None:
            refused.append(wrong)
    return min(refused, key=len, default="no configuration of the suite has these values together")


def _values(pinned: object) -> tuple[object, ...]:
    return pinned if isinstance(pinned, tuple) else (pinned,)


def _refusal(component: str, config: Wire) -> str | None:
    """Why the protocol does not allow a configuration: in the words of the model, else of the schema."""
    try:
        COMPONENT_MODELS[component].new(config)
    except (WireError, TypeError, KeyError) as wrong:
        return str(wrong)
    return next(complaints(component, "config", config), None)


# ---------------------------------------------------------------- store


def store_chooser(config: Wire, rng: Random) -> Chooser:
    """Additions of all three types, mostly in order; now and then an id twice."""
    draw = rng.random
    highest = 0
    checkpoints = 0.5 + draw() * 0.45
    over = False

    def choose(observed: Wire) -> Wire | None:
        nonlocal highest, over
        luck = draw()
        if over and luck < 0.5:
            return None
        if luck < 0.1:
            return {"kind": "latest"}
        if luck < 0.115:
            over = True
            return {"kind": "shutdown", "discard": draw() < 0.7}
        if luck < 0.115 + STRAY:
            return {"kind": "no_such_event"}
        kind = draw()
        added = "checkpoint" if kind < checkpoints else "savepoint" if kind < 0.96 else "stop"
        if draw() < 0.1:  # an older one: unseen, dropped before, or held and refused
            return {"kind": "add", "checkpoint": int(draw() * (highest + 1)), "type": added}
        highest += 1 + int(draw() * 2)
        return {"kind": "add", "checkpoint": highest, "type": added}

    return choose


# ---------------------------------------------------------------- sink


def sink_chooser(config: Wire, rng: Random) -> Chooser:
    """Writes, snapshots, notifications in any order, crashes with restores from what was snapshotted."""
    draw = rng.random
    snapshots: list[int] = []
    taken_in_run = 0
    finished = False

    def choose(observed: Wire) -> Wire:
        nonlocal finished, snapshots, taken_in_run
        newest = snapshots[-1] if snapshots else 0
        luck = draw()
        if luck < STRAY:
            return _stray_at_sink(draw(), newest, taken_in_run)
        if not observed["running"]:
            taken_in_run = 0
            finished = False
            if not snapshots or draw() < 0.15:
                snapshots = []
                return {"kind": "restore", "checkpoint": None}
            chosen = snapshots[int(draw() ** 0.5 * len(snapshots))]
            if draw() < 0.1:
                failing = 1 + int(draw() * (2 + len(snapshots)))
                return {"kind": "restore", "checkpoint": chosen, "fails": failing}
            snapshots = [taken for taken in snapshots if taken <= chosen]
            return {"kind": "restore", "checkpoint": chosen}
        luck = draw()
        if luck < (0.03 if finished else 0.3):  # refused once the sink has finished
            return {"kind": "write", "value": int(draw() * 10)}
        if luck < 0.6:
            taken_in_run = newest + 1 + int(draw() * 2)
            snapshots.append(taken_in_run)
            return {"kind": "snapshot", "checkpoint": snapshots[-1]}
        if luck < 0.8:
            notified = {"kind": "notify_complete", "checkpoint": max(0, newest + int(draw() * 5) - 3)}
            pending = observed["pending"]
            if pending and draw() < 0.1:
                return {**notified, "fails": pending[int(draw() * len(pending))][1]}
            return notified
        if luck < 0.87:
            return {"kind": "notify_abort", "checkpoint": max(0, newest - int(draw() * 3))}
        if luck < 0.97:
            return {"kind": "crash" if draw() < 0.6 else "close"}
        finished = True
        return {"kind": "finish"}

    return choose


def _stray_at_sink(luck: float, newest: int, taken_in_run: int) -> Wire:
    if luck < 0.4 and taken_in_run:
        return {"kind": "snapshot", "checkpoint": taken_in_run}
    if luck < 0.8:
        return {"kind": "restore", "checkpoint": newest + 100}
    return {"kind": "no_such_event"}


# ---------------------------------------------------------------- offsets


def offsets_chooser(config: Wire, rng: Random) -> Chooser:
    """Snapshots, completions of what is remembered and of what is not, crashes and restores."""
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


# ---------------------------------------------------------------- source


def source_chooser(config: Wire, rng: Random) -> Chooser:
    """Triggers and calls of the hook, mostly of one id after the other, and the ends of checkpoints."""
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


# ---------------------------------------------------------------- tables

_CHOOSERS: Mapping[str, Callable[[Wire, Random], Chooser]] = {
    "channel": channel_chooser,
    "subtask": subtask_chooser,
    "coordinator": coordinator_chooser,
    "store": store_chooser,
    "sink": sink_chooser,
    "offsets": offsets_chooser,
    "source": source_chooser,
}

_CONFIGS: Mapping[str, list[Wire]] = {
    "gate": GATE_CONFIGS,
    "channel": CHANNEL_CONFIGS,
    "subtask": SUBTASK_CONFIGS,
    "coordinator": COORDINATOR_CONFIGS,
    "store": [
        {"retain": retain, "profile": profile} for retain in (1, 2, 3) for profile in ("2.3", "1.11", "1.14")
    ],
    "sink": [{"profile": "1.14"}, {"profile": "1.9"}],
    "offsets": [{}, *({"remembered": remembered} for remembered in (1, 2, 4))],
    "source": [
        {"external": external, "profile": profile}
        for profile in ("1.15", "1.10")
        for external in ("reader", "function", "no")
    ],
}

COMPONENTS = ("gate", *_CHOOSERS)
"""The components that the suite can drive, in the order of reports."""
