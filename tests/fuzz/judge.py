"""Runs one case, a command line in a forked process with limits, and states why its end is wrong."""

import io
import os
import resource
import select
import shlex
import signal
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

CPU_SECONDS = 60
"""Of one case. No case has work for more than a few seconds."""
HANGS_AFTER = 600
"""Seconds of the clock: a case that waits for ever uses no processor time."""
MEMORY = 3 << 30
"""Bytes of address space beside what the fuzzer itself has."""
OUTPUT = 1 << 20
DOCUMENTED = frozenset({0, 1, 2, 64})
"""70 is documented too, but it is an internal error: a finding."""


@dataclass(frozen=True)
class Case:
    """A command line, and the exit codes with which it may end."""

    name: str
    """`kind:seed:number`, by which it is made again."""
    arguments: tuple[str, ...]
    may_end: frozenset[int] = DOCUMENTED
    what: str = ""
    """What was damaged, and how."""
    stdin: bytes = b""


@dataclass(frozen=True)
class Ended:
    """The end of a case: exit code or signal, and the output."""

    code: int | None
    """None: by a signal."""
    signal: int
    output: str


def run_apart(case: Case, folder: Path, call: Callable[[list[str]], int]) -> Ended:
    """Runs the case in a forked process with `folder` as its working folder."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        _child(case, folder, writer, call)
    os.close(writer)
    output = _read(reader, child)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return Ended(None, os.WTERMSIG(status), output)
    return Ended(os.WEXITSTATUS(status), 0, output)


def _child(case: Case, folder: Path, writer: int, call: Callable[[list[str]], int]) -> None:
    code = 99
    try:
        os.setsid()
        os.chdir(folder)
        os.dup2(writer, 1)
        os.dup2(writer, 2)
        sys.stdout = io.TextIOWrapper(io.FileIO(1, "w"), errors="backslashreplace", write_through=True)
        sys.stderr = io.TextIOWrapper(io.FileIO(2, "w"), errors="backslashreplace", write_through=True)
        sys.stdin = io.TextIOWrapper(io.BytesIO(case.stdin), errors="surrogateescape")
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))
        code = call(list(case.arguments))
    except BaseException:  # noqa: BLE001 - a finding, whatever it is
        os.write(2, traceback.format_exc().encode(errors="backslashreplace"))
    finally:
        os._exit(code)


def _read(reader: int, child: int) -> str:
    """The output of the case, up to OUTPUT bytes. Kills a case that hangs."""
    ends, kept = time.monotonic() + HANGS_AFTER, bytearray()
    while True:
        ready, _, _ = select.select([reader], [], [], max(0.0, ends - time.monotonic()))
        if not ready:
            os.killpg(child, signal.SIGKILL)
            break
        piece = os.read(reader, 65536)
        if not piece:
            break
        if len(kept) < OUTPUT:
            kept += piece
    os.close(reader)
    return kept.decode(errors="backslashreplace")


def wrong_with(case: Case, ended: Ended) -> str | None:
    """The reason why the end of the case is wrong; None if it is right."""
    if ended.code is None:
        return f"ended by signal {ended.signal}: more than {CPU_SECONDS} s of processor time, or it hung"
    if "Traceback (most recent call last)" in ended.output:
        return "a traceback"
    if ended.code not in DOCUMENTED:
        return f"exit code {ended.code} is not one of {sorted(DOCUMENTED)}"
    if ended.code not in case.may_end:
        return f"exit code {ended.code}, expected one of {sorted(case.may_end)}"
    if ended.code != 0 and not ended.output.strip():
        return f"exit code {ended.code} without a message"
    return None


def described(case: Case, ended: Ended, wrong: str, seed: int, kind: str, number: int) -> str:
    """The text of a finding, with the command that repeats it."""
    shown = shlex.join(case.arguments)
    again = f"python -m tests.fuzz --kind {kind} --seed {seed} --only {number}"
    return (
        f"{case.name}: {wrong}\n  command barrierspec {shown[:600]}\n  damage  {case.what[:300]}\n"
        f"  output  {ended.output.strip()[-900:]}\n  again   {again}"
    )
