"""Types of options that click does not have: finite numbers, writable outputs, and places.

The type of an output checks the path before the command begins its work, so that a command does not fail
after an hour because a folder is missing.
"""

import math
import os
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import click
import orjson

Command = Callable[..., Any]
_DEFAULT = click.core.ParameterSource.DEFAULT
LONGEST_SECONDS = 86_400.0
"""The maximum of a time limit and of a time budget: one day, in s."""


class Number(click.FloatRange):
    """The type of a finite number. It does not take `nan` and `inf`."""

    def convert(self, value: float, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The number of `value`. Fails if it is out of the range, or not finite."""
        number = float(super().convert(value, param, ctx))
        if not math.isfinite(number):
            self.fail(f"{value!r} is not a finite number.", param, ctx)
        return number


SECONDS = Number(0, LONGEST_SECONDS, min_open=True)
"""The type of a time in s, above 0 and at most one day."""
INTEGER = click.IntRange(-(1 << 63), (1 << 63) - 1)
"""The type of a seed: a signed integer of 64 bits."""


class Output(click.Path):
    """The type of a file, or with `folder` of a folder, that the command can write.

    Its parent folders need not exist.
    """

    def __init__(self, *, folder: bool = False) -> None:
        super().__init__(file_okay=not folder, dir_okay=folder, path_type=Path)
        self._folder = folder

    def convert(
        self, value: str | os.PathLike[str], param: click.Parameter | None, ctx: click.Context | None
    ) -> Path:
        """The path of `value`. Fails if the command cannot write there."""
        if not os.fspath(value):
            self.fail("expected a path, got an empty text.", param, ctx)
        path = Path(os.fsdecode(super().convert(value, param, ctx)))
        if ctx is not None and param is not None and ctx.get_parameter_source(param.name or "") is _DEFAULT:
            return path  # the command may not write to its default path
        above = path if self._folder else path.parent
        try:
            while not above.exists() and above != above.parent:
                above = above.parent
            if not above.is_dir():
                self.fail(f"{str(above)!r} is not a folder, so {str(path)!r} cannot be written.", param, ctx)
            if not os.access(above, os.W_OK | os.X_OK):
                self.fail(f"the folder {str(above)!r} cannot be written; name another place.", param, ctx)
            if path.exists() and not os.access(path, os.W_OK):
                self.fail(f"{str(path)!r} cannot be written; name another place.", param, ctx)
        except (OSError, ValueError) as refused:
            self.fail(f"{str(path)!r}: {refused}; name another place.", param, ctx)
        return path


class Place(click.ParamType[Path | str]):
    """The type of a folder, or of the URI of a place in an object store."""

    name = "place"

    def __init__(self, *, exists: bool = False) -> None:
        self._folder = (
            click.Path(exists=True, file_okay=False, path_type=Path) if exists else Output(folder=True)
        )

    def convert(
        self, value: str | Path, param: click.Parameter | None, ctx: click.Context | None
    ) -> Path | str:
        """The path of `value`, or `value` itself if it is a URI. Fails if the folder cannot be used."""
        if isinstance(value, str) and "://" in value:
            return value
        return self._folder.convert(value, param, ctx)


FILE = Output()
FOLDER = Output(folder=True)


def bundled(
    name: str, record: Command, *options: Callable[[Command], Command]
) -> Callable[[Command], Command]:
    """A decorator that adds `options` to a command. The command gets their values as `name=record(...)`."""

    def decorated(command: Command) -> Command:
        @wraps(command)
        def gathered(**values: Any) -> Any:  # noqa: ANN401 - what the command returns
            own = {field: values.pop(field) for field in fields}
            return command(**values, **{name: record(**own)})

        for option in reversed(options):
            option(gathered)
        parameters: list[click.Parameter] = vars(gathered)["__click_params__"]
        fields = [str(parameter.name) for parameter in parameters[-len(options) :]]
        return gathered

    return decorated


def pinned(options: tuple[str, ...]) -> dict[str, object]:
    """Parses texts such as `channels=2` into a mapping of names to values.

    A value that is valid JSON is the JSON value. Any other value, and a decimal number such as the release
    1.9, is the text. Raises UsageError for a text without `=`.
    """
    values: dict[str, object] = {}
    for option in options:
        name, equals, value = option.partition("=")
        if not equals:
            raise click.UsageError(f"--config: expected KEY=VALUE, got {option!r}; write it as channels=2")
        try:
            read = orjson.loads(value)
        except orjson.JSONDecodeError:
            read = value
        values[name] = value if isinstance(read, float) else read
    return values
