"""Random events for a gate of mode at-least-once: many checkpoints at once, some more than it tracks."""

from random import Random

from conformance.adapters.protocol import Wire
from conformance.generators.chooser import LEVELS, STRAY, Chooser, every

FLOOD = 52
"""The number of checkpoints that begin one after the other in a flood: two more than the gate tracks."""

_DISTANCES = (-4, -2, -1, -1, 0, 0, 0, 1, 1, 1, 2)
"""Differences between a barrier's id and the highest tracked id: late, tracked, next, or with a gap."""


def tracking_chooser(config: Wire, rng: Random) -> Chooser:
    """A function that draws barriers, cancellations and ends. One case in eight begins with a flood."""
    channels = config["channels"]
    polled = config.get("level", "polled") == "polled"
    draw = rng.random
    aims = draw() < 0.5
    floods = FLOOD if channels > 1 and draw() < 1 / 8 else 0
    ended: set[int] = set()
    begun = 0

    def choose(observed: Wire) -> Wire | None:
        nonlocal begun
        if begun < floods:
            begun += 1
            return {"kind": "barrier", "channel": 0, "checkpoint": begun}
        if len(ended) == channels:
            return None
        luck = draw()
        if luck < STRAY:
            return _stray(draw(), channels, ended, polled)
        channel = _open_channel(int(draw() * channels), channels, ended)
        luck = draw()
        if luck < (0.006 if aims else 0.025):
            ended.add(channel)
            return {"kind": "end_of_partition", "channel": channel}
        if polled and luck < 0.15:
            return {"kind": "record", "channel": channel, "value": int(luck * 20)}
        tracked = observed["tracked"]
        kind = "cancel" if luck < (0.19 if aims else 0.3) else "barrier"
        if tracked and draw() < (0.75 if aims else 0.4):
            return {"kind": kind, "channel": channel, "checkpoint": _under_way(draw(), tracked)}
        distance = _DISTANCES[int(draw() * len(_DISTANCES))]
        return {"kind": kind, "channel": channel, "checkpoint": max(0, observed["current"] + distance)}

    return choose


def flood() -> tuple[Wire, ...]:
    """The events of a flood: the gate forgets the first checkpoint and still tracks the second (TRACK-07)."""
    begun = [{"kind": "barrier", "channel": 0, "checkpoint": checkpoint} for checkpoint in range(1, FLOOD)]
    late = [{"kind": "barrier", "channel": 1, "checkpoint": checkpoint} for checkpoint in (1, 2)]
    return (*begun, *late, {"kind": "cancel", "channel": 1, "checkpoint": FLOOD})


def _under_way(luck: float, tracked: list[list[object]]) -> int:
    """A tracked id, most often one of the oldest, so that these complete while newer ones stay pending."""
    checkpoint = tracked[int(luck * luck * len(tracked))][0]
    assert isinstance(checkpoint, int)
    return checkpoint


def _open_channel(drawn: int, channels: int, ended: set[int]) -> int:
    if drawn not in ended:
        return drawn
    return next(channel for channel in range(channels) if channel not in ended)


def _stray(luck: float, channels: int, ended: set[int], polled: bool) -> Wire:
    if luck < 0.3:
        return {"kind": "barrier", "channel": channels, "checkpoint": 1}
    if luck < 0.5 and not polled:
        return {"kind": "record", "channel": 0, "value": 1}
    if luck < 0.8 and ended:
        return {"kind": "barrier", "channel": min(ended), "checkpoint": 1}
    return {"kind": "no_such_event", "channel": 0}


CONFIGS: list[Wire] = [
    *every(
        channels=(2, 3, 1, 4),
        checkpoints_after_tasks_finish=(True, False),
        level=LEVELS,
        mode="at-least-once",
        profile="flink-1.14",
    ),
    *every(
        channels=(2, 3),
        profile=("flink-1.7", "flink-1.9", "flink-1.13"),
        mode="at-least-once",
        checkpoints_after_tasks_finish=False,
        level="handler",
    ),
]
"""The configurations of walks."""
