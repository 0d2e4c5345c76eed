"""The cases of the composed dataflow: a new job. The explorer, and not z3, checks its steps."""

from collections.abc import Iterator

from model.checker.prove import Case, start_case
from model.dataflow.dataflow import new_dataflow


def all_dataflow_cases() -> Iterator[Case]:
    """A new job of one and of two sources."""
    for sources in (1, 2):
        yield start_case("dataflow", new_dataflow(sources, 2, max_concurrent=1, retain=1))
