"""A subtask's inbox: bounded queues of its input channels, and the mail from its coordinator.

One reader thread a channel drains its socket into the channel's queue while that has room; TCP stops the
sender when it has none (back-pressure), and nothing waits in between. The subtask takes from one place: mail
first, then the channels that are not blocked, in turn. A blocked channel is not read from; what has come on
it waits (ALIGN-17).
"""

import threading
import time
from collections import deque
from collections.abc import Collection
from typing import Any

from impl.spark.channels.frames import Kind

Frame = tuple[Kind, bytes]
Mail = dict[str, Any]


class InboxClosedError(Exception):
    """The attempt has ended: nothing more is taken from or put into this inbox."""


class Inbox:
    """What one subtask waits for. `put` and `post` are for other threads, `take` for the subtask's.

    `capacity`: frames that wait in a channel's queue at most.
    """

    def __init__(self, channels: int, capacity: int) -> None:
        self._queues: list[deque[Frame]] = [deque() for _ in range(channels)]
        self._capacity = capacity
        self._mail: deque[Mail] = deque()
        self._closed = False
        self._woken = False
        self._next = 0
        self._full = 0
        self._changed = threading.Condition()

    def await_room(self, channel: int) -> None:
        """Wait while a channel's queue is full: no frame is taken off the wire before there is room.

        Raises `InboxClosedError`.
        """
        queue = self._queues[channel]
        with self._changed:
            while len(queue) >= self._capacity and not self._closed:
                self._full += 1
                self._changed.wait()
                self._full -= 1
            if self._closed:
                raise InboxClosedError

    def put(self, channel: int, frame: Frame) -> None:
        """Append to a channel's queue; room was awaited before. Raises `InboxClosedError`."""
        with self._changed:
            if self._closed:
                raise InboxClosedError
            self._queues[channel].append(frame)
            self._changed.notify_all()

    def post(self, mail: Mail) -> None:
        """Append mail; never waits. Nobody reads the mail of a closed inbox."""
        with self._changed:
            self._mail.append(mail)
            self._changed.notify_all()

    def wake(self) -> None:
        """Whoever waits in `take` looks again at what there is to do."""
        with self._changed:
            self._woken = True
            self._changed.notify_all()

    def take(
        self, blocked: Collection[int], seconds: float | None, *, urgent_only: bool = False
    ) -> Mail | tuple[int, Frame] | None:
        """The next mail, else the next frame of a channel not in `blocked` with its channel, else None.

        Waits up to `seconds` (None: until `wake`, 0: not at all); with `urgent_only` frames of records
        stay where they are. Raises `InboxClosedError`.
        """
        try:
            return self._take(blocked, seconds, urgent_only)
        finally:
            self.after_take()

    def after_take(self) -> None:
        """What a taken frame leads to, outside the lock: nothing here."""

    def _take(
        self, blocked: Collection[int], seconds: float | None, urgent_only: bool
    ) -> Mail | tuple[int, Frame] | None:
        deadline = None if seconds is None else time.monotonic() + seconds
        with self._changed:
            while True:
                if self._closed:
                    raise InboxClosedError
                if self._mail:
                    return self._mail.popleft()
                found = self._turn(blocked, urgent_only)
                if found is not None:
                    return found
                left = None if deadline is None else deadline - time.monotonic()
                if left is not None and left <= 0:
                    return None  # a wake stays, for one who looked before it and waits after this
                if self._woken:
                    self._woken = False
                    return None
                self._changed.wait(left)

    def _turn(self, blocked: Collection[int], urgent_only: bool) -> tuple[int, Frame] | None:
        """The next frame; none is urgent here."""
        if urgent_only:
            return None
        count = len(self._queues)
        for step in range(count):
            channel = (self._next + step) % count
            queue = self._queues[channel]
            if queue and channel not in blocked:
                self._next = (channel + 1) % count
                frame = queue.popleft()
                if self._full:
                    self._changed.notify_all()
                return channel, frame
        return None

    @property
    def buffered(self) -> int:
        """Bytes that have come and wait to be taken."""
        with self._changed:
            return sum(len(payload) for queue in self._queues for _, payload in queue)

    def close(self) -> None:
        """Wake everybody who waits here with `InboxClosedError`."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
