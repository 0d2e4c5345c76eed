"""What is drawn of operators and of the count of failures: sinks, sources that commit or are induced."""

from typing import Any

from conformance.adapters.protocol import Wire
from conformance.pictures.graph import Subject
from conformance.pictures.labels import named, say_id, two_lines


def _show_sink(seen: dict[str, Any]) -> tuple[str, ...]:
    if not seen["running"]:
        return two_lines("not running", named("visible", seen["committed"]))
    return two_lines(
        f"open {seen['open']}" if seen["open"] else "none open",
        named("filed", [transaction for _, transaction in seen["pending"]]),
        named("visible", seen["committed"]),
    )


def _show_offsets(seen: dict[str, Any]) -> tuple[str, ...]:
    if not seen["running"]:
        return two_lines("not running", f"committed {seen['committed'][0]}" if seen["committed"] else "")
    return two_lines(
        named("remembered", [checkpoint for checkpoint, _ in seen["remembered"]]) or "none remembered",
        f"committed {seen['committed'][0]}" if seen["committed"] else "",
    )


def _show_source(seen: dict[str, Any]) -> tuple[str, ...]:
    waiting = named("told", seen["told"]), named("ahead", seen["ahead"])
    return two_lines("" if seen["running"] else "not running", *waiting) or ("runs",)


def _show_failures(seen: dict[str, Any]) -> tuple[str, ...]:
    return (f"{seen['counted']} counted",)


def _say_failures(event: Wire) -> str:
    return f"{'ok' if event['kind'] == 'success' else 'fails'} {event['checkpoint']}"


OPERATORS = (
    Subject(
        "sink",
        "A transactional sink: one checkpoint and the end of its input",
        "Filed is pre-committed; C1 makes transaction 1 visible. After the end the next snapshot opens none.",
        "sink",
        {},
        (),
        [
            {"kind": "snapshot", "checkpoint": 1},
            {"kind": "notify_complete", "checkpoint": 1},
            {"kind": "finish"},
        ],
        _show_sink,
        say_id,
    ),
    Subject(
        "offsets",
        "The offsets that a source commits: two checkpoints, one of them remembered",
        "C2 commits the offsets of checkpoint 2, and only they are told.",
        "offsets",
        {"remembered": 1},
        (),
        [
            *({"kind": "snapshot", "checkpoint": number, "offsets": 10 * number} for number in (1, 2)),
            *({"kind": "notify_complete", "checkpoint": number} for number in (1, 2)),
        ],
        _show_offsets,
        say_id,
    ),
    Subject(
        "source",
        "A source that is externally induced: one checkpoint, hook and trigger",
        "'told' has been triggered, 'ahead' has seen its hook; T1 begins the snapshot. While it is ahead the "
        "source reads nothing.",
        "source",
        {"external": "reader"},
        (),
        [
            *({"kind": kind, "checkpoint": 1} for kind in ("trigger", "induce", "ended")),
            {"kind": "status", "running": False},
        ],
        _show_source,
        say_id,
    ),
    Subject(
        "failures",
        "The count of failing checkpoints: one failure is tolerated",
        "'ok 2' is a success. Only one that is newer than all before clears the count, and a failure of an "
        "older checkpoint does not count.",
        "failures",
        {"tolerable_failures": 1},
        (),
        [
            {"kind": "success", "checkpoint": 2},
            *(
                {
                    "kind": "failure",
                    "checkpoint": number,
                    "type": "checkpoint",
                    "reason": "CHECKPOINT_EXPIRED",
                    "by_task": False,
                }
                for number in (1, 3, 4)
            ),
        ],
        _show_failures,
        _say_failures,
    ),
)
"""In the order of the page, behind the store."""
