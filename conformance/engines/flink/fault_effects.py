"""Measures the effect of faults that make checkpoints fail, in the REST interface and in the logs."""

import re
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, Final

from conformance.engines.engine import RoundError
from conformance.engines.flink.logs import of_cluster
from conformance.engines.flink.rest import RestError, read_json
from conformance.engines.processes import Processes
from conformance.engines.schedule import Kind

HEALTHY_SECONDS: Final = 30.0
"""Maximum time in seconds that a fault waits for a completed checkpoint. While a job restarts, checkpoints
fail without a fault."""
LONGER_SECONDS: Final = 2.0
"""Maximum time in seconds by which a fault is prolonged if no checkpoint has failed yet."""
_SHOWN_SECONDS: Final = 3.0
"""Maximum time in seconds from the end of the fault until its effect is visible."""
_ANSWERED_SECONDS: Final = 20.0
"""Maximum time in seconds until the job manager answers."""
_WAIT: Final = 0.05
_MESSAGE: Final = 100


@contextmanager
def present(file: Path) -> Iterator[None]:
    """Make the file exist within the block."""
    file.touch()
    try:
        yield
    finally:
        file.unlink()


class Effect:
    """Measures the visible effect of a fault. The constructor waits for the next completed checkpoint."""

    def __init__(self, kind: Kind, port: int, processes: Processes) -> None:
        self._kind, self._port, self._processes = kind, port, processes
        self._before = self._counts()
        self._wait(HEALTHY_SECONDS, lambda: self._changed()["completed"] > 0)
        self._since = time.time() * 1_000
        self._read = {log: log.stat().st_size for log in of_cluster(processes)}
        self._before = self._counts()

    def of(self, fault: AbstractContextManager[None], seconds: float) -> dict[str, Any]:
        """Apply the fault for this time, and up to LONGER_SECONDS longer if no checkpoint fails.

        Returns its effect: `failed` and `completed` are numbers of checkpoints, and `lines` is the number of
        lines of the logs that show this kind of fault. `messages` maps each reason of a failure that REST
        reports to the number of checkpoints. Raises RoundError if the job manager does not answer.
        """
        with fault:
            time.sleep(seconds)
            self._wait(LONGER_SECONDS, self._is_shown)
        self._wait(_SHOWN_SECONDS, self._is_shown)
        return {
            "fault": self._kind.value,
            **self._changed(),
            "lines": self._lines(),
            "messages": self._messages(),
        }

    def _wait(self, seconds: float, happened: Callable[[], bool]) -> None:
        """Wait until `happened` returns True, for at most this time."""
        until = time.monotonic() + seconds
        while time.monotonic() < until and not happened():
            time.sleep(_WAIT)

    def _is_shown(self) -> bool:
        return self._changed()["failed"] > 0 and self._lines() > 0

    def _changed(self) -> dict[str, int]:
        now = self._counts()
        return {name: now[name] - self._before[name] for name in ("failed", "completed")}

    def _lines(self) -> int:
        """The number of lines of the logs that show the fault, written since the constructor has ended."""
        shows = re.compile((self._kind.shows or "").encode())
        found = 0
        for log in of_cluster(self._processes):
            with log.open("rb") as file:
                file.seek(self._read.get(log, 0))
                found += sum(bool(shows.search(line)) for line in file)
        return found

    def _counts(self) -> Counter[str]:
        counts: Counter[str] = Counter()
        for answer in self._answers():
            counts.update(answer["counts"])
        return counts

    def _messages(self) -> dict[str, int]:
        """Maps each reason that REST reports to the number of checkpoints that failed since the fault."""
        return dict(
            Counter(
                str(one.get("failure_message"))[:_MESSAGE]
                for answer in self._answers()
                for one in answer["history"]
                if one["status"] == "FAILED" and one["trigger_timestamp"] >= self._since
            )
        )

    def _answers(self) -> list[dict[str, Any]]:
        """The answers of the REST interface about the checkpoints of each job.

        Raises RoundError if the job manager does not answer.
        """
        until = time.monotonic() + _ANSWERED_SECONDS
        while True:
            try:
                jobs = read_json(self._port, "/jobs")["jobs"]
                return [read_json(self._port, f"/jobs/{job['id']}/checkpoints") for job in jobs]
            except RestError as failed:
                if time.monotonic() > until:
                    raise RoundError(f"expected the numbers of checkpoints, got: {failed}") from failed
            time.sleep(_WAIT)
