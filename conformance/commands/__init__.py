"""The commands of `barrierspec`, one room each, imported when the command is given.

A room is called like its command and hands out `command`, a click command that returns its exit code.
Rooms import engines (Spark, z3) inside the function, so that the help stays quick.
"""

from collections.abc import Callable
from typing import Any

import click

from conformance.command_line.options import FILE
from spec.vocabulary import vocabulary

COMPONENTS = tuple(vocabulary())
"""The names that `--component` takes."""


def reports(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--json`, `--junit`, `--sarif` and `--annotations`, which come as `json_file` and so on."""
    kinds = (
        ("annotations", "annotations of GitHub"),
        ("sarif", "SARIF 2.1.0"),
        ("junit", "JUnit XML"),
        ("json", "JSON"),
    )
    for name, what in kinds:
        added = click.option(f"--{name}", f"{name}_file", type=FILE, help=f"Write findings as {what}.")
        command = added(command)
    return command


def page(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--html`, which comes as `html_file`."""
    told = "Write one self-contained page: diagrams, steps, rules."
    return click.option("--html", "html_file", type=FILE, help=told)(command)
