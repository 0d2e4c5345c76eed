"""The check for packages that a checkout of the repository has and the wheel does not have."""

from importlib.util import find_spec

import click


def require_package(package: str) -> None:
    """Raise click.UsageError if `package` cannot be imported. The message says how to get the package."""
    if find_spec(package) is None:
        raise click.UsageError(
            f"this command needs {package}, which only a checkout has: "
            "clone the repository and run `make setup`"
        )
