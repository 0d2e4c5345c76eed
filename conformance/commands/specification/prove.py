"""`barrierspec prove`: proves exactly-once for any dataflow, and the rules of components of any size."""

import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from conformance.errors import InputError

if TYPE_CHECKING:
    from conformance.mutants.catalogue import Mutant
    from conformance.report.any_number import Search
    from model.theorem.prove import Lemma
    from model.theorem.theory import Theory

Argument = TypeVar("Argument")
Outcome = TypeVar("Outcome")


@click.command()
@click.argument("what", type=click.Choice(["theorem", "any-number", "regional"]))
@click.option(
    "--variants",
    is_flag=True,
    help="Also refute each broken variant by its rule; with `theorem` by a clause, with a run.",
)
@click.option(
    "--unnecessary",
    is_flag=True,
    help="With `theorem`: also list the conditions and effects of actions that no clause needs.",
)
@click.option(
    "--obligations",
    type=click.Path(file_okay=False, path_type=Path),
    help="With `theorem`: also write each obligation and the clauses of its proof into this folder.",
)
@click.option("--component", "components", multiple=True, help="With `any-number`: only this one.")
def command(
    what: str, *, variants: bool, unnecessary: bool, obligations: Path | None, components: Sequence[str]
) -> int:
    """Prove exactly-once for any dataflow, or the rules of components with any number of elements.

    `theorem` proves exactly-once for any number of tasks, channels, records and checkpoints. `any-number`
    proves the rules of a component for any number of one kind of element, such as the channels of a gate.
    Each line states the method and the other bounds. `regional` proves a theory of checkpoints that fall back
    for regions (FLIP-600), which is proposed and in no released jar. Exits with 1 if a proof fails.
    """
    if what == "regional":
        if variants or unnecessary or components or obligations:
            raise InputError("regional takes no options; leave them out")
        return regional()
    if what == "any-number":
        if unnecessary or obligations:
            raise InputError("--unnecessary and --obligations belong to theorem; leave them out")
        return any_number(components, variants=variants)
    if components:
        raise InputError("--component belongs to any-number; leave it out")
    return theorem(variants=variants, unnecessary=unnecessary, obligations=obligations)


def theorem(*, variants: bool, unnecessary: bool, obligations: Path | None) -> int:
    """Prove each theory, and print its lemmas; returns the exit code, 0 if everything is proved.

    `obligations`: the folder of the obligations, with a file in SMT-LIB 2 for each; None: no files.
    """
    from model.theorem import THEORIES
    from model.theorem.prove import prove_theory
    from model.theorem.variants import VARIANTS

    is_whole = True
    for theory in THEORIES:
        lemmas = tuple(prove_theory(theory))
        is_whole &= all(lemma.is_proved for lemma in lemmas)
        if obligations:
            obligations.mkdir(parents=True, exist_ok=True)
            for number, lemma in enumerate(lemmas, start=1):
                (obligations / f"{theory.name}-{number:03}.smt2").write_text(lemma.smt_lib, encoding="utf-8")
        click.echo(report_of(theory, lemmas))
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


def report_of(theory: "Theory", lemmas: "Sequence[Lemma]") -> str:
    """The report of one theory: its premises, its clauses and its lemmas."""
    from conformance.report.theorem import lines_of

    premises = {
        "assumes": [axiom.name for axiom in theory.axioms],
        f"proved of exactly-once as {theory.given_by!r}:": [clause.name for clause in theory.given],
    }
    statements = [(clause.name, clause.sentence) for clause in theory.theorem]
    return "\n".join(lines_of(theory.name, premises, statements, lemmas))


def regional() -> int:
    """Prove the proposed theory, and refute each variant without one condition; returns the exit code."""
    from model.theorem.finite.small_scope import refuted
    from model.theorem.prove import Obligation, prove_theory
    from model.theorem.regional import BROKEN, REGIONAL, broken

    lemmas = tuple(prove_theory(REGIONAL))
    is_whole = all(lemma.is_proved for lemma in lemmas)
    click.echo(report_of(REGIONAL, lemmas))
    for (action, part), clause in BROKEN.items():
        is_refuted = any(refuted(broken(action, part), [Obligation(action, clause)]))
        is_whole &= is_refuted
        click.echo(f"{action}/{part}: {'refuted' if is_refuted else 'NOT refuted'} by {clause!r}")
    click.echo("PROVED" if is_whole else "NOT PROVED")
    return 0 if is_whole else 1


