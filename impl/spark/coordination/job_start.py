"""The start of a run: in fresh folders, from the checkpoints of an earlier run, or from a savepoint."""

from impl.config import ConfigError
from impl.graph.plan import Plan
from impl.graph.rescaling import require_restorable
from impl.state import CheckpointStorage, Origin, SavepointFolder, begin_from, origin_of
from impl.state.locations import Where


def begin_at(
    storage: CheckpointStorage,
    savepoint: SavepointFolder,
    plan: Plan,
    *,
    again: bool = False,
    allow_non_restored_state: bool = False,
    owner: str = "",
) -> None:
    """Let the run begin from a savepoint that fits the plan. `again`: another driver may have done it.

    Raises `NoSavepointError`, `SnapshotCorruptError` and `RestoreRefusedError`; nothing has changed then.
    """
    loaded = savepoint.load()
    require_restorable(plan, loaded, savepoint, allow_non_restored_state=allow_non_restored_state)
    origin = Origin(str((loaded.savepoint or {})["lineage"]), loaded.checkpoint)
    if not again or origin_of(storage) != origin:
        begin_from(storage, savepoint, owner)


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
