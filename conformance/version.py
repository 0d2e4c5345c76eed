"""The version of this package."""

from importlib import metadata


def own_version() -> str:
    """The installed version; `0+source` if the package runs from a checkout that is not installed."""
    try:
        return metadata.version("barrierspec")
    except metadata.PackageNotFoundError:
        return "0+source"
