"""Commands that only a checkout has: the wheel leaves out the packages that they need."""

from importlib.util import find_spec

import click


def require(package: str) -> None:
    """Raises click.UsageError, which says what to do, unless this package of the checkout is there."""
    if find_spec(package) is None:
        raise click.UsageError(
            f"this command needs {package}, which only a checkout has: "
            "clone the repository and run `make setup`"
        )
