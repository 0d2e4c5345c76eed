"""The processes of Flink: a Java process for SQL and DataStream, and Python with its own Java for PyFlink."""

import shutil
import tomllib
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any, Final, NamedTuple

from conformance.adapters.flink.compile import compiled_of
from conformance.adapters.flink.releases import FlinkError, release
from conformance.bench.benchmark import MeasurementError
from conformance.bench.flink_comparison.contestants import (
    MINI_BATCH,
    PROCESS,
    SQL,
    STREAM,
    THREAD,
    Contestant,
)
from conformance.bench.runtime.driver import Launch
from conformance.engines.engine import EngineSetUpError
from conformance.engines.python.environments import python_of, version_of

HOME: Final = Path(__file__).parent
SETTINGS: Final[Mapping[str, Any]] = tomllib.loads(
    files("conformance.bench.flink_comparison").joinpath("settings.toml").read_text(encoding="utf-8")
)
VERSION: Final = version_of("pyflink")
_MAIN: Final = "barrierspec.words.WordsDriver"
_ERRORS: Final = """\
rootLogger.level = ERROR
rootLogger.appenderRef.file.ref = File
appender.file.name = File
appender.file.type = FILE
appender.file.layout.type = PatternLayout
appender.file.layout.pattern = %d %-5p %c %m%n
"""
"""Errors go to a file, because nothing reads the error pipe of PyFlink's Java, and a full pipe blocks."""


class Flink(NamedTuple):
    """An environment with PyFlink, whose package has Flink's jars, and our jobs compiled against them."""

    python: Path
    classes: Path

    @property
    def package(self) -> Path:
        """The folder of the package `pyflink`."""
        return next(self.python.parents[1].glob("lib/python*/site-packages/pyflink"))

    def java(self, folder: Path) -> Launch:
        """The command of the Java process for SQL and DataStream."""
        java = shutil.which("java") or "java"
        jars = sorted(self.package.glob("lib/*.jar"))
        class_path = ":".join(map(str, (self.classes, HOME / "java", *jars)))
        logging = f"-Dlog4j.configurationFile=file:{_logging(folder)}"
        return Launch((java, *_options(), logging, "-cp", class_path, _MAIN))

    def pyflink(self, folder: Path) -> Launch:
        """The command of the PyFlink process, whose Java has the same options."""
        return Launch(
            (str(self.python), str(HOME / "pyflink_words.py")),
            {
                "JVM_ARGS": " ".join(_options()),
                "_python_worker_execution_mode": "process",  # as on a cluster, not in one shared interpreter
                "HADOOP_CLASSPATH": str(self.classes),  # PyFlink appends it to the class path
                "LOG4J_PROPERTIES": str(_logging(folder)),
            },
        )

    def settings(self, contestant: Contestant, output: Path) -> dict[str, str]:
        """Flink's settings of a run."""
        made: dict[str, str] = {
            **SETTINGS["common"],
            **SETTINGS[contestant.backend],
            **SETTINGS[contestant.api],
            "execution.checkpointing.dir": f"file://{output / 'checkpoints'}",
        }
        if contestant.api in (PROCESS, THREAD):
            made |= {
                "python.executable": str(self.python),
                "python.client.executable": str(self.python),
                "python.pythonpath": str(self.package.parent),
            }
        return made


def installed() -> Flink:
    """Install PyFlink in the cache folder, and compile the jobs, if needed. Raises MeasurementError."""
    try:
        python = Path(python_of("pyflink"))
        found = Flink(python, python)
        texts = {one.name: one.read_text("utf-8") for one in sorted((HOME / "java").glob("*.java"))}
        jars = sorted(found.package.glob("lib/*.jar"))
        return found._replace(classes=compiled_of(release(VERSION), texts, jars))
    except (EngineSetUpError, FlinkError) as cannot:
        raise MeasurementError(f"expected Flink {VERSION} to compare with, got: {cannot}") from cannot


def order_of(contestant: Contestant, settings: Mapping[str, str], **places: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
    """The order for a run. `places`: `source`, `output`, `begun` and `rows_per_second` (0: no limit)."""
    api = SQL if contestant.api in (SQL, MINI_BATCH) else STREAM
    return {"api": api, "settings": dict(settings), "parts": 2, "rows_per_second": 0.0, "begun": "", **places}


def _options() -> list[str]:
    opens = [f"--add-opens=java.base/{one}=ALL-UNNAMED" for one in SETTINGS["java"]["opens"]]
    return [f"-Xmx{SETTINGS['java']['heap']}", *opens]


def _logging(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    file = folder.absolute() / "log4j.properties"
    log = f"appender.file.fileName = {file.with_name('errors.log')}\n"
    file.write_text(_ERRORS + log, encoding="utf-8")
    return file
