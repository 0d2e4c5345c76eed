"""The symbolic cases of the composed dataflow: only new jobs. The explorer checks the steps, not z3."""

from collections.abc import Iterator

from model.checker.prove import Case, start_case
from model.dataflow.dataflow import new_dataflow


def all_dataflow_cases() -> Iterator[Case]:
    """Yields the initial state of a job with one source, and of a job with two sources."""
    for sources in (1, 2):
        yield start_case("dataflow", new_dataflow(sources, 2, max_concurrent=1, retain=1))
