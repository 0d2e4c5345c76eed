"""Barrier snapshots on one dataflow with bounds, and all small dataflows."""

from collections.abc import Callable, Iterator, Mapping
from itertools import combinations
from typing import NamedTuple

import networkx as nx

from model.any_dataflow.any_dataflow import (
    AnyDataflow,
    Barrier,
    Channel,
    Job,
    acknowledge,
    begin,
    commit,
    give_up,
    store,
)
from model.checker.closed_model import ClosedModel, Environment, Offered
from model.events import Event, Step


class Bounds(NamedTuple):
    """How far the job is explored."""

    records: int = 1
    """Of each source."""
    capacity: int = 2
    """Of each channel, in records and barriers."""
    checkpoints: int = 2
    max_concurrent: int = 1
    failures: int = 1
    aborts: int = 0
    slow: frozenset[int] = frozenset()
    """Tasks whose snapshots take time."""


class Do(NamedTuple):
    """An action: its name in TLA+, the task, channel or checkpoint it is of, and the task's checkpoint."""

    action: str
    of: int = 0
    checkpoint: int = 0
    kind: str = "do"


def closed_any_dataflow(dataflow: AnyDataflow, bounds: Bounds) -> ClosedModel:
    """All runs of a job within the bounds."""
    steps: Mapping[str, Callable[[Job, Do], Job]] = {
        "ReadInput": lambda job, do: dataflow.process(job, do.of, len(job.tasks[do.of - 1].history) + 1),
        "Trigger": lambda job, do: dataflow.snapshot(job, do.of, do.checkpoint),
        "ReadRecord": lambda job, do: dataflow.read_record(job, do.of),
        "ReadBarrier": lambda job, do: dataflow.read_barrier(job, do.of),
        "GiveUp": lambda job, do: give_up(job, do.of),
        "Store": lambda job, do: store(job, do.of, do.checkpoint),
        "Acknowledge": lambda job, do: acknowledge(job, do.of, do.checkpoint),
        "Commit": lambda job, do: commit(job, do.of),
        "Begin": lambda job, _: begin(job),
        "Complete": lambda job, do: dataflow.complete(job, do.of),
        "Abort": lambda job, do: dataflow.abort(job, do.of),
        "Crash": lambda job, _: dataflow.crash(job),
        "Restore": lambda job, _: dataflow.restore(job),
        "Ended": lambda job, _: job,
    }

    def offers(job: Job) -> Offered:
        for do in possible(dataflow, bounds, job):
            yield do.action, do

    def step(job: Job, event: Event) -> Step[Job]:
        assert isinstance(event, Do)
        return Step(steps[event.action](job, event), (), ())

    def allows(environment: Environment, event: Event) -> Environment:
        return environment

    named = ", ".join(f"{sender}-{reader}" for sender, reader in dataflow.channels)
    return ClosedModel(
        f"dataflow {named}", "any dataflow", dataflow.new(bounds.checkpoints), (), offers, allows, step
    )


def possible(dataflow: AnyDataflow, bounds: Bounds, job: Job) -> Iterator[Do]:
    """The actions that are possible now; `Ended` only when nothing is left to do. None: a deadlock."""
    if not job.up:
        yield Do("Restore")
    for task in dataflow.tasks if job.up else ():
        yield from _of_task(dataflow, bounds, job, task)
    for channel in range(len(dataflow.channels)):
        if dataflow.is_readable(job, channel):
            yield from _of_channel(dataflow, job, channel)
    if job.up and job.next <= bounds.checkpoints and len(job.pending) < bounds.max_concurrent:
        yield Do("Begin")
    for checkpoint in job.pending:
        known = job.checkpoints[checkpoint]
        for task in dataflow.tasks:
            if known.stored[task - 1] and not known.acknowledged[task - 1]:
                yield Do("Acknowledge", task, checkpoint)
            elif job.up and known.captured[task - 1] and not known.stored[task - 1]:
                yield Do("Store", task, checkpoint)
        if all(known.acknowledged):
            yield Do("Complete", checkpoint)
        if job.aborts < bounds.aborts:
            yield Do("Abort", checkpoint)
    if job.up and job.failures < bounds.failures:
        yield Do("Crash")
    if has_ended(dataflow, bounds, job):
        yield Do("Ended")


def _of_task(dataflow: AnyDataflow, bounds: Bounds, job: Job, task: int) -> Iterator[Do]:
    state = job.tasks[task - 1]
    if not dataflow.inputs[task] and dataflow.can_send(job, task):
        if len(state.history) < bounds.records:
            yield Do("ReadInput", task)
        due = [checkpoint for checkpoint in job.pending if checkpoint > state.passed]
        if due:
            yield Do("Trigger", task, due[0])
    if state.aligning and state.aligning not in job.pending:
        yield Do("GiveUp", task)
    if any(checkpoint <= job.latest for checkpoint, _ in state.prepared):
        yield Do("Commit", task)


def _of_channel(dataflow: AnyDataflow, job: Job, channel: int) -> Iterator[Do]:
    can_send = dataflow.can_send(job, dataflow.channels[channel][1])
    if not isinstance(job.channels[channel][0], Barrier):
        if can_send:
            yield Do("ReadRecord", channel)
    elif can_send or not dataflow.aligned(job, channel):
        yield Do("ReadBarrier", channel)


def has_ended(dataflow: AnyDataflow, bounds: Bounds, job: Job) -> bool:
    """All is read, every checkpoint has ended, and what may be is committed."""
    sources = (job.tasks[task - 1] for task in dataflow.tasks if not dataflow.inputs[task])
    return (
        job.up
        and not job.pending
        and job.next > bounds.checkpoints
        and all(len(source.history) == bounds.records for source in sources)
        and not any(job.channels)
        and all(checkpoint > job.latest for task in job.tasks for checkpoint, _ in task.prepared)
    )


def small_dataflows(tasks: int) -> list[tuple[Channel, ...]]:
    """All connected dataflows without a cycle of so many tasks, one of each that differ only in numbers."""
    pairs = list(combinations(range(1, tasks + 1), 2))
    found: list[nx.DiGraph[int]] = []
    for many in range(tasks - 1, len(pairs) + 1):
        for channels in combinations(pairs, many):
            graph = nx.DiGraph(channels)
            is_new = not any(nx.is_isomorphic(graph, known) for known in found)
            if len(graph) == tasks and nx.is_weakly_connected(graph) and is_new:
                found.append(graph)
    return [tuple(sorted(graph.edges)) for graph in found]
