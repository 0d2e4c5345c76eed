"""Finds edits that mypy rejects. They do not count as mutants; neither do edits that are not valid TLA+."""

import subprocess
import sys
import tempfile
from importlib.util import find_spec

from conformance import machine
from conformance.mutants.automatic.operators import Edit
from conformance.mutants.score import ScoreError

_REFUSED = 1


def is_refused(edit: Edit, text: str) -> bool:
    """Whether mypy rejects the edited module, whose text is `text`. False if mypy is not installed.

    `make lint` runs mypy on every module, so such an edit cannot be committed. Raises ScoreError if mypy
    cannot judge.
    """
    if find_spec("mypy") is None:
        return False
    file = f"{edit.module.replace('.', '/')}.py"  # mypy's name of the file
    with tempfile.NamedTemporaryFile("w", suffix=".py", encoding="utf-8") as mutated:
        mutated.write(text)
        mutated.flush()
        # no cache: it would have the result of the unedited file
        command = [
            sys.executable, "-P", "-m", "mypy",
            "--no-incremental", "--shadow-file", file, mutated.name, file,
        ]  # fmt: skip
        done = subprocess.run(command, cwd=machine.HOME, capture_output=True, text=True, check=False)
    if done.returncode > _REFUSED:
        raise ScoreError(f"expected mypy's result for {file}, got {done.stdout}{done.stderr}")
    return bool(done.returncode)
