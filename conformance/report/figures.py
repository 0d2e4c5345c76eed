"""The runtime's figures on the terminal."""

import textwrap

from conformance.bench.figures import Figure, Report


def table(report: Report) -> str:
    """One row a figure: median, least and greatest, the bar and whether the median meets it."""
    lines = [
        report.title,
        *textwrap.wrap(report.setting, 96, initial_indent="  ", subsequent_indent="  "),
        "",
    ]
    for one in report.figures:
        met = {True: "met", False: "MISSED", None: ""}[one.met]
        span = f"{number(min(one.samples))} to {number(max(one.samples))}" if len(one.samples) > 1 else ""
        lines.append(
            f"  {one.what:<52} {number(one.value):>8} {one.unit:<14} {span:<20} {bar(one):<14} {met}".rstrip()
        )
        if one.told:
            lines.append(f"    {one.told}")
    return "\n".join(lines) + "\n"


def bar(figure: Figure) -> str:
    """What the median is held to, in words."""
    if figure.bar is None:
        return ""
    return f"{'at most' if figure.at_most else 'at least'} {number(figure.bar)}"


def number(value: float) -> str:
    """With three figures that mean something."""
    if value == 0 or abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"
