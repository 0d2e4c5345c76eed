"""The checkpoint listeners of one subtask: users' objects that are notified how checkpoints end.

The notifications are effects of the core's snapshot steps (TASK-05, TASK-06). `Snapshots` carries out each
effect for the operator first, and then for the listeners. So the subtask's thread notifies a listener between
two rows, in the order of the effects. It notifies of each completed checkpoint at most once, and never of the
restored checkpoint.
"""

from collections.abc import Callable, Sequence
from functools import partial

from impl.functions import call_each, require_hooks

Notify = Callable[[int], None]


class Listeners:
    """The objects of `users` that have the methods of a `CheckpointListener`, in their order.

    Raises ConfigError for a method that cannot take a checkpoint id.
    """

    def __init__(self, users: Sequence[object]) -> None:
        for user in users:
            require_hooks(user)
        self._complete = _methods(users, "notify_checkpoint_complete")
        self._aborted = _methods(users, "notify_checkpoint_aborted")

    def complete(self, checkpoint: int) -> None:
        """Notify all listeners that `checkpoint` is complete. Raises their first error at the end."""
        call_each(partial(notify, checkpoint) for notify in self._complete)

    def aborted(self, checkpoint: int) -> None:
        """Notify all listeners that `checkpoint` was aborted. Raises their first error at the end."""
        call_each(partial(notify, checkpoint) for notify in self._aborted)


def _methods(users: Sequence[object], name: str) -> tuple[Notify, ...]:
    return tuple(getattr(user, name) for user in users if hasattr(user, name))
