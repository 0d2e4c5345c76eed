"""Claims, which decide which attempt of which run may commit into an output.

Before an attempt starts its sinks, its driver claims the output. The claim is stored in the output itself: in
a row of the database, or in a file that the readers of Parquet output read. An older attempt that was paused
finds the newer claim before it commits. If it still publishes files, readers leave them out.

A run from the beginning cannot claim an output into which another run has committed. A run from a savepoint
can claim the output of the savepoint's run. The commits after the savepoint are then no longer part of the
output.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

from impl.connectors.errors import ConnectorError
from impl.core.fencing.attempts import overtaken_by
from impl.state.errors import SupersededError


class OutputClaimedError(ConnectorError):
    """Another run has committed into this output, and this run does not continue that output."""


@dataclass(frozen=True, slots=True)
class Ancestor:
    """An earlier run: another run has begun from a savepoint of it.

    The output of the earlier run counts up to the savepoint `checkpoint`. `starts`: as in `Claim`.
    """

    lineage: str
    checkpoint: int
    starts: Mapping[int, int | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Claim:
    """The attempt that owns an output.

    `starts`: maps each attempt of the run to the checkpoint from which it started; None: the beginning.
    """

    job: str
    lineage: str
    attempt: int
    starts: Mapping[int, int | None] = field(default_factory=dict)
    ancestors: tuple[Ancestor, ...] = ()
    """The earlier runs that this run continues, newest first: it began from a savepoint of the first one.

    Each of them began from a savepoint of the next one.
    """
    replaced: tuple[str, ...] = ()
    """The lineages whose whole output the driver retracts."""

    def after(self, last: "Claim | None", where: str, *, used: bool) -> "Claim":
        """The claim that replaces the claim `last`, with the ancestors and replaced lineages of `last`.

        `used`: whether the run of `last` has committed anything. Raises SupersededError if a newer attempt of
        this run has claimed the output. Raises OutputClaimedError if another run has committed into it and
        this run does not begin from a savepoint of that run. Also raises it if this run begins from a
        savepoint whose output was retracted.
        """
        if last is None:
            return self
        if last.lineage == self.lineage:
            if last.attempt > self.attempt:
                raise SupersededError.of(f"claiming {where}", self.attempt, last.attempt, where)
            ancestors = last.ancestors or self.ancestors
            return replace(self, ancestors=ancestors, replaced=last.replaced)
        chain = (Ancestor(last.lineage, -1, last.starts), *last.ancestors)
        origin = self.ancestors[0] if self.ancestors else None
        at = next((n for n, one in enumerate(chain) if origin and one.lineage == origin.lineage), None)
        if origin is not None and at is not None:
            known = chain[at]
            if at and known.checkpoint < origin.checkpoint:
                raise OutputClaimedError(
                    f"{where}: the output after checkpoint {known.checkpoint} of run {known.lineage} was "
                    f"retracted when a run began from that savepoint, so a run cannot begin from its later "
                    f"savepoint {origin.checkpoint}; begin from savepoint {known.checkpoint}, or use "
                    "another output"
                )
            kept = (Ancestor(origin.lineage, origin.checkpoint, known.starts), *chain[at + 1 :])
            gone = tuple(one.lineage for one in chain[:at])
            return replace(self, ancestors=kept, replaced=(*last.replaced, *gone))
        if used:
            raise OutputClaimedError(
                f"{where} belongs to another run: attempt {last.attempt} of the run with lineage "
                f"{last.lineage} has committed there, and this run has lineage {self.lineage}; resume that "
                "run with its checkpoints, or give this run an output of its own"
            )
        return replace(self, replaced=(*last.replaced, last.lineage))

    def require(self, lineage: str, attempt: int, where: str) -> None:
        """Raise SupersededError if a newer attempt or another run has claimed the output."""
        if lineage != self.lineage:
            raise SupersededError(
                f"committing into {where}: expected it to belong to the run with lineage {lineage}, but "
                f"attempt {self.attempt} of the run with lineage {self.lineage} has claimed it; end this "
                "job, and give each job an output of its own"
            )
        if attempt < self.attempt:
            raise SupersededError.of(f"committing into {where}", attempt, self.attempt, where)

    def counts(self, lineage: str, attempt: int, checkpoint: int) -> bool:
        """Whether the commit of an attempt for a checkpoint is part of the output (ONCE-06)."""
        if lineage == self.lineage:
            return overtaken_by(self.starts, checkpoint, attempt) is None
        for one in self.ancestors:
            if one.lineage == lineage:
                is_alive = overtaken_by(one.starts, checkpoint, attempt) is None
                return checkpoint <= one.checkpoint and is_alive
        return False

    def encode(self) -> str:
        """The claim as JSON."""
        ancestors = [[one.lineage, one.checkpoint, _pairs(one.starts)] for one in self.ancestors]
        body = {"job": self.job, "lineage": self.lineage, "attempt": self.attempt}
        more = {"starts": _pairs(self.starts), "ancestors": ancestors, "replaced": list(self.replaced)}
        return json.dumps({**body, **more})

    @classmethod
    def decode(cls, text: str | bytes, where: str) -> Self:
        """The claim in a JSON text. Raises ConnectorError if the text is malformed."""
        try:
            body: dict[str, Any] = json.loads(text)
            ancestors = tuple(Ancestor(name, at, dict(starts)) for name, at, starts in body["ancestors"])
            named = body["job"], body["lineage"], body["attempt"]
            return cls(*named, dict(body["starts"]), ancestors, tuple(body["replaced"]))
        except (ValueError, KeyError, TypeError) as cause:
            raise ConnectorError(
                f"{where}: expected a claim as JSON, got {text[:60]!r}; restore it from a backup"
            ) from cause


def _pairs(starts: Mapping[int, int | None]) -> list[list[int | None]]:
    return [[attempt, start] for attempt, start in sorted(starts.items())]
