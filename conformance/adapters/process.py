"""The adapter of an implementation that is a separate process: JSON lines over its pipes.

Every answer has a time limit. If the process exits, hangs, or sends an invalid frame, the adapter ends it and
reports the head and the tail of its stderr, and the next `new` starts another process. The process runs in a
new session, and the adapter ends its whole process group, because a command may be a shell that starts the
implementation. If the suite's process dies, a guard process ends the group.
"""

import contextlib
import os
import selectors
import shlex
import signal
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import IO, TypeVar

from conformance import escape
from conformance.adapters import frames, protocol
from conformance.adapters.frames import FRAME_LIMIT, FrameError

FIRST_ANSWER = 2
"""The first answer may take the time limit multiplied by this number, because the process has to start."""
STDERR_HEAD, STDERR_TAIL = 2048, 4096
"""The numbers of bytes of stderr in a report: from its beginning, and from its end."""
_CHUNK = 65536
_GUARD = ("/bin/sh", "-c", 'read -r ended || kill -s KILL -- "-$1"', "guard")
"""The guard: waits for a line on its stdin, and kills the process group $1 if stdin ends without a line."""
Result = TypeVar("Result", protocol.Hello, protocol.Made, protocol.Applied, protocol.Visible)
_GRACE_SECONDS = 2.0


class _HeadAndTail:
    """The head and the tail of a stream of bytes."""

    def __init__(self) -> None:
        self._head = self._tail = b""
        self._dropped = 0

    def add(self, chunk: bytes) -> None:
        """Take the next bytes."""
        room = STDERR_HEAD - len(self._head)
        self._head += chunk[:room]
        tail = self._tail + chunk[room:]
        self._dropped += max(0, len(tail) - STDERR_TAIL)
        self._tail = tail[-STDERR_TAIL:]

    def text(self) -> str:
        """Head and tail, and between them the number of bytes that were left out."""
        left_out = f"\n... {self._dropped:,} bytes left out ...\n" if self._dropped else ""
        return (self._head + left_out.encode() + self._tail).decode(errors="replace")


