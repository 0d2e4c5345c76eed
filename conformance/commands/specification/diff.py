"""`barrierspec diff`: prints how the behaviour of two revisions, generations or implementations differs."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from conformance.command_line.options import pinned
from conformance.commands import COMPONENTS, limit, reports, seed, write_findings
from conformance.commands.implementations.conform import EXTRA_STATES

if TYPE_CHECKING:
    from conformance.change.compare_revisions import Compared
    from conformance.drive.plan import Plan
    from conformance.report.formats.findings import Outputs


@click.command()
@click.argument("old", required=False)
@click.argument("new", required=False)
@click.option("--adapter", "adapters", multiple=True, metavar="CMD",
              help="An implementation, as in `conform`. Give it twice, in place of OLD and NEW.")  # fmt: skip
@click.option(
    "--component", "components", multiple=True, type=click.Choice(COMPONENTS), help="Only this component."
)
@click.option("--examples", default=30, show_default=True, type=click.IntRange(1),
              help="For two implementations: the number of examples for each component.")  # fmt: skip
@click.option("--config", "options", multiple=True, metavar="KEY=VALUE",
              help="For two implementations: run only configurations with this value.")  # fmt: skip
@click.option("--life", metavar="N", type=click.IntRange(0, 2_000),
              help="For two implementations: checkpoints in one life.  [default: 20 for each "
                   "example]")  # fmt: skip
@click.option("--thorough", is_flag=True, help="Run complete suites for two extra states, not one.")
@click.option("--no-suites", is_flag=True, help="Run no complete suites.")
@seed("every case of two implementations")
@limit
@reports
def command(  # noqa: PLR0913 - a click command
    old: str | None,
    new: str | None,
    adapters: tuple[str, ...],
    components: tuple[str, ...],
    examples: int,
    options: tuple[str, ...],
    life: int | None,
    thorough: bool,
    no_suites: bool,
    seed: int,
    limit: float,
    files: "Outputs",
) -> int:
    """Compare the behaviour of two git revisions, two generations, or two implementations.

    OLD and NEW are revisions or generations. Without NEW, the command compares OLD with the working tree. A
    generation may be a proposed generation, such as `proposed-FLIP-600` of the coordinator. Prints new,
    removed and changed behaviours with the shortest run of each. For two implementations, also prints the
    answer of the model. Exits with 0 if nothing differs, and with 1 if a behaviour differs. Exits with 2 if
    the comparison of two implementations is undetermined.
    """
    from conformance import escape
    from conformance.change.adapters import UncomparedError
    from conformance.change.behaviour import meaning_of
    from conformance.drive.plan import Plan
    from conformance.parts.result import Finding, PartResult
    from conformance.report import change
    from conformance.report.conform import THOROUGH
    from conformance.verdict import Verdict

    if len(adapters) != (0 if old else 2):
        raise click.UsageError(
            "give --adapter OLD --adapter NEW, or one or two revisions, or two generations"
        )
    names = adapters or (old or "", new or "the working tree")
    click.echo(f"barrierspec diff   {' -> '.join(map(escape.line, names))}\n")
    words = [word for one in adapters for word in ("--adapter", one)] or [one for one in (old, new) if one]
    words += [word for one in components for word in ("--component", one)]
    extra_states = None if no_suites else THOROUGH if thorough else EXTRA_STATES
    plan = Plan(seed, examples, pinned=pinned(options), extra_states=extra_states, checkpoints=life)
    if adapters:
        words += ["--seed", str(seed), "--examples", str(examples)]
        words += [word for option in options for word in ("--config", option)]
        words += ["--life", str(life)] if life is not None else []
        words += ["--thorough"] * thorough + ["--no-suites"] * no_suites
    again = escape.shell(["barrierspec", "diff", *words])
    try:
        if adapters:
            compared = _of_adapters(adapters, components, plan, limit)
        else:
            compared = _of_models(old or "", new, components)
    except UncomparedError as why:
        click.echo(f"UNDETERMINED   {escape.line(str(why))}")
        unjudged = PartResult("change", Verdict.UNDETERMINED, "nothing", findings=(Finding(None, str(why)),))
        write_findings(files, "diff", [unjudged], again)
        return Verdict.UNDETERMINED.exit_code
    _print(compared, is_of_models=not adapters)
    meaning = meaning_of(compared.changes)
    click.echo(f"\n{change.closing(meaning, compared.bound)}")
    verdict = Verdict.DIVERGES if compared.changes else Verdict.CONFORMS
    found = tuple(change.differences(compared.changes))
    part = PartResult("change", verdict, f"{meaning.value}: {compared.bound}", findings=found)
    write_findings(files, "diff", [part], again)
    return verdict.exit_code


def _of_adapters(
    adapters: tuple[str, ...], components: tuple[str, ...], plan: "Plan", limit: float
) -> "Compared":
    from conformance.adapters.choose import open_adapter
    from conformance.change.adapters import compare_adapters

    opened = [open_adapter(one, limit) for one in adapters]
    try:
        return compare_adapters(opened[0], opened[1], components, plan)
    finally:
        for one in opened:
            one.bye()


def _of_models(old: str, new: str | None, components: tuple[str, ...]) -> "Compared":
    from conformance.change.compare_revisions import compare_profiles, compare_revisions, component_of

    generation = None if new is None else component_of(old, new, components)
    if generation is not None and new is not None:
        return compare_profiles(old, new, generation)
    return compare_revisions(Path.cwd(), old, new, components or COMPONENTS)


def _print(compared: "Compared", *, is_of_models: bool) -> None:
    from conformance.mutants.catalogue import load_catalogue
    from conformance.report import change

    for line in change.paragraphs(compared.changes):
        click.echo(line)
    for line in change.of_rules(compared.declared) if compared.declared is not None else ():
        click.echo(line)
    mutated = [mutant.rule for mutant in load_catalogue()]
    for line in change.affected(compared.changes, mutated) if is_of_models else ():
        click.echo(line)
