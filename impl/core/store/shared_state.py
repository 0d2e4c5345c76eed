"""Which shared state is still in use: files that one checkpoint wrote and later ones reference.

Such a file outlives the checkpoint that brought it, and must not be deleted while a retained checkpoint may
need it. Until 1.14 users were counted; from 1.15 on the registry knows the newest id that used a file.
"""

from collections.abc import Collection, Iterable, Sequence
from typing import Protocol

from impl.core.coordinator.profiles import CoordinatorGeneration


class SharedStates(Protocol):
    """The registry of shared handles. What it answers is to be deleted, in that order."""

    def acknowledged(self, checkpoint: int, handles: Sequence[str]) -> None:
        """An acknowledgement of `checkpoint` brought `handles`."""
        ...

    def completed(self, checkpoint: int, handles: Sequence[str]) -> None:
        """`checkpoint` is complete and uses `handles`."""
        ...

    def holds(self, handle: str) -> bool:
        """Whether somebody may use `handle`."""
        ...

    def released(self, checkpoint: int, handles: Sequence[str]) -> list[str]:
        """What goes right behind `checkpoint`, which was deleted and used `handles`."""
        ...

    def keep_only(self, kept: Collection[int]) -> None:
        """Forget users other than `kept`, and delete nothing."""
        ...

    def swept(self, kept: Collection[int]) -> list[str]:
        """What goes after several were deleted, of which only `kept` are left."""
        ...


class CountedUses:
    """Up to 1.14: complete checkpoints use handles; the last user takes them along."""

    def __init__(self) -> None:
        self._users: dict[str, set[int]] = {}

    def acknowledged(self, checkpoint: int, handles: Sequence[str]) -> None:
        """Nothing yet: only a complete checkpoint is a user."""

    def completed(self, checkpoint: int, handles: Sequence[str]) -> None:
        """`checkpoint` is one more user of `handles`, once however many tasks brought them."""
        for handle in handles:
            self._users.setdefault(handle, set()).add(checkpoint)

    def holds(self, handle: str) -> bool:
        """Whether a complete checkpoint uses `handle`."""
        return handle in self._users

    def released(self, checkpoint: int, handles: Sequence[str]) -> list[str]:
        """Those of `handles` that `checkpoint` was the last to use, in the order of their registration."""
        last = []
        for handle in [handle for handle in self._users if handle in handles]:
            self._users[handle].discard(checkpoint)
            if not self._users[handle]:
                del self._users[handle]
                last.append(handle)
        return last

    def keep_only(self, kept: Collection[int]) -> None:
        """Whoever is not retained uses nothing."""
        left = {handle: users.intersection(kept) for handle, users in self._users.items()}
        self._users = {handle: users for handle, users in left.items() if users}

    def swept(self, kept: Collection[int]) -> list[str]:
        """Nothing more."""
        return []


class NewestUse:
    """From 1.15 on: what no checkpoint from the oldest retained one on used can go.

    What came with checkpoints that were `recovered` is not this coordinator's to delete: another job may
    have been started from them.
    """

    def __init__(self, recovered: Iterable[int] = ()) -> None:
        self._first: dict[str, int] = {}
        self._newest: dict[str, int] = {}
        self._recovered_up_to = max(recovered, default=-1)

    def acknowledged(self, checkpoint: int, handles: Sequence[str]) -> None:
        """`checkpoint` uses `handles`, whether it completes or not."""
        for handle in handles:
            self._first.setdefault(handle, checkpoint)
            self._newest[handle] = max(checkpoint, self._newest.get(handle, checkpoint))

    def completed(self, checkpoint: int, handles: Sequence[str]) -> None:
        """Nothing new: they came with acknowledgements."""

    def holds(self, handle: str) -> bool:
        """Whether `handle` is known."""
        return handle in self._newest

    def released(self, checkpoint: int, handles: Sequence[str]) -> list[str]:
        """Nothing yet."""
        return []

    def keep_only(self, kept: Collection[int]) -> None:
        """Nothing: the newest use of each is known, whosoever it was."""

    def swept(self, kept: Collection[int]) -> list[str]:
        """The handles last used below every one of `kept`, in the order of their first registration."""
        lowest = min(kept, default=None)
        unused = [handle for handle, newest in self._newest.items() if lowest is None or newest < lowest]
        for handle in unused:
            del self._newest[handle]
        return [handle for handle in unused if self._first.pop(handle) > self._recovered_up_to]


def shared_states(generation: CoordinatorGeneration, recovered: Iterable[int] = ()) -> SharedStates:
    """An empty registry as that generation has it, of a coordinator that found the ids `recovered`."""
    return NewestUse(recovered) if generation.registers_at_acknowledgement else CountedUses()
