"""The bound of a verdict about one component: what the suite has tested, and what it has not.

If you add a kind of cases, add its line and its value in `bound_of`.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from conformance.report import suites

if TYPE_CHECKING:
    from conformance.drive.examine import Examination


class Bound(NamedTuple):
    """The bound of a verdict, as lines of text and as JSON values."""

    lines: tuple[str, ...]
    """Lines of text about options, channels, ids, lives, capabilities, untested features, and suites."""
    values: Mapping[str, object]
    """The same as JSON values. The object `tried` of findings.schema.json defines the keys."""


def bound_of(done: "Examination") -> Bound:
    """The bound of an examination; without lines if no case was played."""
    lines = [f"{name}: {text}" for name, text in done.tried.lines().items()]
    lines += done.capabilities
    lines += [f"not tested: {'; '.join(done.not_tested)}"] if done.not_tested else []
    lines += suites.lines(done.guarantees)
    values = {
        **done.tried.values(),
        "sequences": done.cases,
        "events": done.steps,
        "capabilities": list(done.capabilities),
        "not_tested": list(done.not_tested),
        "complete_suites": [guarantee.values() for guarantee in done.guarantees],
    }
    return Bound(tuple(lines) if done.cases else (), values)
