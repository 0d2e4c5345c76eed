"""The subtask's snapshot steps behind the words of the wire."""

from collections.abc import Callable, Mapping

from model import subtask
from model.components import words
from model.components.words import Wire
from model.events import NONE, Effect, Step
from model.subtask import Subtask


def new_subtask(config: Wire) -> Subtask:
    """`profile`, `max_concurrent`."""
    words.choice(config, "profile", ("2.3",), default="2.3")
    bound = words.integer(config, "max_concurrent", at_least=1, default=1)
    return subtask.new_subtask(bound)


def step_subtask(before: Subtask, event: Wire) -> Step[Subtask]:
    """One event of the subtask's life."""
    kind = words.kind_of(event, (*_SUBTASK, "abort_on_barrier", "abort_notification", "status"))
    if kind == "status":
        return subtask.on_status(before, words.boolean(event, "running"))
    checkpoint = words.checkpoint(event)
    if kind == "abort_on_barrier":
        return subtask.on_abort_on_barrier(before, checkpoint, words.text(event, "reason"))
    if kind == "abort_notification":
        completed = words.integer(event, "completed", at_least=NONE, default=NONE)
        return subtask.on_abort_notification(before, checkpoint, completed)
    return _SUBTASK[kind](before, checkpoint)


_SUBTASK: Mapping[str, Callable[[Subtask, int], Step[Subtask]]] = {
    "checkpoint": subtask.on_checkpoint,
    "complete_notification": subtask.on_complete_notification,
    "async_done": subtask.on_async_done,
    "async_failed": subtask.on_async_failed,
}


def observe_subtask(state: Subtask) -> dict[str, object]:
    """`running_task`, `last`, `aborted`, `running`, `completed`."""
    return {
        "running_task": state.task_runs,
        "last": state.last,
        "aborted": list(state.aborted),
        "running": list(state.running),
        "completed": state.completed,
    }


def effect_of_subtask(state: Subtask, effect: Effect) -> dict[str, object]:
    """Notifications go to the operators of this subtask: they name no task."""
    wire = words.to_wire(effect)
    wire.pop("task", None)
    return wire
