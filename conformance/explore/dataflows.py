"""Barrier snapshots on all small dataflows: every state of each, with the properties of any dataflow.

`python -m conformance.explore.dataflows` explores each connected dataflow of up to 4 tasks without a cycle,
and prints a table. The tasks of a dataflow have numbers from 1; all snapshots of the last one take time.
"""

import sys
from collections.abc import Iterator

import click

from conformance.verdict import Exit
from model.any_dataflow.any_dataflow import AnyDataflow, Channel
from model.any_dataflow.environment import Bounds, closed_any_dataflow, possible, small_dataflows
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


def closed_with_properties(
    channels: tuple[Channel, ...], bounds: Bounds
) -> tuple[ClosedModel, tuple[Property, ...]]:
    """The closed model of a dataflow in which the last task is slow, and its properties."""
    bounds = bounds._replace(slow=frozenset({max(task for channel in channels for task in channel)}))
    dataflow = AnyDataflow(channels, bounds.capacity, bounds.slow)
    properties = properties_of(dataflow, lambda job: any(possible(dataflow, bounds, job)))
    return closed_any_dataflow(dataflow, bounds), properties


def explore_all(tasks: int, bounds: Bounds) -> Iterator[Graph]:
    """Each connected dataflow of 2 to so many tasks. Raises TooManyStatesError over 5,000,000 states."""
    for size in range(2, tasks + 1):
        for channels in small_dataflows(size):
            yield explore(*closed_with_properties(channels, bounds), keep_transitions=False)


@click.command()
@click.option("--tasks", type=click.IntRange(2, 5), default=4, show_default=True, help="At most.")
@click.option("--records", type=click.IntRange(0), default=1, show_default=True, help="Of a source.")
@click.option("--capacity", type=click.IntRange(1), default=2, show_default=True, help="Of a channel.")
@click.option("--checkpoints", type=click.IntRange(0), default=2, show_default=True)
@click.option(
    "--at-once", type=click.IntRange(1), default=1, show_default=True, help="Checkpoints in flight."
)
@click.option("--failures", type=click.IntRange(0), default=1, show_default=True)
@click.option("--aborts", type=click.IntRange(0), default=0, show_default=True)
def main(
    tasks: int, records: int, capacity: int, checkpoints: int, at_once: int, failures: int, aborts: int
) -> None:
    """Explore barrier snapshots on every small dataflow."""
    bounds = Bounds(records, capacity, checkpoints, at_once, failures, aborts)
    found = []
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


if __name__ == "__main__":
    main()
