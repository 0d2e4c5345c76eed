"""Reads the keyed state in a savepoint with a small Java program, independently of the job's output."""

import subprocess
from collections.abc import Hashable, Sequence
from typing import Final

from conformance.engines.engine import Place, RoundError
from conformance.engines.feed import KEYS
from conformance.observe.guarantees.guarantee import Totals

SECONDS: Final = 120.0
"""Maximum time in seconds of the program."""


def state_in(savepoint: str, java: Sequence[str], place: Place) -> dict[Hashable, Totals]:
    """The state of each key that has one. `java`: the command before the name of the class.

    Raises RoundError if the program fails or takes too long.
    """
    file = place.folder / "state.csv"
    reads = place.processes.start(
        "state", [*java, "barrierspec.engines.StateReader", savepoint, str(KEYS), str(file)]
    )
    try:
        ended = reads.process.wait(SECONDS)
    except subprocess.TimeoutExpired as late:
        raise RoundError(f"expected the state of the savepoint within {SECONDS:g} s, got none") from late
    if ended != 0:
        raise RoundError(f"expected the state of the savepoint, got: {reads.last_line()}")
    lines = file.read_text(encoding="ascii").splitlines() if file.exists() else []
    rows = [tuple(map(int, line.split(","))) for line in lines]
    return {key: Totals(records, total) for key, records, total in rows}
