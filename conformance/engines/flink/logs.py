"""Merges the logs of a cluster's processes, and runs the monitor of Flink's logs on the result."""

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
    """The log files of the job managers and task managers that were started so far."""
    return [one.log for one in processes.started if one.name in {"job-manager", "task-manager"}]


def merged(logs: Sequence[Path]) -> Iterator[str]:
    """Yield the records of all logs in the order of their times. The records of one log keep their order."""
    for _, record in heapq.merge(*map(_records, logs), key=lambda one: one[0]):
        yield record


def validated(logs: Sequence[Path], into: Path) -> dict[str, Any]:
    """Write the merged log into the file `into`, and run the monitor of Flink's logs on it.

    Returns the verdict, the number of lines about the protocol, the number of lines that were replayed
    through the model, the rules by which lines were judged, and the first alarms.
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
    """Yield the records of one log with their times. Other lines continue the record before them."""
    stamp = ""
    lines: list[str] = []
    for line in log.read_text("utf-8", "replace").splitlines(keepends=True):
        if _BEGINS.match(line):
            if lines and stamp:
                yield stamp, "".join(lines)
            stamp, lines = line[:_STAMP], []
        lines.append(line)
    if lines and stamp and lines[-1].endswith("\n"):  # a killed process may leave an incomplete last line
        yield stamp, "".join(lines)
