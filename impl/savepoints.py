"""Requests for savepoints of a running job, from the process of the job or from another process.

A request waits until the coordinator takes it. The answer is a `Savepoint`, or the reason why the savepoint
failed. Another process makes a request by a file in the folder `requests` of the job's output folder. The job
polls this folder and writes its answer into a second file:

    requests/5f0c22.json         the request
    requests/5f0c22.answer       the answer

Another process cancels or suspends a job by such a file, too. A driver that replaces a killed driver answers
the requests that are still in the folder. But an old request must not end a resumed job, so a request to end
the job counts only while its sender waits. The sender writes the file again and again, each time with a
higher number. The driver ends the job when it has seen the number grow. This uses neither the clock of
another host nor a clock that an operator can set.
"""

import json
import secrets
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from impl.spark.coordination.manual_triggers import ManualTriggers
from impl.spark.errors import SavepointAbortedError, SavepointFailedError
from impl.state import StateError
from impl.state.durable import make_directory, read_file, remove_file, write_file
from impl.state.locations import Where, is_uri, path_or_uri, recorded_checkpoint_folder

REQUESTS = "requests"
"""The name of the folder of the requests of other processes, in the output folder of the job."""
_REQUEST, _ANSWER = ".json", ".answer"
_POLL_SECONDS = 0.1
CANCEL, SUSPEND = "cancel", "suspend"
"""The kinds of requests that end a job. The field with the growing number has the same name (see above)."""
_GROWS_SECONDS, _STALE_SECONDS = 0.3, 10.0
"""The interval at which a sender raises the number, and the time without a rise after which it has ended."""


@dataclass(frozen=True, slots=True)
class Savepoint:
    """A complete savepoint. `stopped`: whether the job has ended with this savepoint."""

    checkpoint: int
    folder: Where
    stopped: bool = False


@dataclass(frozen=True, slots=True)
class SavepointRequest:
    """A request for a savepoint.

    `directory`: the folder or URI in which the savepoint gets its own folder; None: the job's folder
    `savepoints`. `stop`: whether the job ends with the savepoint. `drain`: whether every function gets the
    end of its data before the savepoint, so that it finishes. Raises `SavepointFailedError` for other values,
    and for `drain` without `stop`, because the data of a job that continues has no end.
    """

    directory: Where | None = None
    stop: bool = False
    drain: bool = False

    def __post_init__(self) -> None:
        if self.directory is not None and not isinstance(self.directory, Path) and not is_uri(self.directory):
            raise SavepointFailedError(f"directory takes a Path or a URI, not {self.directory!r}")
        if not isinstance(self.stop, bool) or not isinstance(self.drain, bool):
            raise SavepointFailedError(f"stop and drain take bools, not {self.stop!r} and {self.drain!r}")
        if self.drain and not self.stop:
            raise SavepointFailedError("drain ends the data, so it needs stop, too; set both, or neither")


Answer = Savepoint | SavepointFailedError


@dataclass(frozen=True, slots=True)
class PendingRequest:
    """A request, and the function that answers it."""

    request: SavepointRequest
    answer: Callable[[Answer], None]
    elsewhere: bool = False
    """Whether another process has made the request, by a file that the next driver finds, too."""


class SavepointRequests:
    """The requests of one job.

    `files`: the folder of the requests of other processes; None: this job accepts no such requests.
    `may_suspend`: whether the checkpoints still exist after the end of the driver. `checkpoints`: the
    requests of this process for checkpoints.
    """

    def __init__(
        self,
        files: Path | None = None,
        clock: Callable[[], float] = time.monotonic,
        *,
        may_suspend: bool = True,
    ) -> None:
        self._files = files
        self._clock = clock
        self._waiting: deque[PendingRequest] = deque()
        self._seen: set[str] = set()
        self._closed: str | None = None
        self._changing = threading.Lock()
        self._may_suspend = may_suspend
        self._ends: dict[Path, str] = {}
        """The requests that end the job: CANCEL or SUSPEND."""
        self._first: dict[Path, tuple[int, float]] = {}
        """For each request that ends the job: the number that was read first, and the time of this read."""
        self.cancelled = threading.Event()
        """The event that a thread sets to cancel the job."""
        self.suspended = threading.Event()
        """The event that a thread sets to suspend the job."""
        self.checkpoints = ManualTriggers()

    def add(self, request: SavepointRequest) -> "Future[Savepoint]":
        """Add a request; returns the future of its savepoint, which fails with `SavepointFailedError`."""
        future: Future[Savepoint] = Future()
        pending = PendingRequest(request, lambda answer: _settle(future, answer))
        with self._changing:
            closed = self._closed
            if closed is None:
                self._waiting.append(pending)
        if closed is not None:
            pending.answer(SavepointFailedError(closed))
        return future

    def poll(self) -> None:
        """Add the new requests of other processes. Answers a file that is not a valid request by an error."""
        if self._files is None:
            return
        for path in sorted(self._files.glob(f"*{_REQUEST}")):
            if path.stem in self._seen:
                continue
            answer = _answering(path)
            try:
                values = json.loads(read_file(path))
                if end := next((one for one in (CANCEL, SUSPEND) if one in values), None):
                    self._end(path, end, int(values[end]))
                    continue
                self._seen.add(path.stem)
                directory = values.pop("directory")
                request = SavepointRequest(None if directory is None else path_or_uri(directory), **values)
            except (ValueError, KeyError, TypeError, AttributeError, StateError) as cause:
                self._seen.add(path.stem)
                answer(SavepointFailedError(f"{path.name}: expected a request, got {cause!r}"))
                continue
            except SavepointFailedError as refused:
                answer(refused)
                continue
            with self._changing:
                self._waiting.append(PendingRequest(request, answer, elsewhere=True))

    def require_suspendable(self) -> None:
        """Raise SavepointFailedError if the job cannot be resumed after a suspension."""
        if not self._may_suspend:
            raise SavepointFailedError(
                "the checkpoints of this job are in the memory of its driver and end with it, so the job "
                "cannot be suspended; stop it with a savepoint"
            )

    def _end(self, path: Path, end: str, number: int) -> None:
        """End the job if `number` is higher than at the first read, so that the sender still waits.

        Removes the request of a sender that has ended. Raises SavepointFailedError if the job cannot suspend.
        """
        if end == SUSPEND:
            self.require_suspendable()
        self._ends[path] = end
        first, since = self._first.setdefault(path, (number, self._clock()))
        if number > first:
            self._seen.add(path.stem)
            (self.suspended if end == SUSPEND else self.cancelled).set()
        elif self._clock() - since > _STALE_SECONDS:
            self._seen.add(path.stem)
            remove_file(path)

    def take(self) -> PendingRequest | None:
        """Remove and return the oldest request; None if no request waits."""
        with self._changing:
            return self._waiting.popleft() if self._waiting else None

    def close(self, reason: str, *, superseded: bool = False, ended_by: str | None = None) -> None:
        """Answer all requests, because the job has ended. These and all later requests fail with `reason`.

        `ended_by`: the kind of request that has ended the job, CANCEL or SUSPEND. Such requests succeed.
        `superseded`: whether a newer driver runs the job. If so, the newer driver answers the requests of
        other processes, and this driver does not.
        """
        self.checkpoints.close(reason)
        if superseded:
            self._files = None
        self.poll()
        with self._changing:
            self._closed = reason
        while (pending := self.take()) is not None:
            if not (superseded and pending.elsewhere):
                pending.answer(SavepointFailedError(reason))
        for path, end in self._ends.items() if not superseded else ():
            _reply(path, {} if end == ended_by else {"failed": reason})
        if self._files is not None and self._files.is_dir() and not any(self._files.iterdir()):
            self._files.rmdir()


