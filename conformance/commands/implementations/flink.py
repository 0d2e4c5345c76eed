"""`barrierspec flink`: commands with released Flinks as the implementation under test."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from conformance.command_line.options import FILE, FOLDER, SECONDS
from conformance.commands import seed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from conformance.parts.released import Order
    from conformance.released.results import Conformed
    from conformance.verdict import Verdict

MODES = ("exactly-once", "at-least-once", "unaligned", "alternating")
LEVELS = ("handler", "polled")
SEQUENCES = 2_000
QUICK = 500
FULL = 5_000
COMPONENTS = ("gate", "coordinator", "store", "sink", "failures", "channel", "subtask", "source")


def _listed(context: click.Context, parameter: click.Parameter, versions: tuple[str, ...]) -> tuple[str, ...]:
    """The given versions, or all listed versions for `all`. Raises BadParameter for a version not listed."""
    from conformance.adapters.flink.releases import UnknownReleaseError, release, releases

    if versions == ("all",):
        return tuple(releases())
    try:
        for version in versions:
            release(version)
    except UnknownReleaseError as unknown:
        raise click.BadParameter(str(unknown), context, parameter) from unknown
    return versions


def _part(context: click.Context, parameter: click.Parameter, text: str) -> tuple[int, int]:
    """The numbers K and N in the text `K/N`. Raises BadParameter unless 1 <= K <= N."""
    first, _, step = text.partition("/")
    if first.isdecimal() and step.isdecimal() and 1 <= int(first) <= int(step):
        return int(first), int(step)
    raise click.BadParameter(
        f"expected K/N with 1 <= K <= N, for example 2/7; got {text!r}", context, parameter
    )


@click.group()
def command() -> None:
    """Fetch released Flinks and compare them with the model of their generation."""


@command.command()
@click.argument("versions", nargs=-1, required=True, metavar="VERSION...", callback=_listed)
def fetch(versions: tuple[str, ...]) -> int:
    """Fetch the jars of releases into the cache, and compile the Java harness for them.

    VERSION is the version of a release, or `all`.
    """
    from conformance.adapters.flink.compile import compiled
    from conformance.adapters.flink.fetch import fetch as fetch_jar
    from conformance.adapters.flink.releases import FlinkError, release
    from conformance.verdict import Exit

    try:
        for version in versions:
            known = release(version)
            jar = fetch_jar(known)
            compiled(known, jar)
            click.echo(f"  Flink {version}: {jar}")
    except FlinkError as cannot:
        click.echo(f"UNDETERMINED  {cannot}")
        return Exit.UNDETERMINED
    return Exit.CONFORMS


@command.command()
@click.argument("version")
def serve(version: str) -> int:
    """Answer requests of the adapter protocol on stdin with the code of a released Flink."""
    import subprocess

    from conformance.adapters.flink.adapter import command as command_of
    from conformance.adapters.flink.releases import FlinkError, release

    try:
        return subprocess.run(command_of(release(version)), check=False).returncode
    except FlinkError as refused:
        raise click.ClickException(str(refused)) from refused


@command.command()
@click.argument("versions", nargs=-1, required=True, metavar="VERSION...", callback=_listed)
@click.option(
    "--mode",
    type=click.Choice(MODES),
    help="The mode of all rounds. By default drawn at random, but not at-least-once.",
)
@click.option(
    "--backend", type=click.Choice(("heap", "rocksdb")), help="The state backend. By default drawn at random."
)
@click.option("--sink", type=click.Choice(("files", "long-files", "two-phase", "postgres", "early")),
              help="The sink: short files, long files, two-phase commit in files or in rows, or a "
                   "defect.")  # fmt: skip
@click.option("--source", type=click.Choice(("lanes", "forgetful")), default="lanes", show_default=True,
              help="The source: with offsets in its state, or a source that does not restore its "
                   "offsets.")  # fmt: skip
@click.option(
    "--faults", default=4, show_default=True, type=click.IntRange(1), help="Faults for each release."
)
@seed("faults and settings", 20261125)
@click.option("--seconds", default=3_600.0, show_default=True, type=SECONDS, help="The time budget in s.")
@click.option("--build", default=Path("build/engines"), show_default=True, type=FOLDER,
              help="The folder in which rounds run and flink.json is written.")  # fmt: skip
def run(  # noqa: PLR0913 - a click command
    versions: tuple[str, ...],
    mode: str | None,
    backend: str | None,
    sink: str | None,
    source: str,
    faults: int,
    seed: int,
    seconds: float,
    build: Path,
) -> int:
    """Run a job on clusters of released Flinks with faults, and classify its committed output.

    Exits with 1 if a round refutes exactly-once, or refutes at-least-once with --mode at-least-once.
    """
    from conformance.commands.implementations.engines import run_and_print
    from conformance.engines.campaign import Order
    from conformance.engines.rows import table_row

    given = {"mode": mode, "backend": backend, "sink": sink, "source": source}
    name = "flink-at-least-once" if mode == "at-least-once" else "flink"
    plain = table_row(name)
    draws = {**plain.draws, **{key: (value,) for key, value in given.items() if value is not None}}
    rows = [table_row(f"{name}@{version}")._replace(draws=draws) for version in versions]
    return run_and_print(Order(rows, seed, faults, seconds), build / "flink.json").exit_code


@command.command()
@click.argument("versions", nargs=-1, required=True, metavar="VERSION...", callback=_listed)
@click.option(
    "--mode", "modes", multiple=True, type=click.Choice(MODES), help="Only this mode. May be repeated."
)
@click.option("--level", "levels", multiple=True, type=click.Choice(LEVELS), help="Only this level.")
@click.option("--component", "components", multiple=True, type=click.Choice(COMPONENTS), default=("gate",),
              show_default=True, help="Only this component. May be repeated.")  # fmt: skip
@click.option("--sequences", default=SEQUENCES, show_default=True, type=click.IntRange(1),
              help="Random sequences of each mode at each level, and of each other component.")  # fmt: skip
@click.option("--gates", default=1, show_default=True, type=click.IntRange(1),
              help="Input gates of a task; each but the first has one channel. From 1.12 on.")  # fmt: skip
@seed("every sequence")
@click.option("--quick", is_flag=True, help="Run fewer sequences, smaller tours and no directed cases.")
@click.option(
    "--remove",
    is_flag=True,
    help="Check one release after the other, and delete each jar that this run fetches.",
)
def conform(  # noqa: PLR0913 - a click command
    versions: tuple[str, ...],
    modes: tuple[str, ...],
    levels: tuple[str, ...],
    components: tuple[str, ...],
    sequences: int,
    gates: int,
    seed: int,
    quick: bool,
    remove: bool,
) -> int:
    """Compare releases with the model in tours of the small models, directed cases and random sequences.

    VERSION is the version of a release, or `all` for every listed release.
    """
    from conformance.adapters.flink.releases import release
    from conformance.parts.released import Order, removed_again
    from conformance.verdict import together

    order = Order(sequences, seed, histories=sequences, gates=gates)
    if quick:
        order = Order(QUICK, seed, aims=False, tour_nodes=60, timed_nodes=30, histories=QUICK, gates=gates)
    modes = (modes or MODES) if "gate" in components else ()
    others = [component for component in components if component != "gate"]
    if not remove:
        _, verdict = _conformed(versions, modes, levels or LEVELS, order, others)
        return verdict.exit_code
    verdicts = []
    for version in versions:
        with removed_again(release(version)):
            _, verdict = _conformed((version,), modes, levels or LEVELS, order, others)
        verdicts.append(verdict)
    return together(verdicts).exit_code


@command.command()
@click.argument("versions", nargs=-1, metavar="VERSION...", callback=_listed)
@click.option("--sequences", default=FULL, show_default=True, type=click.IntRange(1),
              help="Random sequences of each mode at each level, and of each other component.")  # fmt: skip
@seed("every sequence")
@click.option("--part", default="1/1", show_default=True, metavar="K/N", callback=_part,
              help="Check every Nth release, from the Kth on.")  # fmt: skip
@click.option("--processes", type=click.IntRange(1), help="Processes; default: one for each core.")
@click.option("--resume", is_flag=True, help="Keep the results of earlier runs with the same bounds.")
@click.option("--publish", is_flag=True, help="Write the page of the documentation from all results.")
@click.option("--build", default=Path("build"), show_default=True, type=FOLDER, help="The report's folder.")
def matrix(  # noqa: PLR0913 - a click command
    versions: tuple[str, ...],
    sequences: int,
    seed: int,
    part: tuple[int, int],
    processes: int | None,
    resume: bool,
    publish: bool,
    build: Path,
) -> int:
    """Compare releases with the model: the gate in each mode at each level, and each other component.

    Without VERSION, the command compares all releases, up to eight of the same generations at a time. It
    deletes the jars that it has fetched. It stores the results of one component or mode of these releases at
    once, and --resume continues an interrupted run. At the end it prints a table with the number of sequences
    and of new divergences in each cell.
    """
    from conformance.adapters.flink.releases import FlinkError, releases
    from conformance.parts.released import PAGE, Order, conform_matrix
    from conformance.released.matrix import PUBLISHED, RECORD, Bounds, Cell, Record, in_order, read
    from conformance.released.matrix import publish as publish_cells
    from conformance.report import released
    from conformance.verdict import Verdict, together
    from spec.rules import load_rules

    order = Order(sequences, seed, tour_nodes=2_000, timed_nodes=300, histories=sequences)
    record = Record(build / RECORD.name, Bounds(sequences, seed, order.tour_nodes, order.timed_nodes))
    if not resume:
        record.begin()
    first, step = part
    chosen = (versions or tuple(releases()))[first - 1 :: step]
    failed = False
    try:
        for done in conform_matrix(chosen, order, record, processes):
            if not isinstance(done, Cell):
                click.echo(released.line(done))
                if more := released.details(done):
                    click.echo(more)
    except FlinkError as cannot:
        click.echo(f"UNDETERMINED  {cannot}")
        failed = True
    cells = in_order(read(record.file)[1].values())
    table = f"{released.matrix(cells)}\n\n{released.NOT_DRIVEN}"
    file = build / "report" / "flink-matrix.txt"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(table + "\n", encoding="utf-8")
    verdict = together(one.verdict for one in cells if one.verdict is not None)
    if failed and verdict is Verdict.CONFORMS:
        verdict = Verdict.UNDETERMINED
    click.echo(f"\n{table}\n\n{verdict.value}  {released.bound(cells, record.bounds)}\n  report  {file}")
    if publish:
        publish_cells(record, PUBLISHED)
        rules = [rule for rule in load_rules() if rule.kind == "step"]
        PAGE.write_text(released.page(cells, record.bounds, rules), encoding="utf-8")
        click.echo(f"  page    {PAGE}")
    return verdict.exit_code


@command.command(name="switches")
@click.argument("versions", nargs=-1, metavar="VERSION...", callback=_listed)
@click.option("--resume", is_flag=True, help="Keep the results of earlier runs of unchanged sequences.")
@click.option("--record", default=Path("conformance/released/decided.jsonl"), show_default=True,
              type=FILE, help="The file of the results.")  # fmt: skip
@click.option("--out", default=Path("docs/reference/switches.md"), show_default=True,
              type=FILE, help="The page that the command writes.")  # fmt: skip
def switches(versions: tuple[str, ...], resume: bool, record: Path, out: Path) -> int:
    """Drive releases through one run for each switch of the generations, and write the page of switches.

    Without VERSION, the command drives all releases. It fetches and deletes one jar after the other, and
    stores the results of each release at once. Exits with 1 if a release differs from its generation, and
    with 2 if one does not answer.
    """
    from conformance.adapters.flink.adapter import flink_adapter
    from conformance.adapters.flink.releases import FlinkError, release, releases
    from conformance.machine import source
    from conformance.parts.released import removed_again
    from conformance.scenarios.deciding_runs import Decided, deciding_runs, drive, is_settled, read, write
    from conformance.scenarios.switch_page import page
    from conformance.verdict import Exit

    results = read(record)
    chosen = versions or tuple(releases())
    for version in chosen:
        one = release(version)
        known = results[version].outcomes if resume and version in results else {}
        if all(place in known and is_settled(known[place], place, one) for place in deciding_runs()):
            continue
        try:
            with removed_again(one), flink_adapter(one) as adapter:
                outcomes = drive(one, adapter, known)
        except FlinkError as cannot:
            click.echo(f"UNDETERMINED  {cannot}")
            return Exit.UNDETERMINED
        results[version] = Decided(version, source(), outcomes)
        write(results.values(), record)
        odd = [f"{'.'.join(place)}: {one.result}" for place, one in outcomes.items() if one.is_odd]
        click.echo("\n    ".join([f"  {version}  {len(outcomes)} runs", *odd]))
    out.write_text(page(results), encoding="utf-8")
    click.echo(f"  page  {out}")
    outcomes_of = [one for version in chosen for one in results[version].outcomes.values()]
    if any(one.differs for one in outcomes_of):
        return Exit.DIVERGES
    return Exit.UNDETERMINED if any(one.is_odd for one in outcomes_of) else Exit.CONFORMS


@command.command(name="side-by-side")
@click.option("--out", default=Path("docs/reference/generations.md"), show_default=True,
              type=FILE, help="The page that the command writes.")  # fmt: skip
def side_by_side(out: Path) -> int:
    """Write the page that shows the same sequence in every generation, in the model and in the releases."""
    from conformance.adapters.flink.adapter import flink_adapter
    from conformance.adapters.flink.releases import FlinkError, last_of_each
    from conformance.parts.released import removed_again
    from conformance.scenarios.side_by_side import Driven, page
    from conformance.verdict import Exit

    def driven() -> "Iterator[Driven]":
        for one in last_of_each():
            with removed_again(one), flink_adapter(one) as adapter:
                yield Driven(one.version, one.profile, one.coordinator, adapter)

    try:
        text = page(driven(), lambda name: click.echo(f"  {name}"))
    except FlinkError as cannot:
        click.echo(f"UNDETERMINED  {cannot}")
        return Exit.UNDETERMINED
    out.write_text(text, encoding="utf-8")
    click.echo(f"  page  {out}")
    return Exit.CONFORMS


def _conformed(
    versions: "Sequence[str]",
    modes: "Sequence[str]",
    levels: "Sequence[str]",
    order: "Order",
    components: "Sequence[str]",
) -> "tuple[list[Conformed], Verdict]":
    """Compare the releases and print each result.

    Returns the results, and the verdict of the results that were not skipped.
    """
    from conformance.adapters.flink.releases import FlinkError
    from conformance.parts.released import conform_releases
    from conformance.report import released
    from conformance.verdict import Verdict, together

    all_done = []
    try:
        for done in conform_releases(versions, modes, levels, order, components=components):
            all_done.append(done)
            click.echo(released.line(done))
            if more := released.details(done):
                click.echo(more)
    except FlinkError as cannot:
        click.echo(f"UNDETERMINED  {cannot}")
        return all_done, Verdict.UNDETERMINED
    driven = [done for done in all_done if not done.skipped]
    verdict = together(done.verdict for done in driven)
    events = sum(done.events for done in driven)
    skipped = f", {len(all_done) - len(driven)} skipped" if len(driven) < len(all_done) else ""
    click.echo(
        f"{verdict.value}  {len(driven)} configuration{'s' * (len(driven) != 1)} (release, mode, level or "
        f"component), {events:,} events{skipped}; "
        f"seed {order.seed}"
    )
    return all_done, verdict
