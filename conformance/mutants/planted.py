"""Examines each planted defect as an implementation under test.

`python -m conformance.mutants.planted` starts every mutant of the model and the implementation as an adapter
in a separate process, and examines it as `barrierspec conform --component C` does. If the mutant conforms, it
is examined again as with `--thorough`. `--adapters FILE` does the same with a list of broken adapters. The
command writes each outcome to `--out` at once. Outcomes that this file already has are not measured again.

Exits with 1 in three cases: a mutant conforms although the catalogue has no reason for it; a mutant is
detected although the catalogue has one; the first run that detects an adapter is not the run in its list.
"""

import re
import shlex
import sys
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import click
import orjson

from conformance.adapters.choose import open_adapter
from conformance.command_line.options import FILE
from conformance.commands.implementations.conform import BATCH, EXTRA_STATES, LONG_LIFE
from conformance.drive.bounds.examination import Examination
from conformance.drive.conform import Order, conform
from conformance.drive.plan import Plan
from conformance.errors import InputError
from conformance.mutants.catalogue import Mutant, load_catalogue
from conformance.own_process import own_process
from conformance.report.conform import THOROUGH
from conformance.verdict import Verdict
from model.closed_model_runs import component_on_wire
from model.components import COMPONENTS

DEFAULT = Plan(seed=0, examples=100, batch=BATCH, extra_states=EXTRA_STATES)
RUNS = {"default": DEFAULT, "thorough": DEFAULT._replace(extra_states=THOROUGH, checkpoints=LONG_LIFE)}
"""By name: the plan of a run, `conform` without and with `--thorough`."""
LIMIT = 30.0
"""Time limit of one answer in seconds, long enough for a busy machine."""
CONFORMS = "conforms"
"""Replaces the name of a run if no run detects the defect."""
LAYERS = ("impl", "model")
_MARK = re.compile(r"(<!-- planted: (\w+) -->\n\n)(?:[^\n]+\n)*")


class Planted(NamedTuple):
    """One defect as an implementation under test."""

    id: str
    """The id of a mutant, or the component and the command of another adapter."""
    kind: str
    """`model` or `impl` for a mutant, the class of the defect for another adapter."""
    component: str
    """The component of the adapter protocol."""
    command: str
    """The value of `--adapter`."""
    runs: tuple[str, ...]
    """The runs that may be the first to detect it."""


class Outcome(NamedTuple):
    """The outcome of `conform` for one defect."""

    id: str
    run: str
    """The first of RUNS that detects the defect, or CONFORMS."""
    verdict: str
    """The verdict of the last run.

    `ERROR`: `hello` has a name that the protocol does not have. Empty: no run.
    """
    shown_by: str
    """The source of the case that showed the defect.

    Without a case, the check that showed it: `conduct`, `life`, `capability`, `undetermined` or `hello`.
    """
    charge: str
    """The charged rule, or the way in which an answer was lost; empty if there is neither."""
    seconds: float
    """The time of all runs, in seconds."""


def of_mutant(mutant: Mutant) -> Planted:
    """A mutant of the model or the implementation as a planted defect (`mutant_adapter`)."""
    command = shlex.join(own_process("conformance.mutants.mutant_adapter", mutant.id))
    runs = (CONFORMS,) if mutant.conforms else tuple(RUNS)
    component = component_on_wire(mutant.component)
    if component not in COMPONENTS and not mutant.conforms:
        component = mutant.module.split(".")[1]  # `model/history` only observes this component
    return Planted(mutant.id, mutant.layer, component, command, runs)


def of_catalogue() -> list[Planted]:
    """Every mutant of the model and the implementation, by component."""
    known = [of_mutant(mutant) for mutant in load_catalogue() if mutant.layer != "spec"]
    return sorted(known, key=lambda one: one.component)


def of_list(file: Path) -> Iterator[Planted]:
    """Yields the adapters of a list in TOML.

    A class of the list has lines `component: command` under the name of the run that must detect them first.
    """
    for group in tomllib.loads(file.read_text(encoding="utf-8"))["class"]:
        for run in RUNS:
            for line in group.get(run, ()):
                component, _, command = line.partition(": ")
                words = command.removeprefix("python ")
                own = f"{shlex.quote(sys.executable)} {words}" if words != command else command
                yield Planted(line, group["name"], component, own, (run,))


def tried(planted: Planted) -> Outcome:
    """Examine one defect with one run after the other, until a run detects it.

    A defect of a component without an adapter is not examined.
    """
    begun = time.monotonic()
    if planted.component not in COMPONENTS:
        return Outcome(planted.id, CONFORMS, "", "", "", 0.0)
    for run, plan in RUNS.items():
        try:
            done = examined(planted, plan)
        except InputError:
            return Outcome(planted.id, run, "ERROR", "hello", "", round(time.monotonic() - begun, 1))
        if done is None or done.verdict is not Verdict.CONFORMS:
            break
    else:
        run = CONFORMS
    charge = (done.divergence.charge or "") if done is not None and done.divergence is not None else ""
    verdict = Verdict.UNDETERMINED if done is None else done.verdict
    shown = shown_by(done) if run != CONFORMS else ""
    return Outcome(planted.id, run, verdict.value, shown, charge, round(time.monotonic() - begun, 1))


def examined(planted: Planted, plan: Plan) -> Examination | None:
    """The examination of the defect's component. None if the adapter does not answer `hello`.

    Raises InputError if `hello` has names that the protocol does not have.
    """
    adapter = open_adapter(planted.command, LIMIT)
    try:
        with tempfile.TemporaryDirectory() as out:
            order = Order(planted.command, (planted.component,), plan, Path(out))
            return next(iter(conform(adapter, order, lambda _: None).examined), None)
    finally:
        adapter.bye()


