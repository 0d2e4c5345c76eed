"""Replays a task's sink over all its attempts. A new attempt continues with what is durable in the sink.

The model refuses events that are not allowed in the sink's state. This module checks what the model cannot.
The sink takes a snapshot, commits and aborts exactly when its subtask requires it (SINK-02, SINK-03,
SINK-05). It restores the checkpoint that the attempt restores (ONCE-04), and pre-commits the records before
the barriers (ONCE-03).
"""

from collections import deque
from collections.abc import Hashable, Iterable
from typing import Any

from conformance.observe.causes import Need
from conformance.observe.eventlog import LogFile
from conformance.observe.lines.line import Line
from conformance.observe.memo.shifted import Shifted
from conformance.observe.memo.transitions import Notes
from conformance.observe.replay import Rejected, Replayed
from conformance.observe.run_state import Attempt, EndRejection, NotQuietError, Run
from model.components import COMPONENTS
from model.events import NONE
from model.sink.two_phase_commit import PreCommitted, Sink, SinkSnapshot

_RULE = {"snapshot": "SINK-02", "notify_complete": "SINK-03", "notify_abort": "SINK-05"}
"""The rule of each event that the subtask requires."""
_KEPT_SNAPSHOTS = 8
"""If a sink has more snapshots than this, those that no attempt can restore are dropped."""
RelativeSnapshot = tuple[int, int | None, tuple[tuple[int, int], ...]]
"""A snapshot of a sink, relative to the ids of a line: checkpoint, open transaction, pending ones."""


