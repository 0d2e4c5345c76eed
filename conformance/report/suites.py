"""The lines about complete suites in a verdict: states (n), hidden states (k), letters and sequences."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from conformance.report.divergence.phrases import of_config

if TYPE_CHECKING:
    from conformance.suites.play import Guarantee

LISTED = 8
"""The maximum number of suites with a line each. With more, those of one mode, level and k share a line."""
MEANING = (
    "complete suites: an implementation with at most n+k states that passes them answers like the model, for "
    "every sequence of these letters"
)
EXCEPT = (
    "- except where sequences were left out or end at a known divergence: nothing is known about longer "
    "sequences there"
)
NOT_PLAYED = "complete suites: not played"
FEWER = "k is lower where the sequences are too many for one run: choose a --config, or --thorough"


def lines(guarantees: Sequence["Guarantee"]) -> Iterator[str]:
    """The lines about the complete suites of one component."""
    if not guarantees:
        yield NOT_PLAYED
    played = [one for one in guarantees if one.extra is not None]
    if played:
        yield MEANING
        if any(one.left_out or one.known for one in played):
            yield EXCEPT
    few = len(guarantees) <= LISTED
    for _, group in groupby(sorted(played, key=_kind), key=_kind):
        found = list(group)
        yield from map(_line, found) if few else (_summary(found),)
    if any(one.reason for one in played):
        yield FEWER
    missing = [one for one in guarantees if one.extra is None]
    for reason in dict.fromkeys(one.reason for one in missing):
        group_of = [one for one in missing if one.reason == reason]
        more = f" and {len(group_of) - 1} others" if len(group_of) > 1 else ""
        yield f"no complete suite for {_where(group_of[0])}{more}: {reason}"


def _line(one: "Guarantee") -> str:
    return (
        f"- n={one.states}, k={one.extra}, {one.letters} letters, {one.sequences:,} sequences, "
        f"{one.events:,} events{_left_out([one])}: {_where(one)}"
    )


def _summary(found: Sequence["Guarantee"]) -> str:
    first = found[0]
    kind = ", ".join(str(first.config[name]) for name in ("mode", "level") if name in first.config)
    sequences, events = sum(one.sequences for one in found), sum(one.events for one in found)
    return (
        f"- n={_range(one.states for one in found)}, k={first.extra}, "
        f"{_range(one.letters for one in found)} letters, {sequences:,} sequences, {events:,} events"
        f"{_left_out(found)}: "
        f"{len(found)} suites of {kind or first.component}"
    )


def _left_out(found: Sequence["Guarantee"]) -> str:
    """The number of sequences that were not played, or not to their end."""
    left, known = sum(one.left_out for one in found), sum(one.known for one in found)
    ended = f", {known:,} of them to a known divergence" if known else ""
    return ended + (f", {left:,} more left out, in which it is known to crash" if left else "")


def _where(one: "Guarantee") -> str:
    text = of_config(one.component, one.config)
    return f"{text}; {one.subject}" if one.subject else text


def _range(numbers: Iterator[int]) -> str:
    known = sorted(numbers)
    return f"{known[0]}" if known[0] == known[-1] else f"{known[0]} to {known[-1]}"


def _kind(one: "Guarantee") -> tuple[str, str, int]:
    return str(one.config.get("mode", "")), str(one.config.get("level", "")), -(one.extra or 0)
