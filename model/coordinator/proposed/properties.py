"""The rules of checkpoints that fall back: FLIP-600, proposed and in no released jar.

These rules are not in the rule index. `conformance.explore.proposed_coordinator` explores them.
"""

from model.coordinator.events import Complete, DeclineMessage, DiscardCheckpoint
from model.coordinator.shared_state import DiscardState
from model.coordinator.state import Coordinator, find
from model.events import Effects, Event, NotifyComplete
from model.registry import Registry
from model.store.store import CHECKPOINT

PROPOSED = Registry("coordinator")


def references(coordinator: Coordinator) -> tuple[int, ...]:
    """The older checkpoints whose snapshots are parts of retained checkpoints."""
    return tuple(used for _, of_tasks in coordinator.regional.references for used in of_tasks)


@PROPOSED.step("REGION-01")
def a_decline_is_kept(before: Coordinator, event: Event, effects: Effects, after: Coordinator) -> bool:
    """A decline that leaves the checkpoint pending emits no effect."""
    if not isinstance(event, DeclineMessage) or find(after.pending, event.checkpoint) is None:
        return True
    return not effects


@PROPOSED.step("REGION-02")
def who_fell_back_is_not_notified(
    before: Coordinator, event: Event, effects: Effects, after: Coordinator
) -> bool:
    """No task is notified of the completion of a checkpoint that does not hold the task's own snapshot."""
    known = dict(after.regional.references)
    return all(
        known.get(effect.checkpoint, ())[effect.task : effect.task + 1] in ((), (effect.checkpoint,))
        for effect in effects
        if isinstance(effect, NotifyComplete)
    )


@PROPOSED.step("REGION-03")
def completes_with_snapshots_of_all(
    before: Coordinator, event: Event, effects: Effects, after: Coordinator
) -> bool:
    """A completed checkpoint has a snapshot of each task: a new one, or that of an older checkpoint."""
    retained = tuple(entry.checkpoint for entry in before.store.entries)
    usable = (*retained, *before.regional.held)
    known = dict(after.regional.references)
    return all(
        all(used == effect.checkpoint or used in usable for used in known.get(effect.checkpoint, ()))
        for effect in effects
        if isinstance(effect, Complete)
    )


@PROPOSED.step("REGION-04")
def referenced_checkpoints_stay(
    before: Coordinator, event: Event, effects: Effects, after: Coordinator
) -> bool:
    """If a retained checkpoint refers to another one, neither this one nor its files are deleted."""
    used = references(after)
    files = tuple(use.handle for use in before.shared.completed if use.checkpoint in used)
    return all(
        not (isinstance(effect, DiscardCheckpoint) and effect.checkpoint in used)
        and not (isinstance(effect, DiscardState) and effect.handle in files)
        for effect in effects
    )


@PROPOSED.step("REGION-05")
def dropped_checkpoints_go(before: Coordinator, event: Event, effects: Effects, after: Coordinator) -> bool:
    """A dropped checkpoint is deleted at once, or when no retained checkpoint refers to it any more."""
    was = (*(one.checkpoint for one in before.store.entries if one.type == CHECKPOINT), *before.regional.held)
    is_now = (*(one.checkpoint for one in after.store.entries), *after.regional.held)
    gone = tuple(effect.checkpoint for effect in effects if isinstance(effect, DiscardCheckpoint))
    return not after.open or all(one in is_now or one in gone for one in was)


@PROPOSED.state("REGION-06")
def the_count_is_bounded(coordinator: Coordinator) -> bool:
    """At most `region_consecutive` checkpoints in a row fall back."""
    return coordinator.regional.consecutive <= coordinator.plan.profile.region_consecutive


HOPED = Registry("coordinator")
"""A property that the discussion expects. The explorer finds a violation of it."""


@HOPED.state("REGION-07")
def snapshots_are_young(coordinator: Coordinator) -> bool:
    """A retained checkpoint refers to no snapshot more than `region_consecutive` + 1 ids older."""
    limit = coordinator.plan.profile.region_consecutive + 1
    return all(
        checkpoint - used <= limit
        for checkpoint, of_tasks in coordinator.regional.references
        for used in of_tasks
    )
