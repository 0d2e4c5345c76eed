"""Measured rates as a table and as JSON, with the facts of the machine beside them."""

from collections.abc import Sequence
from pathlib import Path

import orjson

from conformance import machine
from conformance.bench.benchmark import Measured


def table(measured: Sequence[Measured]) -> str:
    """One row a rate: median, least and greatest, the bar and whether the median meets it.

    The last column is the median by the processor time of this process: on a busy machine it tells what
    the median would be on a quiet one.
    """
    lines = [machine.machine().describe(), _busy(), ""]
    names = f"{'median':>10} {'least':>10} {'greatest':>10}  {'':<13} {'bar':>8}"
    lines.append(f"  {'':<22} {names} {'':<6}  {'a processor second':>18}")
    for row in measured:
        bar = "-" if row.bar is None else f"{row.bar:,}"
        own = "-" if row.own_rate is None else f"{row.own_rate:,.0f}"
        met = {True: "met", False: "MISSED", None: ""}[row.met]
        lines.append(
            f"  {row.name:<22} {row.rate:>10,.0f} {min(row.rates):>10,.0f} {max(row.rates):>10,.0f}"
            f"  {row.unit:<13} {bar:>8} {met:<6}  {own:>18}".rstrip()
        )
        runs = f"{len(row.rates)} runs" if len(row.rates) > 1 else "1 run"
        lines.append(f"    {runs} of {row.amount:,}: {row.setting}")
    return "\n".join(lines) + "\n"


def write(measured: Sequence[Measured], file: Path) -> None:
    """Write what was measured and where."""
    made = {
        "commit": machine.source(),
        "machine": {**machine.machine()._asdict(), "load": machine.load()},
        "measured": [row.as_json() for row in measured],
    }
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(orjson.dumps(made, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))


def _busy() -> str:
    load = machine.load()
    if load is None:
        return "load unknown"
    # this process itself, and the one it drives, count as well
    crowded = "; others were at work, the rates are too low" if load > machine.cores() + 1 else ""
    return f"load {load:.1f} in the last minute{crowded}"
