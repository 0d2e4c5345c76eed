"""Hostile command lines: every command and option that click lists, with invalid values.

A command that starts Spark, a JVM, a network or a long search gets only input that it must refuse before
that. Each case of such a command has one value that its type does not accept, and has to end with 64.
"""

from collections.abc import Iterator
from pathlib import Path
from random import Random

import click

from conformance.cli import barrierspec
from conformance.command_line.options import Output
from tests.fuzz.hostile import NUMBERS, PATHS, WORDS
from tests.fuzz.judge import Case

QUICK = frozenset(
    {"checkpoints", "explain", "schema", "trace runs", "trace flink", "serve", "vectors verify"}
)
"""Commands that end by themselves within a second, whatever they are given; all others work for long."""


def commands(
    group: click.Group = barrierspec, above: tuple[str, ...] = ()
) -> Iterator[tuple[str, click.Command]]:
    """Every command with its words, such as `flink fetch`."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from commands(command, (*above, name))
        else:
            yield " ".join((*above, name)), command


COMMANDS = tuple(commands())


def prepare(folder: Path) -> None:
    """Creates the files and folders that the hostile paths name."""
    (folder / "loop").symlink_to("loop")
    (folder / "folder").mkdir()
    (folder / "file.txt").write_text("hello\n")
    (folder / "empty").touch()


def case(name: str, random: Random, folder: Path) -> Case:
    """A case: one command line."""
    prepare(folder)
    words, command = random.choice(COMMANDS)
    arguments = words.split()
    options = [one for one in command.params if isinstance(one, click.Option)]
    positional = [one for one in command.params if isinstance(one, click.Argument)]
    refused = False
    for option in random.sample(options, min(len(options), random.randint(0, 3))):
        must = words not in QUICK
        value, is_refused = _value(option.type, random, must=must)
        if must and not is_refused:
            continue
        refused |= is_refused
        arguments += [option.opts[0]] if option.is_flag else [f"{option.opts[0]}={value}"]
    for argument in positional:
        value, is_refused = _value(argument.type, random, must=words not in QUICK and not refused)
        if value.startswith("-") and random.random() < 0.9:
            value = f"./{value}"
        refused |= is_refused
        arguments.append(value)
    if words not in QUICK and not refused:
        arguments.append("--no-such-option")
        refused = True
    may_end = frozenset({64}) if refused else frozenset({0, 1, 2, 64})
    return Case(name, tuple(arguments), may_end, words)


def _value(kind: click.ParamType, random: Random, *, must: bool) -> tuple[str, bool]:
    """A value, and whether its type refuses it."""
    if isinstance(kind, click.Choice):
        return random.choice(("no such choice", "", "-1", "gate,sink")), True
    if isinstance(kind, click.types.IntParamType | click.types.FloatParamType):
        bad = ("nan", "x", "", "--", "1e400x", "[]")
        return (
            (random.choice(bad), True) if must or random.random() < 0.5 else (random.choice(NUMBERS), False)
        )
    if isinstance(kind, Output):
        bad = ("/dev/null/x", "file.txt/x", "")
        return (random.choice(bad), True) if must or random.random() < 0.5 else (random.choice(PATHS), False)
    if isinstance(kind, click.Path) and kind.exists:
        lacking = ("missing", "missing/file", "/dev/null/x", "A" * 300)
        return (random.choice(lacking), True) if must else (random.choice(PATHS), False)
    return random.choice(WORDS), False
