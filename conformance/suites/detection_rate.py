"""Measures how many wrong machines complete suites, tours and random walks fail to detect, as a table.

A wrong machine is the model's machine with a defect behind hidden states (`docs/verify/complete-suites.md`).
`python -m conformance.suites.detection_rate --machines 1000` measures one configuration of each alphabet. It
exits with 1 if a wrong machine passes its suite. `make hidden-states` runs it. The command stores each row in
RESULTS as soon as it is measured; `--resume` reuses rows of the same machine, code and options.
"""

import hashlib
import sys
import time
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import click
import orjson

from conformance.drive.plan import Plan
from conformance.report.divergence.phrases import of_config
from conformance.suites.alphabet import Alphabet
from conformance.suites.h_method import base_size
from conformance.suites.hidden_states import measured
from conformance.suites.machine import Machine
from conformance.suites.model_machine import model_machine
from conformance.suites.registry import alphabets, configurations
from spec.vocabulary import vocabulary

LARGEST = 200_000
"""Suites with more sequences than this number are not measured."""
CODE = [path.read_text() for path in sorted(Path(__file__).parent.glob("*.py")) if path != Path(__file__)]
"""The source of the modules that decide a row. A stored row is reused only if this source is unchanged."""
RESULTS = Path("build/hidden-states.jsonl")
HEADING = (
    "| alphabet | n | letters | k | suite | tours | walks | anywhere: suite | tours | walks "
    "| deepest: suite | tours | walks |"
)
RULER = "|---|" + "--:|" * 12

Result = dict[str, Any]


def measured_alphabets(component: str) -> Iterator[Alphabet]:
    """The alphabets to measure. Of alphabets with the same mode, level, letters and bound, only the first."""
    seen: set[tuple[object, ...]] = set()
    for config, injects in product(configurations(component, Plan(0, 1)), (False, True)):
        for alphabet in alphabets(component, config, injects=injects):
            kind = (config.get("mode"), config.get("level"), alphabet.bound, alphabet.names)
            if kind not in seen:
                seen.add(kind)
                yield alphabet


def row(alphabet: Alphabet, result: Result) -> str:
    """One row of the table. A size is shown as the number of sequences / the number of events."""
    sizes = [f"{sequences:,} / {events:,}" for sequences, events in result["sizes"]]
    passing = [str(number) for kind in result["pass"] for number in kind]
    columns = [_where(alphabet), result["states"], len(alphabet.letters), result["extra"], *sizes, *passing]
    return f"| {' | '.join(map(str, columns))} |"


def _key(machine: Machine, numbers: tuple[int, ...]) -> str:
    return hashlib.sha256(repr((machine, numbers, CODE)).encode()).hexdigest()


def _measure(machine: Machine, extra: int, machines: int, seed: int) -> Result:
    begun = time.monotonic()
    found = measured(machine, extra, machines, seed)
    return {
        "states": machine.size,
        "extra": extra,
        "sizes": found[:3],
        "pass": [list(kind) for kind in found[3:]],
        "seconds": time.monotonic() - begun,
    }


def _where(alphabet: Alphabet) -> str:
    subject = "; ".join(part for part in (alphabet.subject, alphabet.bound) if part)
    where = of_config(alphabet.component, alphabet.config)
    return f"{where}; {subject}" if subject else where


@click.command()
@click.option(
    "--machines", default=1_000, show_default=True, help="Wrong machines drawn for each alphabet and kind."
)
@click.option("--component", "components", multiple=True, help="Only this one; may be repeated.")
@click.option("--extra", default=1, show_default=True, help="Maximum number of hidden states of a machine.")
@click.option("--largest", default=LARGEST, show_default=True, help="Maximum number of sequences of a suite.")
@click.option("--seed", default=0, show_default=True, help="Determines the machines.")
@click.option("--resume", is_flag=True, help="Keep the rows that an earlier run has stored.")
def main(
    machines: int, components: tuple[str, ...], extra: int, largest: int, seed: int, resume: bool
) -> None:
    """Measure each alphabet, and exit with 1 if a wrong machine passes its suite."""
    click.echo(f"{machines} wrong machines of each kind, 1 to {extra} hidden states, seed {seed}\n")
    click.echo(f"{HEADING}\n{RULER}")
    RESULTS.parent.mkdir(exist_ok=True)
    stored = RESULTS.read_bytes().splitlines() if resume and RESULTS.exists() else []
    kept = {line["key"]: line["result"] for line in map(orjson.loads, stored)}
    results: list[Result] = []
    with RESULTS.open("ab" if resume else "wb") as file:
        for component in components or tuple(vocabulary()):
            for alphabet in measured_alphabets(component):
                machine = model_machine(alphabet)
                if (size := base_size(machine, extra)) > largest:
                    click.echo(f"not measured, {size:,} sequences: {_where(alphabet)}", err=True)
                    continue
                key = _key(machine, (extra, machines, seed))
                if key not in kept:
                    kept[key] = _measure(machine, extra, machines, seed)
                    file.write(orjson.dumps({"key": key, "result": kept[key]}) + b"\n")
                    file.flush()
                results.append(kept[key])
                click.echo(row(alphabet, kept[key]))
    passed = sum(kind[0] for result in results for kind in result["pass"])
    seconds = sum(result["seconds"] for result in results)
    click.echo(f"\n{len(results)} alphabets in {seconds:,.0f} s, {passed} machines pass their suite")
    sys.exit(1 if passed else 0)


if __name__ == "__main__":
    main()