def request_savepoint(output: Path, request: SavepointRequest, seconds: float) -> Savepoint:
    """Request a savepoint of a job in another process, and return the savepoint when it is complete.

    `output`: the output folder of the job. Raises `SavepointAbortedError` if the job answers that the
    savepoint failed, `SavepointFailedError` if there is no answer within `seconds`.
    """
    chosen = request.directory
    directory = None if chosen is None else str(chosen.resolve() if isinstance(chosen, Path) else chosen)
    answer = _answer_to(output, {**asdict(request), "directory": directory}, seconds)
    if "failed" in answer:
        raise SavepointAbortedError(str(answer["failed"]))
    return Savepoint(answer["checkpoint"], path_or_uri(answer["folder"]), answer["stopped"])


def request_end(output: Path, end: str, seconds: float) -> None:
    """Cancel or suspend a job in another process, and wait for the end of the job.

    `output`: the output folder of the job. `end`: CANCEL or SUSPEND. Raises `SavepointAbortedError` if the
    job ends in another way or cannot be suspended, `SavepointFailedError` if there is no answer within
    `seconds`.
    """
    answer = _answer_to(output, {end: 0}, seconds)
    if "failed" in answer:
        raise SavepointAbortedError(str(answer["failed"]))


def _answer_to(output: Path, values: Mapping[str, object], seconds: float) -> dict[str, Any]:
    """The answer of the job to a request.

    Raises `SavepointFailedError` if `output` is not the output folder of a job, or if there is no answer
    within `seconds`.
    """
    if not (recorded_checkpoint_folder(output) or (output / "checkpoints" / "attempts").is_dir()):
        raise SavepointFailedError(
            f"{output} is not the output folder of a job: it has no checkpoints; name the folder of a "
            "running job"
        )
    folder = output / REQUESTS
    make_directory(folder)
    token = secrets.token_hex(6)
    file, answered = folder / f"{token}{_REQUEST}", folder / f"{token}{_ANSWER}"
    write_file(file, json.dumps(values).encode())
    began = time.monotonic()
    until, grows, number = began + seconds, began + _GROWS_SECONDS, 0
    while not answered.is_file():
        if {CANCEL, SUSPEND} & set(values) and time.monotonic() > grows and file.is_file():
            number, grows = number + 1, time.monotonic() + _GROWS_SECONDS
            write_file(file, json.dumps(dict.fromkeys(values, number)).encode())
        if time.monotonic() > until:
            remove_file(file)
            raise SavepointFailedError(
                f"no answer in {output} within {seconds:g} s: no job runs there, or the answer takes longer; "
                "check that the job runs, or allow more time"
            )
        time.sleep(_POLL_SECONDS)
    answer: dict[str, Any] = json.loads(read_file(answered))
    remove_file(answered)
    remove_file(file)  # this process may have written the request again while the job answered
    return answer


def _settle(future: "Future[Savepoint]", answer: Answer) -> None:
    if isinstance(answer, Savepoint):
        future.set_result(answer)
    else:
        future.set_exception(answer)


def _answering(path: Path) -> Callable[[Answer], None]:
    """A function that answers the request in a file and removes the file."""

    def answer(result: Answer) -> None:
        values = (
            {**asdict(result), "folder": str(result.folder)}
            if isinstance(result, Savepoint)
            else {"failed": str(result)}
        )
        _reply(path, values)

    return answer


def _reply(path: Path, values: Mapping[str, object]) -> None:
    if path.is_file():  # otherwise the other process has stopped waiting
        write_file(path.with_suffix(_ANSWER), json.dumps(values).encode())
        remove_file(path)
