"""The registry of shared state: files that one checkpoint has written and later checkpoints use (SUB-12).

Such a file must stay while a retained checkpoint may use it. Up to 1.14 the registry counts the checkpoints
that use a file. From 1.15 on it records the newest checkpoint that uses a file.
"""

from abc import abstractmethod
from collections.abc import Collection, Iterable, Sequence
from typing import Protocol

from impl.core.component import NO_CHECKPOINT
from impl.core.coordinator.profiles import CoordinatorProfile


class SharedStates(Protocol):
    """The registry of shared handles.

    The caller deletes the handles that a method returns, in their order.
    """

    def acknowledged(self, checkpoint: int, handles: Sequence[str]) -> None:
        """An acknowledgement of `checkpoint` contains `handles`."""
        return

    def completed(self, checkpoint: int, handles: Sequence[str]) -> None:
        """`checkpoint` is complete and uses `handles`."""
        return

    @abstractmethod
    def holds(self, handle: str) -> bool:
        """Whether a checkpoint may use `handle`."""

    def released(self, checkpoint: int, handles: Sequence[str]) -> list[str]:
        """`checkpoint`, which used `handles`, was deleted; returns the handles to delete right after it."""
        return []

    def keep_only(self, kept: Collection[int]) -> None:
        """Forget all checkpoints but `kept`, and delete nothing."""
        return

    def swept(self, kept: Collection[int]) -> list[str]:
        """Forget the handles that no checkpoint of `kept` may use; returns those to delete."""
        return []


class CountedUses(SharedStates):
    """Up to 1.14: a handle is deleted together with the last completed checkpoint that uses it."""

    def __init__(self) -> None:
        self._users: dict[str, set[int]] = {}

    def completed(self, checkpoint: int, handles: Sequence[str]) -> None:
        """`checkpoint` uses `handles`. It counts once for a handle that several tasks use."""
        for handle in handles:
            self._users.setdefault(handle, set()).add(checkpoint)

    def holds(self, handle: str) -> bool:
        """Whether a completed checkpoint uses `handle`."""
        return handle in self._users

    def released(self, checkpoint: int, handles: Sequence[str]) -> list[str]:
        """The `handles` whose last user was `checkpoint`, in the order of their registration."""
        last = []
        for handle in [handle for handle in self._users if handle in handles]:
            self._users[handle].discard(checkpoint)
            if not self._users[handle]:
                del self._users[handle]
                last.append(handle)
        return last

    def keep_only(self, kept: Collection[int]) -> None:
        """Forget all uses but those by the checkpoints `kept`, and each handle without a use."""
        left = {handle: users.intersection(kept) for handle, users in self._users.items()}
        self._users = {handle: users for handle, users in left.items() if users}


class NewestUse(SharedStates):
    """From 1.15 on: a handle is deleted when its newest user is below every retained checkpoint.

    A handle whose first user has an id up to the highest of `recovered` is never deleted, because another job
    may have started from these checkpoints.
    """

    def __init__(self, recovered: Iterable[int] = ()) -> None:
        self._first: dict[str, int] = {}
        self._newest: dict[str, int] = {}
        self._recovered_up_to = max(recovered, default=NO_CHECKPOINT)

    def acknowledged(self, checkpoint: int, handles: Sequence[str]) -> None:
        """`checkpoint` uses `handles`, whether it completes or not."""
        for handle in handles:
            self._first.setdefault(handle, checkpoint)
            self._newest[handle] = max(checkpoint, self._newest.get(handle, checkpoint))

    def holds(self, handle: str) -> bool:
        """Whether `handle` is registered."""
        return handle in self._newest

    def swept(self, kept: Collection[int]) -> list[str]:
        """The handles last used below every checkpoint of `kept`, in the order of their registration."""
        lowest = min(kept, default=None)
        unused = [handle for handle, newest in self._newest.items() if lowest is None or newest < lowest]
        for handle in unused:
            del self._newest[handle]
        return [handle for handle in unused if self._first.pop(handle) > self._recovered_up_to]


def shared_states(profile: CoordinatorProfile, recovered: Iterable[int] = ()) -> SharedStates:
    """A new registry for a generation. `recovered`: the checkpoints that a new coordinator has recovered."""
    return NewestUse(recovered) if profile.registers_at_acknowledgement else CountedUses()
