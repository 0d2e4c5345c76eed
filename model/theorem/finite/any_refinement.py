"""Checks that `model.any_dataflow` refines the theorem: each step is a sequence of the theorem's actions.

As in `refinement`, each state of the model is coupled with a state of the theorem. Here the dataflow is
given, checkpoints may be unaligned or stop the job, and tasks may finish. Nearly every step is one action of
the theorem. A step of a subtask is the action of each of its key groups, one after the other (see
`model.theorem.rescaling`). The theorem's channels are those of the dataflow, then an input of each source,
then an output of each sink. Histories have the same values in the model and in the theorem.
"""

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

from model.any_dataflow.any_dataflow import AnyDataflow
from model.any_dataflow.bounds import Do, JobBounds
from model.any_dataflow.job import Barrier, End, Job, is_record
from model.events import Step
from model.theorem.dataflow import CHANNEL, ID, POSITION, TASK
from model.theorem.finite.refinement import Coupled, QuantifiersOfDataflow, Refinement, Taken
from model.theorem.logic import Function, State


class AnyRefinement(Refinement):
    """Couples a dataflow within bounds with the theorem. Its unaligned checkpoints must not be aborted."""

    def __init__(self, dataflow: AnyDataflow, bounds: JobBounds) -> None:
        self.dataflow = dataflow
        count, tasks = len(dataflow.channels), dataflow.tasks
        sources = [task for task in tasks if not dataflow.inputs[task]]
        sinks = [task for task in tasks if not dataflow.outputs[task]]
        self.links = range(count)
        self.input_of = {task: count + place for place, task in enumerate(sources)}
        first_output = count + len(sources)
        self.output_of = {task: first_output + place for place, task in enumerate(sinks)}
        most = dict[int, int]()
        for task in tasks:
            senders = [most[dataflow.channels[place][0]] for place in dataflow.inputs[task]]
            most[task] = sum(senders) if senders else bounds.records
        last_id, channels = bounds.checkpoints, first_output + len(sinks)
        self.domain = QuantifiersOfDataflow(
            {TASK: len(tasks), CHANNEL: channels, ID: last_id + 1, POSITION: max(most.values()) + 2}
        )
        source_of = [sender - 1 for sender, _ in dataflow.channels]
        target_of = [reader - 1 for _, reader in dataflow.channels]
        source_of += [task - 1 for task in (*sources, *sinks)]
        target_of += [task - 1 for task in (*sources, *sinks)]
        self.constants: Mapping[str, Function] = {
            "source_of": lambda c: source_of[c],
            "target_of": lambda c: target_of[c],
            "is_input": lambda c: count <= c < first_output,
            "is_output": lambda c: c >= first_output,
            "is_bounded": lambda c: bounds.ends and count <= c < first_output,
            "size": lambda c: bounds.records,
            "rank": lambda t: t,
            "first_history": lambda t: (),
            "next_history": lambda h, c, v: (*h, (dataflow.numbers[c], v) if c < count else v),
            "count": lambda c, h: 1,
            "emit": lambda c, h, p: h if c < count else h[-1] if h else (),
            "overtakes": lambda n: n in bounds.unaligned,
            "stops": lambda n: n in bounds.stops,
            "is_savepoint": lambda n: False,
            "lost": lambda: (),
        }

    def input_value(self, c: int, p: int) -> Any:  # noqa: ANN401 - a number, or nothing
        """The record at position `p` of the input `c`, a number from 1; () if the channel is no input."""
        return p + 1 if self.constants["is_input"](c) else ()

    def actions(self, before: Job, event: Do, step: Step[Job]) -> Iterator[Taken]:
        """The theorem's actions for a step of the model, except the action `give up`."""
        of, n = event.of, event.checkpoint
        match event.action:
            case "ReadInput":
                yield "process", of - 1, self.input_of[of]
            case "Trigger":
                yield from self._snapshot(before, of, n)
            case "Count":
                yield from ((name, of - 1, n) for name in ("snapshot", "store", "acknowledge"))
            case "Commit":
                due = [part[0] for part in before.tasks[of - 1].prepared]
                new = [m for m in due if before.committed[of - 1] < m <= before.latest]
                yield from (("commit", self.output_of[of], m) for m in new)
            case "GiveUp":
                aligning = before.tasks[of - 1].aligning
                yield from (("give up", u - 1, aligning) for u in self.dataflow.group(before, of))
            case "Store" | "Acknowledge":
                yield from ((event.action.lower(), u - 1, n) for u in self.dataflow.group(before, of))
            case "Finish":
                yield "finish", of - 1
            case "Begin":
                yield "begin", before.next
            case "Complete" | "Abort":
                yield event.action.lower(), of
            case "Crash" | "Restore":
                yield (event.action.lower(),)
            case _:
                yield from self._of_channel(before, event.action, of)

    def _of_channel(self, before: Job, action: str, channel: int) -> Iterator[Taken]:
        reader = self.dataflow.channels[channel][1]
        state = before.tasks[reader - 1]
        if action == "ReadRecord":
            yield "process", reader - 1, channel
        elif action == "ReadBarrier":
            n = before.channels[channel][0].checkpoint
            yield from (("receive", place, n) for place in self.dataflow.bundle(before, channel))
            if self.dataflow.aligned(before, channel):
                yield from self._snapshot(before, reader, n)
        elif action == "Overtake":
            n = self.dataflow.overtaking(before, channel)
            if n > state.passed:
                yield from self._snapshot(before, reader, n)
            yield "overtake", channel, n
        elif action == "ReadEnd":
            yield "receive end", channel
            if self.dataflow.is_delivered_with(before, channel):
                yield from self._snapshot(before, reader, state.aligning)

    def _snapshot(self, before: Job, task: int, n: int) -> Iterator[Taken]:
        group = self.dataflow.group(before, task)
        at_once = n in before.pending and self.dataflow.slow.isdisjoint(group)
        for name in ("snapshot", "store", "acknowledge") if at_once else ("snapshot",):
            yield from ((name, u - 1, n) for u in group)

    def given_up(self, dataflow: Job, s: State) -> Iterator[tuple[int, int]]:
        """The alignments (task, checkpoint) that block a channel in the theorem but not in the model."""
        for c, n in product(self.links if dataflow.up else (), range(self.domain.sizes[ID])):
            reader = dataflow.tasks[self.dataflow.channels[c][1] - 1]
            if self.waits(s, c, n) and (c not in reader.arrived or reader.is_recording):
                yield s.target_of(c), n

    def differences(self, coupled: Coupled) -> tuple[str, ...]:
        """The names of the fields in which the two states differ.

        While the job has failed, only the fields that do not end with its tasks are compared.
        """
        job, s = coupled.dataflow, self.state(coupled)
        positions = range(self.domain.sizes[POSITION])
        known, tasks = job.checkpoints[job.latest], range(self.domain.sizes[TASK])
        sinks = self.output_of.items()
        kept = [
            [
                s.kept_value(c, job.latest, p)
                for p in positions
                if s.offset(c, job.latest) <= p < s.barrier(c, job.latest)
            ]
            for c in self.links
        ]
        pairs = {
            "latest": (job.latest, s.latest()),
            "saved": ([one.history for one in known.captured], [s.saved(t, job.latest) for t in tasks]),
            "finished in it": (
                [one.finished for one in known.captured], [s.finished_at(t, job.latest) for t in tasks]
            ),
            "kept": ([list(records) for records in known.kept], kept),
            "output": (
                [list(job.output[t - 1]) for t, _ in sinks],
                [[s.visible(c, p) for p in positions for _ in range(s.times(c, p))] for _, c in sinks],
            ),
        }  # fmt: skip
        if job.up:
            pairs |= {
                "pending": (set(job.pending), {n for n in range(self.domain.sizes[ID]) if s.pending(n)}),
                "histories": ([task.history for task in job.tasks], [s.state(t) for t in tasks]),
                "finished": ([task.finished for task in job.tasks], [s.finished(t) for t in tasks]),
                "channels": ([_in_words(items) for items in job.channels],
                             [self._contents(s, c) for c in self.links]),
                "open transaction": (
                    [list(job.tasks[t - 1].written) for t, _ in sinks],
                    [[s.value(c, p) for p in range(s.opened_at(c), s.sent(c))] for _, c in sinks],
                ),
            }  # fmt: skip
        return tuple(name for name, (model, theorem) in pairs.items() if model != theorem)

    def _contents(self, s: State, c: int) -> list[tuple[str, Any]]:
        """The items of a channel, without barriers of tasks that had finished, because these send none."""
        sender, found = s.source_of(c), list[tuple[str, Any]]()
        for p in range(s.read(c), s.sent(c) + 1):
            for n in range(self.domain.sizes[ID]):
                is_on_its_way = s.current(n) and s.passed(sender, n) and not s.arrived(c, n)
                if is_on_its_way and s.barrier(c, n) == p and not s.finished_at(sender, n):
                    found.append(("barrier", n))
            if p < s.sent(c):
                found.append(("record", s.value(c, p)))
        if s.finished(sender) and not s.ended(c):
            found.append(("end", 0))
        return found


def _in_words(items: tuple[Any, ...]) -> list[tuple[str, Any]]:
    found = list[tuple[str, Any]]()
    for item in items:
        if is_record(item):
            found.append(("record", item))
        elif isinstance(item, Barrier):
            found.append(("barrier", item.checkpoint))
        else:
            assert isinstance(item, End)
            found.append(("end", 0))
    return found
