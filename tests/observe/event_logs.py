"""Event logs as lists of lines: read, altered and written again."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

Lines = list[dict[str, Any]]
Log = dict[str, Lines]


def read(folder: Path) -> Log:
    return {
        path.stem: [json.loads(line) for line in path.read_text().splitlines()]
        for path in folder.glob("*.jsonl")
    }


def write(log: Log, folder: Path) -> Path:
    """The log as files, each numbered anew: a line that was dropped leaves no gap."""
    for name, lines in log.items():
        numbered = [json.dumps({**line, "seq": place}) for place, line in enumerate(lines)]
        (folder / f"{name}.jsonl").write_text("".join(f"{line}\n" for line in numbered))
    return folder


def places(lines: Lines, component: str, kind: str, effect: str | None = None) -> Iterator[int]:
    for place, line in enumerate(lines):
        if line.get("component") != component or line["event"]["kind"] != kind:
            continue
        if effect is None or any(said["kind"] == effect for said in line["effects"]):
            yield place


def first(lines: Lines, component: str, kind: str, effect: str | None = None) -> int:
    return next(places(lines, component, kind, effect))
