"""`barrierspec prove`: the theorem for any dataflow, lemma by lemma."""

from concurrent.futures import ProcessPoolExecutor

import click


@click.command()
@click.argument("what", type=click.Choice(["theorem"]))
@click.option(
    "--variants",
    is_flag=True,
    help="Also refute each broken variant: by the clause that it breaks, and by a run.",
)
def command(what: str, *, variants: bool) -> int:
    """Prove exactly-once for any dataflow, any number of tasks, channels, records and checkpoints."""
    from conformance.report.theorem import lines_of, variant_lines
    from model.theorem import THEORIES
    from model.theorem.prove import prove_theory
    from model.theorem.runs import refutation
    from model.theorem.variants import VARIANTS

    is_whole = True
    for theory in THEORIES:
        lemmas = tuple(prove_theory(theory))
        is_whole &= all(lemma.is_proved for lemma in lemmas)
        click.echo("\n".join(lines_of(theory.name, [(c.name, c.sentence) for c in theory.theorem], lemmas)))
    if variants:
        with ProcessPoolExecutor() as pool:
            for variant, (is_refuted, run) in zip(VARIANTS, pool.map(refutation, VARIANTS), strict=True):
                is_whole &= is_refuted
                click.echo("\n".join(variant_lines(variant.name, variant.clause, run, is_refuted=is_refuted)))
    click.echo("PROVED" if is_whole else "NOT PROVED")
    return 0 if is_whole else 1