class ProcessAdapter:
    """One implementation behind a command. `command` is split as a shell would, without a shell.

    `seconds` is the time limit of one answer, `frame_limit` the greatest answer in bytes.
    """

    def __init__(
        self,
        command: str | Sequence[str],
        seconds: float = protocol.ANSWER_LIMIT_SECONDS,
        frame_limit: int = FRAME_LIMIT,
    ) -> None:
        self.command = shlex.split(command) if isinstance(command, str) else list(command)
        self.seconds = seconds
        self._frame_limit = frame_limit
        self._process: subprocess.Popen[bytes] | None = None
        self._guard: subprocess.Popen[bytes] | None = None
        self._seq = 0
        self._input = b""
        self._unsent = b""
        self._stderr = _HeadAndTail()
        self._is_first = False
        """Whether the next answer is the first one of the process."""
        self._submitted = 0
        self.starts = 0
        """The number of processes that were started."""
        self.exit_code: int | None = None
        """The exit code of the process after `bye`. None: it has not ended, or the adapter had to kill it."""

    def __enter__(self) -> "ProcessAdapter":
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None or issubclass(kind, Exception):
            self.bye()
        else:  # interrupted: do not wait for an answer
            self._end()

    @property
    def runs(self) -> bool:
        """Whether a process runs."""
        return self._process is not None

    def hello(self) -> protocol.Hello | protocol.Failure:
        """The implementation and the components that it offers; starts the process if none runs."""
        return self._request("hello", protocol.Hello, frames.encode_hello(self._seq))

    def new(self, component: str, config: protocol.Wire) -> protocol.Made | protocol.Failure:
        """A fresh instance, in a fresh process if the previous process is gone."""
        return self._request("new", protocol.Made, frames.encode_new(self._seq, component, config))

    def new_in(self, component: str, config: protocol.Wire, folder: str) -> protocol.Made | protocol.Failure:
        """As `new`. The instance keeps its durable data in the folder, and continues from the data there."""
        return self._request("new", protocol.Made, frames.encode_new(self._seq, component, config, folder))

    def observe(self) -> protocol.Visible | protocol.Failure:
        """The data that a reader of the durable data can read now. Starts the process if none runs."""
        return self._request("observe", protocol.Visible, frames.encode_observe(self._seq))

    def kill(self) -> None:
        """Kill the process with its group; the next request starts a new one."""
        self._end()

    def apply(self, events: Sequence[protocol.Wire]) -> protocol.Applied | protocol.Failure:
        """Send one batch of events. Returns `Errored` if no process runs: then there is no instance."""
        self.submit(events)
        return self.collect()

    def apply_at_once(self, events: Sequence[protocol.Wire]) -> protocol.Applied | protocol.Failure:
        """Send events that have no order. Returns `Errored` if no process runs: then there is no instance."""
        if self._process is None:
            return protocol.Errored("there is no instance; send `new` first")
        self._unsent = frames.encode_apply(self._seq, events, at_once=True)
        return self._answer("apply", protocol.Applied, len(events))

    def submit(self, events: Sequence[protocol.Wire]) -> None:
        """Send a batch without waiting for the answer. The next call must be `collect`."""
        self._submitted = len(events)
        if self._process is not None:
            self._unsent = _write(_pipes(self._process)[0], frames.encode_apply(self._seq, events))

    def collect(self) -> protocol.Applied | protocol.Failure:
        """The answer to the batch that was submitted; its time limit begins now."""
        if self._process is None:
            return protocol.Errored("there is no instance; send `new` first")
        return self._answer("apply", protocol.Applied, self._submitted)

    def bye(self) -> None:
        """Ask the process to end, and end it if it does not."""
        if self._process is None:
            return
        answer = self._request("bye", protocol.Made, frames.encode_bye(self._seq))
        if isinstance(answer, protocol.Made) and self._process is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):  # if it still runs, `_end` ends it
                self.exit_code = self._process.wait(_GRACE_SECONDS)
        self._end()

    def memory(self) -> int | None:
        """Bytes of the resident memory of the process and its group; None where there is no /proc."""
        if self._process is None or not Path("/proc/self/stat").exists():
            return None
        group = str(self._process.pid)
        pages = 0
        for stat in Path("/proc").glob("[0-9]*/stat"):
            with contextlib.suppress(OSError):  # the process has ended
                fields = stat.read_text(encoding="utf-8", errors="replace").rpartition(") ")[2].split()
                pages += int(fields[21]) if fields[2] == group else 0
        return pages * os.sysconf("SC_PAGE_SIZE")

    # ------------------------------------------------------------ many frames at once

    @property
    def next_number(self) -> int:
        """The number that the next frame will carry."""
        return self._seq

    def send(self, frames: bytes, count: int) -> protocol.Failure | None:
        """Send prepared frames, numbered from `next_number` on, and do not wait.

        The next call must be `receive`. It also sends the bytes that the pipe did not take here.
        """
        if self._process is None and (failed := self._start()) is not None:
            return failed
        assert self._process is not None
        self._seq += count
        self._submitted = count
        self._unsent = _write(_pipes(self._process)[0], frames)
        return None

    def receive(self) -> bytes | protocol.Failure:
        """The lines that answer the sent frames, unchanged and without the last end of line.

        They are not parsed: the caller compares them with the expected ones. One time limit holds for all.
        """
        if self._process is None:
            return protocol.Errored("nothing was sent")
        return self._exchange(self._submitted)

    # ------------------------------------------------------------ one request, one answer

    @property
    def _limit(self) -> float:
        """Seconds that the next answer may take."""
        return self.seconds * (FIRST_ANSWER if self._is_first else 1)

    def _request(self, op: str, expected: type[Result], request: bytes) -> Result | protocol.Failure:
        if self._process is None and (failed := self._start()) is not None:
            return failed
        self._unsent = request
        return self._answer(op, expected)

    def _answer(self, op: str, expected: type[Result], events: int = 0) -> Result | protocol.Failure:
        seq, self._seq = self._seq, self._seq + 1
        seconds = self._limit
        deadline = time.monotonic() + seconds
        line = self._exchange()
        if not isinstance(line, bytes):
            return line
        try:
            answer = frames.parse_answer(line, seq, op, events, self._frame_limit)
        except FrameError as error:
            return self._malformed(str(error))
        if time.monotonic() > deadline:  # parsing a long answer counts as well
            return protocol.Hung(seconds, self._end())
        self._is_first = False
        assert isinstance(
            answer, expected | protocol.Unsupported | protocol.Errored
        )  # parse_answer reads by the op
        return answer

    def _exchange(self, lines: int = 1) -> bytes | protocol.Crashed | protocol.Hung | protocol.Malformed:
        """Write the unsent bytes and read this number of lines, both within the time limit."""
        process = self._process
        assert process is not None
        stdin, stdout, stderr = _pipes(process)
        seconds = self._limit
        deadline = time.monotonic() + seconds
        with selectors.DefaultSelector() as ready:
            ready.register(stdout, selectors.EVENT_READ)
            ready.register(stderr, selectors.EVENT_READ)
            if self._unsent:
                ready.register(stdin, selectors.EVENT_WRITE)
            while True:
                if not self._unsent and self._input.count(b"\n") >= lines:
                    *whole, self._input = self._input.split(b"\n", lines)
                    return b"\n".join(whole)
                if len(self._input) > self._frame_limit * lines:
                    return self._malformed(f"an answer of more than {self._frame_limit} bytes")
                left = deadline - time.monotonic()
                if left <= 0:
                    return protocol.Hung(seconds, self._end())
                for key, _ in ready.select(left):
                    if key.fileobj is stdin:
                        self._unsent = _write(stdin, self._unsent)
                        if not self._unsent:
                            ready.unregister(stdin)
                        continue
                    chunk = os.read(key.fd, _CHUNK)
                    if key.fileobj is stderr:
                        self._stderr.add(chunk)
                        if not chunk:
                            ready.unregister(stderr)
                    elif chunk:
                        self._input += chunk
                    else:
                        return self._crashed()

    # ------------------------------------------------------------ the process

    def _start(self) -> protocol.Crashed | None:
        self._input = self._unsent = b""
        self._stderr, self._is_first = _HeadAndTail(), True
        self.starts += 1
        if not self.command:
            return protocol.Crashed("expected a command to start, got nothing", "")
        try:
            self._process = subprocess.Popen(
                self.command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:  # ValueError: the name has a zero byte
            return protocol.Crashed(f"cannot start {escape.shell(self.command)}: {error}", "")
        self._guard = subprocess.Popen(
            [*_GUARD, str(self._process.pid)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        for pipe in _pipes(self._process):
            os.set_blocking(pipe.fileno(), False)
        return None

    def _crashed(self) -> protocol.Crashed:
        """The answer for a process that has closed its stdout, whether or not it has ended."""
        process = self._process
        assert process is not None
        try:
            code = process.wait(_GRACE_SECONDS)
            how = f"exit code {code}" if code >= 0 else f"killed by signal {-code}"
        except subprocess.TimeoutExpired:
            how = "closed its stdout"
        return protocol.Crashed(how, self._end())

    def _malformed(self, what: str) -> protocol.Malformed:
        return protocol.Malformed(what, self._end())

    def _end(self) -> str:
        """End the process with its group, and close its pipes. Returns head and tail of its stderr."""
        process, self._process = self._process, None
        if process is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):  # the group has ended
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            self._end_guard()
            stdin, stdout, stderr = _pipes(process)
            self._stderr.add(_rest(stderr))
            for pipe in (stdin, stdout, stderr):
                try:
                    pipe.close()
                except BrokenPipeError:
                    continue  # the dead process did not read it
        return self._stderr.text()

    def _end_guard(self) -> None:
        """End the guard after the group has ended, because the system may reuse the number of the group."""
        guard, self._guard = self._guard, None
        if guard is not None:
            with contextlib.suppress(BrokenPipeError):
                guard.communicate(b"ended\n")


def _pipes(process: subprocess.Popen[bytes]) -> tuple[IO[bytes], IO[bytes], IO[bytes]]:
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    return process.stdin, process.stdout, process.stderr


def _write(pipe: IO[bytes], unsent: bytes) -> bytes:
    """Write the bytes that the pipe takes now. Returns the others; none if the process has closed it."""
    try:
        return unsent[os.write(pipe.fileno(), unsent) :]
    except BlockingIOError:
        return unsent
    except BrokenPipeError:
        return b""


def _rest(pipe: IO[bytes]) -> bytes:
    """The bytes that are still in a non-blocking pipe. A pipe holds few bytes."""
    rest = b""
    try:
        while chunk := os.read(pipe.fileno(), _CHUNK):
            rest += chunk
    except BlockingIOError:
        return rest  # a child of the process holds the pipe open
    return rest
