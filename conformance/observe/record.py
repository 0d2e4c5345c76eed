"""Records the events that a validation has replayed, for a caller that shows them.

The record holds one model state for each event. States are immutable and share their parts, so they need
little memory.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from conformance.observe.eventlog import COORDINATOR
from conformance.observe.lines.line import Line
from model.components import COMPONENTS, Wire


class Seen(NamedTuple):
    """One event that was replayed and accepted."""

    line: Line
    event: Wire
    """As the model received it."""
    effects: Sequence[Wire]
    """The effects. The log and the model agree on them."""
    rules: tuple[str, ...]
    component: str
    state: Any
    """The state of the model after the event."""

    @property
    def task(self) -> str:
        """The name of the task, or `coordinator`."""
        return str(self.line.fields["task"])

    @property
    def place(self) -> str:
        """File and line, `2-count-0.jsonl:17`."""
        file = self.task if self.task == COORDINATOR else f"{self.line.attempt}-{self.task}"
        return f"{file}.jsonl:{self.line.number}"

    def observe(self) -> dict[str, Any]:
        """The observable state after the event, in wire form."""
        return COMPONENTS[self.component].observe(self.state)


@dataclass
class Record:
    """The events in the order in which they were replayed, and the first occurrence of each situation."""

    seen: list[Seen] = field(default_factory=list)
    first: dict[str, int] = field(default_factory=dict)
    """By situation: the position of the event at which it occurred."""
    channels: dict[tuple[int, str], tuple[str, ...]] = field(default_factory=dict)
    """By attempt and task: the sender of each of its channels."""

    def witnessed(self, situation: str) -> None:
        """Record the first occurrence of a situation."""
        self.first.setdefault(situation, len(self.seen) - 1)
