"""Judge automatic mutants, each in a process forked from one that has loaded no protocol module."""

import multiprocessing
import resource
import signal
import sys
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

from conformance.mutants.automatic.judges import JUDGES, UNPARSED, tlc
from conformance.mutants.automatic.modules import folder_of, modules
from conformance.mutants.automatic.operators import Edit
from conformance.mutants.score import ScoreError
from conformance.mutants.source_edit import EditError, install_text
from spec.manifest import load_manifest
from spec.stategraph import kept_at
from spec.tlc import check

SECONDS = 90
"""Processor seconds for one judge; the unchanged sources need a third."""
GIGABYTES = 3
"""Address space of one mutant; TLC, which needs more, has run before."""
_SHARED = ("hypothesis", "networkx", "orjson", "z3")
"""Loaded once, before the first fork."""


class Judged(NamedTuple):
    """One mutant, and what each judge complains of."""

    edit: Edit
    complaints: Mapping[str, str]
    """By judge: rules, a model, an exception, `too long`; empty if the judge found nothing wrong."""

    @property
    def is_mutant(self) -> bool:
        """Whether the edited text has a meaning at all."""
        return UNPARSED not in self.complaints.values()

    def killed_by(self, *judges: str) -> bool:
        """Whether one of the judges complains."""
        return any(self.complaints.get(judge) for judge in judges)


class TooLongError(Exception):
    """A judge has used up its processor time."""


def judges_of(layer: str) -> tuple[str, ...]:
    """The judges that read the sources of a layer: only lock-step reads the implementation."""
    return {"spec": ("TLC",), "model": tuple(JUDGES), "impl": ("lock-step",)}[layer]


def judge_all(edits: Iterable[Edit], dumps: Path, *, at_once: int = 2) -> Iterator[Judged]:
    """The edits with their complaints, in order, as they are known.

    `dumps`: the folder of TLC's graphs for the triangle; what is missing there is made first. Raises
    ScoreError if a judge complains of sources without an edit.
    """
    for name in _SHARED:
        import_module(name)
    edits = list(edits)
    if any(edit.module.startswith("model.") for edit in edits):
        keep_graphs(dumps)
    for unchanged in {folder_of(edit): edit._replace(after=edit.before) for edit in edits}.values():
        if not unchanged.module.startswith("spec."):  # TLC has read these in `verify`
            complaints = judge(unchanged, dumps).complaints
            if any(complaints.values()):
                raise ScoreError(
                    f"expected no complaint of the unchanged {unchanged.module.rsplit('.', 1)[0]}, "
                    f"got {dict(complaints)}; mend that first"
                )
    with ThreadPoolExecutor(at_once) as pool:
        try:
            yield from pool.map(lambda edit: judge(edit, dumps), edits)
        finally:
            pool.shutdown(cancel_futures=True)


def keep_graphs(dumps: Path) -> None:
    """Leave TLC's graph of each model of the triangle in a folder. Raises TlcError."""
    for model in load_manifest().values():
        if model.is_compared(thorough=False) and not (kept := kept_at(model, dumps)).is_file():
            check(model, dump=kept)


def judge(edit: Edit, dumps: Path) -> Judged:
    """Judge one mutant in a process of its own. Raises EditError if its module is loaded here already."""
    layer = edit.module.split(".")[0]
    text = edit.apply(dict(modules(layer))[edit.module])
    if layer == "spec":
        return Judged(edit, {"TLC": tlc(edit.module.split(".")[-1], text)})
    if edit.module in sys.modules:
        raise EditError(f"{edit.module} is loaded already; judge mutants where nothing has loaded the model")
    forked = multiprocessing.get_context("fork")
    ours, theirs = forked.Pipe(duplex=False)
    complaints: dict[str, str] = {}
    process = forked.Process(target=_judge_here, args=(edit, text, dumps, theirs), daemon=True)
    process.start()
    theirs.close()
    judges = judges_of(layer)
    try:
        for name in judges:
            complaints[name] = ours.recv() if ours.poll(SECONDS * 10) else "too long"
    except EOFError:  # the process has ended: out of memory, or z3 crashed
        complaints.update((name, "the process ended") for name in judges if name not in complaints)
    process.kill()
    process.join()
    return Judged(edit, complaints)


def _judge_here(edit: Edit, text: str, dumps: Path, answers: Any) -> None:  # noqa: ANN401 - a connection
    resource.setrlimit(resource.RLIMIT_AS, (GIGABYTES << 30, GIGABYTES << 30))
    signal.signal(signal.SIGPROF, _too_long)
    install_text(edit.module, text)
    for name in judges_of(edit.module.split(".")[0]):
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        try:
            complaint = JUDGES[name](folder_of(edit), dumps)
        except TooLongError:
            complaint = "too long"
        except (Exception, SystemExit) as crash:  # noqa: BLE001 - whatever a mutant raises
            complaint = f"crash: {type(crash).__name__}"
        signal.setitimer(signal.ITIMER_PROF, 0)
        answers.send(complaint)


def _too_long(number: int, frame: FrameType | None) -> None:
    raise TooLongError
