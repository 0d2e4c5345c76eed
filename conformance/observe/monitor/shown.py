"""The output of a monitor: a line for each checkpoint and alarm, as text or JSON, and the final summary."""

import tomllib
from collections.abc import Iterator, Mapping
from importlib.resources import files
from typing import Any

import orjson

from conformance.observe.monitor.monitor import Monitor
from conformance.observe.monitor.reports import Alarm, Counts, Ended
from conformance.verdict import Verdict

LEVELS: Mapping[str, Mapping[str, str]] = tomllib.loads(
    files("conformance.observe.monitor").joinpath("levels.toml").read_text(encoding="utf-8")
)
"""The rules that lines at INFO and DEBUG show; by logger, a kind of line that it logs at DEBUG only."""


def ended_line(ended: Ended) -> str:
    """One checkpoint: job, id, state, duration, size, place."""
    took = "" if ended.duration_ms is None else f"{ended.duration_ms:,} ms"
    size = "" if ended.size is None else f"{ended.size:,} bytes"
    return (
        f"{ended.job[:8]}  {ended.kind} {ended.checkpoint:<7} {ended.state:<10} {took:>10} {size:>16}  "
        f"{ended.place.describe()}"
    )


def ended_object(ended: Ended) -> dict[str, Any]:
    """One checkpoint as JSON values."""
    return {
        "what": "checkpoint", "job": ended.job, "checkpoint": ended.checkpoint, "kind": ended.kind,
        "state": ended.state, "duration_ms": ended.duration_ms, "bytes": ended.size,
        "file": ended.place.file, "line": ended.place.line, "time": ended.place.time,
    }  # fmt: skip


def alarm_lines(alarm: Alarm) -> str:
    """An alarm: place, rule and sentence, and below it the line itself."""
    text = f"\n  {alarm.place.text[:300]}" if alarm.place.text else ""
    return f"ALARM  {alarm.describe()}{text}"


def alarm_object(alarm: Alarm) -> dict[str, Any]:
    """An alarm as JSON values. `rule` is null if a line cannot be read or is missing."""
    return {
        "what": "alarm", "job": alarm.job or None, "rule": alarm.rule or None, "sentence": alarm.sentence,
        "checkpoint": None if alarm.checkpoint < 0 else alarm.checkpoint,
        "file": alarm.place.file, "line": alarm.place.line, "text": alarm.place.text,
        "time": alarm.place.time,
    }  # fmt: skip


def verdict_of(monitor: Counts) -> Verdict:
    """DIVERGES after an alarm with a rule, UNDETERMINED after others or if no checkpoint has ended."""
    if any(count for rule, count in monitor.alarms.items() if rule):
        return Verdict.DIVERGES
    seen = sum(count for state, count in monitor.ended.items() if state != "restored")
    return Verdict.UNDETERMINED if monitor.alarms or not seen else Verdict.CONFORMS


def account(monitor: Monitor, files_read: int) -> Iterator[str]:
    """Yield the final summary: the number of lines, the rules that each level has shown, and the verdict."""
    jobs, files_ = "s" * (len(monitor.jobs) != 1), "s" * (files_read != 1)
    yield (
        f"{monitor.lines:,} lines of {files_read} file{files_}, {monitor.about:,} of the protocol, "
        f"{len(monitor.jobs)} job{jobs}"
    )
    states = ", ".join(f"{count:,} {state}" for state, count in monitor.ended.items())
    yield f"  checkpoints  {states or 'none ended'}"
    judged = monitor.rules()
    info = [rule for rule in LEVELS["info"] if rule in judged]
    unseen = [rule for rule in LEVELS["info"] if rule not in judged]
    yield f"  INFO shows   {', '.join(info) or 'nothing yet'}"
    if unseen:
        yield f"  no line yet  {', '.join(unseen)}"
    missing = [logger for logger, kind in LEVELS["debug_loggers"].items() if not monitor.kinds[kind]]
    more = sorted(judged.difference(LEVELS["info"]))
    if missing:
        loggers, further = ", ".join(missing), ", ".join(LEVELS["debug"])
        yield f"  DEBUG        not seen: set {loggers} to DEBUG to judge also {further}"
    else:
        yield f"  DEBUG shows  {', '.join(more)}; {monitor.replayed:,} lines replayed through the model"
        for job, note in monitor.notes():
            yield f"  {job[:8]}     not replayed through the model: {note[:300]}"
    tolerated = sum(monitor.tolerated().values())
    yield f"  reorderings  {tolerated:,} between threads tolerated"
    wrong = sum(count for rule, count in monitor.alarms.items() if rule)
    unreadable = monitor.alarms[""]
    without = f"{unreadable:,} lines that cannot be read or are missing"
    yield f"{verdict_of(monitor).value}  {wrong:,} alarms, {without}"


def account_object(monitor: Monitor) -> dict[str, Any]:
    """The final summary as JSON values."""
    judged = monitor.rules()
    return {
        "what": "summary", "verdict": verdict_of(monitor).value, "lines": monitor.lines,
        "protocol_lines": monitor.about, "jobs": len(monitor.jobs), "checkpoints": dict(monitor.ended),
        "alarms": sum(count for rule, count in monitor.alarms.items() if rule),
        "unreadable": monitor.alarms[""], "rules": sorted(judged),
        "replayed": monitor.replayed,
    }  # fmt: skip


def as_line(found: Mapping[str, Any]) -> str:
    """An object as one JSON line."""
    return orjson.dumps(found).decode()
