"""The text of a divergence: the rule, the steps, expected and actual answers, commands that repeat it.

The text has at most 80 columns and two screens. Of a long sequence it shows the first and the last steps.
"""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from conformance import escape
from conformance.adapters.protocol import (
    ANSWER_LIMIT_SECONDS,
    FAILURES,
    Crashed,
    Hung,
    Malformed,
    Wire,
    canonical,
)
from conformance.divergence import Answer, Divergence
from conformance.report.divergence import phrases
from conformance.report.formats.columns import NARROW, head_and_tail
from conformance.rules import index as rule_index

LINES = 48
"""The maximum number of lines: two screens of 24 lines."""
CUT = 380
"""The maximum number of characters of a paragraph, because an answer may have any length."""
_COLUMNS = (20, 24, 24)
"""The widths of the columns event, expected and got. The number of the step takes 6 columns before them."""


@dataclass(frozen=True)
class FoundDivergence:
    """A divergence, the implementation, and the search that found the divergence."""

    divergence: Divergence
    implementation: str
    """Name and version."""
    adapter: str
    """The value of `--adapter`."""
    found_after: int
    """The number of steps that the run had sent when it was found."""
    shrunk: str = "no event can be left out"
    """The result of shrinking the sequence, as text; empty if it was not shrunk."""

    @property
    def limit(self) -> float | None:
        """The time limit that a hang has exceeded; None if it is the default limit."""
        got = self.divergence.got
        return got.seconds if isinstance(got, Hung) and got.seconds != ANSWER_LIMIT_SECONDS else None


class SavedFiles(NamedTuple):
    """The replays of one divergence on disk."""

    replay: Path
    test: Path
    module: Path | Exception
    """The module for TLC, or the reason why there is none."""
    rows: tuple[int, ...] = ()
    """The lines of `replay` at which the events begin."""


def describe(found: FoundDivergence, saved: SavedFiles | None = None) -> str:
    """The description of a divergence; `saved`: its replays, if they were written."""
    divergence = found.divergence
    described = phrases.of_config(divergence.component, divergence.config)
    before = [*_headline(divergence), *_wrapped(f"{escape.short(found.implementation)}, {described}", 10), ""]
    after = [
        "",
        *_wrapped(_cut(difference(divergence)), 2),
        *_must(divergence),
        *_stderr(divergence),
        "",
        f"  found after {found.found_after:,} steps{f'; {found.shrunk}' if found.shrunk else ''}",
    ]
    if saved is not None:
        after += [*_command(found, saved.replay), f"  as test {escape.shell(('pytest', str(saved.test)))}"]
        after += (
            _continued("  in TLC  ", [escape.shell(("--replay", str(saved.module)))])
            if isinstance(saved.module, Path)
            else textwrap.wrap(
                f"  in TLC  not: {escape.line(str(saved.module))}", NARROW, subsequent_indent=" " * 10
            )
        )
    height = LINES - len(before) - len(after)
    return escape.block("\n".join([*before, *_table(divergence, height), *after]) + "\n")


def headline(divergence: Divergence) -> str:
    """The rule and its title in one line, of any length; for a flaky answer also how often it occurs."""
    if divergence.repeats is not None:
        differed, plays = divergence.repeats
        often = (
            f"{differed} of {plays} more plays" if plays > 1 else "not when the same events were sent again"
        )
        return f"flaky, {often}: {_title(divergence)}"
    return _title(divergence)


def _title(divergence: Divergence) -> str:
    rule = divergence.rule
    if isinstance(divergence.got, Crashed | Hung | Malformed):
        return divergence.got.describe()
    if rule is not None:
        return f"{rule}  {rule_index.title(rule)}"
    if isinstance(divergence.expected, Answer) and divergence.expected.refused is not None:
        return "an event outside the protocol must be refused"
    return "nothing may happen here"


def _headline(divergence: Divergence) -> list[str]:
    lines = textwrap.wrap(
        f"{divergence.verdict.value}  {_cut(headline(divergence))}",
        NARROW,
        subsequent_indent=" " * 20,
        break_long_words=False,
    )
    if len(divergence.rules) > 1 and divergence.lost is None:
        lines += _wrapped(f"also fired at this step: {', '.join(dict.fromkeys(divergence.rules[1:]))}", 10)
    return lines


def _table(divergence: Divergence, height: int) -> list[str]:
    """The steps in at most `height` lines, unless the last step alone is longer."""
    blocks = []
    permitted = (*divergence.before, divergence.expected)
    for number, (event, expected) in enumerate(zip(divergence.events, permitted, strict=True), start=1):
        last = number == divergence.step
        got = divergence.got if last else expected
        cells = (phrases.of_event(event), phrases.of_answer(expected), phrases.of_answer(got))
        mark = "->" if last else "  "
        rows = _row([*map(_cut, cells)])
        blocks.append([f"{mark}{number:>4}  {rows[0]}", *(" " * 8 + row for row in rows[1:])])
    lines = [
        "  step  " + _row(("event", "expected", "got"))[0],
        *_fitting(blocks, height - 1 - len(_states(divergence))),
    ]
    return [line.rstrip() for line in (*lines, *_states(divergence))]


