"""Types of options that click lacks: numbers that are numbers, and outputs that can be written.

An output is checked before the work begins, so that an hour's work is not lost for a folder that is missing.
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
"""No answer, and no budget, takes longer than a day."""


class Number(click.FloatRange):
    """A finite number; `nan` and `inf` are none."""

    def convert(self, value: float, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The number; fails if it is out of the range, or no finite one."""
        number = float(super().convert(value, param, ctx))
        if not math.isfinite(number):
            self.fail(f"{value!r} is no finite number.", param, ctx)
        return number


SECONDS = Number(0, LONGEST_SECONDS, min_open=True)
"""More than none, and at most a day."""
INTEGER = click.IntRange(-(1 << 63), (1 << 63) - 1)
"""Of 64 bits: a seed."""


class Output(click.Path):
    """A file, or with `folder` a folder, that can be written; folders above it are made when it is."""

    def __init__(self, *, folder: bool = False) -> None:
        super().__init__(file_okay=not folder, dir_okay=folder, path_type=Path)
        self._folder = folder

    def convert(
        self, value: str | os.PathLike[str], param: click.Parameter | None, ctx: click.Context | None
    ) -> Path:
        """The path; fails if it cannot be written."""
        if not os.fspath(value):
            self.fail("expected a path, got nothing.", param, ctx)
        path = Path(os.fsdecode(super().convert(value, param, ctx)))
        if ctx is not None and param is not None and ctx.get_parameter_source(param.name or "") is _DEFAULT:
            return path  # perhaps nothing is written there
        above = path if self._folder else path.parent
        try:
            while not above.exists() and above != above.parent:
                above = above.parent
            if not above.is_dir():
                self.fail(f"{str(above)!r} is no folder, so {str(path)!r} cannot be written.", param, ctx)
            if not os.access(above, os.W_OK | os.X_OK):
                self.fail(f"nothing can be written in {str(above)!r}; name another place.", param, ctx)
            if path.exists() and not os.access(path, os.W_OK):
                self.fail(f"{str(path)!r} cannot be written; name another place.", param, ctx)
        except (OSError, ValueError) as refused:
            self.fail(f"{str(path)!r}: {refused}; name another place.", param, ctx)
        return path


class Place(click.ParamType[Path | str]):
    """A folder, or the URI of a place in an object store."""

    name = "place"

    def __init__(self, *, exists: bool = False) -> None:
        self._folder = (
            click.Path(exists=True, file_okay=False, path_type=Path) if exists else Output(folder=True)
        )

    def convert(
        self, value: str | Path, param: click.Parameter | None, ctx: click.Context | None
    ) -> Path | str:
        """The path, or the URI as it is given."""
        if isinstance(value, str) and "://" in value:
            return value
        return self._folder.convert(value, param, ctx)


FILE = Output()
FOLDER = Output(folder=True)


def bundled(
    name: str, record: Command, *options: Callable[[Command], Command]
) -> Callable[[Command], Command]:
    """Decorates a command with `options`, whose values it gets as one argument, `name=record(...)`."""

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
    """`channels=2` and the like; values are JSON where they can be read so, else text, as is release 1.9.

    Raises UsageError if one is not of this form.
    """
    values: dict[str, object] = {}
    for option in options:
        name, equals, value = option.partition("=")
        if not equals:
            raise click.UsageError(f"--config: expected KEY=VALUE, got {option!r}")
        try:
            read = orjson.loads(value)
        except orjson.JSONDecodeError:
            read = value
        values[name] = value if isinstance(read, float) else read
    return values
