"""The whole verification: runs its parts, measures their time, and gives one verdict.

The parts run one after the other. A *paced* part waits for its source most of the time; it runs in parallel
to all parts before it. A part that cannot be loaded, or that raises an error, is UNDETERMINED with the
reason; the others still run. A part writes files for later parts into the build folder, such as event logs.
"""

import time
import traceback
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path
from threading import Thread
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from conformance.machine import Machine, machine, source
from conformance.parts.result import Context, Finding, PartResult, verdict_of
from conformance.verdict import Verdict, together

if TYPE_CHECKING:
    from multiprocessing.queues import Queue

OURS = frozenset({"conformance", "impl", "model", "spec"})
"""Packages whose error messages say what to do. Other errors are shown with their traceback."""
SEED = 20261121
"""The default seed. It determines every random choice of every part."""


class Part(NamedTuple):
    """The module of a part; it has `run(context) -> PartResult`."""

    module: str
    engine: str
    """The tool that does the work, as the report names it."""
    paced: bool = False
    """Whether the part waits most of the time. Then it runs in its own process, parallel to earlier parts."""
    extra: str = ""
    """The extra of the distribution that it needs, if any."""


PARTS: Mapping[str, Part] = MappingProxyType(
    {
        "specification": Part("conformance.parts.specification", "TLC"),
        "triangle": Part("conformance.parts.triangle", "TLC, z3"),
        "exploration": Part("conformance.parts.exploration", "Python, numpy", extra="kernels"),
        "proofs": Part("conformance.parts.proofs", "z3"),
        "lock-step": Part("conformance.parts.lockstep", "Python"),
        "pipeline": Part("conformance.parts.pipeline", "Spark", paced=True, extra="spark"),
        "trace": Part("conformance.parts.trace", "Python"),
    }
)
"""Every part by its name, in the order in which they run: `trace` reads the event logs of `pipeline`."""


class Watch:
    """Shows a verification while it runs. This base class shows nothing."""

    def begins(self, part: str) -> None:
        """A part begins."""

    def show(self, what: str) -> None:
        """The part reports its current activity."""

    def ends(self, result: PartResult) -> None:
        """A part has ended."""


@dataclass(frozen=True)
class Verification:
    """The results of all parts, and the command that repeats them."""

    parts: tuple[PartResult, ...]
    """The selected parts, in the order in which they ran."""
    not_run: tuple[str, ...]
    """The other parts; the verdict says nothing about them."""
    seed: int
    quick: bool
    commit: str
    machine: Machine
    started: str
    """When it began, in UTC, as ISO 8601 writes it."""
    seconds: float = 0.0
    """The wall-clock seconds of the verification. Parts that ran at the same time add up to more."""
    thorough: bool = False

    @property
    def verdict(self) -> Verdict:
        """One verdict for the selected parts."""
        return together(part.verdict for part in self.parts)

    @property
    def again(self) -> str:
        """The command that repeats the verification."""
        chosen = [part.name for part in self.parts] if self.not_run else []
        return command_line(chosen, self.seed, quick=self.quick, thorough=self.thorough)


def verify(
    chosen: Collection[str] = (),
    *,
    context: Context,
    watch: Watch | None = None,
    parts: Mapping[str, Part] | None = None,
) -> Verification:
    """Run the chosen parts, or all. `parts`: by default PARTS. Raises ValueError for an unknown name."""
    parts = PARTS if parts is None else parts
    unknown = sorted(set(chosen) - set(parts))
    if unknown:
        raise ValueError(f"unknown part {', '.join(unknown)}; expected some of: {', '.join(parts)}")
    watch = watch or Watch()
    started = datetime.now(UTC).isoformat(timespec="seconds")
    begun = time.perf_counter()
    selected = [name for name in parts if not chosen or name in chosen]
    results: list[PartResult] = []
    with _in_parallel(selected, parts, context, watch) as paced:
        for name in selected:
            watch.begins(name)
            if name in paced:
                watch.show("in parallel to the other parts")
                answer = _answer(name, paced[name], context)
                results.append(replace(answer, engine=parts[name].engine))
            else:
                results.append(_timed(name, parts[name], replace(context, progress=watch.show)))
            watch.ends(results[-1])
    return Verification(
        parts=tuple(results),
        not_run=tuple(name for name in parts if name not in selected),
        seed=context.seed,
        quick=context.quick,
        commit=source(),
        machine=machine(),
        started=started,
        seconds=round(time.perf_counter() - begun, 3),
        thorough=context.thorough,
    )


