"""The git repository of the compared revisions: finds it, resolves names of commits, and reads their files.

The name of a revision comes from a user and may look like an option of git. So `commit` resolves the name to
a hash first, and every other call of git gets only hashes.
"""

import hashlib
import os
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

from conformance.errors import InputError

MARKS = ("model", "spec/rules.toml", "conformance/cli.py")
"""Files that every checkout of barrierspec contains."""
INSTEAD = (
    "`gate` and `diff` compare revisions of barrierspec itself; give them inside its checkout. An "
    "implementation of your own is checked by `barrierspec conform --adapter CMD`, two versions of one are "
    "compared by `barrierspec diff --adapter OLD --adapter NEW`, and several by `barrierspec matrix FILE`"
)

_DIGITS_OF_SHA1 = 40
_HASH = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


class ChangeError(InputError):
    """One of the two sides cannot be made or does not answer. The message states the side and the reason."""


def find(start: Path) -> Path:
    """The root of the barrierspec checkout that contains `start`. Raises ChangeError if there is none."""
    top = _git(start, "rev-parse", "--show-toplevel")
    if top.returncode:
        raise ChangeError(f"expected a checkout of barrierspec under git, got {start}; {INSTEAD}")
    highest = Path(_text(top.stdout).removesuffix("\n")).resolve()
    for folder in (start.resolve(), *start.resolve().parents):
        if all((folder / mark).exists() for mark in MARKS):
            return folder
        if folder == highest:
            break
    raise ChangeError(f"expected a checkout of barrierspec ({', '.join(MARKS)}), got {highest}; {INSTEAD}")


def commit(repository: Path, name: str) -> str:
    """The hash of the commit with this name.

    Raises ChangeError if there is no such commit, or if the commit is not one of barrierspec.
    """
    found = _git(repository, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
    resolved = _text(found.stdout).strip()
    if found.returncode or not _HASH.fullmatch(resolved):
        raise ChangeError(f"git has no {name!r} here: expected a commit; name one that is here, or fetch it")
    for mark in MARKS:
        if _git(repository, "cat-file", "-e", f"{resolved}:./{mark}").returncode:
            raise ChangeError(f"{name!r} has no {mark}: expected a commit of barrierspec; {INSTEAD}")
    return resolved


def differs(repository: Path, resolved: str, paths: Sequence[str]) -> bool:
    """Whether the working tree differs below `paths` from a commit. `resolved`: the hash of the commit.

    Untracked files count, unless git ignores them. Raises ChangeError if git cannot compare.
    """
    # `git diff` is unsuitable: it skips files with certain flags in the index, and applies filters
    listed = _git(repository, "ls-tree", "-r", "-z", _hash(resolved), "--", *paths)
    if listed.returncode:
        raise ChangeError(f"git cannot list the files of {resolved}: {_text(listed.stderr).strip()}")
    for entry in filter(None, listed.stdout.split(b"\0")):
        (_, _, blob), name = entry.partition(b"\t")[0].split(), entry.partition(b"\t")[2]
        if _blob(repository / os.fsdecode(name), len(blob)) != _text(blob):
            return True
    unknown = _git(repository, "ls-files", "--others", "--exclude-standard", "--", *paths)
    if unknown.returncode:
        raise ChangeError(f"git cannot list the files of {repository}: {_text(unknown.stderr).strip()}")
    return bool(unknown.stdout)


def archive(repository: Path, resolved: str, paths: Sequence[str]) -> bytes:
    """The files of a commit below `paths`, as a tar archive. `resolved`: the hash of the commit.

    Raises ChangeError if git cannot give the files.
    """
    # no `--end-of-options`: behind it this command takes `--` for a path, and a hash cannot be an option
    done = _git(repository, "archive", "--format=tar", _hash(resolved), "--", *paths)
    if done.returncode:
        raise ChangeError(f"git cannot give the files of {resolved}: {_text(done.stderr).strip()}")
    return done.stdout


def _blob(file: Path, digits: int) -> str:
    """Git's hash of a file. `digits`: its length, 40 or 64. Empty if the file does not exist."""
    try:
        content = os.fsencode(file.readlink()) if file.is_symlink() else file.read_bytes()
    except OSError:
        return ""
    method = hashlib.sha1 if digits == _DIGITS_OF_SHA1 else hashlib.sha256
    return method(b"blob %d\0" % len(content) + content).hexdigest()


def _hash(resolved: str) -> str:
    if not _HASH.fullmatch(resolved):
        raise ChangeError(f"expected the hash of a commit, got {resolved!r}; resolve it with `commit`")
    return resolved


def _git(folder: Path, *words: str) -> subprocess.CompletedProcess[bytes]:
    try:
        command = ["git", "-C", str(folder.resolve()), *words]
        return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    except FileNotFoundError as none:
        raise ChangeError("expected git on the PATH, got none; install it") from none
    except ValueError as wrong:  # a NUL in a name
        raise ChangeError(f"expected a commit, got a name that no program can be given: {wrong}") from wrong


def _text(output: bytes) -> str:
    return output.decode(errors="surrogateescape")
