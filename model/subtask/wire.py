"""The subtask's snapshot steps in the adapter protocol."""

from typing import Any

from model.component import Component
from model.events import NONE, Step
from model.fields import Wire, WireError, Words
from model.steps import HANDLERS, step_of
from model.subtask import subtask
from model.subtask.events import Checkpoint
from model.subtask.profiles import TASK_PROFILES
from model.subtask.subtask import Subtask

WORDS = Words("subtask", HANDLERS["subtask"])
_STEP = step_of("subtask")


def new_subtask(config: Wire) -> Subtask:
    """A subtask with the options of the configuration. Raises WireError if it is not valid."""
    given = WORDS.config(config)
    return subtask.new_subtask(given["max_concurrent"], TASK_PROFILES[given["profile"]], given["restored"])


def step_subtask(before: Subtask, wire: Wire) -> Step[Subtask]:
    """The step of one event. Raises WireError if the event is not legal in this state."""
    event = WORDS.read(wire)
    if before.failed:
        raise WireError(f"{wire['kind']}: the task has failed; send no further event")
    written = type(event) is Checkpoint and event.checkpoint in before.running
    if written and not before.profile.orders_triggers:
        raise WireError(f"checkpoint {wire['checkpoint']}: its asynchronous part runs; trigger an id once")
    return _STEP(before, event)


def observe_subtask(state: Subtask) -> dict[str, object]:
    """The observable state: `running_task`, `last`, `aborted`, `running`, `completed`, `highest_aborted`."""
    return {
        "running_task": state.task_runs,
        "last": state.last,
        "aborted": list(state.aborted),
        "running": list(state.running),
        "completed": state.completed,
        "highest_aborted": state.highest_aborted,
    }


def config_of_subtask(state: Subtask) -> dict[str, Any]:
    """The configuration of a closed model's subtask."""
    config = {"profile": state.profile.name, "max_concurrent": state.remembered_at_most}
    return config if state.restored == NONE else {**config, "restored": state.restored}


COMPONENT = Component("subtask", WORDS, new_subtask, step_subtask, observe_subtask, config_of_subtask)
