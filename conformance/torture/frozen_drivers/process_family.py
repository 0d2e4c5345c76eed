"""A process and everything below it, frozen (SIGSTOP) and thawed (SIGCONT) as one.

A signal takes effect when the kernel next schedules the process that it is sent to. On a busy machine a
process can be stopped later than the one that looks at it, so a look at one moment misses some.
"""

from contextlib import suppress

import psutil

_GONE = (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD)


class ProcessFamily:
    """A root process and its descendants."""

    def __init__(self, root: psutil.Process) -> None:
        self._root = root
        self._known: list[psutil.Process] = [root]

    def stopped(self) -> list[psutil.Process]:
        """The members that are stopped now, parents first."""
        return [one for one in self._members() if _status(one) == psutil.STATUS_STOPPED]

    def all_stopped(self) -> bool:
        """Whether the root and every descendant that lives are stopped."""
        members = [*self._members()]
        alive = [status for one in members if (status := _status(one)) not in (None, *_GONE)]
        if not alive or set(alive) != {psutil.STATUS_STOPPED}:
            return False
        return self._members() == members  # none was started before its parent had stopped

    def thaw(self, *, root_first: bool) -> None:
        """Let every member go on: those known and those that have been started since.

        A member whose root was killed is still known. One that is not stopped yet loses its pending stop.
        """
        members = self._members()
        for one in members if root_first else reversed(members):
            with suppress(psutil.NoSuchProcess):
                one.resume()

    def _members(self) -> list[psutil.Process]:
        for one in list(self._known):
            with suppress(psutil.NoSuchProcess):
                self._known += [child for child in one.children(recursive=True) if child not in self._known]
        return self._known


def _status(process: psutil.Process) -> str | None:
    """Its status; None if it has ended."""
    try:
        return str(process.status())
    except psutil.NoSuchProcess:
        return None
