"""Judge automatic mutants, each in a process forked from one that has loaded no protocol module."""

import multiprocessing
import resource
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

from conformance.mutants.automatic.equivalent import same_paths
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
    """By judge: rules, a model, an exception, `too long`; empty if the judge found nothing wrong.

    A judge that was not consulted is missing.
    """
    same_paths: int = 0
    """Paths of the proofs on which the mutant was proved to agree with the original; 0 if it was not."""

    @property
    def is_mutant(self) -> bool:
        """Whether the edited text has a meaning at all."""
        return UNPARSED not in self.complaints.values()

    @property
    def survives(self) -> bool:
        """Whether no judge complains, and no proof shows that nothing has changed."""
        return not self.same_paths and not any(self.complaints.values())

    def killed_by(self, *judges: str) -> bool:
        """Whether one of the judges complains."""
        return any(self.complaints.get(judge) for judge in judges)


class TooLongError(Exception):
    """A judge has used up its processor time."""


def judges_of(layer: str) -> tuple[str, ...]:
    """The judges that read the sources of a layer: only lock-step reads the implementation."""
    return {"spec": ("TLC",), "model": tuple(JUDGES), "impl": ("lock-step",)}[layer]


def judge_all(
    edits: Iterable[Edit], dumps: Path, *, at_once: int = 2, first: bool = False
) -> Iterator[Judged]:
    """The edits with their complaints, in order, as they are known.

    `dumps`: the folder of TLC's graphs for the triangle; what is missing there is made first. `first`: no
    judge follows the first that complains. Raises ScoreError if a judge complains of sources without an edit.
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
            yield from pool.map(lambda edit: judge(edit, dumps, first=first), edits)
        finally:
            pool.shutdown(cancel_futures=True)


def keep_graphs(dumps: Path) -> None:
    """Leave TLC's graph of each model of the triangle in a folder. Raises TlcError."""
    for model in load_manifest().values():
        if model.is_compared(thorough=False) and not (kept := kept_at(model, dumps)).is_file():
            check(model, dump=kept)


def judge(edit: Edit, dumps: Path, *, first: bool = False) -> Judged:
    """Judge one mutant in a process of its own. Raises EditError if its module is loaded here already."""
    layer = edit.module.split(".")[0]
    text = edit.apply(dict(modules(layer))[edit.module])
    if layer == "spec":
        return Judged(edit, {"TLC": tlc(edit.module.split(".")[-1], text)})
    if edit.module in sys.modules:
        raise EditError(f"{edit.module} is loaded already; judge mutants where nothing has loaded the model")
    judges = judges_of(layer)
    answers = _answers(_judge_here, (edit, text, dumps, first), len(judges))
    if len(answers) < len(judges) and not (first and any(answers)):
        answers.append("no answer")  # out of memory, a crash of z3, or a hang
    judged = Judged(edit, dict(zip(judges, answers, strict=False)))
    if layer == "model" and judged.survives:
        for same in _answers(_prove_here, (edit, text), 1):
            return judged._replace(same_paths=same)
    return judged


def _answers(judging: Callable[..., None], given: tuple[object, ...], count: int) -> list[Any]:
    """What a function sends from a forked process, at most `count` answers; fewer if the process ends."""
    forked = multiprocessing.get_context("fork")
    ours, theirs = forked.Pipe(duplex=False)
    process = forked.Process(target=judging, args=(*given, theirs), daemon=True)
    process.start()
    theirs.close()
    answers: list[Any] = []
    try:
        while len(answers) < count and ours.poll(SECONDS * 10):
            answers.append(ours.recv())
    except EOFError:
        pass
    process.kill()
    process.join()
    return answers


def _judge_here(edit: Edit, text: str, dumps: Path, first: bool, answers: Any) -> None:  # noqa: ANN401 - a connection
    install_text(edit.module, text)
    for name in judges_of(edit.module.split(".")[0]):
        complaint = _limited(lambda name=name: JUDGES[name](folder_of(edit), dumps))  # type: ignore[misc]
        answers.send(complaint)
        if first and complaint:
            break


def _prove_here(edit: Edit, text: str, answers: Any) -> None:  # noqa: ANN401 - a connection
    found = _limited(lambda: same_paths(edit, text, folder_of(edit)))
    answers.send(found if isinstance(found, int) else 0)


def _limited(judging: Callable[[], Any]) -> Any:  # noqa: ANN401 - what it returns, or a complaint
    """What a function returns within the limits of memory and time, or a complaint."""
    resource.setrlimit(resource.RLIMIT_AS, (GIGABYTES << 30, GIGABYTES << 30))
    signal.signal(signal.SIGPROF, _too_long)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        return judging()
    except TooLongError:
        return "too long"
    except (Exception, SystemExit) as crash:  # noqa: BLE001 - whatever a mutant raises
        return f"crash: {type(crash).__name__}"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def _too_long(number: int, frame: FrameType | None) -> None:
    raise TooLongError
