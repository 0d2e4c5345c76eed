"""Replays the offsets of a source that commits them. Each attempt has a file, and begins a new component.

This module checks what the model cannot: the source does only what its subtask requires (OFFSET-01,
OFFSET-03, OFFSET-05), and it continues from the offset that its task restores (OFFSET-06).
"""

from conformance.observe.lines.line import Line
from conformance.observe.replay import Rejected
from conformance.observe.run_state import Run

_RULE = {"snapshot": "OFFSET-01", "notify_complete": "OFFSET-03", "notify_abort": "OFFSET-05"}
"""The rule of each event that the subtask requires."""


class OffsetsReplay:
    """Replays the events of component `offsets` in one file."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._model = run.replayed("offsets", {})
        self._required: set[tuple[str, int]] = set()
        self._restored: int | None = None

    def require(self, kind: str, checkpoint: int) -> None:
        """Record that the subtask requires this event of its source, if the source commits offsets."""
        self._required.add((kind, checkpoint))

    def replay(self, line: Line) -> None:
        """Replay one event. Raises Rejected if the subtask does not require it, or the model refuses it."""
        kind, checkpoint = line.kind, line.event.get("checkpoint", -1)
        if kind in _RULE:
            if (kind, checkpoint) not in self._required:
                why = f"the source did {kind} of {checkpoint}, but its subtask does not require it"
                raise Rejected((_RULE[kind],), why)
            self._required.discard((kind, checkpoint))
        self._run.rules.update(self._model.step(line))
        if kind == "restore":
            self._restored = line.event.get("offsets")

    def forget(self, checkpoint: int) -> None:
        """Drop required events below `checkpoint`. They accumulate if the source commits no offsets."""
        self._required = {one for one in self._required if one[1] >= checkpoint}

    def at_cut(self, checkpoint: int) -> object:
        """Data that influences the replay of later lines, as in `TaskReader.at_cut`."""
        later = tuple(sorted(one for one in self._required if one[1] > checkpoint))
        return self._model.state, later, self._restored

    def restored(self, offset: int) -> None:
        """Compare the `offset` that the task restores with the source's. Raises Rejected if they differ."""
        if self._restored not in (None, offset):
            why = f"the task restores offset {offset}, but its source continues at {self._restored}"
            raise Rejected(("OFFSET-06",), why)
