"""Events for walks of a subtask: what is telling in its state, of every generation."""

from collections.abc import Callable
from random import Random

from conformance.adapters.protocol import Wire
from conformance.generators.gate import Chooser

CONFIGS: list[Wire] = [
    {"profile": profile, "max_concurrent": bound}
    for bound in (1, 2, 3)
    for profile in ("2.3", "1.9", "2.3", "1.11", "1.14", "2.3", "1.15", "1.17")
]
"""The configurations that walks go through, in turn; the newest comes more often."""

_REASONS = ("SUBSUMED", "ON_CANCELLATION_BARRIER", "INPUT_END_OF_STREAM")


def subtask_chooser(config: Wire, rng: Random) -> Chooser:
    """Triggers, aborts before and after them, notifications, ends of asynchronous parts and of the task."""
    draw = rng.random
    drawn = _Drawn(draw, 1 + int(draw() * 3))
    makers = (
        (0.3, drawn.checkpoint),
        (0.48, drawn.abort_notification),
        (0.58, drawn.abort_on_barrier),
        (0.68, drawn.complete_notification),
        (0.73, drawn.subsumed_notification),
        (0.83, drawn.async_done),
        (0.94, drawn.async_failed),
        (0.96, drawn.status),
        (0.98, drawn.close),
        (1.0, drawn.stray),
    )

    def choose(observed: Wire) -> Wire:
        if not observed["running_task"] and draw() < 0.5:
            return {"kind": "status", "running": True}
        luck = draw()
        return next(maker for below, maker in makers if luck < below)(observed)

    return choose


class _Drawn:
    """One event of a kind, given what is seen."""

    def __init__(self, draw: Callable[[], float], spread: int) -> None:
        self._draw = draw
        self._spread = spread
        """How far ahead of their triggers aborts come."""

    def _near(self, observed: Wire) -> int:
        newest = max(observed["last"], *observed["running"], 0)
        return max(0, int(newest) + int(self._draw() * 5) - 1)

    def _known(self, observed: Wire) -> int:
        running = observed["running"]
        if running and self._draw() < 0.8:
            return int(running[int(self._draw() * len(running))])
        return self._near(observed)

    def checkpoint(self, observed: Wire) -> Wire:
        aborted = observed["aborted"]
        again = aborted[0] if aborted and self._draw() < 0.5 else self._near(observed)
        if self._draw() < 0.03:
            return {"kind": "checkpoint", "checkpoint": again, "fails": True}
        return {"kind": "checkpoint", "checkpoint": again}

    def abort_notification(self, observed: Wire) -> Wire:
        completed = max(-1, int(observed["completed"]) + int(self._draw() * 3) - 1)
        if self._draw() < 0.3:
            checkpoint = self._known(observed)
        else:
            checkpoint = self._near(observed) + int(self._draw() * self._spread)
        return {"kind": "abort_notification", "checkpoint": checkpoint, "completed": completed}

    def abort_on_barrier(self, observed: Wire) -> Wire:
        reason = _REASONS[int(self._draw() * len(_REASONS))]
        return {"kind": "abort_on_barrier", "checkpoint": self._near(observed), "reason": reason}

    def complete_notification(self, observed: Wire) -> Wire:
        completed = max(0, int(observed["completed"]) + int(self._draw() * 4) - 1)
        return {"kind": "complete_notification", "checkpoint": completed}

    def subsumed_notification(self, observed: Wire) -> Wire:
        return {"kind": "subsumed_notification", "checkpoint": self._near(observed)}

    def async_done(self, observed: Wire) -> Wire:
        return {"kind": "async_done", "checkpoint": self._known(observed)}

    def async_failed(self, observed: Wire) -> Wire:
        if self._draw() < 0.4:
            return {"kind": "async_failed", "checkpoint": self._known(observed), "reason": "IO_EXCEPTION"}
        return {"kind": "async_failed", "checkpoint": self._known(observed)}

    def status(self, observed: Wire) -> Wire:
        return {"kind": "status", "running": self._draw() < 0.4}

    def close(self, observed: Wire) -> Wire:
        return {"kind": "close"}

    def stray(self, observed: Wire) -> Wire:
        if self._draw() < 0.5:
            return {"kind": "checkpoint", "checkpoint": -1}
        return {"kind": "no_such_event"}