class SinkReplay:
    """Replays the sink's events in the file of one task and one attempt."""

    def __init__(self, run: Run, file: LogFile, *, is_certain: bool = True) -> None:
        self._run = run
        self._is_certain = is_certain
        """Whether the task is known to be a sink. If not, required events are not checked."""
        self._file = file
        self._model: Replayed | None = None
        self._due: deque[tuple[str, int]] = deque()
        self._before: int | None = 0
        """The number of records before the last snapshot; None if the replay began after it."""
        self._snapshots = run.sink_snapshots[file.task]

    def require(self, kind: str, checkpoint: int) -> None:
        """Record that the subtask requires this event of its sink."""
        self._due.append((kind, checkpoint))

    def nothing_due(self, before: str) -> None:
        """Raises Rejected if a required event of the sink has not come.

        `before`: the event by which it had to come, for the message.
        """
        if not self._is_certain:
            self._due.clear()
        if self._due:
            kind, checkpoint = self._due[0]
            why = f"the subtask requires {kind} of {checkpoint}, but the sink did not do it before {before}"
            raise Rejected((_RULE[kind],), why)

    def replay(self, line: Line, attempt: Attempt, notes: Notes) -> Need | None:
        """Replay one event of the sink. Returns the missing cause for which it has to wait, or None.

        After a snapshot, the caller passes the result of `taken` to `pre_commits`. Raises Rejected.
        """
        kind = line.kind
        self._is_certain = True
        if kind == "restore":
            return self._restore(line, attempt)
        notes.is_repeatable = kind in _RULE and self._model is not None
        model = self._started(attempt)
        if kind in _RULE:
            event = (kind, line.checkpoint)
            if not self._due or self._due[0] != event:
                expected = " ".join(map(str, self._due[0])) if self._due else "nothing"
                why = f"the sink did {kind} of {event[1]}, but its subtask requires {expected}"
                raise Rejected((_RULE[kind], *(("ONCE-05",) if kind == "notify_complete" else ())), why)
        rules = model.known(line)
        notes.rules = model.step(line) if rules is None else rules
        self._run.rules.update(notes.rules)
        if kind in _RULE:
            self._due.popleft()
        return None

    def taken(self, line: Line) -> RelativeSnapshot:
        """The snapshot that the sink has just taken, relative to the ids of its line."""
        assert self._model is not None, "only a sink with a model takes snapshots"
        newest: SinkSnapshot = self._model.state.snapshots[-1]
        return (
            newest.checkpoint - line.base,
            None if newest.open == NONE else newest.open - line.transaction,
            tuple(
                [(one.checkpoint - line.base, one.transaction - line.transaction) for one in newest.pending]
            ),
        )

    def pre_commits(self, line: Line, received: int | None, taken: RelativeSnapshot) -> None:
        """Keep a snapshot and compare its rows with the records that the task received.

        `received`: the number of records before its barriers; None if it is unknown. Raises Rejected.
        """
        base, other = line.base, line.transaction
        checkpoint, opened, pending = taken
        filed = tuple([PreCommitted(one + base, transaction + other) for one, transaction in pending])
        self._snapshots.append(
            SinkSnapshot(checkpoint + base, NONE if opened is None else opened + other, filed)
        )
        if len(self._snapshots) > _KEPT_SNAPSHOTS:
            self._forget()
        self._count_rows(line, received)

    def _started(self, attempt: Attempt) -> Replayed:
        if self._model is None:
            is_new = bool(attempt.states) and self._file.task not in attempt.states  # the job was rescaled
            if attempt.restored is not None and not is_new:
                why = f"attempt {attempt.number} restores {attempt.restored}, but the sink begins without it"
                raise Rejected(("SINK-06", "ONCE-04"), why)
            # no checkpoint was complete, so no earlier attempt has left a transaction to commit
            self._model = self._run.sinks[self._file.task] = self._run.replayed("sink", {})
            self._snapshots.clear()
        return self._model

    def _restore(self, line: Line, attempt: Attempt) -> Need | None:
        """Restore the sink from what was durable when the previous attempt failed."""
        task, checkpoint = self._file.task, line.event.get("checkpoint")
        if checkpoint != attempt.restored:
            why = f"attempt {attempt.number} restores {attempt.restored}, but the sink restores {checkpoint}"
            raise Rejected(("ONCE-04", "SINK-06"), why)
        earlier = [number for number in self._run.logged_attempts[task] if number < attempt.number]
        if earlier and not self._run.causes.count(("ended", earlier[-1], task)):
            why = f"{task} restores, and its attempt {earlier[-1]} cannot be read to the end"
            return Need(("ended", earlier[-1], task), 1, ("ONCE-06",), why)
        model = self._run.sinks.get(task) or self._run.replayed("sink", {})
        sink = model.state._replace(snapshots=tuple(self._snapshots))
        model.state = self._crashed(sink, line, checkpoint)
        self._run.rules.update(model.step(line))
        self._snapshots[:] = model.state.snapshots
        self._model = self._run.sinks[task] = model
        if any(effect["kind"] == "commit" for effect in line.effects):
            self._run.witnessed.see("commit on restore")
        return None

    def _crashed(self, sink: Sink, line: Line, checkpoint: int | None) -> Sink:
        """The model's state of the crashed sink, from which it restores.

        An implementation chooses the ids of its transactions, and uses none twice (SINK-08). So the id that
        the log shows is the next one, if it is above the ids that the model knows.
        """
        if sink.running:
            sink = COMPONENTS["sink"].apply(sink, {"kind": "crash"})[0]
        begun = [effect["transaction"] for effect in line.effects if effect["kind"] == "begin"]
        if begun and type(begun[-1]) is int and begun[-1] > sink.next_transaction:
            sink = sink._replace(next_transaction=begun[-1])
        if checkpoint in self._run.taken_over_checkpoints and checkpoint is not None:
            sink = sink._replace(snapshots=(*sink.snapshots, _restored(checkpoint, line.effects)))
        return sink

    def _count_rows(self, line: Line, received: int | None) -> None:
        """Raises Rejected unless the transaction has as many rows as records came since the last snapshot."""
        rows = line.further.get("rows")
        if received is None:
            return
        pre_committed = "pre_commit" in line.kinds
        before = received if self._before is None else self._before
        if type(rows) is int and pre_committed and self._before is not None and rows != received - before:
            why = (
                f"checkpoint {line.checkpoint}: {received - before} records came since the "
                f"previous snapshot, but the transaction has {rows}"
            )
            raise Rejected(("ONCE-03", "SINK-01"), why)
        self._before = received

    def located(self, base: int) -> tuple[Hashable, int] | None:
        """Return the sink's state, with checkpoints relative to `base`, and the next transaction.

        Returns None if the state cannot be made relative.
        """
        due = tuple((kind, checkpoint - base) for kind, checkpoint in self._due)
        if self._model is None:
            return (self._is_certain, due, None), 0
        if not isinstance(self._model, Shifted):
            return None
        node, own_base, other = self._model.place
        return (self._is_certain, due, (node, own_base - base)), other

    def move_to(self, local: Any, base: int, other: int) -> None:  # noqa: ANN401 - as `located` made it
        """Set the sink's state to one that `located` has returned, with these bases."""
        self._is_certain, due, of_model = local
        self._due = deque((kind, checkpoint + base) for kind, checkpoint in due)
        if of_model is not None:
            assert isinstance(self._model, Shifted)
            node, own_base = of_model
            self._model.place = node, own_base + base, other

    def begin_at(self, transaction: int) -> None:
        """Begin with this open transaction, as in `TaskReader.begin_at`."""
        model = self._run.replayed("sink", {})
        model.state = model.state._replace(open=transaction, next_transaction=transaction + 1)
        self._model = self._run.sinks[self._file.task] = model
        self._before = None

    def at_cut(self, checkpoint: int) -> object:
        """Data that influences the replay of later lines, as in `TaskReader.at_cut`.

        Snapshots below `checkpoint` are left out, because no attempt restores them.
        """
        if self._due or self._model is None:
            raise NotQuietError(f"the sink of {self._file.name} is not between two checkpoints")
        sink = self._model.state
        kept = tuple(one for one in self._snapshots if one.checkpoint >= checkpoint)
        return sink._replace(snapshots=kept, committed=()), self._before, self._is_certain

    def _forget(self) -> None:
        """Drop the snapshots that no attempt can restore, so that a long run stays fast."""
        newest = max(self._run.completed - self._run.savepoints, default=-1)
        self._snapshots[:] = [one for one in self._snapshots if one.checkpoint >= newest]
        model = self._model
        if model is not None and not isinstance(model, Shifted):
            model.state = model.state._replace(snapshots=tuple(self._snapshots), committed=())


