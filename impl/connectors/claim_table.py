"""The claims of the tables of a database, as rows of the table `barrierspec_claims` in SQLite or PostgreSQL.

That table has one row for each job and target table. The module `output_claims` defines a claim.
"""

from dataclasses import dataclass
from typing import Any, Final

from impl.connectors.output_claims import Claim

CREATE: Final = """
    CREATE TABLE IF NOT EXISTS barrierspec_claims (
        job TEXT NOT NULL, target TEXT NOT NULL, claim TEXT NOT NULL, PRIMARY KEY (job, target))"""


@dataclass(frozen=True, slots=True)
class ClaimTable:
    """The claims of the table `target`.

    `mark`: the placeholder of a query parameter, `?` or `%s`. `where`: the name of the table, for messages.
    Each method runs in the transaction of `session`, a connection of the database.
    """

    target: str
    mark: str
    where: str

    def has_commits(self, session: Any, job: str, lineage: str | None = None) -> bool:  # noqa: ANN401
        """Whether a job has committed into the table in `lineage`; None: in any lineage."""
        query = "SELECT 1 FROM barrierspec_commits WHERE job = ? AND target = ?"
        values = [job, self.target]
        if lineage is not None:
            query, values = f"{query} AND lineage = ?", [*values, lineage]
        return self._row(session, f"{query} LIMIT 1", values) is not None

    def claim_of(self, session: Any, job: str) -> Claim | None:  # noqa: ANN401
        """The newest claim of a job, or None. Raises ConnectorError if the claim is malformed."""
        query = "SELECT claim FROM barrierspec_claims WHERE job = ? AND target = ?"
        row = self._row(session, query, [job, self.target])
        return None if row is None else Claim.decode(row[0], self.where)

    def take(self, session: Any, claim: Claim) -> tuple[str, ...]:  # noqa: ANN401
        """Claim the table; returns the lineages whose whole output the caller must retract.

        Raises SupersededError if a newer attempt of the run has claimed the table, OutputClaimedError if
        another run has committed into it (`Claim.after`).
        """
        last = self.claim_of(session, claim.job)
        used = last is not None and self.has_commits(session, claim.job, last.lineage)
        claimed = claim.after(last, self.where, used=used)
        self._row(
            session,
            "INSERT INTO barrierspec_claims (job, target, claim) VALUES (?, ?, ?) "
            "ON CONFLICT (job, target) DO UPDATE SET claim = excluded.claim RETURNING claim",
            [claim.job, self.target, claimed.encode()],
        )
        return claimed.replaced

    def require(self, session: Any, job: str, lineage: str, attempt: int) -> None:  # noqa: ANN401
        """Raise SupersededError if a newer attempt or another run of the job has claimed the table."""
        claim = self.claim_of(session, job)
        if claim is not None:
            claim.require(lineage, attempt, self.where)

    def _row(self, session: Any, query: str, values: list[str]) -> Any:  # noqa: ANN401
        return session.execute(query.replace("?", self.mark), values).fetchone()
