"""The command `barrierspec`: finds the module of a command in `conformance.commands`, and runs it.

This module imports no engine. It imports the module of a command when a user gives the command. Exit codes: 0
conforms, 1 diverges, 2 undetermined, 64 usage, 70 internal error, 130 interrupted. A closed stdout or stderr
does not change the exit code: the command continues, and its further output is dropped.
"""

import gc
import pkgutil
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module

import click

from conformance import commands
from conformance.command_line import standard_streams, termination
from conformance.command_line.failures import ended_by
from conformance.errors import InputError
from conformance.verdict import Exit

COLLECTIONS = (50_000, 20, 50)
"""The thresholds of Python's cyclic garbage collector. States are records without cycles, and a command keeps
ten thousands of them, so frequent collections would only cost time."""


class BrokenPipeInCommandError(RuntimeError):
    """A pipe other than stdout and stderr is broken. Click would exit with 1, as for DIVERGES."""


class CommandModules(click.Group):
    """A group whose commands are the modules of `conformance.commands`, each with a `command`."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of the commands, sorted."""
        return sorted(_modules())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command with this name; None if there is no such command."""
        module = _modules().get(cmd_name)
        if module is None:
            return None
        found = import_module(module).command
        assert isinstance(found, click.Command)
        return found

    def invoke(self, ctx: click.Context) -> object:
        """Run the command. Raises BrokenPipeInCommandError instead of a BrokenPipeError."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError as broken:
            raise BrokenPipeInCommandError("expected a pipe with a reader, got a broken one") from broken


@cache
def _modules() -> Mapping[str, str]:
    """Maps each command to its module, a file in one of the folders of `conformance.commands`."""
    found = pkgutil.walk_packages(commands.__path__, f"{commands.__name__}.")
    return {one.name.rpartition(".")[2]: one.name for one in found if not one.ispkg}


@click.group(cls=CommandModules, context_settings={"help_option_names": ["-h", "--help"]})
def barrierspec() -> None:
    """Check implementations of barrier checkpointing against its specification.

    Exit codes: 0 conforms, 1 diverges, 2 undetermined, 64 usage, 70 internal error.
    """


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command with these arguments, by default those of the process; returns the exit code."""
    with standard_streams.visible():
        return _run(arguments)


def _run(arguments: Sequence[str] | None) -> int:
    try:
        code = barrierspec.main(args=arguments, prog_name="barrierspec", standalone_mode=False)
    except click.Abort:
        click.echo("stopped", err=True)
        return 130
    except click.exceptions.NoArgsIsHelpError as shown:
        shown.show()
        return Exit.USAGE
    except click.ClickException as refused:
        refused.show()
        return Exit.USAGE
    except InputError as refused:
        click.UsageError(str(refused)).show()
        return Exit.USAGE
    except Exception as failure:  # noqa: BLE001 - an unexpected error must not look like a verdict
        return ended_by(failure)
    return int(code or 0)


def main() -> None:
    """Run the command and exit with its code, or with 70 if output to an open stream cannot be written."""
    gc.freeze()
    gc.set_threshold(*COLLECTIONS)
    standard_streams.install()
    termination.install()
    code = run()
    lost = standard_streams.flush()
    if lost is not None:
        click.echo(f"the output could not be written: {lost}", err=True)
    sys.exit(code if lost is None else Exit.INTERNAL_ERROR)


if __name__ == "__main__":
    main()
