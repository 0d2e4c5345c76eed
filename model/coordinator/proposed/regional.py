"""Checkpoints that fall back for regions: FLIP-600, proposed and in no released jar.

A decline does not abort the checkpoint. If the other tasks acknowledge, the checkpoint completes. For the
tasks that declined, it refers to the snapshots that the latest completed checkpoint has of them. A time-out
counts as a decline of each task that has not answered. The module follows the public discussion (the pull
requests of FLINK-40209 and FLINK-40210). The discussion leaves some questions open. The module answers them:

- Each task is a region, because the coordinator of this project has no information about channels.
- The coordinator notifies a failed task of an abort. The discussion has a separate call for this.
- A checkpoint does not fall back if no older one is complete, or if an older savepoint is pending. The
  theorem (`model.theorem.regional`) requires the second condition. The discussion does not mention it.
- A task that fails ends pending checkpoints as in Flink 2.3 (COORD-12).
"""

from model.coordinator.coordinator import CoordinatorSteps
from model.coordinator.events import DiscardCheckpoint
from model.coordinator.pending import NO_STATE, Pending
from model.coordinator.state import Coordinator, Regional, find
from model.events import CHECKPOINT_EXPIRED, NONE, Effects, NotifyAbort, Step
from model.store.store import CHECKPOINT, latest

Flags = tuple[bool, ...]


