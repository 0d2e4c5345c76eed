"""How many wrong machines with hidden states pass a suite, tours and random walks, as a table.

`python -m conformance.suites.measure --machines 1000` measures one configuration of each alphabet, and ends
with 1 if a machine passes its suite. `make hidden-states` runs it.
"""

import sys
from collections.abc import Iterator
from itertools import product

import click

from conformance.drive.plan import Plan
from conformance.report.divergence.phrases import of_config
from conformance.suites.alphabet import Alphabet
from conformance.suites.h_method import base_size
from conformance.suites.hidden_states import Survivors, survivors
from conformance.suites.model_machine import model_machine
from conformance.suites.registry import alphabets, configurations
from spec.vocabulary import vocabulary

LARGEST = 200_000
"""Suites with more sequences than this are not measured."""
HEADING = "| alphabet | n | letters | k | suite | tours | walks | pass: suite | tours | walks |"
RULER = "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|"


def measured_alphabets(component: str) -> Iterator[Alphabet]:
    """The first alphabet of each mode and level with its letters and its bound."""
    seen: set[tuple[object, ...]] = set()
    for config, injects in product(configurations(component, Plan(0, 1)), (False, True)):
        for alphabet in alphabets(component, config, injects=injects):
            kind = (config.get("mode"), config.get("level"), alphabet.bound, alphabet.names)
            if kind not in seen:
                seen.add(kind)
                yield alphabet


def row(alphabet: Alphabet, states: int, extra: int, found: Survivors) -> str:
    """One line of the table; sizes are sequences and events."""
    sizes = (found.suite_size, found.tours_size, found.walks_size)
    columns = [
        _where(alphabet),
        str(states),
        str(len(alphabet.letters)),
        str(extra),
        *(f"{sequences:,} / {events:,}" for sequences, events in sizes),
        *(str(number) for number in (found.suite, found.tours, found.walks)),
    ]
    return f"| {' | '.join(columns)} |"


def _where(alphabet: Alphabet) -> str:
    subject = "; ".join(part for part in (alphabet.subject, alphabet.bound) if part)
    where = of_config(alphabet.component, alphabet.config)
    return f"{where}; {subject}" if subject else where


@click.command()
@click.option("--machines", default=1_000, show_default=True, help="Wrong machines of each alphabet.")
@click.option("--component", "components", multiple=True, help="Only this one; may be repeated.")
@click.option("--extra", default=1, show_default=True, help="Hidden states of a machine at most.")
@click.option("--seed", default=0, show_default=True, help="Determines the machines.")
def main(machines: int, components: tuple[str, ...], extra: int, seed: int) -> None:
    """Measure, and end with 1 if a wrong machine passes its suite."""
    click.echo(
        f"{machines} wrong machines each, 1 to {extra} hidden states, seed {seed}\n\n{HEADING}\n{RULER}"
    )
    passed = 0
    for component in components or tuple(vocabulary()):
        for alphabet in measured_alphabets(component):
            machine = model_machine(alphabet)
            size = base_size(machine, extra)
            if size > LARGEST:
                click.echo(f"not measured, {size:,} sequences: {_where(alphabet)}", err=True)
                continue
            found = survivors(machine, extra, machines, seed)
            click.echo(row(alphabet, machine.size, extra, found))
            passed += found.suite
    sys.exit(1 if passed else 0)


if __name__ == "__main__":
    main()
