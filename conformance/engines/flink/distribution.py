"""A released Flink as a cluster needs it: its jars and our job, compiled against them."""

import zipfile
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import NamedTuple

from conformance.adapters.flink.compile import compiled_of
from conformance.adapters.flink.fetch import connector, fetch
from conformance.adapters.flink.releases import Release

_ZOOKEEPER = "org/apache/flink/shaded/zookeeper3/org/apache/zookeeper/server/quorum/QuorumPeerMain"


class Distribution(NamedTuple):
    """What the processes of a cluster are started from."""

    version: str
    class_path: str
    zookeeper: str | None
    """The class that starts ZooKeeper; None if the jar has none."""


def distribution(release: Release, options: Sequence[str] = ()) -> Distribution:
    """Fetched and compiled unless that was done before; `options` go to pip. Raises FlinkError."""
    jar = fetch(release, options)
    files = connector(release, options)
    jars = [jar, *([files] if files else []), *sorted(jar.parent.glob("log4j*.jar"))]
    classes = compiled_of(release, _sources(), jars)
    with zipfile.ZipFile(jar) as archive:
        has_zookeeper = f"{_ZOOKEEPER}.class" in archive.namelist()
    return Distribution(
        release.version,
        ":".join(map(str, (classes, *jars))),
        _ZOOKEEPER.replace("/", ".") if has_zookeeper else None,
    )


def _sources() -> dict[str, str]:
    home: Path = Path(str(resources.files("conformance.engines.flink"))) / "java"
    return {file.name: file.read_text("utf-8") for file in sorted(home.glob("*.java"))}
