"""Makes an adapter from the value of `--adapter`: a command, `module:attribute`, `model` or `impl`."""

import shlex

from conformance.adapters.in_process import InProcess, model_adapter
from conformance.adapters.process import ProcessAdapter
from conformance.adapters.protocol import ANSWER_LIMIT_SECONDS
from conformance.adapters.python_object import NAMED, python_object
from conformance.errors import InputError

OURS = ("model", "impl")
"""The implementations that can be served, and that can run in this process."""


def ours(name: str) -> InProcess:
    """The adapter of one of OURS."""
    if name == "model":
        return model_adapter()
    if name == "impl":
        from conformance.adapters.bundled import bundled_adapter

        return bundled_adapter()
    raise ValueError(f"expected one of {', '.join(OURS)}, got {name!r}")


def open_adapter(command: str, seconds: float = ANSWER_LIMIT_SECONDS) -> InProcess | ProcessAdapter:
    """The adapter behind a command line; `seconds` is the time limit of one answer.

    Raises InputError if the line is empty or cannot be split, or names an object that cannot be imported.
    """
    if NAMED.fullmatch(command):
        return python_object(command, seconds)
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise InputError(f"--adapter: {error} in {command!r}") from error
    if not words:
        raise InputError(f"--adapter: expected a command, or one of {', '.join(OURS)}")
    return ours(command) if command in OURS else ProcessAdapter(command, seconds)
