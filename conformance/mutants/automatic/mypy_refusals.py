"""Edits of Python that mypy refuses. Like edits that are no TLA+, they are no mutants."""

import subprocess
import sys
import tempfile
from importlib.util import find_spec

from conformance import machine
from conformance.mutants.automatic.complaints import UNTYPED, Judged
from conformance.mutants.score import ScoreError

_REFUSED = 1


def if_typed(judged: Judged, text: str) -> Judged:
    """Returns the outcome, or UNTYPED if the mutant only crashes and mypy refuses the module with this text.

    `make lint` runs mypy on every module, so such an edit cannot be committed. If mypy is not installed,
    the outcome does not change. Raises ScoreError if mypy cannot judge.
    """
    if not judged.crashed or find_spec("mypy") is None:
        return judged
    file = f"{judged.edit.module.replace('.', '/')}.py"  # as mypy names it
    with tempfile.NamedTemporaryFile("w", suffix=".py", encoding="utf-8") as mutated:
        mutated.write(text)
        mutated.flush()
        # without its cache, which would answer for the file that is shadowed
        command = [
            sys.executable, "-P", "-m", "mypy",
            "--no-incremental", "--shadow-file", file, mutated.name, file,
        ]  # fmt: skip
        done = subprocess.run(command, cwd=machine.HOME, capture_output=True, text=True, check=False)
    if done.returncode > _REFUSED:
        raise ScoreError(f"expected a judgement of mypy on {file}, got {done.stdout}{done.stderr}")
    return judged._replace(complaints={"mypy": UNTYPED}) if done.returncode else judged
