"""Runs one round: an engine runs its job under faults, and its committed output is classified."""

import shutil
import threading
import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from conformance.engines.engine import Engine, Place, RoundError
from conformance.engines.feed import CHUNK, LANES, Feed
from conformance.engines.processes import EngineError, Processes
from conformance.engines.round_account import account
from conformance.engines.schedule import RECORDS, Fault
from conformance.observe.guarantees.guarantee import Classification, Totals, classify

RATE = 1_000
"""The number of records fed each second."""
AHEAD = 600
"""Maximum number of records that are fed after a fault until the engine processes records again."""
ALIVE = 50
"""Number of records that the engine has to process after a fault before the next fault."""
LONGEST_SECONDS = 1_200.0
TRICKLE_SECONDS = 15.0
"""If an engine has processed too few records for this time, the next chunk of each lane is fed."""
A_CHUNK_EACH = LANES * CHUNK
ALIVE_SECONDS = 400.0
"""Maximum time in seconds for an engine to start or to recover."""
QUIET_SECONDS = 8.0
"""If nothing is processed for this time after the end of the input, the engine has read all of it."""
_SETTLE_SECONDS = 1.5
_LATER_CHECKPOINTS = 3
_UNKNOWN_CHECKPOINTS_SECONDS = 20.0
_TICK = 0.02


@dataclass
class RoundResult:
    """The result of a round."""

    engine: str
    number: int
    seed: int
    faults: list[dict[str, Any]]
    """The injected faults. The `kind` of each is the drawn one or its replacement for the engine."""
    settings: dict[str, Any] = field(default_factory=dict)
    classification: Classification | None = None
    """None if the round has no verdict; then `undetermined` has the reason."""
    undetermined: str = ""
    restarts: list[str] = field(default_factory=list)
    recorded: list[dict[str, Any]] = field(default_factory=list)
    log: dict[str, Any] = field(default_factory=dict)
    """The findings of the log monitor; empty if the log was not validated."""
    state: dict[str, Any] = field(default_factory=dict)
    """The numbers of `keys` and `records` in the state that was read; or the reason why it is `unread`."""
    seconds: float = 0.0


