"""Several implementations, each in every component that it offers: what came of it, for one table."""

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from conformance.adapters.choose import open_adapter
from conformance.adapters.protocol import FAILURES, Hello
from conformance.drive import generate
from conformance.drive.examine import Examination, Plan, examine
from conformance.verdict import Verdict, together


class SeveralError(ValueError):
    """The file of implementations cannot be read; the message says what is missing."""


class Implementation(NamedTuple):
    """One to be examined."""

    name: str
    adapter: str
    """A command, or `model` or `impl`."""


@dataclass
class Examined:
    """What came of one."""

    implementation: Implementation
    said: str
    """Its name and version, or why it did not answer."""
    components: dict[str, Examination] = field(default_factory=dict)

    @property
    def verdict(self) -> Verdict:
        """Of all components that it offers; of none nothing is known."""
        return together(done.verdict for done in self.components.values())


def implementations(file: Path) -> list[Implementation]:
    """Those of a file with a table `[[implementation]]` each: `name` and `adapter`. Raises SeveralError."""
    try:
        read = tomllib.loads(file.read_text(encoding="utf-8"))
        rows: Sequence[Mapping[str, Any]] = read.get("implementation", [])
        found = [Implementation(str(row["name"]), str(row["adapter"])) for row in rows]
    except (tomllib.TOMLDecodeError, KeyError, TypeError, OSError) as wrong:
        expected = "expected tables [[implementation]] with name and adapter"
        raise SeveralError(f"{file}: {expected}, got {wrong!r}") from wrong
    if len({one.name for one in found}) < len(found):
        raise SeveralError(f"{file}: two implementations have one name; give each its own")
    return found


def examine_all(chosen: Sequence[Implementation], plan: Plan, limit: float) -> Iterator[Examined]:
    """Each in turn, as it is done; `limit`: seconds that one answer may take."""
    for one in chosen:
        adapter = open_adapter(one.adapter, limit)
        try:
            hello = adapter.hello()
            if isinstance(hello, FAILURES):
                yield Examined(one, hello.describe())
                continue
            assert isinstance(hello, Hello)
            done = Examined(one, f"{hello.implementation} {hello.version}")
            for component, offer in hello.components.items():
                if component in generate.COMPONENTS:
                    asked = plan._replace(pinned={**generate.offered(offer), **plan.pinned})
                    done.components[component] = examine(component, adapter, asked)
            yield done
        finally:
            adapter.bye()
