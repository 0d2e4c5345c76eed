"""Random events for gates: barriers with ids near the current one, cancellation markers, ends, records."""

from random import Random

from conformance.adapters.protocol import Wire
from conformance.components.gate.tracking_walks import CONFIGS as TRACKING_CONFIGS
from conformance.components.gate.tracking_walks import tracking_chooser
from conformance.components.gate.unaligned_walks import CONFIGS as UNALIGNED_CONFIGS
from conformance.components.gate.unaligned_walks import unaligned_chooser
from conformance.generators.chooser import LEVELS, STRAY, Chooser, every
from model.gate.profiles import NEWEST


def walk_gate(config: Wire, rng: Random, injects: bool) -> Chooser:
    """A function that draws events for one gate of any mode. Without `injects` it draws no `inject`."""
    mode = config.get("mode", "exactly-once")
    if mode == "at-least-once":
        return tracking_chooser(config, rng)
    may_inject = injects and config.get("profile", NEWEST.name) == NEWEST.name
    made = aligned_chooser if mode == "exactly-once" else unaligned_chooser
    return made(config, rng, injects=may_inject)


def aligned_chooser(config: Wire, rng: Random, *, injects: bool) -> Chooser:
    """A function that draws events for mode exactly-once. Half of the cases prefer completions."""
    channels = config["channels"]
    polled = config.get("level", "polled") == "polled"
    aims = rng.random() < 0.5
    draw = rng.random
    ends = 0.004 if aims else 0.02
    ended: set[int] = set()
    sent = 0

    def choose(observed: Wire) -> Wire | None:
        nonlocal sent
        if len(ended) == channels:
            return None
        current = observed["current"]
        channel = int(draw() * channels)
        luck = draw()
        if luck < STRAY:
            return _stray_at_gate(draw(), channels, ended, polled)
        if channel in ended:
            channel = next(other for other in range(channels) if other not in ended)
        luck = draw()
        if luck < ends:
            ended.add(channel)
            return {"kind": "end_of_partition", "channel": channel}
        if injects and luck > _INJECTED_ABOVE:
            return {"kind": "inject", "checkpoint": max(0, current + int(draw() * 4) - 1)}
        if polled and luck < 0.3:
            sent = (sent + 1) % 5  # neighbours differ, and states repeat
            return {"kind": "record", "channel": channel, "value": sent}
        if luck < (0.33 if aims else 0.42):
            distance = int(draw() * 4) - 1
            return {"kind": "cancel", "channel": channel, "checkpoint": max(0, current + distance)}
        if aims and observed["pending"]:
            return {"kind": "barrier", "channel": channel, "checkpoint": current}
        distance = _DISTANCES[int(draw() * len(_DISTANCES))]
        return {"kind": "barrier", "channel": channel, "checkpoint": max(0, current + distance)}

    return choose


_INJECTED_ABOVE = 0.97
_DISTANCES = (-3, -1, -1, 0, 0, 0, 0, 0, 0, 1, 1, 2)
"""Differences between a barrier's id and the current id: late, pending, next, or with a gap."""


def _stray_at_gate(luck: float, channels: int, ended: set[int], polled: bool) -> Wire:
    if luck < 0.3:
        return {"kind": "barrier", "channel": channels, "checkpoint": 1}
    if luck < 0.5 and not polled:
        return {"kind": "record", "channel": 0, "value": 1}
    if luck < 0.8 and ended:
        return {"kind": "cancel", "channel": min(ended), "checkpoint": 1}
    return {"kind": "no_such_event", "channel": 0}


_STORING: Wire = {"mode": "exactly-once", "checkpoints_after_tasks_finish": False, "level": "polled"}
CONFIGS: list[Wire] = [
    *every(
        channels=(2, 3, 1, 4),
        level=LEVELS,
        checkpoints_after_tasks_finish=(True, False),
        mode="exactly-once",
        profile="flink-1.14",
    ),
    *every(
        channels=(2, 3, 1),
        profile=("flink-1.7", "flink-1.9", "flink-1.11", "flink-1.12", "flink-1.13"),
        level=LEVELS,
        mode="exactly-once",
        checkpoints_after_tasks_finish=False,
    ),
    *(
        {"channels": channels, "profile": "flink-1.9", "alignment_limit_bytes": limit, **_STORING}
        for channels, limit in ((2, 32_768), (3, 100_000))
    ),
    *TRACKING_CONFIGS,
    *UNALIGNED_CONFIGS,
]
"""The configurations of walks."""
