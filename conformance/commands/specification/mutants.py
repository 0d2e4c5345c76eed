"""`barrierspec mutants`: checks that each mutant is killed by the rule that it names."""

import subprocess
from math import inf
from pathlib import Path

import click

from conformance.command_line.automatic_mutants import Chosen, How, judge_automatic
from conformance.command_line.options import FILE, INTEGER, bundled

LAYERS = ("spec", "model", "impl")


@click.command()
@click.option("--layer", "layers", multiple=True, type=click.Choice(LAYERS), help="Only this layer.")
@click.option("--rule", "rules", multiple=True, metavar="ID", help="Only mutants of this rule.")
@click.option("--component", "components", multiple=True, metavar="NAME", help="Only this component.")
@bundled(
    "how", How,
    click.option("--out", default=Path("build/report/mutants.json"), show_default=True,
                 type=FILE, help="The file of the outcome, as JSON. With --automatic as JSON Lines, in "
                                 "a file whose name ends in .jsonl."),
    click.option("--resume", is_flag=True,
                 help="Continue the campaign in --out. The sources must be unchanged."),
    click.option("--judged", is_flag=True,
                 help="Test no automatic mutant; print the score of all outcomes in --out."),
    click.option("--at-once", default=2, show_default=True, type=click.IntRange(1),
                 help="The number of mutants that are tested at the same time."),
    click.option("--page", type=FILE, help="Write the outcome as a page in Markdown."),
    click.option("--first", is_flag=True,
                 help="Run the checks of an automatic mutant only up to the first that detects it."),
    click.option("--threshold", default=100.0, show_default=True, type=click.FloatRange(0, 100),
                 help="The minimum percentage of automatic mutants that are killed or proved equivalent."),
    click.option("--seconds", default=inf, type=click.FloatRange(0, min_open=True),
                 help="Begin no automatic mutant after this time; no limit by default. If less than half of "
                      "them were tested, the verdict is UNDETERMINED."),
)  # fmt: skip
@click.option("--automatic", is_flag=True, help="Test automatic first-order mutants, not the catalogue.")
@click.option("--sample", type=click.IntRange(1), help="The number of automatic mutants to draw.")
@click.option("--seed", default=0, show_default=True, type=INTEGER, help="The seed of --sample.")
def command(
    layers: tuple[str, ...],
    rules: tuple[str, ...],
    components: tuple[str, ...],
    how: How,
    automatic: bool,
    sample: int | None,
    seed: int,
) -> int:
    """Test every mutant of the catalogue, or every automatic mutant, and print which check kills it.

    The command writes each result at once, so that --resume can continue an interrupted campaign. Exits with
    1 if a mutant survives, or if only another rule kills it. Exits with 2 if a mutant could not be tested.
    """
    if automatic:
        if rules:
            raise click.UsageError("an automatic mutant names no rule; leave --rule out")
        drawn = Chosen(layers or LAYERS, components, sample, seed)
        return judge_automatic(drawn, how._replace(out=how.out.with_suffix(".jsonl")))
    if sample is not None or how.first or how.judged or how.threshold < 100 or how.seconds < inf:
        raise click.UsageError(
            "--sample, --first, --judged, --threshold and --seconds are for automatic mutants; "
            "add --automatic"
        )
    from rich.console import Console

    from conformance.machine import source
    from conformance.mutants import score
    from conformance.mutants.campaign import MutantFailure, MutantResult, run_campaign
    from conformance.mutants.catalogue import Mutant, component_of, load_catalogue
    from conformance.report import mutants
    from conformance.rules import index as rule_index
    from conformance.verdict import Exit
    from spec.manifest import load_manifest
    from spec.tool_output import TlcError

    selected = {rule_index.rule(rule).id for rule in rules}

    score.sources()  # caches the checksum of the sources before a mutant changes them
    modules = {name: model.module for name, model in load_manifest().items()}

    def chosen(mutant: Mutant) -> bool:
        return (
            (not layers or mutant.layer in layers)
            and (not selected or mutant.rule in selected)
            and (not components or component_of(mutant, modules) in components)
        )

    catalogue = load_catalogue()
    total = sum(map(chosen, catalogue))
    if not total:
        raise click.UsageError(
            "no mutant of the catalogue has this layer, rule and component; leave one of them out"
        )
    judged = dict(score.judged(how.out)) if how.resume else {}

    def remember(verdict: MutantResult) -> None:
        judged[verdict.mutant.id] = verdict
        known = [judged[mutant.id] for mutant in catalogue if mutant.id in judged]
        score.write(known, len(catalogue), how.out)

    if how.resume:
        click.echo(f"{len(judged)} mutants were tested before with the same sources: {how.out}")
    click.echo(mutants.heading())
    console = Console(stderr=True)
    status = console.status(f"0 of {total}")
    verdicts = [judged[mutant.id] for mutant in catalogue if chosen(mutant) and mutant.id in judged]
    for verdict in verdicts:
        click.echo(mutants.row(verdict))
    try:
        if console.is_terminal:
            status.start()
        before = set(judged)
        for verdict in run_campaign(lambda one: chosen(one) and one.id not in before, at_once=how.at_once):
            verdicts.append(verdict)
            remember(verdict)
            status.update(f"{len(verdicts)} of {total}")
            click.echo(mutants.row(verdict))
    except (MutantFailure, TlcError, subprocess.TimeoutExpired) as error:
        status.stop()
        click.echo(f"\nUNDETERMINED   {len(verdicts)} of {total} tested, then: {error}")
        return Exit.UNDETERMINED
    finally:
        status.stop()
    click.echo(mutants.closing(verdicts))
    if how.page is not None:
        again = _again(layers, rules, components)
        how.page.write_text(mutants.page(verdicts, len(catalogue), again, source()), "utf-8")
    return mutants.verdict(verdicts).exit_code


def _again(layers: tuple[str, ...], rules: tuple[str, ...], components: tuple[str, ...]) -> str:
    options = (("--layer", layers), ("--rule", rules), ("--component", components))
    chosen = [f" {option} {value}" for option, values in options for value in values]
    return f"barrierspec mutants{''.join(chosen)}"