def command_line(chosen: Collection[str], seed: int, *, quick: bool, thorough: bool = False) -> str:
    """The command that verifies these parts, or all parts if `chosen` is empty."""
    words = ["barrierspec verify", *(f"--only {name}" for name in chosen), f"--seed {seed}"]
    return " ".join([*words, *["--quick"] * quick, *["--thorough"] * thorough])


@contextmanager
def _in_parallel(
    selected: Sequence[str], parts: Mapping[str, Part], context: Context, watch: Watch
) -> Iterator[Mapping[str, Future[PartResult]]]:
    """Start the paced parts other than the first part, each in a process; `watch` gets their messages."""
    paced = [name for name in selected[1:] if parts[name].paced]
    if not paced:
        yield {}
        return
    fresh = get_context("spawn")
    messages: Queue[str | None] = fresh.Queue()
    listener = Thread(target=_pass_on, args=(messages, watch))
    listener.start()
    try:
        with ProcessPoolExecutor(len(paced), fresh, _send_to, (messages,)) as pool:
            yield {
                name: pool.submit(
                    _timed, name, parts[name], replace(context, progress=partial(_report, name))
                )
                for name in paced
            }
    finally:
        messages.put(None)
        listener.join()


_queues: list["Queue[str | None]"] = []
"""The queue for the messages of a part that runs in its own process."""


def _send_to(messages: "Queue[str | None]") -> None:
    _queues.append(messages)


def _report(part: str, what: str) -> None:
    for queue in _queues:
        queue.put(f"{part}: {what}")


def _pass_on(messages: "Queue[str | None]", watch: Watch) -> None:
    while (what := messages.get()) is not None:
        watch.show(what)


def _answer(name: str, paced: Future[PartResult], context: Context) -> PartResult:
    """The result of a part that ran in its own process. A process that died is a finding."""
    try:
        return paced.result()
    except BrokenProcessPool as died:
        return _could_not_run(name, died, context)


def _timed(name: str, part: Part, context: Context) -> PartResult:
    begun = time.perf_counter()
    result = _run(name, part, context)
    return replace(result, seconds=round(time.perf_counter() - begun, 3), engine=part.engine)


def _run(name: str, part: Part, context: Context) -> PartResult:
    """Run one part. An exception in it becomes a finding."""
    try:
        result = import_module(part.module).run(context)
        if not isinstance(result, PartResult):
            raise TypeError(f"{part.module}.run: expected a PartResult, got {type(result).__name__}")
    except Exception as error:  # noqa: BLE001 - the other parts must still run
        return _could_not_run(name, error, context)
    again = result.again or _again(name, context)
    return _without_false_pass(replace(result, name=name, again=again))


def _could_not_run(name: str, error: Exception, context: Context) -> PartResult:
    line = (
        f"{name} could not run: {type(error).__name__}: {next(iter(str(error).splitlines()), 'no message')}"
    )
    expected = type(error).__module__.split(".")[0] in OURS  # its message says what to do
    story = "" if expected else "".join(traceback.format_exception(error))
    findings = (Finding(None, line, story),)
    return PartResult(
        name, Verdict.UNDETERMINED, "could not run", findings=findings, again=_again(name, context)
    )


def _again(name: str, context: Context) -> str:
    return command_line([name], context.seed, quick=context.quick, thorough=context.thorough)


def _without_false_pass(result: PartResult) -> PartResult:
    """The result, without CONFORMS if it has findings. A result without a bound gets a finding."""
    if result.verdict is not Verdict.CONFORMS:
        return result
    if not result.bound.strip():
        unbounded = Finding(None, f"{result.name} passes without a bound; a PASS states its bound")
        result = replace(result, findings=(*result.findings, unbounded))
    return replace(result, verdict=verdict_of(result.findings))


def fresh_context(seed: int, build: Path, *, quick: bool, processes: int, thorough: bool = False) -> Context:
    """The context of a verification; makes the build folder."""
    build.mkdir(parents=True, exist_ok=True)
    return Context(seed=seed, build=build, processes=processes, quick=quick, thorough=thorough)
