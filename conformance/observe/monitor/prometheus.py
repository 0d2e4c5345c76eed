"""The state of a monitor as a text file that the textfile collector of Prometheus reads."""

import os
from collections.abc import Iterator
from pathlib import Path

from conformance.observe.monitor.reports import Counts, Ended


class Exposition:
    """Collects the samples, and writes the file."""

    def __init__(self, monitor: Counts) -> None:
        self._monitor = monitor
        self._last: dict[str, Ended] = {}
        """By job: the end of the last completed checkpoint."""
        self._counts: dict[tuple[str, str], int] = {}

    def ended(self, ended: Ended) -> None:
        """Count a checkpoint that has ended."""
        key = (ended.job, ended.state)
        self._counts[key] = self._counts.get(key, 0) + 1
        if ended.state == "completed":
            self._last[ended.job] = ended

    def write(self, file: Path) -> None:
        """Write the file by a rename, so that no reader sees half of it. Raises OSError."""
        temporary = file.with_name(f".{file.name}.{os.getpid()}")
        temporary.write_text(self.text(), encoding="utf-8")
        temporary.replace(file)

    def text(self) -> str:
        """The file's content."""
        return "".join(f"{line}\n" for line in self._lines())

    def _lines(self) -> Iterator[str]:
        monitor = self._monitor
        for job in [job for job in self._last if job not in monitor.jobs]:
            del self._last[job]
        self._counts = {key: count for key, count in self._counts.items() if key[0] in monitor.jobs}
        yield from _family("lines_total", "counter", "Lines read.", {"": monitor.lines})
        yield from _family("protocol_lines_total", "counter", "Lines of the protocol.", {"": monitor.about})
        replayed = {"": monitor.replayed}
        yield from _family("replayed_lines_total", "counter", "Lines replayed by the model.", replayed)
        unreadable = {"": monitor.alarms[""]}
        yield from _family(
            "unreadable_total", "counter", "Lines that cannot be read, or are missing.", unreadable
        )
        alarms = {f'{{rule="{rule}"}}': count for rule, count in sorted(monitor.alarms.items()) if rule}
        yield from _family("alarms_total", "counter", "Lines that break a rule.", alarms)
        ended = {f'{{job="{job}",state="{state}"}}': n for (job, state), n in sorted(self._counts.items())}
        yield from _family("checkpoints_total", "counter", "Checkpoints that have ended.", ended)
        jobs = {job: f'{{job="{job}"}}' for job in monitor.jobs}
        pending = {jobs[job]: len(one.pending) for job, one in monitor.jobs.items()}
        yield from _family("pending_checkpoints", "gauge", "Checkpoints that are pending.", pending)
        restarts = {jobs[job]: one.restarts for job, one in monitor.jobs.items()}
        yield from _family("restarts_total", "counter", "Restarts of the job.", restarts)
        last = {job: one for job, one in self._last.items() if job in jobs}
        ids = {jobs[job]: one.checkpoint for job, one in last.items()}
        yield from _family("last_completed_id", "gauge", "Id of the last completed checkpoint.", ids)
        took = {jobs[job]: one.duration_ms / 1000 for job, one in last.items() if one.duration_ms is not None}
        yield from _family(
            "last_completed_duration_seconds", "gauge", "Duration of the last completed checkpoint.", took
        )
        sizes = {jobs[job]: one.size for job, one in last.items() if one.size is not None}
        yield from _family(
            "last_completed_size_bytes", "gauge", "Size of the last completed checkpoint.", sizes
        )
        times = {jobs[job]: one.place.time for job, one in last.items() if one.place.time is not None}
        yield from _family(
            "last_completed_log_seconds", "gauge", "Time of the log line with the last completion.", times
        )


def _family(name: str, kind: str, meaning: str, samples: dict[str, int] | dict[str, float]) -> Iterator[str]:
    full = f"barrierspec_{name}"
    yield f"# HELP {full} {meaning}"
    yield f"# TYPE {full} {kind}"
    for labels, value in samples.items():
        yield f"{full}{labels} {value}"
