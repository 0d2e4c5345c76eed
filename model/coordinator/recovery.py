"""Steps of the coordinator: restore, restart, shutdown, and injected failures of the store, input and output.

Rules COORD-02, COORD-22, COORD-25, SUB-06, ONCE-04. The completed checkpoints and the counter of ids are
durable. All other state is lost when the coordinator ends.
"""

from model.coordinator.events import DiscardCheckpoint, Restored
from model.coordinator.job_status_listener import ListenerSteps
from model.coordinator.state import (
    CREATED,
    FINISHED,
    Coordinator,
    Io,
    holds_savepoint,
    new_coordinator,
    new_scheduler,
    unclaimed,
)
from model.events import (
    COORDINATOR_SHUTDOWN,
    ID,
    JOB_FAILOVER_REGION,
    LOCATION,
    METADATA,
    Effects,
    Fail,
    Rules,
    Step,
)
from model.store.store import CHECKPOINT, Entry, latest

CANCELED = "CANCELED"
FAILED = "FAILED"
SUSPENDED = "SUSPENDED"


class RecoverySteps(ListenerSteps):
    """Restore, restart and shutdown of a coordinator, and injected failures."""

    def on_restore(self, coordinator: Coordinator, tasks: tuple[bool, ...] = ()) -> Step[Coordinator]:
        """Restores the newest retained checkpoint (ONCE-04). `tasks`: those of a region, or all if empty."""
        effects: Effects = ()
        rules: Rules = ("ONCE-04", "SUB-06")
        if not coordinator.open:
            return Step(coordinator, (Fail("IllegalStateException"),), ("COORD-25",))
        for pending in coordinator.pending:
            coordinator, ended, counting = self.abort(coordinator, pending, JOB_FAILOVER_REGION)
            effects, rules = (*effects, *ended), (*rules, *counting)
        retained = tuple(entry.checkpoint for entry in coordinator.store.entries)
        durable = tuple(entry.checkpoint for entry in coordinator.unseen)
        shared = self.shared_state.restore(coordinator.shared, retained, durable)
        coordinator = coordinator._replace(shared=shared)
        if holds_savepoint(coordinator):
            rules = (*rules, "COORD-37")
        renewed = self.renew(coordinator, tasks or (True,) * len(coordinator.tasks_run))
        effects = (*effects, Restored(latest(coordinator.store)), *renewed.effects)
        rules = (*rules, *renewed.rules)
        if renewed.state.turns:
            renewed = self.follow(renewed.state, effects, rules)
            effects, rules = renewed.effects, renewed.rules
        return self.settle(renewed.state, effects, rules)

    def on_store_fails(self, coordinator: Coordinator, when: int) -> Step[Coordinator]:
        """Plans a failure of the next addition to the store. `when`: BEFORE, AFTER or MAYBE."""
        return Step(coordinator._replace(fault=when), (), ())

    def on_io_fails(self, coordinator: Coordinator, what: int) -> Step[Coordinator]:
        """Plans a failure of the next input or output of this kind: METADATA, LOCATION or ID."""
        io = coordinator.io
        io = Io(io.metadata or what == METADATA, io.location or what == LOCATION, io.id or what == ID)
        return Step(coordinator._replace(io=io), (), ())

    def on_coordinator_restart(self, coordinator: Coordinator) -> Step[Coordinator]:
        """A new coordinator reads the durable checkpoints and the counter. It notifies no task."""
        plan = coordinator.plan
        durable = ascending((*coordinator.store.entries, *coordinator.unseen))
        kept = tuple(entry.checkpoint for entry in durable)
        found = new_coordinator(plan, coordinator.store.retain)
        return Step(
            found._replace(
                status=CREATED,
                now=coordinator.now,
                next_id=coordinator.next_id,
                scheduler=new_scheduler(plan),
                fault=coordinator.fault,
                io=coordinator.io,
                store=found.store._replace(entries=durable),
                shared=self.shared_state.recover(coordinator.shared, kept),
            ),
            (),
            ("COORD-22", "COORD-02"),
        )

    def on_shutdown(self, coordinator: Coordinator, status: str) -> Step[Coordinator]:
        """The coordinator shuts down. The status of the job decides whether the store keeps its checkpoints.

        The checkpoints of a suspended job stay, because another coordinator continues the job from them.
        """
        if not coordinator.open:
            return Step(coordinator, (), ("COORD-25",))
        coordinator, effects, rules = self.suspend(coordinator, COORDINATOR_SHUTDOWN)
        rules = ("COORD-25", *rules)
        if holds_savepoint(coordinator):
            rules = (*rules, "SUB-13")
        entries = coordinator.store.entries
        unseen = (*coordinator.unseen, *entries) if status == SUSPENDED else ()
        coordinator = coordinator._replace(
            open=False, store=coordinator.store._replace(entries=()), unseen=unseen
        )
        ends = deletes(coordinator, status)
        discards: Effects = tuple(
            DiscardCheckpoint(entry.checkpoint) for entry in entries if ends and entry.type == CHECKPOINT
        )
        if status != SUSPENDED:
            kept = tuple(entry.checkpoint for entry in entries)
            stays = tuple(one for one in unclaimed(coordinator.plan) if one in kept) if ends else kept
            shared, discards = self.shared_state.delete(coordinator.shared, discards, stays, ())
            coordinator = coordinator._replace(shared=shared)
        return Step(coordinator, (*effects, *discards), rules)


def ascending(entries: tuple[Entry, ...]) -> tuple[Entry, ...]:
    """The same entries, ascending by id."""
    ordered: tuple[Entry, ...] = ()
    for entry in entries:
        place = sum(1 for other in ordered if other.checkpoint < entry.checkpoint)
        ordered = (*ordered[:place], entry, *ordered[place:])
    return ordered


def deletes(coordinator: Coordinator, status: str) -> bool:
    """Whether the end of the job with this status deletes its checkpoints.

    True for a finished job, and for a cancelled or failed job that does not retain its checkpoints.
    """
    if status in (CANCELED, FAILED):
        return not coordinator.plan.retains_on_cancellation
    return status == FINISHED
