"""A task's sink, replayed over all its attempts: what is durable goes on from one to the next.

Beside the model's own guards: the sink does what its subtask said and nothing else (SINK-03), restores
what the attempt restores (ONCE-04), and pre-commits the records before the barriers (ONCE-03).
"""

from collections import deque
from collections.abc import Callable
from typing import Any

from conformance.observe.causes import Need
from conformance.observe.eventlog import Line, LogFile
from conformance.observe.replay import Rejected, Replayed
from conformance.observe.run import Attempt, Run
from model.components import COMPONENTS
from model.sink.two_phase_commit import Filed, Sink, SinkSnapshot

_ORDERED = ("snapshot", "notify_complete", "notify_abort")
_RULE = {"snapshot": "SINK-02", "notify_complete": "SINK-03", "notify_abort": "SINK-05"}
_REMEMBERED = 64


class SinkReader:
    """The sink's events within one file."""

    def __init__(self, run: Run, file: LogFile) -> None:
        self._run = run
        self._file = file
        self._model: Replayed | None = None
        self._orders: deque[tuple[str, int]] = deque()
        self._before = 0

    def order(self, kind: str, checkpoint: int) -> None:
        """The subtask tells its sink."""
        self._orders.append((kind, checkpoint))

    def all_obeyed(self, before: str) -> None:
        """What the sink was told it has done."""
        if self._orders:
            kind, checkpoint = self._orders[0]
            why = f"the sink was told {kind} of {checkpoint}, and did not do it before {before}"
            raise Rejected((_RULE[kind],), why)

    def take(self, line: Line, at: Attempt, received: Callable[[], int | None]) -> Need | None:
        """Replay one event; `received` counts the records before the barriers of this snapshot."""
        kind = line.kind
        if kind == "restore":
            return self._restore(line, at)
        model = self._started(at)
        if kind in _ORDERED:
            order = (kind, line.event.get("checkpoint"))
            if not self._orders or self._orders[0] != order:
                told = " ".join(map(str, self._orders[0])) if self._orders else "nothing"
                why = f"the sink did {kind} of {order[1]}, its subtask had told it {told}"
                raise Rejected((_RULE[kind], *(("ONCE-05",) if kind == "notify_complete" else ())), why)
        rules = model.step(line)
        self._run.rules.update(rules)
        if kind in _ORDERED:
            self._orders.popleft()
        said = [effect["kind"] for effect in line.effects]
        if kind == "snapshot":
            self._count_rows(line, received())
            if "begin" not in said:
                self._run.witnessed.see("last transaction")
        elif "commit" in said:
            self._run.witnessed.see("commit on notification")
        self._forget(model)
        return None

    def _started(self, at: Attempt) -> Replayed:
        if self._model is None:
            is_new = bool(at.states) and self._file.task not in at.states  # the job was rescaled
            if at.restored is not None and not is_new:
                why = f"attempt {at.number} restores checkpoint {at.restored}, the sink begins without it"
                raise Rejected(("SINK-06", "ONCE-04"), why)
            # whatever an attempt before has left behind was never committed: nothing was complete
            self._model = self._run.sinks[self._file.task] = Replayed("sink", {}, self._run.record)
        return self._model

    def _restore(self, line: Line, at: Attempt) -> Need | None:
        """The sink of the attempt before has crashed; this one takes its snapshot over."""
        task = self._file.task
        asked = line.event.get("checkpoint")
        if asked != at.restored:
            why = f"attempt {at.number} restores checkpoint {at.restored}, the sink restores {asked}"
            raise Rejected(("ONCE-04", "SINK-06"), why)
        earlier = [number for number in self._run.logged[task] if number < at.number]
        if earlier and not self._run.causes.count(("ended", earlier[-1], task)):
            why = f"{task} restores, and its attempt {earlier[-1]} cannot be read to the end"
            return Need(("ended", earlier[-1], task), 1, ("ONCE-06",), why)
        model = self._run.sinks.get(task) or Replayed("sink", {}, self._run.record)
        model.state = self._crashed(model.state, line, asked)
        self._run.rules.update(model.step(line))
        self._model = self._run.sinks[task] = model
        if any(effect["kind"] == "commit" for effect in line.effects):
            self._run.witnessed.see("commit on restore")
        return None

    def _crashed(self, sink: Sink, line: Line, checkpoint: int | None) -> Sink:
        """The sink before its restore. Where its ids go on is its own choice, but never back (SINK-08)."""
        if sink.running:
            sink = COMPONENTS["sink"].apply(sink, {"kind": "crash"})[0]
        begun = [effect["transaction"] for effect in line.effects if effect["kind"] == "begin"]
        if begun and type(begun[-1]) is int and begun[-1] > sink.next_transaction:
            sink = sink._replace(next_transaction=begun[-1])
        if checkpoint in self._run.taken_over and checkpoint is not None:
            sink = sink._replace(snapshots=(*sink.snapshots, _told(checkpoint, line.effects)))
        return sink

    def _count_rows(self, line: Line, received: int | None) -> None:
        """The transaction holds the records that came since the snapshot before, each once."""
        rows = line.fields.get("rows")
        pre_committed = any(effect["kind"] == "pre_commit" for effect in line.effects)
        if received is None:
            return
        if type(rows) is int and pre_committed and rows != received - self._before:
            why = (
                f"checkpoint {line.event['checkpoint']}: {received - self._before} records came since the "
                f"snapshot before, the transaction holds {rows}"
            )
            raise Rejected(("ONCE-03", "SINK-01"), why)
        self._before = received

    def _forget(self, model: Replayed) -> None:
        """What no restore can ask for is not carried along: a long run stays fast."""
        sink: Sink = model.state
        if len(sink.snapshots) > _REMEMBERED:
            newest = max(self._run.completed - self._run.savepoints, default=-1)
            kept = tuple(one for one in sink.snapshots if one.checkpoint >= newest)
            pending = {filed.transaction for one in kept for filed in one.pending}
            committed = tuple(one for one in sink.committed if one in pending)
            model.state = sink._replace(snapshots=kept, committed=committed)


def orphaned(run: Run) -> tuple[tuple[str, ...], str] | None:
    """The first sink that is no more, since its job was rescaled, and whose transactions nobody took over."""
    stages = {task.rpartition("-")[0] for task in run.sinks}
    for number in sorted(run.went_on):
        at = run.attempts[number]
        for task in sorted(at.states - set(at.upstream)):
            if task.rpartition("-")[0] in stages and (number, task) not in run.adopted:
                why = (
                    f"attempt {number} goes on from checkpoint {at.restored} without {task}, and nobody has "
                    "taken over what that had pre-committed"
                )
                return ("SINK-06", "ONCE-03"), why
    return None


def _told(checkpoint: int, effects: list[dict[str, Any]]) -> SinkSnapshot:
    """The snapshot of a run before this log, as its restore tells of it."""
    committed = [effect["transaction"] for effect in effects if effect["kind"] == "commit"]
    aborted = [effect["transaction"] for effect in effects if effect["kind"] == "abort_transaction"]
    return SinkSnapshot(
        checkpoint, aborted[0] if aborted else -1, tuple(Filed(checkpoint, one) for one in committed)
    )
