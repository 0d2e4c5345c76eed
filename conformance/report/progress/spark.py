"""What a person at a terminal sees of a Spark job: how many of its tasks are done; nothing elsewhere."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

_LOOK_SECONDS = 0.5


@contextmanager
def tasks_shown(spark: "SparkSession", what: str, console: Console | None = None) -> Iterator[None]:
    """While the block runs, `what` and how far its jobs are stand on the terminal.

    A session of Spark Connect does not tell; there only `what` is shown.
    """
    console = console or Console(stderr=True)
    if not console.is_terminal:
        yield
        return
    done = threading.Event()
    context: SparkContext | None = getattr(spark, "sparkContext", None)
    with console.status(what) as status:

        def look(context: "SparkContext") -> None:
            while not done.wait(_LOOK_SECONDS):
                status.update(f"{what}: {progress(context)}")

        looking = threading.Thread(target=look, args=(context,), daemon=True) if context else None
        if looking is not None:
            looking.start()
        try:
            yield
        finally:
            done.set()
            if looking is not None:
                looking.join()


def progress(context: "SparkContext") -> str:
    """The tasks that are done, of those of all stages that run now."""
    tracker = context.statusTracker()
    stages = [known for one in tracker.getActiveStageIds() if (known := tracker.getStageInfo(one))]
    done, all_tasks = (
        sum(getattr(one, name) for one in stages) for name in ("numCompletedTasks", "numTasks")
    )
    return f"{done:,} of {all_tasks:,} tasks"
