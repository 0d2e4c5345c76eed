"""Explores barrier snapshots on all small dataflows, and checks the properties that hold for any dataflow.

`python -m conformance.explore.dataflows` explores each connected dataflow of up to 4 tasks without a cycle,
and prints a table. The tasks of a dataflow are numbered from 1; the snapshots of the last one are
asynchronous.
"""

import sys
import time
from collections.abc import Iterator, Mapping
from itertools import product

import click

from conformance.verdict import Exit
from model.any_dataflow.any_dataflow import AnyDataflow
from model.any_dataflow.bounds import JobBounds
from model.any_dataflow.environment import closed_any_dataflow, possible, small_dataflows
from model.any_dataflow.job import Channel
from model.any_dataflow.key_groups import Subtasks, scaled_in, scaled_out, unscaled
from model.any_dataflow.properties import properties_of
from model.checker.closed_model import ClosedModel
from model.checker.explore import Graph, explore
from model.properties import Property

DATAFLOWS: tuple[tuple[Channel, ...], ...] = (
    ((1, 3), (2, 3)),
    ((1, 2), (2, 3), (3, 4)),
    ((1, 2), (1, 3), (2, 4), (3, 4)),
    ((1, 3), (2, 3), (3, 4)),
)
"""Explored in every verification: two inputs, a chain, a diamond, two inputs before a second stage."""
THOROUGH: Mapping[str, JobBounds] = {
    "scaled-in": JobBounds(parallelism=scaled_in),
    "scaled-out": JobBounds(parallelism=scaled_out),
    "stops": JobBounds(stops=frozenset({2})),
    "aborted": JobBounds(stops=frozenset({1}), aborts=1),
    "unaligned": JobBounds(checkpoints=1, unaligned=frozenset({1})),
    "records": JobBounds(records=2, max_concurrent=2),
    "ends-unaligned": JobBounds(checkpoints=1, unaligned=frozenset({1}), ends=True),
    "ends": JobBounds(ends=True),
}
"""The bounds within which `conformance.parts.thorough` explores each dataflow of up to 4 tasks.

The bounds with the fewest states come first. In this order a run with a time limit finishes most searches.
"""
PARALLELISM = {"out": scaled_out, "in": scaled_in}


def closed_with_properties(
    channels: tuple[Channel, ...], bounds: JobBounds
) -> tuple[ClosedModel, tuple[Property, ...]]:
    """The closed model of a dataflow, with its properties.

    The last task takes asynchronous snapshots; if checkpoints are unaligned, all tasks do.
    """
    tasks = frozenset(task for channel in channels for task in channel)
    bounds = bounds._replace(slow=tasks if bounds.unaligned else frozenset({max(tasks)}))
    subtasks = Subtasks(channels, bounds.parallelism)
    dataflow = AnyDataflow(channels, bounds.capacity, bounds.slow, bounds.unaligned, bounds.stops, subtasks)
    properties = properties_of(dataflow, bounds.records, lambda job: any(possible(dataflow, bounds, job)))
    return closed_any_dataflow(dataflow, bounds), properties


def thorough_dataflows() -> Iterator[str]:
    """A name for each pair of bounds and a dataflow of 2 to 4 tasks, such as `ends:1-2,2-3`."""
    for name, size in product(THOROUGH, range(2, 5)):
        for channels in small_dataflows(size):
            yield f"{name}:" + ",".join(f"{sender}-{reader}" for sender, reader in channels)


def explore_named(name: str) -> Graph:
    """Explore one of `thorough_dataflows`. Raises TooManyStatesError over 5,000,000 states."""
    bounds, _, named = name.partition(":")
    channels = tuple((int(pair[0]), int(pair[2])) for pair in named.split(","))
    return explore(*closed_with_properties(channels, THOROUGH[bounds]), keep_transitions=False)


def explore_all(tasks: int, bounds: JobBounds) -> Iterator[Graph]:
    """The graphs of all dataflows of 2 to `tasks` tasks. Raises TooManyStatesError over 5,000,000 states."""
    for size in range(2, tasks + 1):
        for channels in small_dataflows(size):
            yield explore(*closed_with_properties(channels, bounds), keep_transitions=False)


@click.command()
@click.option(
    "--tasks", type=click.IntRange(2, 5), default=4, show_default=True, help="Maximum number of tasks."
)
@click.option("--records", type=click.IntRange(0), default=1, show_default=True, help="Records of a source.")
@click.option(
    "--capacity", type=click.IntRange(1), default=2, show_default=True, help="Capacity of a channel."
)
@click.option("--checkpoints", type=click.IntRange(0), default=2, show_default=True)
@click.option(
    "--at-once", type=click.IntRange(1), default=1, show_default=True, help="Checkpoints in flight."
)
@click.option("--failures", type=click.IntRange(0), default=1, show_default=True)
@click.option("--aborts", type=click.IntRange(0), default=0, show_default=True)
@click.option("--ends", is_flag=True, help="Inputs end, and tasks finish.")
@click.option("--unaligned", is_flag=True, help="Barriers overtake records; all tasks are slow.")
@click.option("--stops", is_flag=True, help="The last checkpoint is a savepoint that stops the job.")
@click.option("--scales", type=click.Choice([*PARALLELISM]), help="After a crash: more subtasks, or fewer.")
def main(
    tasks: int, at_once: int, *, ends: bool, unaligned: bool, stops: bool, scales: str | None, **given: int
) -> None:
    """Explore barrier snapshots on every small dataflow."""
    if unaligned and at_once > 1:
        raise click.UsageError("unaligned checkpoints follow one another: --at-once must be 1")
    if unaligned and stops:
        raise click.UsageError("a savepoint is aligned: leave --unaligned or --stops out")
    if scales and (ends or unaligned):
        raise click.UsageError("--scales is for aligned checkpoints of tasks that do not finish")
    last = given["checkpoints"]
    ids = frozenset(range(1, last + 1)) if unaligned else frozenset[int]()
    bounds = JobBounds(
        records=given["records"],
        capacity=given["capacity"],
        checkpoints=last,
        max_concurrent=at_once,
        failures=given["failures"],
        aborts=given["aborts"],
        ends=ends,
        unaligned=ids,
        stops=frozenset({last}) if stops else frozenset(),
        parallelism=PARALLELISM[scales] if scales else unscaled,
    )
    found = []
    began = time.process_time()
    click.echo(f"{'states':>10} {'transitions':>12} {'depth':>6}")
    for graph in explore_all(tasks, bounds):
        found.append(graph)
        click.echo(
            f"{len(graph.nodes):>10,} {graph.transition_count:>12,} {graph.depth:>6}  {graph.closed.name}"
        )
        if graph.violation is not None:
            click.echo(f"DIVERGES  {', '.join(graph.violation.properties)}")
            for number, event in enumerate(graph.violation.run, start=1):
                click.echo(f"  {number:>3} {event}")
            sys.exit(Exit.DIVERGES)
    states, transitions = sum(len(one.nodes) for one in found), sum(one.transition_count for one in found)
    click.echo(f"{states:>10,} {transitions:>12,}         {len(found)} dataflows of up to {tasks} tasks")
    click.echo(f"{time.process_time() - began:.1f} s of processor time", err=True)


if __name__ == "__main__":
    main()