def variant_result(place: int) -> tuple[bool, str]:
    """Whether VARIANTS[place] is refuted, and its report as text, since actions cannot be pickled."""
    from conformance.report.theorem import variant_lines
    from model.theorem.finite.counterexamples import bound_in_words, refutation
    from model.theorem.variants import VARIANTS

    variant = VARIANTS[place]
    is_refuted, run = refutation(variant)
    lines = variant_lines(variant.name, variant.clause, run, bound_in_words(variant), is_refuted=is_refuted)
    return is_refuted, "\n".join(lines)


def any_number(components: Sequence[str], *, variants: bool) -> int:
    """Prove the rules of components; returns the exit code, UNDETERMINED if z3 gives no answer or crashes.

    `components`: their names; empty for all. `variants`: whether to refute mutants, too. Raises InputError
    for an unknown name.
    """
    from conformance.mutants.catalogue import load_catalogue
    from conformance.report.any_number import variant_line
    from conformance.verdict import Exit
    from model.checker.any_number.claims import UNBOUNDED

    unknown = set(components) - set(UNBOUNDED)
    if unknown:
        raise InputError(f"{', '.join(sorted(unknown))}: expected one of {', '.join(UNBOUNDED)}")
    chosen = tuple(components or UNBOUNDED)
    is_whole = is_decided = True
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for name, proof in zip(chosen, pool.map(partial(alone, proof_of), chosen), strict=True):
            lines, is_proved = proof or (f"UNDETERMINED  {name}: z3 crashed", None)
            click.echo(lines)
            is_whole &= is_proved is not False
            is_decided &= is_proved is not None
    if is_whole and not is_decided:
        click.echo("UNDETERMINED")
        return Exit.UNDETERMINED
    names = {UNBOUNDED[name].component for name in chosen}
    mutants = [
        mutant
        for mutant in (load_catalogue() if variants else ())
        if mutant.layer == "model" and mutant.component in names
        if mutant.rule not in UNBOUNDED[mutant.component].beyond
        if mutant.id in (UNBOUNDED[mutant.component].variants or {mutant.id})
    ]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for mutant, found in zip(mutants, pool.map(partial(alone, search_of), mutants), strict=True):
            click.echo(variant_line(mutant, found))
            is_whole &= found is not None and found.is_refuted
    click.echo("PROVED" if is_whole else "NOT PROVED")
    return 0 if is_whole else 1


def alone(function: Callable[[Argument], Outcome], argument: Argument) -> Outcome | None:
    """The result of the function in a process of its own. None: the process crashed.

    z3 5.4.0 crashes after many questions of different components or mutants in one process.
    """
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        try:
            return pool.submit(function, argument).result()
        except BrokenProcessPool:
            return None


def proof_of(name: str) -> tuple[str, bool | None]:
    """The lines about the proof of a component, and whether it is proved; None if z3 gives no answer."""
    from conformance.report.any_number import line_of, refutation_lines
    from model.checker.any_number.cases import prove
    from model.checker.any_number.claims import UNBOUNDED, reread
    from model.checker.paths import UndecidedError

    began = time.process_time()
    try:
        result = prove(UNBOUNDED[name].cases(reread()))
    except UndecidedError as undecided:
        return f"UNDETERMINED  {name}: {undecided}", None
    refuted = (f"  {line}" for line in refutation_lines(result.refutations))
    line = line_of(UNBOUNDED[name], result, time.process_time() - began)
    return "\n".join((line, *refuted)), not result.refutations


def search_of(mutant: "Mutant") -> "Search":
    """Search for a refutation of the mutant by the rule that it breaks, and measure the processor time."""
    from conformance.report.any_number import Search
    from model.checker.any_number.claims import UNBOUNDED, refute
    from model.checker.any_number.recompiled_model import Edit

    began = time.process_time()
    edit = Edit(mutant.module, mutant.find, mutant.replace)
    result = refute(UNBOUNDED[mutant.component], edit, mutant.rule)
    return Search(bool(result.refutations), time.process_time() - began)
