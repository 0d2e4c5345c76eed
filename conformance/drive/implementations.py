"""The implementations that `barrierspec matrix` compares, and the examination of one in each component."""

import shlex
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from conformance.adapters.choose import open_adapter
from conformance.adapters.flink.adapter import UNGUARDED, is_release
from conformance.adapters.hello_names import unknown_names
from conformance.adapters.protocol import FAILURES, Hello
from conformance.drive.bounds.examination import Examination
from conformance.drive.examine import examine
from conformance.drive.plan import Plan, for_offer
from conformance.errors import InputError
from conformance.generators import generate
from conformance.verdict import Verdict, together


class MatrixFileError(InputError):
    """The file of implementations cannot be read; the message states what was expected."""


class Implementation(NamedTuple):
    """An implementation that is to be examined."""

    name: str
    adapter: str = ""
    """A command, or `model` or `impl`; empty for a released Flink."""
    release: str = ""
    """The version of a released Flink, which `conformance.parts.implementations` examines."""


@dataclass
class Examined:
    """The result of one implementation."""

    implementation: Implementation
    name: str
    """Name and version of the implementation, or the reason why it was not examined."""
    components: dict[str, Examination] = field(default_factory=dict)

    @property
    def verdict(self) -> Verdict:
        """The verdict over all components that it offers; UNDETERMINED if it offers none."""
        return together(done.verdict for done in self.components.values())


def implementations(file: Path) -> list[Implementation]:
    """The implementations of a file: tables `[[implementation]]` with `name` and `adapter` or `release`.

    Raises MatrixFileError.
    """
    try:
        read = tomllib.loads(file.read_text(encoding="utf-8"))
        rows: Sequence[Mapping[str, Any]] = read.get("implementation", [])
        found = [_implementation(row) for row in rows]
    except (ValueError, KeyError, TypeError, AttributeError, OSError, RecursionError) as wrong:
        expected = "expected tables [[implementation]] with name, and adapter or release"
        raise MatrixFileError(f"{file}: {expected}, got {wrong!r}") from wrong
    if len({one.name for one in found}) < len(found):
        raise MatrixFileError(f"{file}: two implementations have one name; give each its own")
    return found


def _implementation(row: Mapping[str, Any]) -> Implementation:
    if "release" in row and "adapter" not in row:
        return Implementation(str(row["name"]), release=str(row["release"]))
    if "release" in row:
        raise KeyError("adapter and release in one table")
    if not shlex.split(str(row["adapter"])):
        raise KeyError("adapter is empty")
    return Implementation(str(row["name"]), str(row["adapter"]))


def examine_adapter(one: Implementation, plan: Plan, limit: float) -> Examined:
    """The result of an implementation with an adapter; `limit`: seconds that one answer may take."""
    adapter = open_adapter(one.adapter, limit)
    try:
        hello = adapter.hello()
        if isinstance(hello, FAILURES):
            return Examined(one, hello.describe())
        assert isinstance(hello, Hello)
        if is_release(hello):
            return Examined(one, f'name it by release = "{hello.version}": {UNGUARDED}')
        unknown = unknown_names(hello)
        if unknown:
            return Examined(one, f"hello has names that the protocol does not have: {'; '.join(unknown)}")
        done = Examined(one, f"{hello.implementation} {hello.version}")
        for component, offer in hello.components.items():
            if component in generate.COMPONENTS:
                done.components[component] = examine(component, adapter, for_offer(plan, component, offer))
        return done
    finally:
        adapter.bye()
