"""Stores the outcome of each automatic mutant as a line of JSON, so that an interrupted campaign continues.

The first line identifies the sources and options. If they change, a campaign starts again from the beginning.
"""

import dataclasses
from collections.abc import Iterable, Mapping
from pathlib import Path

import orjson

from conformance.mutants.automatic.complaints import Judged
from conformance.mutants.automatic.operators import Edit
from conformance.mutants.score import ScoreError, sources, sources_now


@dataclasses.dataclass(frozen=True)
class Record:
    """A file with the outcomes of mutants."""

    file: Path
    first: bool = False
    """Whether the first judge that finds a broken rule is the last one for a mutant."""

    @property
    def head(self) -> dict[str, object]:
        """The first line of the file."""
        return {"sources": sources(), "first": self.first}

    def resumed(self, edits: Iterable[Edit]) -> Mapping[str, Judged]:
        """The outcomes of earlier runs over the same sources, by mutant, for these edits.

        Outcomes of other mutants stay in the file. If the sources have changed, the file begins anew. Raises
        ScoreError if the file is not a record of outcomes.
        """
        try:
            head, *lines = map(orjson.loads, self.file.read_bytes().splitlines())
            if head == self.head:
                known = {edit.id: edit for edit in edits}
                lines = [one for one in lines if "id" in one]
                return {
                    one["id"]: Judged(known[one["id"]], one["complaints"], one["same_paths"], one["is_run"])
                    for one in lines
                    if one["id"] in known
                }
        except FileNotFoundError:
            pass
        except (KeyError, TypeError, ValueError) as wrong:
            raise ScoreError(
                f"{self.file}: expected what `mutants --automatic` writes, got {wrong!r}; delete it"
            ) from wrong
        self.begin()
        return {}

    def begin(self) -> None:
        """Write the file anew, without an outcome."""
        self.file.parent.mkdir(parents=True, exist_ok=True)
        self.file.write_bytes(orjson.dumps(self.head) + b"\n")

    def end(self, again: str) -> None:
        """Append a command, after all of its mutants have been judged."""
        if again not in self.runs():
            with self.file.open("ab") as file:
                file.write(orjson.dumps({"again": again}) + b"\n")

    def runs(self) -> list[str]:
        """The commands whose mutants have all been judged."""
        lines = map(orjson.loads, self.file.read_bytes().splitlines())
        return [one["again"] for one in lines if "again" in one]

    def add(self, judged: Judged) -> None:
        """Append one outcome. Raises ScoreError if the sources have changed since the first mutant."""
        if sources_now() != sources():
            raise ScoreError(
                "the sources changed while mutants were judged; leave them alone, and begin anew"
            )
        edit = judged.edit
        line = {
            "id": edit.id, "line": edit.line, "before": edit.before, "after": edit.after,
            "complaints": judged.complaints, "same_paths": judged.same_paths, "is_run": judged.is_run,
        }  # fmt: skip
        with self.file.open("ab") as file:
            file.write(orjson.dumps(line) + b"\n")
