"""The checkpoint coordinator's messages, replayed: acknowledgements, and how checkpoints end.

The model's coordinator answers every message at once; the log tells the answer in lines of its own, on
threads of their own. So each answer is kept, and the line that tells it must find it.
"""

from collections import Counter
from collections.abc import Callable

from conformance.observe.flink import grammar
from conformance.observe.flink.grammar import Said
from conformance.observe.flink.order import Wait
from conformance.observe.flink.run import Effects, Part, Run
from conformance.observe.replay import Rejected, unknown_effect

_TIMEOUT = 1 << 40
"""Virtual ms until a checkpoint would expire; the log tells when it does."""
_OF_THE_PROTOCOL = ("suspend", "expired", "subsumed", "declined")
"""Reasons of failures that the model gives itself."""


class CoordinatorReplay:
    """What the coordinator says about the checkpoints that are under way."""

    def __init__(self, run: Run) -> None:
        survey, settings = run.survey, run.settings
        self._run = run
        config = {
            "tasks": [{"id": task, "source": task in survey.sources} for task in survey.tasks],
            "timeout_ms": _TIMEOUT,
            "max_concurrent": settings.max_concurrent,
            "retain": settings.retain,
        }
        self._coordinator = Part(run, "coordinator", "coordinator", config)
        self.plans: dict[int, dict[str, str]] = {}
        """By checkpoint: the executions that were to acknowledge it, and their tasks."""
        self._leaving = ""
        """The state for which the job has left RUNNING, until something shows that the coordinator knows."""
        self._acknowledged: set[tuple[str, int]] = set()
        self._completed: set[int] = set()
        self._ended: set[int] = set()
        self._aborted: dict[int, str] = {}
        self._notices: set[tuple[str, str, int]] = set()
        """Kind, task and checkpoint of the notifications that the model has sent."""
        self._subsumed: Counter[tuple[str, int]] = Counter()
        """By task and checkpoint: news of subsumption not yet told; -1 where nothing was subsumed."""
        self._discarded: set[int] = set()
        self._handlers: dict[str, Callable[[Said], Wait | None]] = {
            grammar.ACK: self._acknowledge,
            grammar.ACK_DUPLICATE: self._refused_acknowledgement,
            grammar.ACK_UNKNOWN: self._refused_acknowledgement,
            grammar.ACK_LATE: self._late_acknowledgement,
            grammar.COMPLETED: self._complete,
            grammar.DECLINED: self._decline,
            grammar.EXPIRED: self._expire,
            grammar.DISCARDED: self._discard,
            grammar.FAILED: self._failed,
        }

    def handle(self, line: Said) -> Wait | None:
        """Replay one line. Raises Rejected."""
        handler = self._handlers.get(line.kind)
        return None if handler is None else handler(line)

    # ------------------------------------------------------------ what a task may ask

    def has_acknowledged(self, execution: str, checkpoint: int) -> bool:
        """The coordinator has counted that acknowledgement."""
        return (execution, checkpoint) in self._acknowledged

    def wait_for_completion(self, checkpoint: int, task: str) -> Wait | None:
        """None if the log has told the completion, and the model has notified the task of it."""
        if checkpoint in self._run.told_completed:
            return None
        why = f"{task} is told that checkpoint {checkpoint} completed, and it has not; {self._describe()}"
        if checkpoint in self._aborted:
            raise Rejected(("COORD-08", "ONCE-05"), f"{why}; it was aborted ({self._aborted[checkpoint]})")
        reordering = "notification before its completion"
        return Wait(("told completed", checkpoint), ("COORD-08", "ONCE-05"), why, reordering)

    def wait_for_abort(self, checkpoint: int, task: str) -> Wait | None:
        """None if the coordinator has told the task of the abort."""
        if ("notify_abort", task, checkpoint) in self._notices:
            return None
        self._leave()
        if ("notify_abort", task, checkpoint) in self._notices:
            return None
        why = f"{task} is told that checkpoint {checkpoint} was aborted, and it was not; {self._describe()}"
        if checkpoint in self._completed:
            raise Rejected(("COORD-09", "COORD-12"), why)
        return Wait(("aborted",), ("COORD-09", "COORD-12"), why, "notification before the abort")

    def take_subsumed(self, task: str, checkpoint: int) -> Wait | None:
        """None if the coordinator has told the task that `checkpoint` (-1: none) was subsumed; told once."""
        checkpoint = max(checkpoint, -1)
        if self._subsumed[task, checkpoint]:
            self._subsumed[task, checkpoint] -= 1
            self._run.see("subsumption notified")
            return None
        why = f"{task} is told that checkpoint {checkpoint} was subsumed, and it was not; {self._describe()}"
        rules = ("COORD-08", "SUB-09")
        if checkpoint in self._ended and checkpoint not in self._coordinator.seen()["completed"]:
            raise Rejected(rules, why)  # no completion to come can replace it
        return self._replaced(rules, why, "notification before its completion")

    def _describe(self) -> str:
        return f"coordinator: {self._coordinator.describe()}"

    # ------------------------------------------------------------ messages of tasks

    def _sender(self, line: Said) -> str:
        """The task that acknowledges or declines; a stranger keeps its id as its name."""
        return self.plans[line.checkpoint].get(line.execution, f"execution {line.execution}")

    def _untriggered(self, line: Said) -> Wait | None:
        if line.checkpoint in self.plans:
            return None
        why = f"a message about checkpoint {line.checkpoint}, which was never triggered; {self._describe()}"
        rules = ("COORD-06", "COORD-04")
        return Wait(("triggered", line.checkpoint), rules, why, "acknowledgement before its trigger")

    def _acknowledge(self, line: Said) -> Wait | None:
        """The coordinator says that it has counted an acknowledgement."""
        wait = self._untriggered(line)
        if wait is not None:
            return wait
        checkpoint, task = line.checkpoint, self._sender(line)
        execution = self._run.survey.executions.get(line.execution)
        if execution is not None and line.execution in self.plans[checkpoint]:
            key = (execution.thread, checkpoint)
            if key not in self._run.writing:
                why = f"{execution.thread} acknowledges checkpoint {checkpoint} and never began to write it"
                reordering = "acknowledgement before the asynchronous part starts"
                return Wait(("storing", *key), ("TASK-07", "COORD-05"), why, reordering)
        before = self._coordinator.state
        effects = self._coordinator.step(acknowledgement(task, checkpoint), "COORD-05")
        result = next((effect["result"] for effect in effects if effect["kind"] == "acknowledged"), None)
        if result != "SUCCESS":
            answer = (
                f"counts as {result}" if result else f"is of a checkpoint that {self._how_ended(checkpoint)}"
            )
            stale = execution is not None and line.execution not in self.plans[checkpoint]
            rules = ["COORD-05" if result else "COORD-06", *(["ONCE-06"] if stale else [])]
            stood = self._coordinator.describe(before)
            why = (
                f"the log counts the acknowledgement of {task}, it {answer}; before it, coordinator: {stood}"
            )
            raise Rejected(rules, why)
        self._acknowledged.add((line.execution, checkpoint))
        self._run.see("snapshot acknowledged")
        if self._leaving:
            self._run.tolerate("acknowledgement after the job left RUNNING")
        self._carry(effects)
        return None

    def _how_ended(self, checkpoint: int) -> str:
        if checkpoint in self._completed:
            return "has completed"
        return f"was aborted ({self._aborted.get(checkpoint, 'unknown')})"

    def _refused_acknowledgement(self, line: Said) -> Wait | None:
        """Counted twice, or of nobody who was asked: the model must say the same."""
        wait = self._untriggered(line)
        if wait is not None:
            return wait
        expected = "DUPLICATE" if line.kind == grammar.ACK_DUPLICATE else "UNKNOWN"
        event = acknowledgement(self._sender(line), line.checkpoint)
        effects = self._coordinator.step(event, "COORD-05")
        result = next((effect["result"] for effect in effects if effect["kind"] == "acknowledged"), None)
        if result != expected:
            why = f"the log says {expected}, expected {result or 'that the checkpoint is not pending'}"
            raise self._coordinator.reject("acknowledged", why)
        return None

    def _late_acknowledgement(self, line: Said) -> Wait | None:
        self._leave()
        if str(line.checkpoint) in self._coordinator.seen()["pending"]:
            why = f"an acknowledgement of {line.checkpoint} is late, and it is pending; {self._describe()}"
            return Wait(("ended",), ("COORD-06",), why, "late answer before the end of its checkpoint")
        return None

    def _decline(self, line: Said) -> Wait | None:
        wait = self._untriggered(line)
        if wait is not None:
            return wait
        self._abort_for(line, "CHECKPOINT_DECLINED", self._sender(line))
        self._run.see("declined")
        return None

    def _abort_for(self, line: Said, reason: str, task: str) -> None:
        event = {"kind": "decline", "checkpoint": line.checkpoint, "task": task, "reason": reason}
        effects = self._coordinator.step(event, "COORD-09")
        if not effects:
            why = f"checkpoint {line.checkpoint} ends ({reason}), and it is not pending"
            raise self._coordinator.reject("abort", why)
        self._carry(effects)

    def _expire(self, line: Said) -> Wait | None:
        """Time is virtual: it passes until that checkpoint's deadline."""
        wait = self._untriggered(line)
        if wait is not None:
            return wait
        state = self._coordinator.state.coordinator
        due = next((one.deadline for one in state.pending if one.checkpoint == line.checkpoint), None)
        if due is None:
            raise self._coordinator.reject(
                "abort", f"checkpoint {line.checkpoint} expires, and is not pending"
            )
        self._carry(self._coordinator.step({"kind": "advance", "ms": due - state.now}, "COORD-10"))
        self._run.see("expired")
        return None

    # ------------------------------------------------------------ the end of a checkpoint

    def _carry(self, effects: Effects) -> None:
        """Keep what the coordinator says for the lines that tell it."""
        run = self._run
        subsumed: dict[str, int] = {}
        if len(effects) == 1 and effects[0]["kind"] == "acknowledged":
            return  # nothing that another line tells
        for effect in effects:
            kind, checkpoint = effect["kind"], int(effect.get("checkpoint", -1))
            match kind:
                case "complete":
                    self._completed.add(checkpoint)
                    self._ended.add(checkpoint)
                    run.happened("completed", checkpoint)
                case "abort":
                    self._aborted[checkpoint] = effect["reason"]
                    self._ended.add(checkpoint)
                case "discard" if checkpoint >= 0:
                    self._discarded.add(checkpoint)
                    run.see("older one replaced")
                case "notify_complete":
                    self._notices.add((kind, effect["task"], checkpoint))
                    subsumed.setdefault(effect["task"], -1)
                case "notify_abort":
                    self._notices.add((kind, effect["task"], checkpoint))
                case "notify_subsumed":
                    subsumed[effect["task"]] = checkpoint
                case "acknowledged" | "rejected" | "trigger_task" | "discard" | "restored":
                    pass  # read where their own lines are
                case "fail_job" | "fail":
                    pass  # the job's own lines tell it
                case "checkpoint_coordinator" | "trigger_hook" | "notify_coordinator":
                    pass  # without a line in Flink's log
                case _:
                    raise unknown_effect("coordinator", effect)
        for task, checkpoint in subsumed.items():
            self._subsumed[task, checkpoint] += 1
        run.happened("free")
        run.happened("aborted")
        run.happened("ended")

    def _complete(self, line: Said) -> Wait | None:
        checkpoint = line.checkpoint
        if checkpoint in self._run.told_completed:
            raise self._coordinator.reject("complete", f"checkpoint {checkpoint} is told to complete again")
        if checkpoint not in self._completed:
            missing = self._coordinator.seen()["pending"].get(str(checkpoint))
            lacks = f"it lacks {', '.join(missing)}" if missing else "it is not pending"
            why = f"checkpoint {checkpoint} is told to complete, and {lacks}; {self._describe()}"
            reordering = "completion before an acknowledgement of another thread"
            return Wait(("completed", checkpoint), ("COORD-07", "COORD-05"), why, reordering)
        self._run.see("checkpoint completed")
        self._run.told_completed.add(checkpoint)
        self._run.happened("told completed", checkpoint)
        return None

    def untold(self) -> Rejected | None:
        """A checkpoint that completed, as its acknowledgements tell, and of which the log never says so."""
        missing = sorted(self._completed - self._run.told_completed)
        if not missing:
            return None
        why = f"checkpoint {missing[0]} has every acknowledgement, and the log never says that it completed"
        return self._coordinator.reject("complete", why)

    def _discard(self, line: Said) -> Wait | None:
        if line.checkpoint in self._discarded:
            self._discarded.remove(line.checkpoint)
            return None
        why = f"checkpoint {line.checkpoint} is discarded, and no newer one has completed; {self._describe()}"
        reordering = "discarded before the completion that replaces it"
        pending = self._coordinator.seen()["pending"]
        return self._replaced(("COORD-07", "SUB-09") if pending else ("SUB-09", "SUB-06"), why, reordering)

    def _replaced(self, rules: tuple[str, ...], why: str, reordering: str) -> Wait:
        """Wait until a completion may have dropped older checkpoints."""
        seen = self._coordinator.seen()
        for pending in seen["pending"]:
            return Wait(("completed", int(pending)), rules, why, reordering)
        return Wait(("triggered", seen["next_id"]), rules, why, reordering)

    def _failed(self, line: Said) -> Wait | None:
        """The failure manager tells that a checkpoint failed; its cause stands in a line of its own."""
        self._leave()
        if line.checkpoint in self._aborted:
            return None
        if line.checkpoint in self._completed:
            raise self._coordinator.reject(
                "abort", f"checkpoint {line.checkpoint} fails, and it has completed"
            )
        if not line.detail or any(word in line.detail.lower() for word in _OF_THE_PROTOCOL):
            why = (
                f"checkpoint {line.checkpoint} fails ({line.detail or 'no reason'}), and nothing has ended it"
            )
            why = f"{why}; {self._describe()}"
            return Wait(("aborted",), ("COORD-09", "COORD-12"), why, "failure told before its cause")
        wait = self._untriggered(line)
        if wait is None:
            self._run.see("ended for another reason")
            self._abort_for(line, line.detail, self._run.survey.tasks[0])
        return wait

    def _leave(self) -> None:
        """The coordinator learns what the job's state has become.

        The job says so before the coordinator stops: until something shows that it has, acknowledgements
        count (COORD-12).
        """
        if self._leaving:
            status, self._leaving = self._leaving, ""
            if self._coordinator.seen()["pending"]:
                self._run.see("pending one ended by the failure")
            self._carry(self._coordinator.step({"kind": "job_status", "status": status}, "COORD-12"))


def acknowledgement(task: str, checkpoint: int) -> dict[str, object]:
    """The event of one acknowledgement; no state goes with it."""
    return {"kind": "acknowledge", "checkpoint": checkpoint, "task": task}
