"""A folder of vectors: `<component>.jsonl`, one vector a line, and an index with counts and checksums."""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson

from conformance.adapters.protocol import PROTOCOL
from conformance.vectors.itf import to_itf
from conformance.vectors.vector import Vector, VectorError, decode, encode

FORMAT = 1
INDEX = "index.json"
_COMPONENT = re.compile(r"[a-z_]+")
"""Matches the name of a component, which is also the name of a file."""


def write(folder: Path, by_component: Mapping[str, Iterator[Vector]]) -> Iterator[tuple[str, Counter[str]]]:
    """Write the vectors, then the index. Yields, for each component, the numbers of vectors by source."""
    folder.mkdir(parents=True, exist_ok=True)
    entries: dict[str, Any] = {}
    for component, vectors in by_component.items():
        counts: Counter[str] = Counter()
        checksum = hashlib.sha256()
        with (folder / f"{component}.jsonl").open("wb") as file:
            for vector in vectors:
                line = encode(vector)
                file.write(line)
                checksum.update(line)
                counts[vector.origin] += 1
        entries[component] = {"vectors": counts.total(), "by_origin": counts, "sha256": checksum.hexdigest()}
        yield component, counts
    index = {"format": FORMAT, "protocol": PROTOCOL, "components": entries}
    (folder / INDEX).write_bytes(orjson.dumps(index, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS))


def write_itf(folder: Path, components: Iterable[str]) -> int:
    """Write each named scenario, transcript and directed case as a file of `itf/`; return their number."""
    written = 0
    (folder / "itf").mkdir(exist_ok=True)
    for component in components:
        for vector in read(folder, component):
            if vector.origin in ("scenario", "transcript", "path"):
                file = folder / "itf" / f"{component}-{vector.id}.itf.json"
                file.write_bytes(orjson.dumps(to_itf(vector)))
                written += 1
    return written


def components_in(folder: Path) -> list[str]:
    """The components that the index names. Raises VectorError if the file is not an index."""
    return list(_index(folder)["components"])


def read(folder: Path, component: str) -> Iterator[Vector]:
    """Yield the vectors of a component. Raises VectorError before the first one if the file was altered."""
    file = folder / f"{component}.jsonl"
    try:
        data = file.read_bytes()
    except OSError as missing:
        raise VectorError(f"{file}: {missing.strerror}; write the vectors again") from missing
    entry = _index(folder)["components"][component]
    if hashlib.sha256(data).hexdigest() != entry["sha256"]:
        raise VectorError(f"{file}: expected the checksum of {INDEX}, got another; write the vectors again")
    for number, line in enumerate(data.splitlines()):
        yield decode(line, f"{file}:{number + 1}")


def _index(folder: Path) -> dict[str, Any]:
    file = folder / INDEX
    try:
        index: dict[str, Any] = orjson.loads(file.read_bytes())
    except OSError as missing:
        raise VectorError(f"{file}: {missing.strerror}; give a folder that `vectors write` made") from missing
    except orjson.JSONDecodeError as wrong:
        raise VectorError(f"{file}: expected JSON, got {wrong}; write the vectors again") from wrong
    if not isinstance(index, dict) or index.get("format") != FORMAT:
        received = index.get("format") if isinstance(index, dict) else index
        raise VectorError(f"{file}: expected format {FORMAT}, got {received!r:.60}; write the vectors again")
    entries = index.get("components")
    if not isinstance(entries, dict) or not all(
        _COMPONENT.fullmatch(name) and isinstance(entry, dict) and isinstance(entry.get("sha256"), str)
        for name, entry in entries.items()
    ):
        raise VectorError(f"{file}: expected components with their sha256; write the vectors again")
    return index
