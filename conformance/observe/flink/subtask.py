"""One execution of a task, replayed: its gate, its snapshot steps, and what must follow what on its thread.

The gate is replayed at handler level from the barriers' lines. When it triggers, the thread owes the lines
of the steps that follow, in their order (TASK-01); a line that comes in their place is rejected.
"""

from collections import deque
from collections.abc import Callable

from conformance.observe.flink import grammar
from conformance.observe.flink.grammar import Said
from conformance.observe.flink.jobmanager import JobManager
from conformance.observe.flink.order import Wait
from conformance.observe.flink.run import Part, Run
from conformance.observe.replay import Rejected

_RULE_OWED = {
    grammar.GATE_TRIGGER: "ALIGN-05",
    grammar.START: "TASK-01",
    grammar.BROADCAST: "TASK-01",
    grammar.SNAPSHOT: "TASK-01",
    grammar.ALIGNED: "ALIGN-06",
    grammar.CANCELS: "TASK-04",
    grammar.ABORTED_BEFORE: "TASK-03",
    grammar.OUT_OF_ORDER: "TASK-02",
    grammar.TOLD: "TASK-06",
}
"""The rule charged if the line does not come when it is owed, or comes when it is not."""
_ENDS = ("FINISHED", "FAILED", "CANCELED")


