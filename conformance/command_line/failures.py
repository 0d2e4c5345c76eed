"""Ends a command that failed: with one message, a documented exit code, and no traceback.

If the operating system rejects a path that the user gave, the user can correct it (exit code 64). Any other
unexpected error is an internal error of barrierspec (exit code 70): one line names the error and its place in
the source, and BARRIERSPEC_TRACEBACK=1 prints the traceback, too.
"""

import errno
import os
import traceback
from pathlib import Path

import click

from conformance.command_line.extras import missing_part
from conformance.verdict import Exit

TRACEBACK = "BARRIERSPEC_TRACEBACK"
"""The name of the environment variable: the value 1 prints the traceback of an error."""
INTERNAL_ERROR_HINT = "This is an internal error of barrierspec, not of the checked implementation."
_ADVICE = {
    errno.ENOENT: "make that folder, or name another place",
    errno.ENOTDIR: "a part of that path is a file; name another place",
    errno.EISDIR: "that is a folder; name a file",
    errno.EEXIST: "something else is there; name another place",
    errno.EACCES: "change its permissions, or name another place",
    errno.EPERM: "change its permissions, or name another place",
    errno.EROFS: "that file system is read only; name another place",
    errno.ENAMETOOLONG: "give a shorter name",
    errno.ELOOP: "that path leads back to itself; name another place",
    errno.EINVAL: "that cannot be read or written; name another place",
    errno.ENOSPC: "free space on that disk, or name another place",
    errno.EDQUOT: "raise the quota, or name another place",
    errno.EFBIG: "that file may not grow so large; name another place",
    errno.ENXIO: "nothing serves that device or pipe; name a file",
    errno.ENODEV: "that device cannot be used; name a file",
    errno.ESPIPE: "that is a pipe or a device; name a file",
    errno.EMFILE: "allow more open files (ulimit -n)",
}
_TOO_LARGE = "the input needs more memory than this process may have; give a smaller one, or more memory"


def ended_by(failure: Exception) -> int:
    """Print the error that ended a command; returns the exit code."""
    if os.environ.get(TRACEBACK) == "1":
        traceback.print_exception(failure)
    if isinstance(failure, OSError) and failure.errno in _ADVICE:
        place = "" if failure.filename is None else f"{_shown(failure.filename)}: "
        click.echo(f"Error: {place}{failure.strerror}; {_ADVICE[failure.errno]}", err=True)
        return Exit.USAGE
    missing = missing_part(failure)
    if missing is not None:
        click.echo(f"Error: {missing}", err=True)
        return Exit.USAGE
    if isinstance(failure, MemoryError):
        click.echo(f"Error: {_TOO_LARGE}", err=True)
        return Exit.USAGE
    click.echo(f"{type(failure).__name__}: {str(failure)[:500]!r} {_place(failure)}", err=True)
    click.echo(f"{INTERNAL_ERROR_HINT} Report it; {TRACEBACK}=1 prints the traceback.", err=True)
    return Exit.INTERNAL_ERROR


def _shown(name: object) -> str:
    """The text of a path, escaped if it has characters that cannot be printed on one line."""
    text = os.fsdecode(name) if isinstance(name, bytes | str) else str(name)
    return text if text.isprintable() else repr(text)


def _place(failure: Exception) -> str:
    """The file and the line of our source that raised the error."""
    frames = traceback.extract_tb(failure.__traceback__)
    root = str(Path(__file__).parents[2])
    ours = [frame for frame in frames if frame.filename.startswith(root) and ".venv" not in frame.filename]
    last = (ours or frames)[-1] if frames else None
    return "" if last is None else f"(in {Path(last.filename).name}, line {last.lineno})"