def _fitting(blocks: list[list[str]], height: int) -> list[str]:
    """All steps if they fit in the height. Otherwise the first ones, the number omitted, and the last."""
    if sum(map(len, blocks)) <= height:
        return [line for block in blocks for line in block]
    first, rest = blocks[0], blocks[1:]
    kept: list[str] = []
    while rest and (not kept or len(first) + 1 + len(rest[-1]) + len(kept) <= height):
        kept = rest.pop() + kept
    if not rest:
        return [*first, *kept]
    return [*first, f"        ... {len(rest)} steps left out, answered as expected", *kept]


def _states(divergence: Divergence) -> list[str]:
    """The differing fields of the states, below the last step."""
    names = _fields_shown(divergence)
    got_state = divergence.got.state if isinstance(divergence.got, Answer) else {}
    shown = (phrases.of_state(divergence.expected.state, names), phrases.of_state(got_state, names))
    return [" " * 8 + row for row in _row(("", *map(_cut, shown)))] if names else []


def _row(cells: Sequence[str]) -> list[str]:
    """One row of the table as lines, each cell wrapped to its column."""
    columns = [
        textwrap.wrap(cell, width, break_long_words=True) or [""]
        for cell, width in zip(cells, _COLUMNS, strict=True)
    ]
    height = max(len(column) for column in columns)
    return [
        "  ".join(
            (column[at] if at < len(column) else "").ljust(width)
            for column, width in zip(columns, _COLUMNS, strict=True)
        ).rstrip()
        for at in range(height)
    ]


def _fields_shown(divergence: Divergence) -> list[str]:
    """The state fields that differ, and for a gate also `current` and `blocked`."""
    if not isinstance(divergence.got, Answer):
        return []
    other = differing(divergence.expected.state, divergence.got.state)
    context = ("current", "blocked") if divergence.component == "gate" else ()
    return [name for name in divergence.expected.state if name in context or name in other]


def differing(expected: Wire, got: Wire) -> list[str]:
    """The fields of both states whose values differ."""
    return [n for n in expected if n in got and canonical(got[n]) != canonical(expected[n])]


def difference(divergence: Divergence) -> str:
    """The differences at the last step, in plain sentences."""
    expected, got = divergence.expected, divergence.got
    if isinstance(got, Hung):
        return "The implementation did not answer within the time limit (--limit)."
    if isinstance(got, FAILURES):
        if expected.refused is not None:
            return "The protocol does not allow this event here; the answer must be an error."
        return "The protocol allows this event; the answer must have effects and state."
    if expected.refused is not None:
        reason = expected.refused
        return f"The protocol does not allow this event here ({reason}); the implementation accepted it."
    sentences = []
    due, came = list(expected.effects), list(got.effects)
    missing, extra = _without(due, came), _without(came, due)
    if missing:
        many = "s" if len(missing) > 1 else ""
        sentences.append(f"Missing effect{many}: {phrases.of_effects(missing)}.")
    if extra:
        sentences.append(f"Effects that the rule forbids: {phrases.of_effects(extra)}.")
    if not missing and not extra and canonical(due) != canonical(came):
        sentences.append("The effects are right, but in another order.")
    for name in differing(expected.state, got.state):
        is_now = phrases.of_state(got.state, [name])
        sentences.append(f"Afterwards {is_now}, where {phrases.of_state(expected.state, [name])} is right.")
    return " ".join(sentences)


def _without(effects: list[Wire], others: list[Wire]) -> list[Wire]:
    """The effects without those in `others`. Each effect in `others` removes one equal effect."""
    left = [canonical(other) for other in others]
    remaining = []
    for effect in effects:
        key = canonical(effect)
        if key in left:
            left.remove(key)
        else:
            remaining.append(effect)
    return remaining


def _must(divergence: Divergence) -> list[str]:
    if divergence.rule is None or isinstance(divergence.got, Crashed | Hung | Malformed):
        return []
    return _wrapped(f"{divergence.rule}: {rule_index.rule(divergence.rule).must}", 2)


def _stderr(divergence: Divergence) -> list[str]:
    got = divergence.got
    if not isinstance(got, Crashed | Hung | Malformed) or not got.stderr.strip():
        return []
    lines = head_and_tail(got.stderr)
    return ["", "  stderr:", *(f"    {escape.line(line)[: NARROW - 4]}" for line in lines)]


def _command(found: FoundDivergence, replay_file: Path) -> list[str]:
    """The command that repeats the divergence."""
    options = [escape.shell(("--adapter", found.adapter)), escape.shell(("--replay", str(replay_file)))]
    if found.limit is not None:
        options[1] += f" --limit {found.limit:g}"
    return _continued("  again   ", options)


def _continued(label: str, options: Sequence[str]) -> list[str]:
    """`barrierspec conform` with options, in one line or, if that is too long, in continued lines."""
    whole = f"{label}barrierspec conform {' '.join(options)}"
    if len(whole) <= NARROW:
        return [whole]
    parts = [f"{label}barrierspec conform", *(f"{' ' * 12}{option}" for option in options)]
    return [*(f"{part} \\" for part in parts[:-1]), parts[-1]]


def _cut(text: str) -> str:
    """Shortens a text that comes from an implementation."""
    return text if len(text) <= CUT else textwrap.shorten(text, CUT, placeholder=" ...")


def _wrapped(text: str, indent: int) -> list[str]:
    return textwrap.wrap(
        text,
        NARROW,
        initial_indent=" " * indent,
        subsequent_indent=" " * indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
