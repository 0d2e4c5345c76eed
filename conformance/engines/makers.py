"""Prepares the engine of a row of `table.toml` before the first round: fetches, compiles or installs it."""

import sys
from collections.abc import Callable
from importlib import metadata
from typing import Any

from conformance.adapters.flink.releases import Release, newest, release
from conformance.engines.engine import Engine, EngineSetUpError, Place
from conformance.engines.flink.cluster import FlinkCluster
from conformance.engines.flink.distribution import distribution
from conformance.engines.flink.pyflink import PyFlinkCluster, with_python
from conformance.engines.python.engines import Bytewax, Pathway, Spark
from conformance.engines.python.environments import python_of, version_of
from conformance.engines.rows import FLINK, TableRow

Maker = Callable[[Place, dict[str, Any]], Engine]


def version(row: TableRow) -> str:
    """The version of a row's engine; the newest Flink if the row names none. Raises UnknownReleaseError."""
    if row.engine == FLINK:
        return _release(row).version
    return metadata.version("pyspark") if row.engine == "spark" else version_of(row.engine)


def maker(row: TableRow) -> Maker:
    """Fetch or install the engine of a row. Returns a function that makes the engine for a round.

    Raises EngineSetUpError or FlinkError if the engine cannot be fetched or installed.
    """
    match row.engine:
        case "flink":
            flink = distribution(_release(row))
            return lambda place, settings: FlinkCluster(place, settings, distribution=flink)
        case "pyflink":
            python = python_of("pyflink")
            jars = with_python(distribution(release(version_of("pyflink"))), python)
            return lambda place, settings: PyFlinkCluster(place, settings, distribution=jars, python=python)
        case "spark":
            return lambda place, settings: Spark(place, settings, python=sys.executable)
        case "bytewax":
            bytewax = python_of("bytewax")
            return lambda place, settings: Bytewax(place, settings, python=bytewax)
        case "pathway":
            pathway = python_of("pathway")
            return lambda place, settings: Pathway(place, settings, python=pathway)
        case other:
            raise EngineSetUpError(f"expected flink, pyflink, spark, bytewax or pathway, got {other}")


def _release(row: TableRow) -> Release:
    return release(row.release) if row.release else newest()
