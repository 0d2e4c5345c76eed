"""A search on Spark, with the same outcome as one on this machine."""

from pathlib import Path
from typing import TYPE_CHECKING

from conformance.explore.local import Explored, Reading, followed
from conformance.explore.models import Chosen
from conformance.explore.spark import Progress, SparkEngine

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def on_spark(
    chosen: Chosen,
    limit: int,
    spark: "SparkSession",
    folder: Path,
    *,
    partitions: int,
    reading: Reading,
    progress: Progress | None = None,
) -> Explored:
    """Explore a model with bounds. An interrupted search continues from its folder.

    If states are labelled, each pair of a state and the label before it is expanded, so transitions count
    more often than in the other engines. Raises TooManyStatesError after the level that exceeds the limit,
    and AnotherSearchError if the folder holds another search.
    """
    program, seconds = followed(chosen, reading)
    found = SparkEngine(program, spark, folder, partitions=partitions).explore(progress, limit=limit)
    resumed = f", {found.resumed} levels from an earlier run" if found.resumed else ""
    return Explored(
        model=chosen.closed.name,
        engine=f"spark, {partitions} partitions{resumed}",
        states=found.states,
        labelled=found.states if reading.labelled else 0,
        transitions=found.transitions,
        depth=found.depth,
        rules=tuple(sorted(found.rules)),
        properties=len(program.properties),
        interpreted=tuple(known.name for known in program.interpreted),
        violation=found.violation,
        follow_seconds=seconds,
        search_seconds=found.seconds,
        bytes=sum(file.stat().st_size for file in folder.glob("*.npy")),
    )