class FallsBack(CoordinatorSteps):
    """The steps that the proposal changes."""

    # ------------------------------------------------------------ declines and time-outs

    def may_fall_back(self, coordinator: Coordinator, pending: Pending) -> bool:
        """Whether the checkpoint may complete without some snapshots, because older ones can replace them."""
        sources = zip(coordinator.plan.sources, coordinator.tasks_finished, strict=True)
        has_older_savepoint = any(
            other.checkpoint < pending.checkpoint and other.type != CHECKPOINT
            for other in coordinator.pending
        )
        return (
            pending.type == CHECKPOINT
            and coordinator.master != pending.checkpoint
            and latest(coordinator.store) != NONE
            and coordinator.regional.consecutive < coordinator.plan.profile.region_consecutive
            and not has_older_savepoint
            and not all(over for source, over in sources if source)
        )

    def is_within_bound(self, coordinator: Coordinator, pending: Pending, failed: Flags) -> bool:
        """Whether the share of failed regions is above 0 and at most `region_failed_percent`."""
        many = sum(1 for takes_part in pending.tasks if takes_part)
        percent = coordinator.plan.profile.region_failed_percent
        return 0 < sum(1 for fails in failed if fails) * 100 <= percent * many

    def on_decline(
        self, coordinator: Coordinator, task: int, checkpoint: int, reason: str
    ) -> Step[Coordinator]:
        """A task declines. The coordinator stores the decline, unless too many tasks have declined."""
        pending = find(coordinator.pending, checkpoint)
        is_known = pending is not None and task < len(pending.tasks) and pending.tasks[task]
        if pending is None or not is_known or not self.may_fall_back(coordinator, pending):
            return super().on_decline(coordinator, task, checkpoint, reason)
        failed = _with(declined(coordinator, pending), task)
        if not self.is_within_bound(coordinator, pending, failed):
            return super().on_decline(coordinator, task, checkpoint, reason)
        kept = (*_others(coordinator.regional.declined, checkpoint), (checkpoint, failed))
        coordinator = coordinator._replace(regional=coordinator.regional._replace(declined=kept))
        return self.answered(Step(coordinator, (), ("COORD-09",)), checkpoint)

    def on_acknowledge(
        self, coordinator: Coordinator, task: int, checkpoint: int, handle: int, shared: tuple[int, ...] = ()
    ) -> Step[Coordinator]:
        """A task acknowledges. The checkpoint falls back if all have answered and a task has declined."""
        return self.answered(
            super().on_acknowledge(coordinator, task, checkpoint, handle, shared), checkpoint
        )

    def answered(self, step: Step[Coordinator], checkpoint: int) -> Step[Coordinator]:
        """The step, followed by a fallback if a task has declined and every task has answered."""
        pending = find(step.state.pending, checkpoint)
        if pending is None or checkpoint not in (one for one, _ in step.state.regional.declined):
            return step
        failed = declined(step.state, pending)
        if not all(one or other for one, other in zip(pending.acknowledged, failed, strict=True)):
            return step
        ended = self.fall_back(step.state, pending, failed)
        followed = self.follow(ended.state, (*step.effects, *ended.effects), (*step.rules, *ended.rules))
        return followed._replace(rules=(*followed.rules, "COORD-11"))

    def abort(
        self, coordinator: Coordinator, pending: Pending, reason: str, *, by_task: bool = False
    ) -> Step[Coordinator]:
        """Aborts a checkpoint, unless it falls back at its time-out.

        A time-out counts as a decline of each task that has not answered. If the bound on consecutive
        fallbacks has not allowed the checkpoint to fall back, its abort clears their count.
        """
        failed = tuple(
            one or not other
            for one, other in zip(declined(coordinator, pending), pending.acknowledged, strict=True)
        )
        may = self.may_fall_back(coordinator, pending) and self.is_within_bound(coordinator, pending, failed)
        if reason == CHECKPOINT_EXPIRED and may:
            return self.fall_back(coordinator, pending, failed)
        step = super().abort(coordinator, pending, reason, by_task=by_task)
        limit = coordinator.plan.profile.region_consecutive
        is_forced = coordinator.regional.consecutive >= limit and pending.type == CHECKPOINT
        return step._replace(state=_ended(step.state, pending, 0 if is_forced else None))

    # ------------------------------------------------------------ completion

    def fall_back(self, coordinator: Coordinator, pending: Pending, failed: Flags) -> Step[Coordinator]:
        """The checkpoint completes without snapshots of the failed tasks. These are notified of an abort."""
        regional = coordinator.regional
        older = latest(coordinator.store)
        before = (older,) * len(failed)
        for checkpoint, known_of_it in regional.references:
            if checkpoint == older:
                before = known_of_it
        own = (pending.checkpoint,) * len(failed)
        references = tuple(
            known if fails else new for known, new, fails in zip(before, own, failed, strict=True)
        )
        known = (*regional.references, (pending.checkpoint, references))
        coordinator = coordinator._replace(regional=regional._replace(references=known))
        lost = self.shared_state.loss_of(
            coordinator.shared,
            pending._replace(
                states=tuple(s if f else NO_STATE for s, f in zip(pending.states, failed, strict=True)),
                shared=tuple(s if f else () for s, f in zip(pending.shared, failed, strict=True)),
            ),
        )
        healthy = pending._replace(
            tasks=tuple(takes and not fails for takes, fails in zip(pending.tasks, failed, strict=True)),
            shared=tuple(() if f else s for s, f in zip(pending.shared, failed, strict=True)),
        )
        state, effects, rules = self.complete(coordinator, healthy, lost)
        reached = zip(failed, pending.tasks, coordinator.tasks_reached, strict=True)
        notified = tuple(
            NotifyAbort(pending.checkpoint, task) for task, flags in enumerate(reached) if all(flags)
        )
        regional = state.regional._replace(consecutive=regional.consecutive + 1)
        return Step(state._replace(regional=regional), (*effects, *notified), rules)

    def complete(self, coordinator: Coordinator, done: Pending, effects: Effects) -> Step[Coordinator]:
        """A checkpoint completes with all snapshots. It clears the count of consecutive fallbacks."""
        step = super().complete(coordinator, done, effects)
        return step._replace(state=_ended(step.state, done, 0 if done.type == CHECKPOINT else None))

    def lasting(self, coordinator: Coordinator, retained: tuple[int, ...]) -> tuple[int, ...]:
        """The retained checkpoints and those to which they refer. Their files stay (SUB-12)."""
        return (*retained, *used_by(coordinator, retained))

    def add_to_store(self, coordinator: Coordinator, done: Pending) -> Step[Coordinator]:
        """The store adds the checkpoint. A dropped one is deleted when no retained one refers to it."""
        state, effects, rules = super().add_to_store(coordinator, done)
        regional = state.regional
        retained = tuple(entry.checkpoint for entry in state.store.entries)
        references = tuple(one for one in regional.references if one[0] in retained)
        used = used_by(state, retained)
        dropped = tuple(one.checkpoint for one in effects if isinstance(one, DiscardCheckpoint))
        gone = (*regional.held, *dropped)
        released: Effects = tuple(DiscardCheckpoint(one) for one in gone if one not in used)
        rest = tuple(one for one in effects if not isinstance(one, DiscardCheckpoint))
        held = tuple(one for one in gone if one in used)
        regional = regional._replace(references=references, held=held)
        return Step(state._replace(regional=regional), (*released, *rest), rules)

    # ------------------------------------------------------------ what is durable

    def on_coordinator_restart(self, coordinator: Coordinator) -> Step[Coordinator]:
        """A new coordinator takes over. References stay, because the durable checkpoints contain them."""
        step = super().on_coordinator_restart(coordinator)
        durable = coordinator.regional._replace(consecutive=0, declined=())
        return step._replace(state=step.state._replace(regional=durable))

    def on_shutdown(self, coordinator: Coordinator, status: str) -> Step[Coordinator]:
        """The coordinator shuts down. If it deletes checkpoints, it also deletes the dropped ones."""
        step = super().on_shutdown(coordinator, status)
        if not any(isinstance(effect, DiscardCheckpoint) for effect in step.effects):
            return step
        held = tuple(DiscardCheckpoint(one) for one in coordinator.regional.held)
        return Step(step.state._replace(regional=Regional()), (*step.effects, *held), step.rules)


def used_by(coordinator: Coordinator, retained: tuple[int, ...]) -> tuple[int, ...]:
    """The checkpoints to which the retained ones refer."""
    return tuple(
        used
        for checkpoint, references in coordinator.regional.references
        if checkpoint in retained
        for used in references
    )


def declined(coordinator: Coordinator, pending: Pending) -> Flags:
    """By task: it has declined the checkpoint."""
    for checkpoint, flags in coordinator.regional.declined:
        if checkpoint == pending.checkpoint:
            return flags
    return (False,) * len(pending.tasks)


def _with(flags: Flags, task: int) -> Flags:
    return (*flags[:task], True, *flags[task + 1 :])


def _others(kept: tuple[tuple[int, Flags], ...], checkpoint: int) -> tuple[tuple[int, Flags], ...]:
    return tuple(one for one in kept if one[0] != checkpoint)


def _ended(coordinator: Coordinator, ended: Pending, consecutive: int | None) -> Coordinator:
    """The coordinator without the declines of an ended checkpoint. `consecutive`: the new count, or None."""
    regional = coordinator.regional
    return coordinator._replace(
        regional=regional._replace(
            declined=_others(regional.declined, ended.checkpoint),
            consecutive=regional.consecutive if consecutive is None else consecutive,
        )
    )
