"""The commands of `barrierspec`, one module for each command.

A module has the name of its command. Its attribute `command` is a click command that returns the exit code.
The command line imports a module when a user gives its command. The function of a command imports Spark and
z3, so that `--help` stays quick.
"""

from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from conformance.adapters.protocol import ANSWER_LIMIT_SECONDS
from conformance.command_line.options import FILE, INTEGER, SECONDS
from conformance.command_line.written import write
from spec.vocabulary import vocabulary

if TYPE_CHECKING:
    from conformance.parts.result import PartResult
    from conformance.report.formats.findings import Outputs

COMPONENTS = tuple(vocabulary())
"""The values of the option `--component`: the names of all components."""


def reports(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options `--json`, `--junit`, `--sarif` and `--annotations`.

    The command gets their values as one argument, `files`.
    """

    @wraps(command)
    def gathered(
        json_file: Path | None,
        junit_file: Path | None,
        sarif_file: Path | None,
        annotations_file: Path | None,
        **others: Any,  # noqa: ANN401 - the other options of the command
    ) -> Any:  # noqa: ANN401 - what the command returns
        from conformance.report.formats.findings import Outputs

        return command(files=Outputs(json_file, junit_file, sarif_file, annotations_file), **others)

    kinds = {"annotations": "GitHub annotations", "sarif": "SARIF 2.1.0", "junit": "JUnit XML"}
    for name, what in {**kinds, "json": "JSON"}.items():
        added = click.option(f"--{name}", f"{name}_file", type=FILE, help=f"Write findings as {what}.")
        gathered = added(gathered)
    return gathered


def write_findings(files: "Outputs", command: str, parts: Sequence["PartResult"], again: str) -> None:
    """Write the findings of `parts` into the files that the options of `reports` name.

    `again`: the command line that repeats the run.
    """
    from conformance.report.formats import findings

    for file, content in findings.files(files, command, parts, again):
        write(file, content)


def seed(what: str, default: int = 0) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add the option `--seed`, which determines `what`."""
    return click.option(
        "--seed", default=default, show_default=True, type=INTEGER, help=f"The seed that determines {what}."
    )


def limit(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the option `--limit`, the time limit of one answer of an adapter in seconds."""
    text = "The time limit of one answer in seconds. The first answer of a process may take twice as long."
    default = ANSWER_LIMIT_SECONDS
    return click.option("--limit", default=default, show_default=True, type=SECONDS, help=text)(command)


def page(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the option `--html`, which the command gets as `html_file`."""
    text = "Write one self-contained HTML page with diagrams, steps and rules."
    return click.option("--html", "html_file", type=FILE, help=text)(command)
