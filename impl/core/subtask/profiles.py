"""The generations of Flink at the snapshot steps of a subtask, as far as their behaviour differs.

`TASK_GENERATIONS` is by the name of the wire's `profile`. The oldest is spelt out, and each later one says
what it brought: no release has taken anything back.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from impl.core.errors import UnsupportedError


@dataclass(frozen=True)
class TaskGeneration:
    """What one generation of subtasks has beyond the oldest."""

    ignores_old_triggers: bool = False
    """The last id is known, and what is not above it is out of order."""
    abort_messages: bool = False
    """The coordinator can tell of an abort, and aborts are remembered until their trigger comes."""
    fails_with_its_snapshot: bool = False
    """An exception of the synchronous part is the task's own."""
    tells_the_cause: bool = False
    """A decline carries the reason of what went wrong."""
    mute_when_stopped: bool = False
    """A failure of the asynchronous part concerns nobody once the task has stopped."""
    newest_completion_only: bool = False
    """Completions are told in ascending order, and an abort message brings the newest one along."""
    subsumption_messages: bool = False
    """The coordinator can tell of a dropped checkpoint."""
    fixed_memory: int | None = 128
    """How many aborts are remembered; None: the number of concurrent checkpoints."""
    far_below_is_aborted: bool = False
    """Who is further below the highest abort than the memory is long was forgotten, and is aborted."""


_1_9: Final = TaskGeneration()
_1_11: Final = replace(
    _1_9,
    ignores_old_triggers=True,
    abort_messages=True,
    fails_with_its_snapshot=True,
    tells_the_cause=True,
    mute_when_stopped=True,
)
_1_14: Final = replace(_1_11, newest_completion_only=True)
_1_15: Final = replace(_1_14, subsumption_messages=True)
_1_17: Final = replace(_1_15, fixed_memory=None, far_below_is_aborted=True)

NEWEST_TASK: Final = "2.3"
TASK_GENERATIONS: Final[Mapping[str, TaskGeneration]] = {
    "1.9": _1_9,
    "1.11": _1_11,
    "1.12": _1_11,
    "1.13": _1_11,
    "1.14": _1_14,
    "1.15": _1_15,
    "1.17": _1_17,
    "1.18": _1_17,
    "1.19": _1_17,
    "1.20": _1_17,
    NEWEST_TASK: _1_17,
}


def task_generation(name: str) -> TaskGeneration:
    """The generation of that name; `UnsupportedError` if there is none."""
    found = TASK_GENERATIONS.get(name)
    if found is None:
        raise UnsupportedError(
            f"profile is offered as {', '.join(TASK_GENERATIONS)}; came {name!r}; ask for one of those"
        )
    return found
