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
@click.option(
    "--unnecessary",
    is_flag=True,
    help="Also list the conditions and effects of the actions that no clause needs.",
)
def command(what: str, *, variants: bool, unnecessary: bool) -> int:
    """Prove exactly-once for any dataflow, any number of tasks, channels, records and checkpoints."""
    from conformance.report.theorem import lines_of
    from model.theorem import THEORIES
    from model.theorem.prove import prove_theory
    from model.theorem.variants import VARIANTS

    is_whole = True
    for theory in THEORIES:
        lemmas = tuple(prove_theory(theory))
        is_whole &= all(lemma.is_proved for lemma in lemmas)
        click.echo("\n".join(lines_of(theory.name, [(c.name, c.sentence) for c in theory.theorem], lemmas)))
    if variants:
        with ProcessPoolExecutor() as pool:
            for is_refuted, lines in pool.map(variant_result, range(len(VARIANTS))):
                is_whole &= is_refuted
                click.echo(lines)
    if unnecessary:
        from conformance.report.theorem import relaxed_lines
        from model.theorem.exactly_once import EXACTLY_ONCE
        from model.theorem.necessity import refuted_parts, relaxed

        found = tuple(relaxed(EXACTLY_ONCE, refuted_parts()))
        is_whole &= not any(action.undetermined for action in found)
        click.echo("\n".join(relaxed_lines(found)))
    click.echo("PROVED" if is_whole else "NOT PROVED")
    return 0 if is_whole else 1


def variant_result(place: int) -> tuple[bool, str]:
    """Whether the variant of this place is refuted, and its lines; text, since actions cannot be pickled."""
    from conformance.report.theorem import variant_lines
    from model.theorem.finite.runs import bound_in_words, refutation
    from model.theorem.variants import VARIANTS

    variant = VARIANTS[place]
    is_refuted, run = refutation(variant)
    lines = variant_lines(variant.name, variant.clause, run, bound_in_words(variant), is_refuted=is_refuted)
    return is_refuted, "\n".join(lines)
