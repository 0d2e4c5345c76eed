"""The thorough models, triangles, dataflows and proofs, one by one, within a time limit.

`python -m conformance.parts.thorough --minutes 300` runs each unit in a separate process, small models first.
If units are not finished when the time is over, the verdict is UNDETERMINED; `--resume` continues with the
units that earlier runs of the same sources have not finished. `--dataflows` instead explores all dataflows of
up to 4 tasks, also with inputs that end, unaligned checkpoints, stop-with-savepoint, rescaling, more records.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import click
import orjson

from conformance.compare.triangle import triangle
from conformance.explore.dataflows import explore_named, thorough_dataflows
from conformance.mutants.score import sources
from conformance.own_process import own_process
from conformance.parts.proofs import induction_of
from conformance.parts.result import DUMPS
from conformance.verdict import Verdict
from model.checker.prove import prove
from model.coordinator.proofs.closed import Closed, thorough_coordinators
from model.proofs import start_cases, thorough_cases
from model.properties import PROPERTIES
from model.sizes import SIZES
from spec.manifest import load_manifest
from spec.stategraph import kept_at
from spec.tlc import check

SHARES = 40
"""The number of blocks of proofs. Each block is one unit."""
LONGEST = 86_400
"""The time limit of TLC in seconds. The time limit of the whole run ends a unit before this one."""
RESULTS = Path("build/thorough.jsonl")
SOURCES = ("spec", "model", "conformance")
"""The folders with all code that units run."""


class Done(NamedTuple):
    """One finished unit."""

    unit: str
    complaint: str
    """The defect; empty if there is none."""
    size: str
    """The numbers of states, edges or paths, as text."""
    seconds: int


def units() -> list[str]:
    """The units of the thorough verification: models and triangles by number of states, then proofs.

    The proofs are the inductions of larger coordinators, and blocks of further cases.

    The models include broken ones that no other part runs.
    """
    models = [
        model
        for model in load_manifest().values()
        if (
            model.thorough or model.is_compared(thorough=True) > model.is_compared(thorough=False)
            if model.violates is None
            else not model.rules and not model.lesson  # it violates no rule, so it is no mutant
        )
    ]
    models.sort(key=lambda model: model.states)
    closed = [f"closed {name}" for name in thorough_coordinators()]
    return (
        [f"model {model.name}" for model in models] + closed + [f"proofs {share}" for share in range(SHARES)]
    )


def run(unit: str, build: Path) -> tuple[str, str]:
    """Run one unit in this process; returns its complaint and its size. Raises TlcError."""
    kind, name = unit.split()
    if kind == "closed":
        return induction(thorough_coordinators()[name])
    if kind == "dataflow":
        graph = explore_named(name)
        wrong = "" if graph.violation is None else ", ".join(graph.violation.properties)
        return wrong, f"{len(graph.nodes):,} states, {graph.transition_count:,} transitions"
    if kind == "proofs":
        report = prove(islice(thorough_cases(), int(name), None, SHARES), PROPERTIES, stop_at_first=True)
        refuted = [f"{found.property} fails: {found.label}" for found in report.refutations]
        return "; ".join(refuted), f"{report.paths:,} paths"
    model = load_manifest()[name]
    compared = model.is_compared(thorough=True)
    result = check(model, LONGEST, dump=kept_at(model, build / DUMPS) if compared else None)
    if result.differences or not compared:
        return "; ".join(result.differences), f"{result.states:,} states"
    agreement = triangle(model, build / DUMPS)
    wrong = "" if agreement.difference is None else agreement.difference.story
    return wrong, f"{result.states:,} states, {agreement.edges:,} edges compared"


def induction(closed: Closed) -> tuple[str, str]:
    """The refuted rules of a coordinator or the gap of its induction, and its sizes."""
    cases = tuple(closed.cases())
    size = SIZES["coordinator"]._replace(includes=closed.holds)
    report = prove((*start_cases(cases), *cases), PROPERTIES, within={"coordinator": size.holds})
    kinds = {
        "coordinator": {type(case.event) for case in cases}
    }  # a coordinator without masters gets no answers of masters
    text, lacking = induction_of(cases, (report,), {"coordinator": size}, kinds)
    refuted = [f"{found.property} fails: {found.label}" for found in report.refutations]
    return "; ".join((*refuted, *lacking)), f"{text}, {report.paths:,} paths"


def run_all(chosen: Iterable[str], until: float, processes: int) -> Iterator[Done]:
    """The units that finish before `until` (a time of `time.monotonic`), in the order in which they finish.

    Units that run when the time is over, or when the caller takes no more outcomes, are ended, and their
    temporary files are removed.
    """
    running: set[int] = set()
    is_over = False

    def one(unit: str) -> Done | None:
        begun = time.monotonic()
        if begun >= until or is_over:
            return None
        command = own_process("conformance.parts.thorough", "--unit", unit)
        with (
            TemporaryDirectory(prefix="barrierspec-unit-") as folder,
            subprocess.Popen(
                command, stdout=subprocess.PIPE, start_new_session=True, env={**os.environ, "TMPDIR": folder}
            ) as process,
        ):
            running.add(process.pid)
            if is_over:
                end(process.pid)
            try:
                output, _ = process.communicate(timeout=until - begun)
            except subprocess.TimeoutExpired:
                end(process.pid)
                return None
            finally:
                running.discard(process.pid)
        if is_over:
            return None
        seconds = round(time.monotonic() - begun)
        if process.returncode:
            return Done(unit, f"ended with {process.returncode}", "", seconds)
        complaint, size = orjson.loads(output)
        return Done(unit, complaint, size, seconds)

    with ThreadPoolExecutor(processes) as pool:
        futures = [pool.submit(one, unit) for unit in chosen]
        try:
            yield from (done for future in as_completed(futures) if (done := future.result()) is not None)
        finally:
            is_over = True
            for process in tuple(running):
                end(process)
            pool.shutdown(cancel_futures=True)


def end(process: int) -> None:
    """End a unit and the TLC that it has started."""
    with suppress(ProcessLookupError):
        os.killpg(process, signal.SIGKILL)


def finished(results: Path) -> list[Done]:
    """The units that an earlier run over the same sources has finished."""
    if not results.is_file():
        return []
    try:
        head, *lines = map(orjson.loads, results.read_bytes().splitlines())
        return [Done(*line) for line in lines] if head == [sources(SOURCES), SHARES] else []
    except ValueError:  # an interrupted write
        return []


def verdict(done: Sequence[Done], left: Sequence[str]) -> Verdict:
    """DIVERGES for a complaint, CONFORMS if every unit has finished without one."""
    if any(one.complaint for one in done):
        return Verdict.DIVERGES
    return Verdict.UNDETERMINED if left or not done else Verdict.CONFORMS


@click.command()
@click.option("--minutes", type=click.FloatRange(0, LONGEST / 60), default=300.0, show_default=True)
@click.option("--processes", type=click.IntRange(1), default=os.cpu_count() or 1, show_default=True)
@click.option("--resume", is_flag=True, help="Continue an interrupted run of the same sources.")
@click.option(
    "--dataflows", is_flag=True, help="Any dataflow instead, within several bounds; recorded apart."
)
@click.option("--unit", help="Run this one only, and print its outcome as JSON.")
def main(minutes: float, processes: int, resume: bool, dataflows: bool, unit: str | None) -> None:
    """Run the thorough units, and record each one when it finishes."""
    if unit is not None:
        click.echo(orjson.dumps(run(unit, RESULTS.parent)))
        return
    every = [f"dataflow {name}" for name in thorough_dataflows()] if dataflows else units()
    record = RESULTS.with_stem("thorough-dataflows") if dataflows else RESULTS
    done = [one for one in finished(record) if not one.complaint] if resume else []
    left = [name for name in every if name not in {one.unit for one in done}]
    click.echo(f"{len(left)} of {len(every)} units, at most {minutes:g} minutes; {record}")
    record.parent.mkdir(parents=True, exist_ok=True)
    record.write_bytes(b"\n".join(map(orjson.dumps, ([sources(SOURCES), SHARES], *map(list, done)))) + b"\n")
    for one in run_all(left, time.monotonic() + minutes * 60, processes):
        with record.open("ab") as file:
            file.write(orjson.dumps([*one]) + b"\n")
        done.append(one)
        left.remove(one.unit)
        click.echo(f"{one.unit:<40} {one.complaint or 'holds'}  {one.size}  {one.seconds} s")
    found = verdict(done, left)
    unfinished = f"; {len(left)} left, the first is {left[0]}" if left else ""
    click.echo(f"{found.value}   {len(done)} of {len(every)} finished{unfinished}")
    chosen = " --dataflows" if dataflows else ""
    click.echo(f"again   python -m conformance.parts.thorough --minutes {minutes:g}{chosen}")
    sys.exit(found.exit_code)


if __name__ == "__main__":
    main()
