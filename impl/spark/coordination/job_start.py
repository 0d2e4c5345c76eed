"""The start of a run: in fresh folders, from the checkpoints of an earlier run, or from a savepoint."""

from impl.config import CLAIM, ConfigError
from impl.graph.plan import Plan
from impl.graph.rescaling import require_restorable
from impl.spark.results import RunSettings, Start
from impl.state import CheckpointStorage, begin_from, original_at
from impl.state.locations import Where


def begin_at(storage: CheckpointStorage, plan: Plan, settings: RunSettings) -> None:
    """Let the run begin from the savepoint or retained checkpoint of `settings`, which must fit the plan.

    A driver that takes over does nothing if the dead one has begun: the original may be gone. Raises
    `NoSavepointError`, `SnapshotCorruptError`, `CheckpointConflictError` and `RestoreRefusedError`; nothing
    has changed then.
    """
    begun = any(attempt > (settings.follows or 0) for attempt in storage.starts)
    if settings.from_savepoint is None or (settings.start is Start.TAKEN_OVER and begun):
        return
    original = original_at(settings.from_savepoint)
    allow = settings.allow_non_restored_state
    require_restorable(plan, original.load(), original, allow_non_restored_state=allow)
    begin_from(storage, original, settings.owner, claim=settings.claim_mode == CLAIM)


def require_a_start(
    storage: CheckpointStorage,
    folder: Where,
    plan: Plan,
    *,
    resume: bool,
    allow_non_restored_state: bool = False,
) -> None:
    """Raise `ConfigError` unless a run can begin without losing anything of an earlier one.

    A run from the beginning needs an empty checkpoint folder, a resumed one a checkpoint that can be read.
    Committed output needs the checkpoint that committed it; without it the output would be retracted.
    """
    if storage.completed_ids() and not resume:
        raise ConfigError(
            f"{folder} holds the checkpoints of an earlier run: resume that job, or choose another folder"
        )
    latest = storage.latest_completed()
    if latest.completed is not None:
        require_restorable(plan, latest.completed, storage, allow_non_restored_state=allow_non_restored_state)
        return
    unreadable = "".join(f"; checkpoint {one.checkpoint}: {one.reason}" for one in latest.refused)
    if resume:
        raise ConfigError(
            f"{folder} holds no checkpoint to resume from{unreadable}; restore one from a backup, or begin "
            "without resume"
        )
    for output in plan.outputs():
        if output.holds_output(plan.name):
            raise ConfigError(
                f"{output.where} holds committed output and {folder} no checkpoint that it belongs to, so a "
                "run from the beginning would retract it or double it; choose another place, or resume "
                "with its checkpoints"
            )
