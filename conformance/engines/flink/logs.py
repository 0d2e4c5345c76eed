"""The logs of a cluster's processes as one log, and what the monitor of Flink's logs finds in it."""

import heapq
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from conformance.engines.processes import Processes
from conformance.observe.monitor.growing import GrowingFile
from conformance.observe.monitor.monitor import Monitor
from conformance.observe.monitor.reports import Alarm
from conformance.observe.monitor.shown import verdict_of

_BEGINS = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} ")
_STAMP = 23
_SHOWN = 3


def of_cluster(processes: Processes) -> list[Path]:
    """The logs of the job managers and task managers that were started so far."""
    return [one.log for one in processes.started if one.name in {"job-manager", "task-manager"}]


def merged(logs: Sequence[Path]) -> Iterator[str]:
    """The records of all logs in the order of their times; those of one log stay in their order."""
    for _, record in heapq.merge(*map(_records, logs), key=lambda one: one[0]):
        yield record


def validated(logs: Sequence[Path], into: Path) -> dict[str, Any]:
    """Write the merged log into a file, and let the monitor of Flink's logs read it.

    Returns the verdict, the numbers of lines about the protocol and of lines that were replayed through the
    model, the rules of which a line was judged, and the first alarms.
    """
    into.write_text("".join(merged(logs)), encoding="utf-8")
    alarms: list[Alarm] = []
    monitor = Monitor(alarms.append, lambda _ended: None)
    file = GrowingFile(str(into))
    while lines := list(file.lines()):
        for line in lines:
            monitor.read(line)
    for line in file.end():
        monitor.read(line)
    file.close()
    monitor.finish()
    return {
        "verdict": verdict_of(monitor).value,
        "lines": monitor.about,
        "replayed": monitor.replayed,
        "rules": sorted(monitor.rules()),
        "alarms": [_describe(alarm) for alarm in alarms[:_SHOWN]],
    }


def _describe(alarm: Alarm) -> str:
    return alarm._replace(place=alarm.place._replace(file=Path(alarm.place.file).name)).describe()


def _records(log: Path) -> Iterator[tuple[str, str]]:
    """The records of one log with their times; a line that begins none belongs to the record before."""
    stamp = ""
    lines: list[str] = []
    for line in log.read_text("utf-8", "replace").splitlines(keepends=True):
        if _BEGINS.match(line):
            if lines and stamp:
                yield stamp, "".join(lines)
            stamp, lines = line[:_STAMP], []
        lines.append(line)
    if lines and stamp and lines[-1].endswith("\n"):  # a killed process leaves a torn line
        yield stamp, "".join(lines)
