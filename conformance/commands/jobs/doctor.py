"""`barrierspec doctor`: checks whether this machine has everything that the suite needs."""

import click


@click.command()
def command() -> int:
    """Check Python, Java, TLC, Spark, task slots and memory, and print the fix for each failure.

    Exits with 1 if a check fails.
    """
    from rich.console import Console
    from rich.table import Table

    from conformance.doctor import checks

    table = Table(box=None, show_header=False, pad_edge=False)
    healthy = True
    for check in checks():
        healthy = healthy and check.good
        table.add_row("ok" if check.good else "FAILS", check.name, check.found)
        if not check.good:
            table.add_row("", "", f"-> {check.remedy}")
    Console(highlight=False, markup=False).print(table)
    return 0 if healthy else 1
