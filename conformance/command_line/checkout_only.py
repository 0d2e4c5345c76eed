"""The error of a command that needs a package of the repository which the wheel does not contain."""

from importlib.util import find_spec

import click


def require_package(package: str) -> None:
    """Raise click.UsageError unless `package` can be imported; its message says how to get it."""
    if find_spec(package) is None:
        raise click.UsageError(
            f"this command needs {package}, which only a checkout has: "
            "clone the repository and run `make setup`"
        )
