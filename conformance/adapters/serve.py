"""Answers requests on stdin and stdout, so that the model or our implementation is an adapter in a process.

The loop ends only with `bye` or at the end of the input. The answer to an invalid frame, an oversized frame
or an unknown component is `error`.
"""

from typing import BinaryIO

from conformance.adapters import frames
from conformance.adapters.frames import FRAME_LIMIT, FrameError, Request
from conformance.adapters.protocol import (
    Adapter,
    Applied,
    Crashed,
    Errored,
    Hello,
    Keeping,
    Made,
    Unsupported,
    Visible,
)


def serve(adapter: Adapter, lines: BinaryIO, answers: BinaryIO, limit: int = FRAME_LIMIT) -> None:
    """Answer every line until `bye` or the end of the input."""
    while line := lines.readline(limit + 2):
        if len(line) > limit + 1:
            _skip_to_newline(line, lines, limit)
            error = Errored(f"a frame has at most {limit} bytes; send smaller batches")
            answers.write(frames.encode_answer(None, error))
            answers.flush()
            continue
        try:
            request = frames.parse_request(line, limit)
        except FrameError as refused:
            answers.write(frames.encode_answer(refused.seq, Errored(str(refused))))
            answers.flush()
            continue
        answers.write(frames.encode_answer(request.seq, _answer(adapter, request)))
        answers.flush()
        if request.op == "bye":
            return


def _answer(adapter: Adapter, request: Request) -> frames.Result | Unsupported | Errored:
    if request.op == "bye":
        adapter.bye()
        return Made()
    if request.op == "hello":
        answer = adapter.hello()
    elif request.op == "new":
        hello = adapter.hello()
        if isinstance(hello, Hello) and request.component not in hello.components:
            known = ", ".join(hello.components)
            return Errored(f"component: expected one of {known}, got {request.component!r}")
        if request.folder is None:
            made = adapter.new(request.component, request.config)
        elif isinstance(adapter, Keeping):
            made = adapter.new_in(request.component, request.config, request.folder)
        else:
            return Unsupported("a folder: nothing of this implementation is durable")
        return made if isinstance(made, Made | Unsupported | Errored) else Errored(made.describe())
    elif request.op == "observe":
        if not isinstance(adapter, Keeping):
            return Unsupported("observe: nothing of this implementation is durable")
        seen = adapter.observe()
        return seen if isinstance(seen, Visible | Unsupported | Errored) else Errored(seen.describe())
    elif request.at_once:
        return Unsupported("at_once: this implementation takes one event after the other")
    else:
        applied = adapter.apply(request.events)
        if isinstance(applied, Crashed):  # the next `new` makes a new instance
            return Errored(f"{applied.describe()}; the instance is lost, send `new`")
        return (
            applied if isinstance(applied, Applied | Unsupported | Errored) else Errored(applied.describe())
        )
    return answer if isinstance(answer, Hello) else Errored(answer.describe())


def _skip_to_newline(line: bytes, lines: BinaryIO, limit: int) -> None:
    """Read and drop the rest of an oversized line, with at most one frame of it in memory."""
    while line and not line.endswith(b"\n"):
        line = lines.readline(limit + 1)
