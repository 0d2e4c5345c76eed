"""What a validation has replayed, kept for somebody who wants to look at it.

States of the model are immutable, so that keeping one for each event costs little; what is observable of it
is read when it is asked for.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from conformance.observe.eventlog import COORDINATOR, Line
from model.components import COMPONENTS, Wire


class Seen(NamedTuple):
    """One event that was replayed and accepted."""

    line: Line
    event: Wire
    """As the model got it."""
    effects: Sequence[Wire]
    """What both said."""
    rules: tuple[str, ...]
    component: str
    state: Any
    """The model's own state afterwards."""

    @property
    def task(self) -> str:
        """Whose event it is."""
        return str(self.line.fields["task"])

    @property
    def place(self) -> str:
        """File and line."""
        file = self.task if self.task == COORDINATOR else f"{self.line.attempt}-{self.task}"
        return f"{file}.jsonl:{self.line.number}"

    def observe(self) -> dict[str, Any]:
        """The observable state afterwards, in wire form."""
        return COMPONENTS[self.component].observe(self.state)


@dataclass
class Record:
    """The events in the order in which they were replayed, and where each situation came first."""

    seen: list[Seen] = field(default_factory=list)
    first: dict[str, int] = field(default_factory=dict)
    """By situation: the position of the event that was replayed last when it came."""
    channels: dict[tuple[int, str], tuple[str, ...]] = field(default_factory=dict)
    """By attempt and task: who sends on each of its channels."""

    def witnessed(self, situation: str) -> None:
        """A situation has come."""
        self.first.setdefault(situation, len(self.seen) - 1)
