"""The closed models of the reader that commits offsets. OffsetsModel.tla specifies the same system."""

from collections.abc import Iterator

from model.checker.closed_model import ClosedModel, Environment
from model.events import Crash, Event
from model.offsets import offsets
from model.offsets.events import AbortNotification, CompleteNotification, RestoreOffsets, SnapshotOffsets
from model.offsets.offsets import Reader
from model.steps import step_of


def closed_offsets(bound: int, ids: int, positions: int) -> ClosedModel:
    """A reader that gets snapshots with growing ids and any offsets, notifications of any id, and crashes."""

    def offers(reader: Reader) -> Iterator[tuple[str, Event]]:
        if not reader.running:
            yield from (("Restore", RestoreOffsets(position)) for position in range(positions))
            return
        yield "Crash", Crash()
        for checkpoint in range(1, ids + 1):
            yield "NotifyComplete", CompleteNotification(checkpoint)
            yield "NotifyAbort", AbortNotification(checkpoint)
            if checkpoint > reader.newest:
                for position in range(positions):
                    yield "Snapshot", SnapshotOffsets(checkpoint, position)

    def allows(environment: Environment, event: Event) -> Environment:
        return environment

    return ClosedModel(
        f"reader remembering {bound}, ids to {ids}, {positions} offsets",
        "offsets",
        offsets.new_reader(bound),
        (),
        offers,
        allows,
        step_of("offsets"),
    )


def closed_offsets_models() -> tuple[ClosedModel, ...]:
    """The closed models of the reader. Every rule of the reader fires in one of them."""
    return closed_offsets(1, 3, 2), closed_offsets(2, 4, 2)
