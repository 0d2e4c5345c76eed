"""The text on why the model refuses an answer: its actions for the event, each with the failing guards."""

import textwrap
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from conformance.adapters.protocol import Wire
from conformance.report.divergence import phrases
from conformance.report.formats.columns import NARROW

if TYPE_CHECKING:
    from conformance.refusals.guards import Guard

WAITING = 8
"""The number of waiting events that are shown."""


class Action(NamedTuple):
    """An action of the model for the event."""

    rules: tuple[str, ...]
    answer: str
    happens: bool
    """Whether the model takes this action for the event."""
    was_answered: bool
    needs: "tuple[Guard, ...]"
    """The guards that fail, each with its values."""


class Refusal(NamedTuple):
    """The reasons for which the model refuses an answer."""

    before: str
    """The observable state before the event."""
    actions: tuple[Action, ...]
    """The actions of the model for the event, at most SHOWN, the most similar first."""
    more: str
    """The number of further actions, in words; empty for none."""
    excluded: str
    """The fewest values that exclude the answer, in a sentence; empty if nothing does."""


def lines(why: Refusal, event: Wire) -> list[str]:
    """Lines of 80 columns: each action of the model for the event, its failing guards, and z3's conflict."""
    found = _wrapped(f"  Before it {textwrap.shorten(why.before, 300)}.", 4)
    found += _wrapped(f"  The actions of the model for {phrases.of_event(event)}, most similar first:", 4)
    for action in why.actions:
        found += _action(action)
    if why.more:
        found.append(f"    and {why.more}")
    return found + (_wrapped(f"  {why.excluded}", 4) if why.excluded else [])


def waiting(events: Sequence[str]) -> Iterator[str]:
    """The lines about events of a log that wait for a cause, each with the guard that fails."""
    if events:
        yield "  The events that wait for a cause at that point, each with its guard:"
        for one in events[:WAITING]:
            yield from _wrapped(f"    {textwrap.shorten(one, 230)}", 6)
        if len(events) > WAITING:
            yield f"    and {len(events) - WAITING} more"


def _action(action: Action) -> Iterator[str]:
    yield from _wrapped(f"    {', '.join(action.rules) or 'no rule'}: {action.answer}", 6)
    if action.happens:
        yield "      the protocol does this here"
        return
    needs = ", ".join(f"{guard.text} ({guard.values})" for guard in action.needs)
    yield from _wrapped(f"      {'this answer; ' if action.was_answered else ''}needs {needs}", 8)


def _wrapped(line: str, indent: int) -> list[str]:
    return textwrap.wrap(line, NARROW, subsequent_indent=" " * indent, break_on_hyphens=False)