def orphaned(run: Run, sinks: Iterable[str]) -> EndRejection | None:
    """The rejection if rescaling removed a sink, and no other sink has taken over its transactions.

    `sinks`: the tasks that are sinks in any attempt.
    """
    stages = {task.rpartition("-")[0] for task in sinks}
    for number in sorted(run.attempts_with_completion):
        attempt = run.attempts[number]
        for task in sorted(attempt.states - set(attempt.upstream)):
            if task.rpartition("-")[0] in stages and (number, task) not in run.taken_over_sinks:
                why = (
                    f"attempt {number} continues from checkpoint {attempt.restored} without {task}, and no "
                    "sink has taken over its pre-committed transactions"
                )
                return ("SINK-06", "ONCE-03"), why
    return None


def _restored(checkpoint: int, effects: list[dict[str, Any]]) -> SinkSnapshot:
    """A snapshot that was taken before this log begins, as the effects of its restore show it."""
    committed = [effect["transaction"] for effect in effects if effect["kind"] == "commit"]
    aborted = [effect["transaction"] for effect in effects if effect["kind"] == "abort_transaction"]
    odd = [one for one in (*committed, *aborted) if type(one) is not int]
    if odd:
        raise Rejected(
            ("SINK-06",), f"a restore of {checkpoint}: expected numbers of transactions, got {odd}"
        )
    return SinkSnapshot(
        checkpoint, aborted[0] if aborted else -1, tuple(PreCommitted(checkpoint, one) for one in committed)
    )
