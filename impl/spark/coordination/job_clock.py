"""The clock of a job on the driver. It depends on no wall clock, which an operator or a daemon may set."""

from collections.abc import Callable


class JobClock:
    """Milliseconds of `seconds`, a clock that only measures (`time.monotonic`)."""

    def __init__(self, seconds: Callable[[], float]) -> None:
        self._seconds = seconds
        self._started = seconds()
        self._attempt_began = 0

    def now(self) -> int:
        """Milliseconds since the coordinator was made."""
        return int((self._seconds() - self._started) * 1_000)

    def begin_attempt(self) -> None:
        """An attempt begins now."""
        self._attempt_began = self.now()

    def passed_ms(self) -> int:
        """Milliseconds since the attempt began."""
        return self.now() - self._attempt_began
