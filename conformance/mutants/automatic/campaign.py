"""Judges automatic mutants, folder by folder. Each folder has a process without loaded protocol modules."""

import queue
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from math import ceil, inf
from multiprocessing.connection import Connection
from pathlib import Path
from time import monotonic
from typing import NamedTuple

from conformance.mutants.automatic.complaints import Judged
from conformance.mutants.automatic.forked import answers
from conformance.mutants.automatic.judges import Judges
from conformance.mutants.automatic.modules import folder_of, modules
from conformance.mutants.automatic.operators import Edit
from conformance.mutants.automatic.prepared import PATIENCE, judge_anew, serve
from conformance.mutants.automatic.tla_mutant_schema import judge_schema
from conformance.mutants.score import ScoreError
from spec.manifest import load_manifest
from spec.stategraph import kept_at
from spec.tlc import check

_SHARED = ("hypothesis", "networkx", "orjson", "z3")
"""Modules that are loaded once, before the first fork."""


class Part(NamedTuple):
    """Edits of one folder that are judged one after the other."""

    layer: str
    folder: str
    edits: tuple[Edit, ...]


def parts_of(edits: Iterable[Edit], at_once: int) -> list[Part]:
    """The edits by folder, the largest part first.

    A folder is split if it exceeds the share of one process.
    """
    edits = tuple(edits)
    most = ceil(len(edits) / at_once)
    folders: dict[tuple[str, str], list[Edit]] = {}
    for edit in edits:
        folders.setdefault((edit.module.split(".")[0], folder_of(edit)), []).append(edit)
    parts = [
        Part(*key, tuple(some[begin : begin + most]))
        for key, some in folders.items()
        for begin in range(0, len(some), most)
    ]
    return sorted(parts, key=lambda part: -len(part.edits))


def judge_all(
    edits: Iterable[Edit], dumps: Path, *, at_once: int = 2, first: bool = False, seconds: float = inf
) -> Iterator[Judged]:
    """Yield each edit with its complaints, as soon as its judges have ended.

    `dumps`: the folder of TLC's graphs for the triangle; missing graphs are made first. `first`: whether the
    first judge that finds a broken rule is the last one for this edit. `seconds`: after this time no further
    edit is judged, except that a folder of TLA+ that has begun is finished. With this limit small folders
    come first, so that the judges complete as many folders as possible. Raises ScoreError if a judge has a
    complaint about the unedited sources.
    """
    end = monotonic() + seconds
    for name in _SHARED:
        import_module(name)
    parts = parts_of(edits, at_once)[:: 1 if seconds == inf else -1]
    if any(part.layer == "model" for part in parts):
        keep_graphs(dumps, at_once)
    found: queue.SimpleQueue[Judged | BaseException | None] = queue.SimpleQueue()
    stopped = False

    def judge(part: Part) -> None:
        try:
            if monotonic() >= end:
                return
            for judged in judge_part(part, dumps, first=first, end=end):
                found.put(judged)
                if stopped or monotonic() >= end:
                    return
        except BaseException as wrong:  # noqa: BLE001 - the caller's thread raises it again
            found.put(wrong)
        finally:
            found.put(None)

    with ThreadPoolExecutor(at_once) as pool:
        try:
            left = len([pool.submit(judge, part) for part in parts])
            while left:
                one = found.get()
                if isinstance(one, BaseException):
                    raise one
                left -= one is None
                if one is not None:
                    yield one
        finally:
            stopped = True
            pool.shutdown(cancel_futures=True)


def judge_part(part: Part, dumps: Path, *, first: bool = False, end: float = inf) -> Iterator[Judged]:
    """Yield the edits of one folder with their complaints.

    `end`: the monotonic time at which edits of Python without an outcome are given up. Raises ScoreError if a
    judge has a complaint about the unedited folder.
    """
    if part.layer == "spec":
        yield from judge_schema(part.edits)
        return
    left = {edit.id: edit for edit in part.edits}
    texts = dict(modules(part.layer))
    for edit, outcome in answers(serve, (*part, dumps, first), PATIENCE, end):
        if edit is None and outcome:
            raise ScoreError(
                f"expected no complaint of the unchanged {part.layer}/{part.folder}, got {outcome}; "
                "correct that first"
            )
        if edit is not None and outcome is not None:
            del left[edit.id]
            yield outcome
    judges = Judges(part.layer, part.folder, dumps)
    for edit in left.values():
        yield from answers(_send_anew, (edit, edit.apply(texts[edit.module]), judges, first), PATIENCE, end)


def _send_anew(edit: Edit, text: str, judges: Judges, first: bool, found: Connection) -> None:
    """Send the outcome of a mutant that needs a separate process."""
    found.send(judge_anew(edit, text, judges, first=first))


def keep_graphs(dumps: Path, at_once: int) -> None:
    """Store TLC's graph of each model of the triangle in a folder. Raises TlcError."""
    compared = [model for model in load_manifest().values() if model.is_compared(thorough=False)]
    missing = [(model, kept) for model in compared if not (kept := kept_at(model, dumps)).is_file()]
    with ThreadPoolExecutor(at_once) as pool:
        for made in [pool.submit(check, model, dump=kept) for model, kept in missing]:
            made.result()
