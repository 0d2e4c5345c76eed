"""The reference of the command line, made from the help of each command and from the exit codes."""

from collections.abc import Iterator

import click

from conformance.cli import barrierspec
from conformance.verdict import Exit

PATH = "reference/commands.md"
CODES = "reference/exit-codes.md"
MEANING = {
    Exit.CONFORMS: "CONFORMS: everything that was checked holds, within the bound that the report states.",
    Exit.DIVERGES: "DIVERGES: something does not hold; the report has the shortest way to see it.",
    Exit.UNDETERMINED: "UNDETERMINED: the budget ended, a part crashed or hung, or rules were not "
    "exercised. A skipped part has not passed.",
    Exit.USAGE: "The arguments, a file or the machine are not usable; stderr states what to do.",
    Exit.INTERNAL_ERROR: "An internal error of barrierspec, with its traceback. It is no verdict.",
}


def pages() -> Iterator[tuple[str, str]]:
    """Yields each page: its path below `docs/`, and its Markdown."""
    yield PATH, commands_page()
    yield CODES, codes_page()


def commands_page() -> str:
    """The page with the help of every command, in alphabetical order."""
    parts = [
        "# Commands\n",
        "The `--help` text of each command. `barrierspec` is the program of the package; in a checkout it is "
        "`.venv/bin/barrierspec`. A separate page lists its [exit codes](exit-codes.md).\n",
    ]
    for words, command in _all(barrierspec, ("barrierspec",)):
        level = "#" * min(4, len(words))
        text = command.get_help(_context(words, command)).rstrip()
        parts.append(f"{level if len(words) > 1 else '##'} {' '.join(words)}\n\n```text\n{text}\n```\n")
    return "\n".join(parts)


def codes_page() -> str:
    """The page of the exit codes."""
    rows = [f"| {code.value} | {MEANING[code]} |" for code in Exit]
    return "\n".join(
        [
            "# Exit codes\n",
            "Every command of `barrierspec` ends with one of these. Only 0 is a pass.\n",
            "| code | meaning |\n|---|---|",
            *rows,
            "| 130 | Stopped from the keyboard. |\n",
            "A command with several parts, or several adapters, ends with 1 if any diverges, else with 2 if "
            "any is undetermined. `smoke`, `vectors verify`, `trace`, `mutants`, `diff`, `gate`, `run` and "
            "`torture` use the same numbers; their [help](commands.md) says what "
            "counts as a divergence.\n",
        ]
    )


def options_table(name: str) -> str:
    """A Markdown table of the options of one command, without --help, made from its definition."""
    command = barrierspec.get_command(_context(("barrierspec",), barrierspec), name)
    assert command is not None
    with _context(("barrierspec", name), command) as context:
        records = [option.get_help_record(context) for option in command.params]
    rows = [f"| `{one[0].replace('|', ' or ')}` | {one[1]} |" for one in records if one is not None]
    return "\n".join(["| option | meaning |", "|---|---|", *rows, ""])


def _all(command: click.Command, words: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    yield words, command
    if isinstance(command, click.Group):
        context = _context(words, command)
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            assert inner is not None
            yield from _all(inner, (*words, name))


def _context(words: tuple[str, ...], command: click.Command) -> click.Context:
    return click.Context(command, info_name=" ".join(words), max_content_width=90, terminal_width=90)
