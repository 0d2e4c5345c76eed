"""Runs many cases of one kind, each in a folder of its own."""

import gc
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from random import Random

from conformance.cli import run
from tests.fuzz import answers, files, lines
from tests.fuzz.judge import Case, described, run_apart, wrong_with

KINDS: dict[str, Callable[[str, Random, Path], Case]] = {
    "lines": lines.case,
    "answers": answers.case,
    "files": files.case,
}


def cases_of(number: int) -> range:
    """The numbers of the cases, from 0 on."""
    return range(number)


def findings(
    kind: str, seed: int, numbers: Iterable[int], say: Callable[[str], None] | None = None
) -> Iterator[str]:
    """The findings: cases with a wrong end, each with the command that repeats it."""
    warm()
    for number in numbers:
        with tempfile.TemporaryDirectory(prefix="fuzz-") as place:
            folder = Path(place)
            name = f"{kind}:{seed}:{number}"
            case = KINDS[kind](name, Random(name), folder)
            ended = run_apart(case, folder, run)
            wrong = wrong_with(case, ended)
            if say is not None:
                say(described(case, ended, wrong or f"ends with {ended.code}", seed, kind, number))
            if wrong is not None:
                yield described(case, ended, wrong, seed, kind, number)


def warm() -> None:
    """Imports the modules that most commands import. Each case is a fork and need not import them again."""
    import conformance.drive.conform
    import conformance.observe.flink
    import conformance.vectors.check
    import impl.state

    assert conformance.drive.conform
    assert conformance.observe.flink
    assert conformance.vectors.check
    assert impl.state
    gc.freeze()
