"""Fetches the jars of a released Flink that a cluster needs, and compiles the job of `java/` with them."""

import zipfile
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import NamedTuple

from conformance.adapters.flink.compile import compiled_of
from conformance.adapters.flink.fetch import job_jars
from conformance.adapters.flink.releases import Release

_ZOOKEEPER = "org/apache/zookeeper/server/quorum/QuorumPeerMain.class"


class Distribution(NamedTuple):
    """The files from which the processes of a cluster start."""

    version: str
    class_path: str
    zookeeper: str | None
    """The class that starts ZooKeeper; None if `flink-dist` has none.

    Up to 1.14 ZooKeeper is a separate jar; its client does not connect on Java 14 or newer."""


def distribution(release: Release, options: Sequence[str] = ()) -> Distribution:
    """Fetch the jars and compile the job, unless the cache has them. `options`: further options of pip.

    Raises FlinkError if a jar cannot be fetched or the job cannot be compiled.
    """
    jars = job_jars(release, options)
    classes = compiled_of(release, _sources(), jars)
    return Distribution(release.version, ":".join(map(str, (classes, *jars))), _zookeeper(jars[:1]))


def _zookeeper(jars: Sequence[Path]) -> str | None:
    for jar in jars:
        with zipfile.ZipFile(jar) as archive:
            for name in archive.namelist():
                if name.endswith(_ZOOKEEPER):
                    return name.removesuffix(".class").replace("/", ".")
    return None


def _sources() -> dict[str, str]:
    home: Path = Path(str(resources.files("conformance.engines.flink"))) / "java"
    return {file.name: file.read_text("utf-8") for file in sorted(home.glob("*.java"))}
