"""The watch of a run's event log, and its final summary."""

from collections.abc import Callable, Iterator
from pathlib import Path

from conformance.observe.following.run_watch import RunWatch
from conformance.observe.monitor import shown
from conformance.observe.monitor.watching import Options, Watch
from conformance.verdict import Verdict


class RunWatching(Watch):
    """Watches one folder. It ends with the first alarm."""

    def __init__(self, folder: Path, options: Options, emit: Callable[[str], None]) -> None:
        super().__init__(options, emit)
        self.watch = RunWatch(folder, self._alarm, self._ended)
        self._exposes(self.watch)

    def read(self) -> bool:
        """Read the new lines. Returns whether there may be more."""
        more = self.watch.read()
        self._is_stopped = self._is_stopped or bool(self.watch.alarms)
        return more

    def finish(self) -> Verdict:
        """Print the final summary. Returns the verdict."""
        self._write()
        verdict = shown.verdict_of(self.watch)
        if self._options.json_lines:
            self._emit(shown.as_line(self._account_object(verdict)))
        else:
            for line in self._account(verdict):
                self._emit(line)
        return verdict

    def _account(self, verdict: Verdict) -> Iterator[str]:
        watch = self.watch
        attempts = len(watch.run.attempts)
        of = f"{attempts} attempt{'s' * (attempts != 1)}"
        yield f"{watch.replayed:,} events of {of} replayed through the model"
        states = ", ".join(f"{count:,} {state}" for state, count in watch.ended.items())
        yield f"  checkpoints  {states or 'none ended'}"
        yield f"  rules        {', '.join(sorted(watch.run.rules)) or 'none fired'}"
        yield f"  cuts         {watch.run.cuts_compared:,} compared"
        if watch.waiting:
            yield f"  waiting      {watch.waiting:,} events wait for a line of another file"
        if watch.late:
            yield f"  not judged   {watch.late:,} lines of attempts that were over"
        yield f"{verdict.value}  {sum(watch.alarms.values()):,} alarms"

    def _account_object(self, verdict: Verdict) -> dict[str, object]:
        watch = self.watch
        return {
            "what": "summary", "verdict": verdict.value, "events": watch.replayed,
            "attempts": len(watch.run.attempts), "checkpoints": dict(watch.ended),
            "alarms": sum(watch.alarms.values()), "rules": sorted(watch.run.rules),
            "cuts_compared": watch.run.cuts_compared, "waiting": watch.waiting, "not_judged": watch.late,
        }  # fmt: skip
