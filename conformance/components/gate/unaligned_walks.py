"""Random events for gates of modes unaligned and alternating: barriers with options, announcements, time."""

from random import Random

from conformance.adapters.protocol import Wire
from conformance.generators.chooser import LEVELS, STRAY, Chooser, every

MODES = ("unaligned", "alternating")
TIMEOUT = 10
"""The alignment time-out of most configurations, in ms."""

_ALIGNMENTS = ("timeout", "timeout", "timeout", "unaligned", "unaligned", "aligned", "forced-aligned")
_DISTANCES = (0, 0, 0, 0, 0, 0, 1, 1, 1, 2, -1, -2)
"""Differences between an id and the current id: pending, next, with a gap, or late."""
_AHEAD = (0, 0, 1, 1, 1, 1, 2, 3, -1)
"""Differences between the id of a barrier that the network receives and the current id of the task."""
_PAUSES = (0, 1, TIMEOUT // 2, TIMEOUT, TIMEOUT + 1)
_AGES = (0, 0, 0, TIMEOUT // 2, TIMEOUT, TIMEOUT + 1)
"""The times between the trigger of a checkpoint and the arrival of its barrier, in ms."""


def is_savepoint(checkpoint: int) -> bool:
    """Whether walks of flink-1.11, whose gates depend on the type, use this id for a savepoint."""
    return checkpoint % 3 == 2


def unaligned_chooser(config: Wire, rng: Random, *, injects: bool) -> Chooser:
    """A function that draws events for one gate."""
    return _Source(config, rng, injects=injects).choose


class _Source:
    """Draws the events of a case. Half of the cases prefer events that complete checkpoints."""

    def __init__(self, config: Wire, rng: Random, *, injects: bool) -> None:
        self._channels: int = config["channels"]
        self._polled = config["level"] == "polled"
        self._injects = injects
        self._typed = config["profile"] == "flink-1.11"
        self._threaded = self._typed and config["mode"] == "unaligned"
        self._aims = rng.random() < 0.5
        self._hastens = rng.random() < 0.05
        self._draw = rng.random
        self._ended: set[int] = set()
        self._now = 0
        self._sent = 0

    def choose(self, observed: Wire) -> Wire | None:
        """The next event; None once every channel has ended."""
        if len(self._ended) == self._channels:
            return None
        channel = int(self._draw() * self._channels)
        if self._draw() < STRAY:
            return self._stray(self._draw())
        if channel in self._ended:
            channel = next(other for other in range(self._channels) if other not in self._ended)
        if self._hastens:
            return self._late_end(observed, channel)
        if self._threaded and self._draw() < 0.35:
            return self._of_the_network(observed, channel)
        luck = self._draw()
        if luck < (0.01 if self._aims else 0.03):
            return self._end(channel)
        if luck < 0.12:
            return self._pass(_PAUSES[int(self._draw() * len(_PAUSES))])
        stopped = self._typed and channel in observed["blocked"]  # a stopped sender sends no barrier
        if self._polled and (stopped or luck < 0.35):
            self._sent = (self._sent + 1) % 5
            return {"kind": "record", "channel": channel, "value": self._sent}
        return self._about_a_checkpoint(luck, observed, channel)

    def _about_a_checkpoint(self, luck: float, observed: Wire, channel: int) -> Wire:
        checkpoint = observed["current"]
        if not (self._aims and observed["pending"]):
            checkpoint = max(0, checkpoint + _DISTANCES[int(self._draw() * len(_DISTANCES))])
        if luck < (0.38 if self._aims else 0.44):
            return {"kind": "cancel", "channel": channel, "checkpoint": checkpoint}
        if luck < 0.46 and self._injects:
            return {"kind": "inject", "checkpoint": checkpoint, **self._options()}
        kind = "announce" if luck < 0.6 and not self._typed else "barrier"
        if self._typed and kind == "barrier" and self._draw() < 0.8:
            next_one = observed["current"] + (not observed["pending"])
            checkpoint = max(checkpoint, next_one)  # late barriers end runs early: see the known divergences
        options = self._options_of_type(checkpoint) if self._typed else self._options()
        return {"kind": kind, "channel": channel, "checkpoint": checkpoint, **options}

    def _of_the_network(self, observed: Wire, channel: int) -> Wire:
        """The network thread receives a barrier, mostly ahead of the task; or the task runs its mail."""
        if self._draw() < 0.4:
            return {"kind": "mail"}
        far = _AHEAD[int(self._draw() * len(_AHEAD))]
        event = {"kind": "receive_barrier", "channel": channel}
        options = self._options()
        options.pop("savepoint", None)
        return {**event, "checkpoint": max(0, observed["current"] + far), **options}

    def _options(self) -> dict[str, object]:
        options: dict[str, object] = {}
        alignment = _ALIGNMENTS[int(self._draw() * len(_ALIGNMENTS))]
        if self._aims and alignment == "forced-aligned":
            alignment = "timeout"
        if alignment != "aligned" or self._draw() < 0.5:
            options["alignment"] = alignment
        if self._draw() < 0.03 and alignment != "unaligned":
            options["savepoint"] = True
        age = _AGES[int(self._draw() * len(_AGES))]
        if age or self._draw() < 0.3:
            options["timestamp"] = max(0, self._now - age)
        return options

    def _options_of_type(self, checkpoint: int) -> dict[str, object]:
        """The options of a barrier. All barriers of a checkpoint agree on whether it is a savepoint."""
        options = self._options()
        options.pop("savepoint", None)
        if is_savepoint(checkpoint):
            options["savepoint"] = True
            if options.get("alignment") == "unaligned":
                options["alignment"] = "aligned"
        elif self._draw() < 0.7:
            options["alignment"] = "unaligned"
        return options

    def _late_end(self, observed: Wire, channel: int) -> Wire:
        """An event towards UNAL-19: an alignment announced after its time-out, then the end of a channel."""
        if self._now <= TIMEOUT:
            return self._pass(2 * TIMEOUT)
        begins = not observed["pending"]
        event = {"channel": channel, "checkpoint": observed["current"] + begins}
        if begins:
            return {"kind": "announce", **event, "alignment": "timeout", "timestamp": 0}
        if not observed["blocked"]:
            return {"kind": "barrier", **event}
        return self._end(channel)

    def _end(self, channel: int) -> Wire:
        self._ended.add(channel)
        return {"kind": "end_of_partition", "channel": channel}

    def _pass(self, ms: int) -> Wire:
        self._now += ms
        return {"kind": "advance", "ms": ms}

    def _stray(self, luck: float) -> Wire:
        if luck < 0.25:
            return {"kind": "announce", "channel": self._channels, "checkpoint": 1}
        if luck < 0.5:
            return {"kind": "advance", "ms": -1}
        if luck < 0.75 and self._ended:
            return {"kind": "barrier", "channel": min(self._ended), "checkpoint": 1, "alignment": "unaligned"}
        return {"kind": "barrier", "channel": 0, "checkpoint": 1, "alignment": "unaligned", "savepoint": True}


_BOTH = ("alternating", "unaligned")
_OLDER: Wire = {"checkpoints_after_tasks_finish": False}
CONFIGS: list[Wire] = [
    *every(
        channels=(2, 3, 1),
        mode=_BOTH,
        level=LEVELS,
        checkpoints_after_tasks_finish=(True, False),
        profile="flink-1.14",
        alignment_timeout_ms=TIMEOUT,
    ),
    *every(
        channels=(2, 3),
        mode=_BOTH,
        alignment_timeout_ms=(TIMEOUT, 0),
        profile="flink-1.13",
        level="handler",
        **_OLDER,
    ),
    *every(
        profile=("flink-1.12", "flink-1.11"),
        channels=(2, 3),
        mode=_BOTH,
        level=LEVELS,
        alignment_timeout_ms=TIMEOUT,
        **_OLDER,
    ),
    *every(mode=_BOTH, channels=1, profile="flink-1.11", level="handler", alignment_timeout_ms=0, **_OLDER),
]
"""The configurations of walks."""
