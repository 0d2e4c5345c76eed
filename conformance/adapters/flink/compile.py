"""Compiles our Java program for a release. One set of sources has sections for certain releases.

A line `//# from 1.12`, `//# before 1.14` or `//# from 1.12 before 1.14.3` opens a section that is compiled
only for these releases; `//# end` closes it. For a class that a patch release has added, `//# with CLASS` and
`//# without CLASS` open sections for the jars that have it, or lack it. Compiled classes stay in the cache,
in a folder named by the hash of the sources.
"""

import hashlib
import re
import shutil
import subprocess
import tempfile
import zipfile
from collections.abc import Container, Mapping, Sequence
from importlib import resources
from pathlib import Path

from conformance.adapters.flink.releases import FlinkError, Release, cache_folder

SECONDS = 300.0
_SECTION = re.compile(r"//# (?:from (\d+(?:\.\d+){1,2}))? ?(?:before (\d+(?:\.\d+){1,2}))?")
_CLASS = re.compile(r"//# with(out)? ([\w.$]+)")
_DIAGNOSTIC = re.compile(r"\S+\.java:\d+: ")
"""Matches the first line of a message of the compiler."""
_SHOWN = 12
"""The maximum number of lines of the compiler's message that an error shows."""
_SHORT_RUN = ("-J-XX:TieredStopAtLevel=1", "-J-XX:+UseSerialGC")
"""Options of the compiler's Java. It runs only for seconds, and with these takes half the processor time."""


class CompileError(FlinkError):
    """Our Java program could not be compiled."""


class NoCompilerError(CompileError):
    """No Java compiler is installed."""


class SectionError(CompileError):
    """The sections of a source file cannot be read: an internal error."""


def compiled(release: Release, jar: Path) -> Path:
    """The folder with the compiled classes for a release. Compiles them if the cache does not have them.

    Raises NoCompilerError if there is no JDK, and CompileError if the sources do not compile with the jar.
    """
    return compiled_of(release, sources(release), (jar,))


def compiled_of(release: Release, texts: Mapping[str, str], jars: Sequence[Path]) -> Path:
    """The folder with the classes of these sources, compiled for a release; the jars are their class path.

    Raises NoCompilerError if there is no JDK, and CompileError if the sources do not compile with the jars.
    """
    classes = frozenset().union(*map(_classes, jars))
    visible = {name: sections(text, release.numbers, name, classes) for name, text in texts.items()}
    spelled = "".join(f"{name}\0{text}\0" for name, text in sorted(visible.items()))
    key = hashlib.sha256(spelled.encode()).hexdigest()[:16]
    folder = cache_folder(release) / f"classes-{key}"
    if folder.is_dir():
        return folder
    compiler = shutil.which("javac")
    if compiler is None:
        raise NoCompilerError(
            "expected the Java compiler `javac` on the PATH and found none; a JRE is not enough, "
            "install a JDK of 11 or later"
        )
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="compiling-", dir=folder.parent) as scratch:
        made = Path(scratch)
        for name, text in visible.items():
            (made / name).write_text(text, encoding="utf-8")
        _compile(compiler, release, jars, made)
        try:
            (made / "classes").rename(folder)
        except OSError:
            if not folder.is_dir():  # else another process was faster, with the same result
                raise
    return folder


def sources(release: Release) -> dict[str, str]:
    """The texts of our Java files for a release, by name. Without the components that it does not offer."""
    home = resources.files("conformance.adapters.flink")
    folders = ["java", "gate", "sink", "coordinator", "store"]
    folders += ["channel"] if release.channel else []
    folders += ["subtask"] if release.subtask else []
    folders += ["source"] if release.source else []
    files = [file for folder in folders for file in home.joinpath(folder).iterdir()]
    return {file.name: file.read_text("utf-8") for file in files if file.name.endswith(".java")}


def sections(
    text: str, numbers: tuple[int, ...], name: str = "source", classes: Container[str] = frozenset()
) -> str:
    """The text of a source with only the sections for a version with these classes. Lines keep their numbers.

    Raises SectionError.
    """
    seen: list[str] = []
    inside, shown = False, True
    for number, line in enumerate(text.splitlines(), start=1):
        marker = line.strip()
        if not marker.startswith("//#"):
            seen.append(line if shown else "")
            continue
        seen.append("")
        bounds, of_class = _SECTION.fullmatch(marker), _CLASS.fullmatch(marker)
        if marker == "//# end" and inside:
            inside, shown = False, True
        elif bounds is not None and any(bounds.groups()) and not inside:
            least, most = _numbers(bounds[1]), _numbers(bounds[2])
            inside, shown = True, (least is None or numbers >= least) and (most is None or numbers < most)
        elif of_class is not None and not inside:
            inside, shown = True, (of_class[2] in classes) is (of_class[1] is None)
        else:
            raise SectionError(f"{name}:{number}: {marker!r} is no marker, or is inside a section")
    if inside:
        raise SectionError(f"{name}: the last section has no end")
    return "\n".join(seen) + "\n"


def _classes(jar: Path) -> frozenset[str]:
    """The names of the classes in a jar; empty if the file is not a jar, which the compiler then reports."""
    if not zipfile.is_zipfile(jar):
        return frozenset()
    with zipfile.ZipFile(jar) as archive:
        names = archive.namelist()
    return frozenset(
        name.removesuffix(".class").replace("/", ".") for name in names if name.endswith(".class")
    )


def _numbers(version: str | None) -> tuple[int, ...] | None:
    return None if version is None else tuple(map(int, version.split(".")))


def _compile(compiler: str, release: Release, jars: Sequence[Path], folder: Path) -> None:
    command = [compiler, *_SHORT_RUN, "-nowarn", "-proc:none", "-encoding", "UTF-8"]
    command += ["-cp", ":".join(map(str, jars)), "-d", str(folder / "classes")]
    command += [*(str(file) for file in sorted(folder.glob("*.java")))]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired as late:
        raise CompileError(f"javac took more than {SECONDS:g} s for Flink {release.version}") from late
    if done.returncode != 0:
        errors = "\n".join(shown_errors(done.stderr.replace(f"{folder}/", ""))[:_SHOWN])
        raise CompileError(
            f"the Java side does not compile against {jars[0].name}; does the jar belong to Flink "
            f"{release.version}, is it complete?\n{errors}"
        )


def shown_errors(message: str) -> list[str]:
    """The lines of the compiler's errors, without its warnings; all lines if it reports no error."""
    shown, inside = [], False
    for line in message.splitlines():
        if _DIAGNOSTIC.match(line):
            inside = ": error: " in line
        if inside:
            shown.append(line)
    return shown or message.splitlines()
