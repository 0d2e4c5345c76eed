"""The clock of a job on the driver. It does not depend on the wall clock, which an operator may set."""

from collections.abc import Callable


class JobClock:
    """Counts milliseconds. `seconds`: a monotonic clock, such as `time.monotonic`."""

    def __init__(self, seconds: Callable[[], float]) -> None:
        self._seconds = seconds
        self._started = seconds()
        self._attempt_began = 0

    def now(self) -> int:
        """The milliseconds since the clock was created."""
        return int((self._seconds() - self._started) * 1_000)

    def begin_attempt(self) -> None:
        """Let `passed_ms` count from now."""
        self._attempt_began = self.now()

    def passed_ms(self) -> int:
        """The milliseconds since the attempt began."""
        return self.now() - self._attempt_began
