"""Measured rates, and figures of the runtime, as tables."""

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.table import Table

from conformance.report.formats.columns import table_text

if TYPE_CHECKING:
    from conformance.bench.benchmark import Measured
    from conformance.bench.figures import Figure, Report

_MET = {True: "met", False: "MISSED", None: ""}


def rates(measured: Sequence["Measured"], machine: str, load: float | None, cores: int) -> str:
    """One row for each rate: median, least and greatest, the bar and whether the median meets it.

    The last column is the median by the processor time of this process: on a busy machine it shows what the
    median would be on an idle one. `machine` describes the machine in one line.
    """
    table = Table("", box=None, pad_edge=False)
    for name in ("median", "least", "greatest"):
        table.add_column(name, justify="right")
    table.add_column("")
    table.add_column("bar", justify="right")
    table.add_column("")
    table.add_column("a processor second", justify="right")
    for row in measured:
        table.add_row(
            row.name,
            *(f"{value:,.0f}" for value in (row.rate, min(row.rates), max(row.rates))),
            row.unit,
            "-" if row.bar is None else f"{row.bar:,}",
            _MET[row.met],
            "-" if row.own_rate is None else f"{row.own_rate:,.0f}",
        )
    lines = [machine, _busy(load, cores), "", table_text(table)]
    for row in measured:
        runs = f"{len(row.rates)} runs" if len(row.rates) > 1 else "1 run"
        lines.append(f"  {row.name}: {runs} of {row.amount:,}: {row.setting}")
    return "\n".join(lines) + "\n"


def _busy(load: float | None, cores: int) -> str:
    if load is None:
        return "load unknown"
    # this process itself, and the one it drives, count as well
    crowded = "; other processes were running, the rates are too low" if load > cores + 1 else ""
    return f"load {load:.1f} in the last minute{crowded}"


def figures(report: "Report") -> str:
    """One row for each figure: median, least and greatest, the bar and whether the median meets it."""
    table = Table(box=None, pad_edge=False, show_header=False)
    for justify in ("left", "right", "left", "left", "left", "left"):
        table.add_column(justify=justify)
    for one in report.figures:
        span = f"{number(min(one.samples))} to {number(max(one.samples))}" if len(one.samples) > 1 else ""
        table.add_row(one.what, number(one.value), one.unit, span, bar(one), _MET[one.met])
    setting = textwrap.wrap(report.setting, 96, initial_indent="  ", subsequent_indent="  ")
    notes = (f"  {one.what}: {one.told}" for one in report.figures if one.told)
    return "\n".join([report.title, *setting, "", table_text(table), *notes]) + "\n"


def bar(figure: "Figure") -> str:
    """The bar of a figure in words; empty if it has none."""
    if figure.bar is None:
        return ""
    return f"{'at most' if figure.at_most else 'at least'} {number(figure.bar)}"


def number(value: float) -> str:
    """A value with three significant figures."""
    if value == 0 or abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"