class SubtaskReplay:
    """The thread of one execution of a task."""

    def __init__(self, run: Run, job: JobManager, thread: str) -> None:
        self._run = run
        self._job = job
        self._thread = thread
        self._task = thread.rpartition("#")[0]
        self._channels = run.survey.channels.get(self._task, ())
        config = {"max_concurrent": run.survey.release.remembers or run.settings.max_concurrent}
        self._subtask = Part(run, "subtask", f"subtask {thread}", config)
        self._gate: Part | None = None
        if self._channels:
            after_finish = run.survey.release.after_finish
            size = {"channels": len(self._channels), "checkpoints_after_tasks_finish": after_finish}
            self._gate = Part(run, "gate", f"gate of {thread}", {**size, "level": "handler"})
        self._owed: deque[tuple[str, int]] = deque()
        self._last_on = [-1] * len(self._channels)
        self._last_channel = -1
        self._highest_abort = -1
        self._handlers: dict[str, Callable[[Said], Wait | None]] = {
            grammar.BARRIER: self._barrier,
            grammar.GATE_TRIGGER: self._gate_trigger,
            grammar.START: self._start,
            grammar.SNAPSHOT: self._snapshot,
            grammar.TOLD: self._told,
            grammar.HEARD: self._heard,
            grammar.CANCELS: self._cancels,
            grammar.CANCELLATION: self._cancellation,
            grammar.ENDED_EARLY: self._ended_early,
            grammar.NO_SNAPSHOT: self._no_snapshot,
            grammar.TASK: self._status,
            grammar.STORING: self._storing,
            grammar.STORED: self._stored,
            grammar.STORE_CLOSED: self._store_ended,
            grammar.STORE_FAILED: self._store_ended,
        }

    def handle(self, line: Said) -> Wait | None:
        """Replay one line of the thread. Raises Rejected."""
        handler = self._handlers.get(line.kind)
        if handler is not None:
            return handler(line)
        if line.kind != grammar.OVERTAKEN:  # that one only tells what the barrier before it has done
            self._pay(line)
        return None

    # ------------------------------------------------------------ what the thread owes

    def _pay(self, line: Said) -> None:
        """The line is the one that is owed. Raises Rejected."""
        owed = self._owed
        if owed and owed[0][0] == line.kind and line.checkpoint in {owed[0][1], -1}:
            owed.popleft()
            return
        self._free()
        rule = _RULE_OWED[line.kind]
        raise Rejected(
            (rule,), f"{_words(line)}, and nothing on this thread has led to it; {self._describe()}"
        )

    def _free(self) -> None:
        """Nothing is owed. Raises Rejected."""
        if self._owed:
            kind, checkpoint = self._owed[0]
            why = f"the line '{kind} {checkpoint}' must come next on this thread; {self._describe()}"
            raise Rejected((_RULE_OWED[kind],), why)

    def _describe(self) -> str:
        gate = f"gate: {self._gate.describe()}; " if self._gate is not None else ""
        return f"{gate}subtask: {self._subtask.describe()}"

    def left_over(self) -> Rejected | None:
        """What is still owed although the job is over."""
        try:
            self._free()
        except Rejected as rejected:
            return rejected
        return None

    # ------------------------------------------------------------ the gate

    def _barrier(self, line: Said) -> Wait | None:
        self._free()
        gate, checkpoint = self._gate, line.checkpoint
        assert gate is not None, "a task with barriers has a gate"
        channel = self._channels.index(line.detail)
        before = gate.seen()
        if channel in before["blocked"]:
            why = f"channel {line.detail} is blocked and may not be read; {gate.describe()}"
            raise Rejected(("ALIGN-17", "ALIGN-16"), why)
        if self._last_on[channel] >= checkpoint:
            why = (
                f"barrier {checkpoint} came on channel {line.detail} after barrier {self._last_on[channel]}: "
                f"a sender broadcasts each id once, and ascending; {gate.describe()}"
            )
            raise Rejected(("TASK-02", "ALIGN-04"), why)
        if checkpoint not in self._run.broadcast:
            why = f"barrier {checkpoint} came on channel {line.detail}, and no task has sent it"
            return Wait(
                ("broadcast", checkpoint), ("TASK-01", "ONCE-01"), why, "barrier received before it was sent"
            )
        self._last_on[channel] = checkpoint
        event = {"kind": "barrier", "channel": channel, "checkpoint": checkpoint}
        self._obey(gate.step(event, "ALIGN-13"), channel)
        return None

    def _obey(self, effects: list[dict[str, object]], channel: int) -> None:
        """What the gate says is owed by the thread."""
        said = {str(effect["kind"]) for effect in effects}
        for effect in effects:
            checkpoint = effect.get("checkpoint")
            assert checkpoint is None or isinstance(checkpoint, int)
            if effect["kind"] == "abort" and checkpoint is not None:
                self._run.see("overtaken at the gate" if "block" in said else "cancelled at the gate")
                self._owed.append((grammar.CANCELS, checkpoint))
            elif effect["kind"] == "trigger" and checkpoint is not None:
                self._run.see("aligned")
                if self._last_channel not in {-1, channel}:
                    self._run.see("another channel last")
                self._last_channel = channel
                steps = (grammar.GATE_TRIGGER, grammar.START, grammar.ALIGNED)
                self._owed += [(step, checkpoint) for step in steps]
        if "block" in said and "trigger" not in said:
            self._run.see("channel blocked")
        elif said == {"resume"}:
            self._run.see("late barrier")

    def _gate_trigger(self, line: Said) -> None:
        if not self._owed:
            self._infer_ends(line)
        if not self._owed and self._gate is not None:
            seen = self._gate.seen()
            settled = {*seen["blocked"], *seen["closed"]}
            missing = [name for place, name in enumerate(self._channels) if place not in settled]
            why = f"checkpoint {line.checkpoint} is triggered with barriers missing on {' '.join(missing)}"
            raise self._gate.reject("trigger", why)
        self._pay(line)

    def _infer_ends(self, line: Said) -> None:
        """No line tells that a channel ended; it is inferred where finished senders explain it (ALIGN-15)."""
        gate, survey = self._gate, self._run.survey
        if gate is None:
            return
        seen = gate.seen()
        if not seen["pending"] or seen["current"] != line.checkpoint or not survey.release.after_finish:
            return
        settled = {*seen["blocked"], *seen["closed"]}
        missing = [place for place in range(len(self._channels)) if place not in settled]
        if not self._may_have_ended(missing, seen["blocked"], line):
            return
        for place in missing:
            self._run.see("ended channel counted")
            self._obey(gate.step({"kind": "end_of_partition", "channel": place}, "ALIGN-15"), place)

    def _may_have_ended(self, missing: list[int], arrived: list[int], line: Said) -> bool:
        """A gate is fed by one vertex: if only some of its channels ended, only some of its tasks did.

        A sender that ended gave its last barrier when it last started a checkpoint, and none after.
        """
        survey = self._run.survey
        absent = survey.absent(self._thread, line.checkpoint)
        inputs = [channel.partition(".")[0] for channel in self._channels]
        for place in missing:
            if survey.last_barrier.get((self._thread, self._channels[place]), 0) > line.number:
                return False
            some_go_on = any(inputs[other] == inputs[place] for other in arrived)
            explained = any(
                (present or not some_go_on)
                and any(survey.last_started.get(sender, -1) == self._last_on[place] for sender in lacking)
                for lacking, present in absent.values()
            )
            if not explained:
                return False
        return True

    def _cancellation(self, line: Said) -> None:
        self._free()
        if self._gate is not None:  # the line does not tell the channel, and on which it came changes nothing
            closed = self._gate.seen()["closed"]
            channel = next(place for place in range(len(self._channels)) if place not in closed)
            event = {"kind": "cancel", "channel": channel, "checkpoint": line.checkpoint}
            self._obey(self._gate.step(event, "ALIGN-12"), channel)

    def _ended_early(self, line: Said) -> None:
        """A channel ended while `checkpoint` was aligned, and ended channels do not count (ALIGN-14)."""
        self._free()
        if self._gate is not None:
            seen = self._gate.seen()
            if not seen["pending"] or seen["current"] != line.checkpoint:
                raise self._gate.reject(
                    "abort", f"checkpoint {line.checkpoint} is not being aligned", "ALIGN-14"
                )
            self._owed.append((grammar.CANCELS, line.checkpoint))

    def _cancels(self, line: Said) -> None:
        self._pay(line)
        event = {"kind": "abort_on_barrier", "checkpoint": line.checkpoint, "reason": "CHECKPOINT_DECLINED"}
        self._subtask.step(event, "TASK-04")

    # ------------------------------------------------------------ the snapshot

    def _start(self, line: Said) -> Wait | None:
        checkpoint, job = line.checkpoint, self._job
        if self._channels and self._owed:
            self._pay(line)
        else:
            self._free()
            if checkpoint not in job.plans:
                why = f"{self._task} starts checkpoint {checkpoint}, and the coordinator has not triggered it"
                reordering = "task starts a checkpoint before its trigger"
                return Wait(("triggered", checkpoint), ("COORD-04", "TASK-01"), why, reordering)
            self._planned(checkpoint)
        self._recall(checkpoint)
        effects = [str(effect["kind"]) for effect in self._checkpoint(checkpoint)]
        if "snapshot" in effects:
            self._owed.appendleft((grammar.SNAPSHOT, checkpoint))
            if self._run.survey.release.tells_broadcast:
                self._owed.appendleft((grammar.BROADCAST, checkpoint))
            self._run.broadcast.add(checkpoint)
            self._run.happened("broadcast", checkpoint)
        elif "broadcast_cancel" in effects:
            self._run.see("abort before its trigger")
            self._owed.appendleft((grammar.ABORTED_BEFORE, checkpoint))
        else:
            self._owed.appendleft((grammar.OUT_OF_ORDER, checkpoint))
        return None

    def _checkpoint(self, checkpoint: int) -> list[dict[str, object]]:
        return self._subtask.step({"kind": "checkpoint", "checkpoint": checkpoint}, "TASK-02")

    def _recall(self, checkpoint: int) -> None:
        """An abort that was forgotten (TASK-09) counts as remembered if it lies far enough back.

        Releases that bound the memory by the checkpoints pending at once take every id for aborted that is
        more than that bound below the highest abort they were told of.
        """
        state, bound = self._subtask.state, self._run.settings.max_concurrent
        forgotten = checkpoint > state.last and checkpoint not in state.aborted
        if forgotten and not self._run.survey.release.remembers and checkpoint + bound < self._highest_abort:
            self._subtask.state = state._replace(aborted=(checkpoint, *state.aborted))

    def _planned(self, checkpoint: int) -> None:
        """The coordinator has triggered this very execution. Raises Rejected."""
        plan = self._job.plans[checkpoint]
        execution = self._run.survey.by_thread.get(self._thread, "")
        if execution not in plan:
            why = f"checkpoint {checkpoint} was triggered for another attempt than {self._thread}"
            raise Rejected(("ONCE-06", "COORD-04"), why)
        survey = self._run.survey
        finished = survey.release.after_finish and survey.absent(self._thread, checkpoint)
        if self._channels and not finished:
            assert self._gate is not None
            why = f"{self._thread} starts checkpoint {checkpoint} before its gate has triggered it"
            raise self._gate.reject("trigger", why, "TASK-01")

    def _snapshot(self, line: Said) -> None:
        self._pay(line)
        self._run.see("snapshot taken")
        self._run.snapshots.add((self._thread, line.checkpoint))
        self._run.happened("snapshot", self._thread, line.checkpoint)

    def _no_snapshot(self, line: Said) -> None:
        self._owed.clear()
        self._subtask.step({"kind": "async_failed", "checkpoint": line.checkpoint}, "TASK-08")

    def _storing(self, line: Said) -> Wait | None:
        key = (self._thread, line.checkpoint)
        if key not in self._run.snapshots:
            why = f"{self._thread} writes its snapshot of checkpoint {line.checkpoint} and has not taken it"
            reordering = "asynchronous part starts before the synchronous one ends"
            return Wait(("snapshot", *key), ("TASK-01", "TASK-07"), why, reordering)
        if key in self._run.writing:
            why = f"{self._thread} starts to write its snapshot of checkpoint {line.checkpoint} a second time"
            raise self._subtask.reject("acknowledge", why)
        self._run.writing.add(key)
        self._run.happened("storing", *key)
        return None

    def _stored(self, line: Said) -> None:
        if (self._thread, line.checkpoint) not in self._run.writing:
            why = (
                f"{self._thread} has written its snapshot of checkpoint {line.checkpoint} and never began to"
            )
            raise self._subtask.reject("acknowledge", why)
        if self._job.has_acknowledged(self._run.survey.by_thread.get(self._thread, ""), line.checkpoint):
            self._run.tolerate("asynchronous part told finished after its acknowledgement")
        self._run.see("snapshot written")
        self._subtask.step({"kind": "async_done", "checkpoint": line.checkpoint}, "TASK-07")

    def _store_ended(self, line: Said) -> None:
        if line.kind == grammar.STORE_FAILED:
            self._subtask.step({"kind": "async_failed", "checkpoint": line.checkpoint}, "TASK-08")

    # ------------------------------------------------------------ notifications

    def _heard(self, line: Said) -> Wait | None:
        """News of a completion reached the task; operators are told if it is news (TASK-06)."""
        self._free()
        wait = self._job.wait_for_completion(line.checkpoint, self._task)
        if wait is None and line.checkpoint > self._subtask.seen()["completed"]:
            self._owed.append((grammar.TOLD, line.checkpoint))
        return wait

    def _told(self, line: Said) -> Wait | None:
        match line.detail:
            case "COMPLETE":
                return self._told_complete(line)
            case "SUBSUME":
                self._free()
                return self._job.take_subsumed(self._task, line.checkpoint)
            case "ABORT":
                return self._told_aborted(line)
            case unknown:
                raise ValueError(f"expected a notification that the grammar knows, came {unknown!r}")

    def _told_aborted(self, line: Said) -> Wait | None:
        self._free()
        wait = self._job.wait_for_abort(line.checkpoint, self._task)
        if wait is None:
            self._run.see("abort notified")
            event = {"kind": "abort_notification", "checkpoint": line.checkpoint, "completed": -1}
            if line.checkpoint > self._subtask.seen()["last"]:
                self._highest_abort = max(self._highest_abort, line.checkpoint)
            effects = self._subtask.step(event, "TASK-05")
            if any(effect["kind"] == "cancel_async" for effect in effects):
                self._run.see("abort stopped the writing")
        return wait

    def _told_complete(self, line: Said) -> Wait | None:
        wait = self._job.wait_for_completion(line.checkpoint, self._task)
        if wait is not None:
            return wait
        if self._run.survey.release.tells_heard:
            self._pay(line)
        else:
            self._free()
        event = {"kind": "complete_notification", "checkpoint": line.checkpoint}
        if not self._subtask.step(event, "TASK-06"):
            why = f"the operators of {self._thread} are told of completed checkpoint {line.checkpoint} again"
            raise self._subtask.reject("notify_complete", why)
        self._run.see("completion notified")
        return None

    def _status(self, line: Said) -> None:
        state = line.detail.rpartition(">")[2]
        if state == "FINISHED":
            self._free()
        if state in _ENDS:
            self._owed.clear()  # what a failed or cancelled task owes, it owes no more


def _words(line: Said) -> str:
    detail = f" {line.detail}" if line.detail else ""
    return (
        f"'{line.kind}{detail} {line.checkpoint}' comes" if line.checkpoint >= 0 else f"'{line.kind}' comes"
    )
