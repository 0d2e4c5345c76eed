"""The releases of Flink that the suite can test (`releases.toml`), and the cache folder of their files."""

import os
import tomllib
from collections.abc import Sequence
from functools import cache
from importlib import resources
from pathlib import Path
from typing import NamedTuple

CACHE = "BARRIERSPEC_CACHE"
"""The environment variable that names the cache folder. By default `~/.cache/barrierspec`."""


class FlinkError(RuntimeError):
    """A release cannot be tested here; the message says what was expected, what was found and what to do."""


class UnknownReleaseError(FlinkError):
    """The release is not listed."""


class Release(NamedTuple):
    """One released version of Flink."""

    version: str
    profile: str
    """The generation of its gate. The suite compares the gate with the model of this generation."""
    coordinator: str
    """The generation of its coordinator and its store."""
    package: str
    """The package on PyPI that contains the jar."""
    how: str
    """`wheel`, `sdist` or `cp37`: the file of the package that contains the jar."""
    sha256: str
    """Checksum of `flink-dist*.jar`."""
    channel: str = ""
    """The generation of its channels; empty if the suite cannot test them."""
    subtask: str = ""
    """The generation of its subtasks; empty if they were not tested."""
    source: str = ""
    """The generation of its sources' tasks; empty if no generation describes them."""
    undescribed: Sequence[str] = ()
    """The modes of its gate, and its other components, that do not behave like any profile of the model."""

    @property
    def sink(self) -> str:
        """The generation of its sinks. From 1.14 on a sink continues after the end of its input."""
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
    """The release of this version. Raises UnknownReleaseError if the list does not have it."""
    found = releases().get(version)
    if found is None:
        raise UnknownReleaseError(f"Flink {version} is not listed; expected one of: {', '.join(releases())}")
    return found


def newest() -> Release:
    """The newest listed release."""
    return list(releases().values())[-1]


def last_of_each() -> tuple[Release, ...]:
    """The last listed patch release of each minor release with each of its profiles, oldest first."""
    found = {(one.minor, one.profile, one.coordinator, one.channel): one for one in releases().values()}
    return tuple(found.values())


@cache
def driven_profiles(component: str) -> frozenset[str]:
    """The profiles of a component that listed releases have. Others come only from Flink's sources."""
    every = releases().values()
    if component in ("coordinator", "store", "failures"):
        return frozenset(one.coordinator for one in every)
    named = {
        "gate": [one.profile for one in every],
        "sink": [one.sink for one in every],
        "channel": [one.channel for one in every],
        "subtask": [one.subtask for one in every],
        "source": [one.source for one in every],
    }
    return frozenset(named.get(component, ())) - {""}


def cache_root() -> Path:
    """The folder of all downloaded files, which is never inside the checkout."""
    root = os.environ.get(CACHE)
    return Path(root) if root else Path.home() / ".cache" / "barrierspec"


def cache_folder(release: Release) -> Path:
    """The folder of a release's files."""
    return cache_root() / "flink" / release.version
