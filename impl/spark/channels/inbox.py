"""The inbox of a subtask: bounded queues of its input channels, and its mail (`messages`).

One thread for each channel reads the socket into the channel's queue while the queue is not full. While the
queue is full, TCP stops the sender (backpressure). The subtask takes mail first, then frames of the channels
that are not blocked, in turn. Frames of a blocked channel wait (ALIGN-17).
"""

import threading
import time
from collections import deque
from collections.abc import Collection

from impl.spark.channels.frames import Kind
from impl.spark.channels.messages import Mail

Frame = tuple[Kind, bytes]


class InboxClosedError(Exception):
    """The attempt has ended, so the inbox accepts and returns nothing more."""


class Inbox:
    """Frames and mail of one subtask. The subtask's thread calls `take`, other threads call `put` and `post`.

    `capacity`: the maximum number of frames in the queue of a channel.
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

    def await_capacity(self, channel: int) -> None:
        """Wait while a channel's queue is full. The caller reads the socket only after this call.

        Raises `InboxClosedError` after `close`.
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
        """Append a frame to a channel's queue. Call `await_capacity` before. Raises `InboxClosedError`."""
        with self._changed:
            if self._closed:
                raise InboxClosedError
            self._queues[channel].append(frame)
            self._changed.notify_all()

    def post(self, mail: Mail) -> None:
        """Append mail. Never waits. The mail of a closed inbox is never read."""
        with self._changed:
            self._mail.append(mail)
            self._changed.notify_all()

    def wake(self) -> None:
        """Let a `take` that waits return, so that the subtask checks again what it can do."""
        with self._changed:
            self._woken = True
            self._changed.notify_all()

    def take(
        self, blocked: Collection[int], seconds: float | None, *, urgent_only: bool = False
    ) -> Mail | tuple[int, Frame] | None:
        """Return the next mail; without mail, (channel, frame) of a channel not in `blocked`; else None.

        Waits up to `seconds` (None: without limit, 0: not at all) or until `wake`. With `urgent_only`, the
        only frames are barriers that overtake. Raises `InboxClosedError` after `close`.
        """
        try:
            return self._take(blocked, seconds, urgent_only)
        finally:
            self.after_take()

    def after_take(self) -> None:
        """Do nothing. A subclass can override this. Each `take` calls it at its end, without the lock."""

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
                    return None  # a `wake` stays for the next call, which may wait
                if self._woken:
                    self._woken = False
                    return None
                self._changed.wait(left)

    def _turn(self, blocked: Collection[int], urgent_only: bool) -> tuple[int, Frame] | None:
        """The next frame, or None. In this inbox no frame is urgent, because no barrier overtakes."""
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
        """The size of all frames in the queues, in bytes."""
        with self._changed:
            return sum(len(payload) for queue in self._queues for _, payload in queue)

    def close(self) -> None:
        """Close the inbox. Every thread that waits in it gets `InboxClosedError`."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
