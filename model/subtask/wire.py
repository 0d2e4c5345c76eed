"""The subtask's snapshot steps on the wire."""

from collections.abc import Callable, Mapping

from model import fields
from model.events import ASYNC_EXCEPTION, NONE, Effect, Step
from model.fields import Wire, WireError
from model.subtask import subtask
from model.subtask.profiles import NEWEST_TASK, TASK_PROFILES
from model.subtask.subtask import Subtask


def new_subtask(config: Wire) -> Subtask:
    """A subtask of the configured `profile` and `max_concurrent`. Raises WireError if they are not valid."""
    fields.only(config, ("profile", "max_concurrent"), "config")
    name = fields.choice(config, "profile", tuple(TASK_PROFILES), default=NEWEST_TASK.name)
    bound = fields.integer(config, "max_concurrent", at_least=1, default=1)
    return subtask.new_subtask(bound, TASK_PROFILES[name])


def step_subtask(before: Subtask, event: Wire) -> Step[Subtask]:
    """The step of one event. Raises WireError if the event is not legal in this state."""
    kind = fields.kind_of(event, (*_SUBTASK, *_MORE))
    if before.failed:
        raise WireError(f"{kind}: the task has failed; nothing is sent to it any more")
    if kind == "close":
        return subtask.on_close(before)
    if kind == "status":
        return subtask.on_status(before, fields.boolean(event, "running"))
    checkpoint = fields.checkpoint(event)
    if kind == "checkpoint":
        fails = fields.boolean(event, "fails", default=False)
        if not before.profile.orders_triggers and checkpoint in before.running:
            raise WireError(f"checkpoint {checkpoint} is being written; a gate triggers an id once")
        return subtask.on_checkpoint(before, checkpoint, fails)
    if kind == "async_failed":
        reason = fields.text(event, "reason") if "reason" in event else ASYNC_EXCEPTION
        return subtask.on_async_failed(before, checkpoint, reason)
    if kind == "abort_on_barrier":
        return subtask.on_abort_on_barrier(before, checkpoint, fields.text(event, "reason"))
    if kind == "abort_notification":
        completed = fields.integer(event, "completed", at_least=NONE, default=NONE)
        return subtask.on_abort_notification(before, checkpoint, completed)
    return _SUBTASK[kind](before, checkpoint)


_MORE = ("checkpoint", "async_failed", "abort_on_barrier", "abort_notification", "status", "close")

_SUBTASK: Mapping[str, Callable[[Subtask, int], Step[Subtask]]] = {
    "complete_notification": subtask.on_complete_notification,
    "subsumed_notification": subtask.on_subsumed_notification,
    "async_done": subtask.on_async_done,
}


def observe_subtask(state: Subtask) -> dict[str, object]:
    """`running_task`, `last`, `aborted`, `running`, `completed`, `highest_aborted`."""
    return {
        "running_task": state.task_runs,
        "last": state.last,
        "aborted": list(state.aborted),
        "running": list(state.running),
        "completed": state.completed,
        "highest_aborted": state.highest_aborted,
    }


def effect_of_subtask(state: Subtask, effect: Effect) -> dict[str, object]:
    """The effect in wire form, without a task: notifications go to the operators of this subtask."""
    wire = fields.to_wire(effect)
    wire.pop("task", None)
    return wire
