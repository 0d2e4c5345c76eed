"""Barrier snapshots on one dataflow with bounds, and all small dataflows."""

from collections.abc import Callable, Iterator, Mapping
from itertools import combinations

from model.any_dataflow.any_dataflow import AnyDataflow, begin, commit
from model.any_dataflow.bounds import Do, JobBounds
from model.any_dataflow.job import Channel, End, Job, is_record
from model.any_dataflow.regional import RegionalDataflow
from model.checker.closed_model import ClosedModel, Environment, Offered
from model.events import Event, Step


def closed_any_dataflow(dataflow: AnyDataflow, bounds: JobBounds) -> ClosedModel:
    """The closed model of all runs of a job within the bounds."""
    steps: Mapping[str, Callable[[Job, Do], Job]] = {
        "ReadInput": lambda job, do: dataflow.process(job, do.of, len(job.tasks[do.of - 1].history) + 1),
        "Trigger": lambda job, do: dataflow.snapshot(job, do.of, do.checkpoint),
        "ReadRecord": lambda job, do: dataflow.read_record(job, do.of),
        "ReadBarrier": lambda job, do: dataflow.read_barrier(job, do.of),
        "Overtake": lambda job, do: dataflow.overtake(job, do.of),
        "ReadEnd": lambda job, do: dataflow.read_end(job, do.of),
        "Finish": lambda job, do: dataflow.finish(job, do.of),
        "Count": lambda job, do: dataflow.count(job, do.of, do.checkpoint),
        "GiveUp": lambda job, do: dataflow.give_up(job, do.of),
        "Store": lambda job, do: dataflow.store(job, do.of, do.checkpoint),
        "Acknowledge": lambda job, do: dataflow.acknowledge(job, do.of, do.checkpoint),
        "Commit": lambda job, do: commit(job, do.of, dataflow.committable(job, do.of)),
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


def closed_regional(dataflow: RegionalDataflow, bounds: JobBounds) -> ClosedModel:
    """The closed model of all runs within the bounds.

    A fallback counts as an abort, a restart as a failure.
    """
    plain = closed_any_dataflow(dataflow, bounds)

    def offers(job: Job) -> Offered:
        yield from plain.offers(job)
        for checkpoint in job.pending if job.up else ():
            is_declined = dataflow.is_declined(job, checkpoint)
            if dataflow.may_fall_back(job, checkpoint) and (is_declined or job.aborts < bounds.aborts):
                yield "FallBack", Do("FallBack", checkpoint)
            if is_declined and job.aborts >= bounds.aborts:
                yield "Abort", Do("Abort", checkpoint)
        for number, region in enumerate(dataflow.regions):
            if job.up and job.failures < bounds.failures and dataflow.may_restart(region):
                yield "Restart", Do("Restart", number)

    def step(job: Job, event: Event) -> Step[Job]:
        assert isinstance(event, Do)
        if event.action == "FallBack":
            return Step(dataflow.fall_back(job, event.of), (), ())
        if event.action == "Restart":
            return Step(dataflow.restart(job, dataflow.regions[event.of]), (), ())
        return plain.step(job, event)

    return plain._replace(name=f"regional {plain.name}", offers=offers, step=step)


def possible(dataflow: AnyDataflow, bounds: JobBounds, job: Job) -> Iterator[Do]:
    """Yields the possible actions, and `Ended` if no step is needed.

    If it yields none, there is a deadlock.
    """
    if not job.up:
        yield Do("Restore")
    for task in dataflow.tasks if job.up else ():
        yield from _of_task(dataflow, bounds, job, task)
    for channel in range(len(dataflow.channels)):
        if dataflow.is_readable(job, channel):
            yield from _of_channel(dataflow, job, channel)
        if dataflow.may_overtake(job, channel):
            yield Do("Overtake", channel)
    may_begin = job.up and job.next <= bounds.checkpoints and not dataflow.is_stopping(job)
    if may_begin and len(job.pending) < bounds.max_concurrent:
        yield Do("Begin")
    for checkpoint in job.pending:
        for task in dataflow.subtasks.firsts(job.failures):
            yield from _of_snapshot(dataflow, job, task, checkpoint)
        if all(job.checkpoints[checkpoint].acknowledged):
            yield Do("Complete", checkpoint)
        if job.aborts < bounds.aborts:
            yield Do("Abort", checkpoint)
    if job.up and job.failures < bounds.failures:
        yield Do("Crash")
    if has_ended(dataflow, bounds, job) or dataflow.has_stopped(job):
        yield Do("Ended")


def _of_task(dataflow: AnyDataflow, bounds: JobBounds, job: Job, task: int) -> Iterator[Do]:
    state = job.tasks[task - 1]
    is_exhausted = bool(dataflow.inputs[task]) or len(state.history) == bounds.records
    if bounds.ends and is_exhausted and dataflow.may_finish(job, task):
        yield Do("Finish", task)
    if not is_exhausted and not dataflow.is_suspended(job, task) and dataflow.can_send(job, task):
        yield Do("ReadInput", task)
    group = dataflow.group(job, task)
    due = [checkpoint for checkpoint in job.pending if checkpoint > state.passed]
    if due and task == group[0] and dataflow.can_snapshot(job, task):
        states = [(one, job.tasks[one - 1]) for one in group]
        if all(dataflow.inputs[one] == known.ended and not known.finished for one, known in states):
            yield Do("Trigger", task, due[0])
    if task == group[0] and state.aligning and state.aligning not in job.pending:
        yield Do("GiveUp", task)
    if any(checkpoint <= dataflow.committable(job, task) for checkpoint, _ in state.prepared):
        yield Do("Commit", task)


def _of_snapshot(dataflow: AnyDataflow, job: Job, task: int, checkpoint: int) -> Iterator[Do]:
    state, known = job.tasks[task - 1], job.checkpoints[checkpoint]
    if known.stored[task - 1]:
        if not known.acknowledged[task - 1]:
            yield Do("Acknowledge", task, checkpoint)
    elif known.captured[task - 1]:
        if job.up and state.aligning != checkpoint:
            yield Do("Store", task, checkpoint)
    elif job.up and state.finished and dataflow.may_count(job, task, checkpoint):
        yield Do("Count", task, checkpoint)


def _of_channel(dataflow: AnyDataflow, job: Job, channel: int) -> Iterator[Do]:
    can_send = dataflow.can_send(job, dataflow.channels[channel][1])
    item = job.channels[channel][0]
    if is_record(item):
        if can_send:
            yield Do("ReadRecord", channel)
    elif isinstance(item, End):
        if can_send or not dataflow.is_delivered_with(job, channel):
            yield Do("ReadEnd", channel)
    elif item.checkpoint in dataflow.unaligned:
        return
    elif dataflow.is_barrier_next(job, channel):
        reader = dataflow.channels[channel][1]
        if dataflow.can_snapshot(job, reader) or not dataflow.aligned(job, channel):
            yield Do("ReadBarrier", channel)


def has_ended(dataflow: AnyDataflow, bounds: JobBounds, job: Job) -> bool:
    """All records are read, no checkpoint is pending, and the sinks have committed what they may commit."""
    sources = (job.tasks[task - 1] for task in dataflow.tasks if not dataflow.inputs[task])
    return (
        job.up
        and not job.pending
        and job.next > bounds.checkpoints
        and all(len(source.history) == bounds.records for source in sources)
        and not any(job.channels)
        and (not bounds.ends or all(dataflow.inputs[t] == job.tasks[t - 1].ended for t in dataflow.tasks))
        and all(
            checkpoint > dataflow.committable(job, task)
            for task in dataflow.tasks
            for checkpoint, _ in job.tasks[task - 1].prepared
        )
    )


def small_dataflows(tasks: int) -> list[tuple[Channel, ...]]:
    """All connected acyclic dataflows with `tasks` tasks. Of isomorphic dataflows the list has one."""
    import networkx as nx  # takes longer to import than all models together

    pairs = list(combinations(range(1, tasks + 1), 2))
    found: list[nx.DiGraph[int]] = []
    for many in range(tasks - 1, len(pairs) + 1):
        for channels in combinations(pairs, many):
            graph = nx.DiGraph(channels)
            is_new = not any(nx.is_isomorphic(graph, known) for known in found)
            if len(graph) == tasks and nx.is_weakly_connected(graph) and is_new:
                found.append(graph)
    return [tuple(sorted(graph.edges)) for graph in found]
