"""Reads golden transcripts, the text files in `tests/transcripts`, as sequences of events.

A file begins with comment lines, then the component with its configuration, then blocks: events, one a line,
the line `----`, and the answers. Only the events are read; the model computes the answers.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from conformance.adapters.protocol import Wire
from conformance.errors import InputError


class TranscriptError(InputError):
    """A file is not a transcript; the message has its path, and what was expected."""


class Transcript(NamedTuple):
    """The component, its configuration, and the events to apply in order."""

    component: str
    config: Wire
    events: tuple[Wire, ...]


def kind_and_fields(line: str) -> tuple[str, dict[str, Any]]:
    """The kind and the fields of a line such as `barrier channel=0 checkpoint=5`; values are JSON.

    Raises ValueError if a value is not JSON.
    """
    kind, *pairs = line.split(" ")
    return kind, {name: json.loads(value) for name, _, value in (pair.partition("=") for pair in pairs)}


def event_of(line: str) -> dict[str, Any]:
    """The event in a line. Raises ValueError if a value is not JSON."""
    kind, fields = kind_and_fields(line)
    return {"kind": kind, **fields}


def read(text: str) -> Transcript:
    """The transcript in a text. Raises ValueError for a malformed line, StopIteration without a component."""
    head, *blocks = text.strip().split("\n\n")
    component, config = kind_and_fields(next(line for line in head.splitlines() if not line.startswith("#")))
    lines = [line for block in blocks for line in block.split("\n----")[0].splitlines()]
    return Transcript(component, config, tuple(map(event_of, lines)))


def read_all(folder: Path) -> Iterator[Transcript]:
    """Every transcript below a folder, by path. Raises TranscriptError if none exists or one is malformed."""
    files = sorted(folder.rglob("*.txt"))
    if not files:
        raise TranscriptError(f"{folder}: expected transcripts, files *.txt, got none")
    for file in files:
        try:
            yield read(file.read_text(encoding="utf-8"))
        except (ValueError, StopIteration) as wrong:
            raise TranscriptError(f"{file}: expected a transcript, got {wrong!r}") from wrong
