"""Builds the command lines of a cluster's processes: Java, its options, and Flink's settings."""

import shutil
import tomllib
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

_SETTINGS: Mapping[str, Any] = tomllib.loads(
    files("conformance.engines.flink").joinpath("settings.toml").read_text(encoding="utf-8")
)
_LOG4J = """\
rootLogger.level = INFO
rootLogger.appenderRef.console.ref = Console
appender.console.name = Console
appender.console.type = CONSOLE
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %d{yyyy-MM-dd HH:mm:ss,SSS} %-5p %c [%t] %m%n
logger.checkpoint.name = org.apache.flink.runtime.checkpoint
logger.checkpoint.level = DEBUG
logger.gates.name = org.apache.flink.streaming.runtime.io
logger.gates.level = DEBUG
logger.tasks.name = org.apache.flink.streaming.runtime.tasks
logger.tasks.level = DEBUG
logger.zookeeper.name = org.apache.flink.shaded.zookeeper3
logger.zookeeper.level = WARN
"""


def write_configuration(folder: Path) -> None:
    """Make the folder with the configuration files that each Flink process reads."""
    folder.mkdir()
    for name in ("flink-conf.yaml", "config.yaml"):
        (folder / name).write_text("parallelism.default: 1\n", encoding="utf-8")
    (folder / "log4j.properties").write_text(_LOG4J, encoding="utf-8")


def java(class_path: str, megabytes: int, configuration: Path) -> list[str]:
    """The Java command before the name of the class.

    `megabytes`: the size of the heap. `configuration`: the folder that `write_configuration` makes.
    """
    logging = f"-Dlog4j.configurationFile=file:{configuration / 'log4j.properties'}"
    options = [*_SETTINGS["java"]["options"], f"-Xmx{megabytes}m", logging]
    return [shutil.which("java") or "java", *options, "-cp", class_path]


def settings_of(process: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Flink's settings of a `job-manager` or `task-manager`, for the settings of a round."""
    return {
        **_SETTINGS["common"],
        **_SETTINGS[process],
        **_SETTINGS["mode"][settings["mode"]],
        **_SETTINGS["backend"][settings["backend"]],
        **_SETTINGS["checkpoints"][settings.get("checkpoints", "usual")],
    }
