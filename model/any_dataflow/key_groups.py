"""The subtasks of an execution attempt. Each task is a key group, and a subtask holds a range of key groups.

The tasks of one level of the dataflow are the key groups of one operator, or the splits of one source. The
sinks of a level form a separate operator. An attempt may have another parallelism than the previous one. A
restore then gives each subtask the state of its key groups. spec/dataflow/KeyGroups.tla specifies the same
subtasks.

Source: Flink's KeyGroupRangeAssignment.
"""

from collections.abc import Callable, Sequence

from model.any_dataflow.job import Channel

Parallelism = Callable[[int, int], int]
"""A function from the number of failures and the number of key groups of an operator to its parallelism."""


def unscaled(attempt: int, groups: int) -> int:
    """Each key group has a separate subtask."""
    return groups


def scaled_out(attempt: int, groups: int) -> int:
    """One subtask holds all key groups. After a failure each key group has a separate subtask."""
    return groups if attempt else 1


def scaled_in(attempt: int, groups: int) -> int:
    """Each key group has a separate subtask. After a failure there is one subtask less."""
    return groups - 1 if attempt and groups > 1 else groups


class Subtasks:
    """The subtasks of one dataflow in each attempt. Attempts count from 0."""

    def __init__(self, channels: Sequence[Channel], parallelism: Parallelism = unscaled) -> None:
        self.parallelism = parallelism
        tasks = sorted({task for channel in channels for task in channel})
        senders = {task for task, _ in channels}
        level = dict.fromkeys(tasks, 0)
        for task in tasks:  # a sender has a smaller number than its readers
            level[task] = max((level[sender] + 1 for sender, reader in channels if reader == task), default=0)
        kinds = {task: (level[task], task in senders) for task in tasks}
        self._groups: dict[tuple[int, int], tuple[int, ...]] = {}
        self.operators = {task: tuple(u for u in tasks if kinds[u] == kinds[task]) for task in tasks}

    def subtask(self, attempt: int, task: int) -> int:
        """The subtask that receives the records of a key group, as its number within the operator, from 0."""
        operator = self.operators[task]
        return operator.index(task) * self.parallelism(attempt, len(operator)) // len(operator)

    def ranges(self, subtask: int, subtasks: int, groups: int) -> range:
        """The key groups whose state a subtask restores."""
        return range(-(-subtask * groups // subtasks), -(-(subtask + 1) * groups // subtasks))

    def holds(self, attempt: int, task: int) -> bool:
        """Whether the subtask that receives the records of the key group also restores its state."""
        operator = self.operators[task]
        subtasks = self.parallelism(attempt, len(operator))
        held = self.ranges(self.subtask(attempt, task), subtasks, len(operator))
        return operator.index(task) in held

    def group(self, attempt: int, task: int) -> tuple[int, ...]:
        """The key groups of the task's subtask. The first one represents all of them."""
        if (attempt, task) not in self._groups:
            own = self.subtask(attempt, task)
            group = tuple(other for other in self.operators[task] if self.subtask(attempt, other) == own)
            self._groups[attempt, task] = group
        return self._groups[attempt, task]

    def firsts(self, attempt: int) -> list[int]:
        """The first key group of each subtask."""
        return [task for task in self.operators if self.group(attempt, task)[0] == task]
