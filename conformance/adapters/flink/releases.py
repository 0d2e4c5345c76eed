"""The releases of Flink that can be driven, as `releases.toml` lists them, and where their files are kept."""

import os
import tomllib
from collections.abc import Sequence
from functools import cache
from importlib import resources
from pathlib import Path
from typing import NamedTuple

CACHE = "BARRIERSPEC_CACHE"
"""The environment variable that names the cache folder; left out: `~/.cache/barrierspec`."""


class FlinkError(RuntimeError):
    """A release cannot be driven here; the message says what was expected, what came and what to do."""


class UnknownReleaseError(FlinkError):
    """A release that the list does not have."""


class Release(NamedTuple):
    """One released version of Flink."""

    version: str
    profile: str
    """The generation of its gate, which the model compares it with."""
    coordinator: str
    """The generation of its coordinator and of the store inside."""
    package: str
    """The package of PyPI that carries the jar."""
    how: str
    """`wheel`, `sdist` or `cp37`: which of the package's files it is in."""
    sha256: str
    """Checksum of `flink-dist*.jar`."""
    channel: str = ""
    """The generation of its channels; empty where they cannot be driven."""
    subtask: str = ""
    """The generation of its subtasks; empty where they were not driven."""
    undescribed: Sequence[str] = ()
    """Modes of its gate, and other components, of which no profile behaves as they do."""

    @property
    def sink(self) -> str:
        """The generation of its sinks: from 1.14 on they outlive the end of their input."""
        return "1.14" if self.minor >= (1, 14) else "1.9"

    @property
    def numbers(self) -> tuple[int, ...]:
        """The version as numbers."""
        return tuple(map(int, self.version.split(".")))

    @property
    def minor(self) -> tuple[int, int]:
        """The first two numbers of the version."""
        major, minor, *_ = self.version.split(".")
        return int(major), int(minor)


@cache
def releases() -> dict[str, Release]:
    """The releases by version, oldest first."""
    text = resources.files("conformance.adapters.flink").joinpath("releases.toml").read_text("utf-8")
    return {version: Release(version, **row) for version, row in tomllib.loads(text).items()}


def release(version: str) -> Release:
    """The release of this version; raises UnknownReleaseError."""
    found = releases().get(version)
    if found is None:
        raise UnknownReleaseError(f"Flink {version} is not listed; expected one of: {', '.join(releases())}")
    return found


def newest() -> Release:
    """The last of the list."""
    return list(releases().values())[-1]


def last_of_each() -> tuple[Release, ...]:
    """The last listed patch release of each minor release with each of its profiles, oldest first."""
    found = {(one.minor, one.profile, one.coordinator, one.channel): one for one in releases().values()}
    return tuple(found.values())


@cache
def driven_profiles(component: str) -> frozenset[str]:
    """The profiles of a component with which listed releases are driven; others are taken from sources."""
    every = releases().values()
    if component in ("coordinator", "store", "failures"):
        return frozenset(one.coordinator for one in every)
    named = {
        "gate": [one.profile for one in every],
        "sink": [one.sink for one in every],
        "channel": [one.channel for one in every],
        "subtask": [one.subtask for one in every],
    }
    return frozenset(named.get(component, ())) - {""}


def cache_root() -> Path:
    """The folder of all that is downloaded: never inside the checkout."""
    root = os.environ.get(CACHE)
    return Path(root) if root else Path.home() / ".cache" / "barrierspec"


def cache_folder(release: Release) -> Path:
    """Where the files of a release are kept."""
    return cache_root() / "flink" / release.version
