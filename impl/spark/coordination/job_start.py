"""What a run begins with: fresh folders, the checkpoints of an earlier run, or a savepoint."""

from pathlib import Path

from impl.config import ConfigError
from impl.graph.plan import Plan
from impl.graph.rescaling import require_restorable
from impl.state import FileSystemStorage, Origin, SavepointFolder, begin_from, origin_of


def begin_at(
    storage: FileSystemStorage,
    savepoint: SavepointFolder,
    plan: Plan,
    *,
    again: bool = False,
    allow_non_restored_state: bool = False,
) -> None:
    """Let the run begin from a savepoint, after a look whether the plan fits. `again`: after a dead driver.

    Raises `NoSavepointError`, `SnapshotCorruptError` and `RestoreRefusedError`, before anything has happened.
    """
    there = savepoint.load()
    require_restorable(plan, there, savepoint, allow_non_restored_state=allow_non_restored_state)
    asked = Origin(str((there.savepoint or {})["lineage"]), there.checkpoint)
    if not again or origin_of(storage) != asked:
        begin_from(storage, savepoint)


def require_a_start(
    storage: FileSystemStorage,
    folder: Path,
    plan: Plan,
    *,
    resume: bool,
    allow_non_restored_state: bool = False,
) -> None:
    """Raise `ConfigError` unless a run can begin without losing anything of an earlier one.

    A run from the beginning needs a fresh checkpoint folder, one that resumes a checkpoint that can be read;
    and output that was committed needs the checkpoint that committed it, else it would be taken back.
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
            f"{folder} holds no checkpoint to resume from{unreadable}; bring one back, or begin without "
            "resume"
        )
    for output in plan.outputs():
        if output.holds_output(plan.name):
            raise ConfigError(
                f"{output.where} holds committed output and {folder} no checkpoint that it belongs to, so a "
                "run from the beginning would take it back or double it; choose another place, or resume "
                "with its checkpoints"
            )
