"""The clock of a job on the driver. It does not depend on the wall clock, which somebody may set."""

from collections.abc import Callable


class JobClock:
    """Counts milliseconds by `seconds`, a monotonic clock (`time.monotonic`)."""

    def __init__(self, seconds: Callable[[], float]) -> None:
        self._seconds = seconds
        self._started = seconds()
        self._attempt_began = 0

    def now(self) -> int:
        """Milliseconds since the clock was created."""
        return int((self._seconds() - self._started) * 1_000)

    def begin_attempt(self) -> None:
        """Count `passed_ms` from now on."""
        self._attempt_began = self.now()

    def passed_ms(self) -> int:
        """Milliseconds since the attempt began."""
        return self.now() - self._attempt_began
