"""The cleanup of a job's outputs before an attempt writes.

First the driver claims each output for the attempt, so that no older attempt commits there any more. An
attempt that restores a checkpoint writes all output after the checkpoint again. So the driver removes
pre-committed transactions, except those that the restored sinks will commit. It also *retracts* output, that
is, it takes back output that was committed after the checkpoint. If the run begins from a savepoint, the
driver does the same with the output of the savepoint's run.
"""

import sys
from collections.abc import Mapping
from typing import Any

from impl.connectors.output_claims import Ancestor, Claim
from impl.graph.plan import Plan, Role
from impl.graph.rescaling import RestoreRefusedError, by_stage
from impl.spark.worker.sinks import state_in
from impl.state import CheckpointStorage, Origin, StateHandle


class OutputCleanup:
    """The outputs of one job. `origin`: the savepoint from which the run has begun, or None."""

    def __init__(self, plan: Plan, storage: CheckpointStorage, origin: Origin | None) -> None:
        self._outputs: dict[str, Any] = {
            stage.name: stage.logic for stage in plan.stages if stage.role is Role.SINK
        }
        self._job = plan.name
        self._storage = storage
        self._origin = origin
        self._kept: frozenset[str] = frozenset()

    def begin(self, attempt: int, restored: int | None, states: Mapping[str, StateHandle]) -> None:
        """Claim and clean the outputs for an attempt that restores `states` of checkpoint `restored`.

        Raises `RestoreRefusedError` for a savepoint whose pre-committed output is lost; then nothing was
        removed. Raises `OutputClaimedError` for an output of another run, `SupersededError` for a newer
        attempt, and `ServerLostError`.
        """
        pending = self._pending(states)
        origin = self._origin if self._origin is not None and self._origin.checkpoint == restored else None
        if origin is not None:
            self._require_whole(pending)
        self._kept = frozenset[str]().union(*pending.values())
        claim = self._claim(attempt)
        replaced = {name: output.claim(claim) for name, output in self._outputs.items()}
        self.sweep(attempt)
        for name, output in self._outputs.items():
            for lineage in replaced[name]:
                output.sweep(lineage, sys.maxsize, self._kept)
                output.retract(lineage, None, claim)
            if origin is not None:
                output.sweep(origin.lineage, sys.maxsize, self._kept)  # all attempts of that run have ended
                output.retract(origin.lineage, restored, claim)
            output.retract(self._storage.lineage, restored, claim)

    def _claim(self, attempt: int) -> Claim:
        begun_from = self._origin
        ancestors = () if begun_from is None else (Ancestor(begun_from.lineage, begun_from.checkpoint),)
        return Claim(self._job, self._storage.lineage, attempt, self._storage.starts, ancestors)

    def sweep(self, attempt: int) -> None:
        """Remove the output of earlier attempts, except transactions that the restored sinks will commit."""
        self._storage.sweep(attempt)
        for output in self._outputs.values():
            output.sweep(self._storage.lineage, attempt, self._kept)

    def _pending(self, states: Mapping[str, StateHandle]) -> dict[str, frozenset[str]]:
        """Maps each sink to the names of the transactions that its subtasks have pre-committed."""
        return {
            stage: frozenset[str]().union(*(state_in(self._storage.open(one)).names for one in handles))
            for stage, handles in by_stage(states).items()
            if stage in self._outputs
        }

    def _require_whole(self, pending: Mapping[str, frozenset[str]]) -> None:
        for stage, names in pending.items():
            lost = self._outputs[stage].lost(names)
            if lost:
                raise RestoreRefusedError(
                    f"the savepoint contains transactions of {stage!r} that were pre-committed and not "
                    f"committed, and {self._outputs[stage].where} has lost them: {', '.join(sorted(lost))}. "
                    "The job of the savepoint has failed before its next checkpoint, and has written this "
                    "output again: begin from a checkpoint of that job, or from another savepoint"
                )
