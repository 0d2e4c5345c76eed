"""The start of a run: in fresh folders, from the checkpoints of an earlier run, or from a savepoint."""

from impl.config import CLAIM, ConfigError
from impl.graph.plan import Plan
from impl.graph.rescaling import require_restorable
from impl.spark.run_settings import RunSettings, Start
from impl.state import CheckpointStorage, begin_from, original_at
from impl.state.locations import Where


def start_from_savepoint(storage: CheckpointStorage, plan: Plan, settings: RunSettings) -> None:
    """Copy the savepoint or retained checkpoint of `settings` into `storage`, so that the run starts from it.

    It must fit the plan. A driver that replaces a killed driver does nothing if that driver has already made
    the copy, because the original may have been deleted since. Raises `NoSavepointError`,
    `SnapshotCorruptError`, `CheckpointConflictError` and `RestoreRefusedError`, and then has changed nothing.
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
    """Raise ConfigError if a start would lose output or state of an earlier run.

    A run from the beginning needs a folder without completed checkpoints, and a resumed run needs a readable
    checkpoint. If output is committed, a checkpoint must exist, because otherwise the start would take the
    output back.
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
            f"{folder} has no checkpoint from which the job can resume{unreadable}; restore one from a "
            "backup, or begin without resume"
        )
    for output in plan.outputs():
        if output.holds_output(plan.name):
            raise ConfigError(
                f"{output.where} holds committed output, and {folder} has no checkpoint for it. A new run "
                "would delete or duplicate this output. Choose another output folder, or resume with the "
                "checkpoints of the run that wrote it"
            )