@dataclass
class RunningRound:
    """A round that runs: feeds the input, injects the faults at their points, and reads the output."""

    engine: Engine
    feed: Feed
    faults: Sequence[Fault]
    result: RoundResult
    samples: list[Sequence[str]] = field(default_factory=list)
    """The committed rows before each fault, and after the engine has processed records again."""
    _limit: int = AHEAD
    _stop: threading.Event = field(default_factory=threading.Event)

    def run(self) -> Sequence[str]:
        """Run the round. Returns the committed rows at its end. Raises RoundError if the engine is stuck."""
        until = time.monotonic() + LONGEST_SECONDS
        feeder = threading.Thread(target=self._feed_input, daemon=True)
        self.engine.start()
        feeder.start()
        try:
            mark = 0
            for fault in self.faults:
                self._wait(mark + ALIVE, fault.point, until)
                time.sleep(fault.delay / 1_000)
                self.samples.append(self.engine.lines())
                kind = fault.kind.among(self.engine.kinds)
                self.engine.inject(replace(fault, kind=kind))
                self.result.faults.append({**fault.as_dict(), "kind": kind.value})
                mark = self.engine.place.processed()
                self._limit = self.feed.fed + AHEAD
            self._wait(mark + ALIVE, self.feed.records, until)
            return self._end(until)
        finally:
            self._stop.set()
            feeder.join()

    def _wait(self, processed: int, fed: int, until: float) -> None:
        """Wait until `processed` records were processed, then until `fed` records were fed.

        `until`: the time at which the round must end. Raises RoundError at this time, or if the engine
        processes too few records for ALIVE_SECONDS.
        """
        stuck = time.monotonic() + ALIVE_SECONDS
        more = time.monotonic() + TRICKLE_SECONDS
        while self.engine.place.processed() < processed:
            self._tick(min(until, stuck))
            if time.monotonic() > more:  # an engine that has lost records may have none to process
                more += TRICKLE_SECONDS
                self._limit += A_CHUNK_EACH
        self.samples.append(self.engine.lines())
        self._limit = max(self._limit, fed)
        while self.feed.fed < fed:
            self._tick(until)

    def _end(self, until: float) -> Sequence[str]:
        """Wait until every record has a row, or the engine has ended or had enough time. Returns the rows.

        It had enough time if it has processed nothing for QUIET_SECONDS and then completed some more
        checkpoints. Raises RoundError at the time `until`.
        """
        self.engine.end.touch()
        done, since = self.engine.place.processed(), time.monotonic()
        quiet: tuple[float, int | None] | None = None
        while True:
            self._tick(until)
            lines = self.engine.lines()
            if self.engine.over():
                break
            if len({tuple(line.split(",", 3)[1:3]) for line in lines}) >= self.feed.records:
                break
            now, processed = time.monotonic(), self.engine.place.processed()
            if processed != done:
                done, since, quiet = processed, now, None
            elif quiet is None and now - since > QUIET_SECONDS:
                quiet = now, self.engine.completed()
            elif quiet is not None and self._had_enough_time(*quiet):
                break
        time.sleep(_SETTLE_SECONDS)
        return self.engine.lines()

    def _had_enough_time(self, since: float, completed: int | None) -> bool:
        now = self.engine.completed()
        if completed is None or now is None:
            return time.monotonic() - since > _UNKNOWN_CHECKPOINTS_SECONDS
        return now >= completed + _LATER_CHECKPOINTS

    def _tick(self, until: float) -> None:
        if time.monotonic() > until:
            raise RoundError(
                f"the engine was stuck or too slow: {self.feed.fed:,} records were fed and "
                f"{self.engine.place.processed():,} processed, after {len(self.result.faults)} faults"
            )
        time.sleep(_TICK)
        self.engine.supervise()

    def _feed_input(self) -> None:
        """Feed records at RATE, up to `_limit`."""
        allowance, last = 0.0, time.monotonic()
        while not self.feed.complete and not self._stop.wait(_TICK):
            now = time.monotonic()
            allowance, last = min(allowance + (now - last) * RATE, RATE), now
            until = min(self.feed.fed + int(allowance), self._limit, self.feed.records)
            if until > self.feed.fed:
                allowance -= until - self.feed.fed
                self.feed.feed(until)


def _state(engine: Engine) -> tuple[Mapping[Hashable, Totals] | None, dict[str, Any]]:
    """The state that was read, or None, which is not judged; and the field `state` of the result."""
    try:
        state = engine.state()
    except (RoundError, EngineError) as failed:
        return None, {"unread": str(failed)}
    if state is None:
        return None, {}
    return state, {"keys": len(state), "records": sum(one.records for one in state.values())}


def run_round(
    make: Callable[[Place], Engine],
    faults: Sequence[Fault],
    folder: Path,
    result: RoundResult,
    records: int = RECORDS,
    then: Callable[[Place, RoundResult], None] = lambda _place, _result: None,
) -> RoundResult:
    """Run a round under `folder`, which is emptied first. Fills the fields of `result`, and returns it.

    `make`: makes the engine. `then`: called after all processes have ended, for example to read their logs.
    """
    shutil.rmtree(folder, ignore_errors=True)
    feed = Feed(folder, records)
    started = time.monotonic()
    with Processes(folder / "logs") as processes:
        place = Place(folder, processes)
        engine = make(place)
        result.settings = dict(engine.settings)
        running = RunningRound(engine, feed, faults, result)
        try:
            lines = running.run()
            found = account(records, lines, running.samples)
            result.classification = classify(found)
            state, result.state = _state(engine)
            if state is not None:
                result.classification = classify(replace(found, state=state))
        except (RoundError, EngineError) as failed:
            result.undetermined = str(failed)
        finally:
            engine.close()
        result.restarts, result.recorded = engine.restarts, engine.recorded
    then(place, result)
    result.seconds = time.monotonic() - started
    return result
