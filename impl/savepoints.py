"""Asking a running job for a savepoint: from the process that started it, or from any other.

A request waits on a desk until the coordinator takes it; the answer is a `Savepoint`, or the reason why
there is none. In the job's own process a request is put on the desk itself. From another one it is a file
in the folder `requests` beside the checkpoints, which the job looks into and answers by another file:

    requests/5f0c22.json         what is asked for
    requests/5f0c22.answer       what came of it

A driver that takes over from a dead one finds what that has left unanswered, and does it.
"""

import json
import secrets
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import asdict, dataclass
from pathlib import Path

from impl.spark.coordination.manual_triggers import WantedCheckpoints
from impl.spark.errors import SavepointAbortedError, SavepointFailedError
from impl.state import StateError
from impl.state.durable import make_directory, read_file, remove_file, write_file

REQUESTS = "requests"
"""The folder of those that other processes ask for, beside the checkpoints."""
_REQUEST, _ANSWER = ".json", ".answer"
_LOOK_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class Savepoint:
    """A savepoint that is complete. `stopped`: the job has ended with it."""

    checkpoint: int
    folder: Path
    stopped: bool = False


@dataclass(frozen=True, slots=True)
class SavepointRequest:
    """What somebody wants.

    `directory`: where the savepoint's own folder is made, None for `savepoints` beside the checkpoints;
    `stop`: the job ends with it; `drain`: and its data with the job, so that every function finishes.
    Raises `SavepointFailedError` for anything else, and for a drain without a stop: the data of a job that
    goes on has no end.
    """

    directory: Path | None = None
    stop: bool = False
    drain: bool = False

    def __post_init__(self) -> None:
        if self.directory is not None and not isinstance(self.directory, Path):
            raise SavepointFailedError(f"directory takes a Path, not {self.directory!r}")
        if not isinstance(self.stop, bool) or not isinstance(self.drain, bool):
            raise SavepointFailedError(f"stop and drain take bools, not {self.stop!r} and {self.drain!r}")
        if self.drain and not self.stop:
            raise SavepointFailedError("drain ends the data, so it takes stop as well; ask for both, or none")


@dataclass(frozen=True, slots=True)
class Asked:
    """A request with whom to answer."""

    request: SavepointRequest
    answer: Callable[[Savepoint | SavepointFailedError], None]


class SavepointDesk:
    """Where requests wait; `files`: the folder where other processes leave theirs, None for nobody else.

    `checkpoints`: those that somebody in this process asks for.
    """

    def __init__(self, files: Path | None = None) -> None:
        self._files = files
        self._waiting: deque[Asked] = deque()
        self._seen: set[str] = set()
        self._closed: str | None = None
        self._changing = threading.Lock()
        self.checkpoints = WantedCheckpoints()

    def ask(self, request: SavepointRequest) -> "Future[Savepoint]":
        """Put a request on the desk; the future fails with `SavepointFailedError`."""
        future: Future[Savepoint] = Future()
        asked = Asked(request, lambda answer: _settle(future, answer))
        with self._changing:
            closed = self._closed
            if closed is None:
                self._waiting.append(asked)
        if closed is not None:
            asked.answer(SavepointFailedError(closed))
        return future

    def look(self) -> None:
        """See whether another process has left something."""
        if self._files is None:
            return
        for path in sorted(self._files.glob(f"*{_REQUEST}")):
            if path.stem in self._seen:
                continue
            self._seen.add(path.stem)
            asked = Asked(SavepointRequest(), _answering(path))
            try:
                told = json.loads(read_file(path))
                where = told.pop("directory")
                request = SavepointRequest(None if where is None else Path(where), **told)
            except (ValueError, KeyError, TypeError, AttributeError, StateError) as cause:
                asked.answer(SavepointFailedError(f"{path.name}: expected a request, came {cause!r}"))
                continue
            except SavepointFailedError as refused:
                asked.answer(refused)
                continue
            with self._changing:
                self._waiting.append(Asked(request, asked.answer))

    def take(self) -> Asked | None:
        """The oldest request, which leaves the desk; None if nobody waits."""
        with self._changing:
            return self._waiting.popleft() if self._waiting else None

    def close(self, why: str, *, superseded: bool = False) -> None:
        """The job has ended: whoever waits is told why, and whoever comes later too.

        `superseded`: what other processes ask for is left to the driver that has taken over.
        """
        self.checkpoints.close(why)
        if superseded:
            self._files = None
        self.look()
        with self._changing:
            self._closed = why
        while (asked := self.take()) is not None:
            asked.answer(SavepointFailedError(why))
        if self._files is not None and self._files.is_dir() and not any(self._files.iterdir()):
            self._files.rmdir()


def request_savepoint(output: Path, request: SavepointRequest, seconds: float) -> Savepoint:
    """Ask the job that runs in another process with `output`, and wait for its answer.

    Raises `SavepointAbortedError` if the job answers so, `SavepointFailedError` if nobody does within
    `seconds`.
    """
    if not (output / "checkpoints" / "attempts").is_dir():
        raise SavepointFailedError(
            f"{output} is not what a job was started with: it has no checkpoints; name that folder"
        )
    folder = output / REQUESTS
    make_directory(folder)
    token = secrets.token_hex(6)
    asked, answered = folder / f"{token}{_REQUEST}", folder / f"{token}{_ANSWER}"
    told = asdict(request)
    told["directory"] = None if request.directory is None else str(request.directory.resolve())
    write_file(asked, json.dumps(told).encode())
    until = time.monotonic() + seconds
    while not answered.is_file():
        if time.monotonic() > until:
            remove_file(asked)
            raise SavepointFailedError(
                f"nobody answered in {output} within {seconds:g} s: no job runs there, or its savepoint "
                "takes longer; see whether it runs, or give it more time"
            )
        time.sleep(_LOOK_SECONDS)
    answer = json.loads(read_file(answered))
    remove_file(answered)
    if "failed" in answer:
        raise SavepointAbortedError(str(answer["failed"]))
    return Savepoint(answer["checkpoint"], Path(answer["folder"]), answer["stopped"])


def _settle(future: "Future[Savepoint]", answer: Savepoint | SavepointFailedError) -> None:
    if isinstance(answer, Savepoint):
        future.set_result(answer)
    else:
        future.set_exception(answer)


def _answering(path: Path) -> Callable[[Savepoint | SavepointFailedError], None]:
    """Answer a request that is a file: nobody else reads it again after that."""

    def answer(said: Savepoint | SavepointFailedError) -> None:
        told = (
            {**asdict(said), "folder": str(said.folder)}
            if isinstance(said, Savepoint)
            else {"failed": str(said)}
        )
        if path.is_file():  # whoever asked has gone away otherwise
            write_file(path.with_suffix(_ANSWER), json.dumps(told).encode())
            remove_file(path)

    return answer