def shown_by(done: Examination | None) -> str:
    """The value of `Outcome.shown_by`."""
    if done is None:
        return "hello"
    if done.divergence is not None:
        return done.sources[-1]
    if done.broken:
        late = "life" if done.broken[0].startswith("in a life of ") else "conduct"
        return "capability" if done.capabilities else late
    return "undetermined"


def read_outcomes(file: Path) -> dict[str, Outcome]:
    """The outcomes in a file, by id. Empty if there is no file."""
    lines = file.read_bytes().splitlines() if file.exists() else []
    return {outcome.id: outcome for outcome in (Outcome(**orjson.loads(line)) for line in lines)}


def outcomes(file: Path, chosen: Sequence[Planted]) -> Iterator[tuple[Planted, Outcome]]:
    """Yields each defect with its outcome. An outcome that the file does not have is measured and added."""
    known = read_outcomes(file)
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("ab") as written:
        for planted in chosen:
            if planted.id not in known:
                known[planted.id] = tried(planted)
                written.write(orjson.dumps(known[planted.id]._asdict()) + b"\n")
                written.flush()
            yield planted, known[planted.id]


def with_tables(page: str, planted: Sequence[Planted], outcomes: Mapping[str, Outcome]) -> str:
    """The page with new text below its marks `<!-- planted: NAME -->`.

    NAME is `measured`, `mutants` or `classes`.
    """
    mutants = [one for one in planted if one.kind in LAYERS]
    found = [(one, outcomes[one.id]) for one in planted if one.id in outcomes]
    of_mutants = [(one, outcome) for one, outcome in found if one.kind in LAYERS]
    missing = [one.id for one in mutants if one.id not in outcomes]
    count = f"{len(of_mutants)} of {len(mutants)} mutants have an outcome"
    texts = {
        "measured": f"{count}{'; not measured: ' + ', '.join(missing) if missing else ''}.\n",
        "mutants": mutant_table(of_mutants),
        "classes": class_table([(one, outcomes.get(one.id)) for one in planted]),
    }
    return _MARK.sub(lambda mark: mark[1] + texts[mark[2]], page)


def mutant_table(found: Sequence[tuple[Planted, Outcome]]) -> str:
    """A table with a row for each component of each layer, and a column for each value of `shown_by`."""
    found = sorted(
        ((one, outcome) for one, outcome in found if one.kind in LAYERS),
        key=lambda pair: (pair[0].kind, pair[0].component),
    )
    columns = list(dict.fromkeys(outcome.shown_by for _, outcome in found if outcome.run == "default"))
    rows: dict[str, Counter[str]] = {}
    for planted, outcome in found:
        shown = outcome.shown_by if outcome.run == "default" else outcome.run
        rows.setdefault(f"{planted.kind}, {planted.component}", Counter())[shown] += 1
    rows["all"] = sum(rows.values(), Counter())
    lines = [f"| planted in | defects | {' | '.join(columns)} | only `--thorough` | conform |"]
    lines.append("|---|" + "--:|" * (len(columns) + 3))
    for row, counts in rows.items():
        cells = (str(counts[name] or "") for name in (*columns, "thorough", CONFORMS))
        lines.append(f"| {row} | {counts.total()} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def class_table(found: Sequence[tuple[Planted, Outcome | None]]) -> str:
    """A table with a row for each class of broken adapters: how many each run detects, by `shown_by`."""
    lines = ["| class | adapters | detected by default, first by | only by `--thorough`, by | not measured |"]
    lines.append("|---|--:|---|---|---|")
    listed = [(one, outcome) for one, outcome in found if one.kind not in LAYERS]
    for kind in dict.fromkeys(one.kind for one, _ in listed):
        own = [(one, outcome) for one, outcome in listed if one.kind == kind]
        cells = [
            ", ".join(
                f"{number} {shown}"
                for shown, number in Counter(
                    outcome.shown_by for _, outcome in own if outcome is not None and outcome.run == run
                ).items()
            )
            for run in RUNS
        ]
        missing = ", ".join(f"`{one.id.rpartition('/')[2]}`" for one, outcome in own if outcome is None)
        lines.append(f"| {kind} | {len(own)} | {' | '.join(cells)} | {missing} |")
    return "\n".join(lines) + "\n"


@click.command()
@click.option("--component", "components", multiple=True, help="Only of this one; may be repeated.")
@click.option("--adapters", type=FILE, help="Also the broken adapters of this list.")
@click.option("--out", default=Path("build/report/planted.jsonl"), show_default=True, type=FILE)
def main(components: tuple[str, ...], adapters: Path | None, out: Path) -> None:
    """Examine every mutant of the model and the implementation."""
    known = of_catalogue()
    known += of_list(adapters) if adapters is not None else ()
    chosen = [one for one in known if not components or one.component in components]
    found = []
    for planted, outcome in outcomes(out, chosen):
        found.append((planted, outcome))
        wrong = "" if outcome.run in planted.runs else f"  expected {' or '.join(planted.runs)}"
        where = f"{outcome.run:<8} {outcome.shown_by:<10} {outcome.charge:<10}"
        click.echo(f"{planted.id:<64} {where} {outcome.seconds:>6}{wrong}")
    click.echo(f"\n{mutant_table(found)}\n{class_table(found)}")
    sys.exit(any(outcome.run not in planted.runs for planted, outcome in found))


if __name__ == "__main__":
    main()
