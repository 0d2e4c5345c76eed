"""The page of `barrierspec trace`: pieces of the recorded runs, and the situations that they show.

A run has more events than a page can show. Of a rejected run, the page shows the events of one checkpoint, up
to the rejected event. Of accepted runs, it shows the checkpoints with the most situations. The shown logs are
validated a second time, in this process.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import orjson

from conformance import escape
from conformance.adapters.protocol import Effects, Wire
from conformance.diagram.run import Moment, in_causal_order, moment_of, of_run, received
from conformance.divergence import Answer
from conformance.observe import REQUIRED, SITUATIONS, EventLogError, possible, validate
from conformance.observe.eventlog import COORDINATOR
from conformance.observe.record import Record
from conformance.observe.situations import RARE
from conformance.observe.validate import Rejection, TraceResult
from conformance.page.case import Case, Step
from conformance.page.document import Page, Row, Situation
from conformance.parts.result import PartResult
from conformance.parts.trace import Watched
from conformance.refusals import explanation
from conformance.report.divergence.refusal import Refusal
from conformance.verdict import Verdict
from model.components import COMPONENTS, PARTS, WireError

LOOKED_AT = 6
"""The page shows at most this number of logs: rejected ones only, if there are any."""
PIECES = 4
"""The page shows at most this number of pieces of accepted runs."""
LONGEST = 120
"""Maximum number of events in a piece: the first ones, or the last ones up to a rejected event."""

_OLDER = frozenset({"discard", "notify_subsumed", "subsumed"})
"""Effects whose checkpoint is older than the checkpoint that their event is about."""


class Recorded(NamedTuple):
    """A log, the result of its validation, and its replayed events."""

    log: Path
    result: TraceResult
    record: Record


class Piece(NamedTuple):
    """The positions in the record of the events about one checkpoint, in one attempt of one log."""

    log: int
    attempt: int
    checkpoint: int
    positions: tuple[int, ...]


def page_of(logs: Sequence[Path], watched: Watched, part: PartResult, again: str) -> Page:
    """The page of these logs, with the results in `watched` and `part`."""
    recorded = _recorded(logs, part)
    shown: dict[str, tuple[int, int]] = {}
    cases = [_rejection(*one, one[1].rejection) for one in recorded if one[1].rejection is not None]
    if not cases:
        cases, shown = _accepted(recorded)
    rows = [
        Row(
            str(log),
            Verdict.CONFORMS if result.rejection is None else Verdict.DIVERGES,
            result.describe(),
            result.rules,
        )
        for log, result, _ in recorded
    ]
    shown_as_case = {
        str(log / result.rejection.file) for log, result, _ in recorded if result.rejection is not None
    }
    findings = tuple(one for one in part.findings if one.file not in shown_as_case)
    rows.append(Row("all together", part.verdict, part.bound, part.rules, findings=findings))
    return Page(
        "trace",
        part.verdict,
        _headline(part, watched),
        (("logs", _named(logs)), *_looked_at(logs, [log for log, *_ in recorded])),
        again,
        tuple(rows),
        tuple(cases),
        tuple(_situations(watched, shown)),
    )


def _recorded(logs: Sequence[Path], part: PartResult) -> list[Recorded]:
    """The logs that the page shows, with their replayed events."""
    rejected = [Path(one.file).parent for one in part.findings if one.rule is not None and one.file]
    chosen = list(dict.fromkeys(rejected))[:LOOKED_AT] or list(logs)[:LOOKED_AT]
    found = []
    for log in chosen:
        record = Record()
        with suppress(EventLogError):  # the error is already a finding of the run
            found.append(Recorded(log, validate(log, required=(), record=record), record))
    return found


def _looked_at(logs: Sequence[Path], chosen: Sequence[Path]) -> Iterator[tuple[str, str]]:
    if len(chosen) < len(logs):
        yield "shown here", _named(chosen)


def _named(logs: Sequence[Path]) -> str:
    more = f" and {len(logs) - LOOKED_AT:,} more" if len(logs) > LOOKED_AT else ""
    return ", ".join(str(log) for log in logs[:LOOKED_AT]) + more


def _headline(part: PartResult, watched: Watched) -> str:
    charged = [finding.rule for finding in part.findings if finding.rule is not None]
    if charged:
        return f"The recorded run violates the protocol: {charged[0]}."
    if part.verdict is Verdict.CONFORMS:
        return f"The recorded run follows the protocol: {watched.events:,} events accepted."
    return "Nothing was rejected, but too little was seen, or not everything could be read."


def _situations(watched: Watched, shown: dict[str, tuple[int, int]]) -> Iterator[Situation]:
    required = set(possible(REQUIRED, watched.modes))
    for name, meaning in {**SITUATIONS, **RARE}.items():
        times = watched.situations.get(name, 0)
        if not times and name in RARE:
            continue
        case, step = shown.get(name, (None, 0))
        yield Situation(name, meaning, times, name in required, case, step)


# ---------------------------------------------------------------- accepted


def _accepted(recorded: Sequence[Recorded]) -> tuple[list[Case], dict[str, tuple[int, int]]]:
    """The pieces that show most situations, and where each situation is shown first."""
    pieces = [piece for at, (_, _, record) in enumerate(recorded) for piece in _pieces(at, record)]
    missing = {
        (at, name): position
        for at, (_, _, record) in enumerate(recorded)
        for name, position in record.first.items()
    }
    cases: list[Case] = []
    shown: dict[str, tuple[int, int]] = {}
    while pieces and len(cases) < PIECES:
        best = max(pieces, key=lambda piece: (len(_in(piece, missing)), -len(piece.positions)))
        found = _in(best, missing)
        if not found:
            break
        log, _, record = recorded[best.log]
        case, places = _piece(log, record, best)
        for name in found:
            if missing[best.log, name] in places:
                shown.setdefault(name, (len(cases), places[missing[best.log, name]]))
        cases.append(case)
        missing = {key: position for key, position in missing.items() if key[1] not in found}
        pieces.remove(best)
    return cases, shown


def _in(piece: Piece, missing: dict[tuple[int, str], int]) -> list[str]:
    kept = set(piece.positions[:LONGEST])
    return [name for (log, name), position in missing.items() if log == piece.log and position in kept]


def _pieces(log: int, record: Record) -> list[Piece]:
    found: dict[tuple[int, int], list[int]] = {}
    for position, seen in enumerate(record.seen):
        for checkpoint in concerned(seen.event, seen.effects):
            found.setdefault((seen.line.attempt, checkpoint), []).append(position)
    return [Piece(log, *key, tuple(positions)) for key, positions in found.items()]


def concerned(event: Wire, effects: Effects) -> set[int]:
    """The checkpoints that an event is about."""
    named = [event, *(effect for effect in effects if effect.get("kind") not in _OLDER)]
    return {word["checkpoint"] for word in named if type(word.get("checkpoint")) is int}


def _piece(log: Path, record: Record, piece: Piece) -> tuple[Case, dict[int, int]]:
    """A piece as a case, and the step for each position in the record."""
    positions = piece.positions[:LONGEST]
    moments = [moment_of(record.seen[position], record) for position in positions]
    lanes = lanes_of(record)
    ordered = in_causal_order(moments, lanes)
    places = {
        position: ordered.index(moment) + 1 for position, moment in zip(positions, moments, strict=True)
    }
    cut = len(piece.positions) - len(positions)
    note = "Between tasks only causes order the events; a logical clock gives their order here."
    note += f" {cut} later events are left out." if cut else ""
    title = f"Checkpoint {piece.checkpoint} in attempt {piece.attempt}"
    return _case(title, str(log), ordered, lanes, note=note), places


def lanes_of(record: Record) -> list[str]:
    """The coordinator, then the tasks. Each task follows the tasks whose output it reads."""
    above: dict[str, set[str]] = {seen.task: set() for seen in record.seen if seen.task != COORDINATOR}
    for (_, task), channels in record.channels.items():
        above.setdefault(task, set()).update(channels)
    depth: dict[str, int] = {}
    for _ in above:
        for task, sources in above.items():
            depth[task] = 1 + max((depth.get(source, 0) for source in sources), default=0)
    return [COORDINATOR, *sorted(above, key=lambda task: (depth[task], task))]


# ---------------------------------------------------------------- rejected


def _rejection(log: Path, result: TraceResult, record: Record, rejection: Rejection) -> Case:
    line = orjson.loads(rejection.event) if rejection.event else {}
    task, attempt = str(line.get("task", COORDINATOR)), int(line.get("attempt", 0))
    component = str(line.get("component") or "engine")
    event = line.get("event", {"kind": str(line.get("kind", "end of the file"))})
    effects = line.get("effects", [])
    about = concerned(event, effects)
    before = [seen for seen in record.seen if about & concerned(seen.event, seen.effects)]
    if not about:
        before = [seen for seen in record.seen if seen.task == task]
    same_attempt = [seen for seen in before if seen.line.attempt == attempt]
    moments = [moment_of(seen, record) for seen in same_attempt[-LONGEST + 1 :]]
    lanes = lanes_of(record)
    lanes += [task] if task not in lanes else []
    place = f"{rejection.file}:{rejection.line}"
    step = Step(component, event, _expected(rejection), Answer(effects, {}), rejection.rules, place, task)
    come = received(component, task, attempt, event, record.channels)
    ordered = [*in_causal_order(moments, lanes), Moment(step, attempt, frozenset(), come)]
    refused_at = rejection.refused
    return _case(
        f"{rejection.rules[0]}  {rejection.file}, line {rejection.line}",
        str(log),
        ordered,
        lanes,
        rejection=rejection,
        why=None if refused_at is None else explanation.refusal(refused_at),
    )


def _expected(rejection: Rejection) -> Answer:
    """The model's answer to the rejected event; without one, the guard that refused the event."""
    refused_at = rejection.refused
    if refused_at is None:
        return Answer((), {}, rejection.why)
    model = {**COMPONENTS, **PARTS}[refused_at.component]
    try:
        after, effects, _ = model.apply(refused_at.before, refused_at.event)
    except WireError as refused:
        return Answer((), model.observe(refused_at.before), str(refused))
    return Answer(effects, model.observe(after))


def _case(
    title: str,
    log: str,
    moments: Sequence[Moment],
    lanes: Iterable[str],
    *,
    note: str = "",
    rejection: Rejection | None = None,
    why: Refusal | None = None,
) -> Case:
    is_wrong = rejection is not None
    return Case(
        title=title,
        under=log,
        steps=tuple(moment.step for moment in moments),
        diagram=of_run(moments, list(lanes), is_wrong=is_wrong),
        rule=rejection.rules[0] if rejection is not None else None,
        is_wrong=is_wrong,
        sentences=f"{rejection.why}." if rejection is not None else "",
        refusal=why,
        waiting=rejection.waiting if rejection is not None else (),
        is_recorded=True,
        commands=() if rejection is None else (("again", escape.shell(["barrierspec", "trace", log])),),
        note=note,
    )
