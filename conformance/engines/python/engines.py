"""Structured Streaming, Bytewax and Pathway as a user installs them, each with a sink of the engine."""

import json
import os
import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import orjson
import psutil
import pyspark

from conformance.engines.engine import EngineSetUpError
from conformance.engines.python.one_process import OneProcess
from conformance.engines.schedule import Fault, Kind
from spec.java import class_archive, find_java

JOBS = Path(__file__).parent / "jobs"


def rows_in(file: Path) -> list[str]:
    """The lines of a file that may still grow; none if it does not exist."""
    with suppress(FileNotFoundError):
        return file.read_text("utf-8", "replace").splitlines()
    return []


@dataclass
class Spark(OneProcess):
    """Structured Streaming in local mode. Its coordinator and its Python workers can be killed separately."""

    python: str = field(kw_only=True)

    kinds = frozenset(
        {Kind.KILL_WORKER, Kind.KILL_COORDINATOR, Kind.FREEZE, Kind.NO_FOLDER, Kind.DISK_FULL, Kind.STOP}
    )

    def command(self) -> Sequence[str]:
        """The command of the job. It writes the specification of the job into a file."""
        file = self.place.folder / "spec.json"
        folders = {
            name: str(getattr(self.place, name))
            for name in ("lanes", "chunks", "output", "progress", "checkpoints")
        }
        file.write_text(
            json.dumps(
                {
                    **folders,
                    "end": str(self.end),
                    "sink": self.settings["sink"],
                    "source": self.settings["source"],
                }
            ),
            encoding="utf-8",
        )
        return [self.python, str(JOBS / "spark_job.py"), str(file)]

    def environment(self) -> dict[str, str]:
        """The addresses, and the class-data archive if it exists, which halves the time to start Java."""
        found = {
            "SPARK_LOCAL_IP": "127.0.0.1",
            "PYSPARK_PYTHON": self.python,
            "SPARK_LOCAL_DIRS": str(self.place.folder),
        }
        (jar,) = (Path(pyspark.__file__).parent / "jars").glob("spark-core_*.jar")
        archive = class_archive(find_java(), jar)
        if archive.path.is_file():
            found["SPARK_SUBMIT_OPTS"] = " ".join(archive.flags(self.place.folder))
        return found

    def inject(self, fault: Fault) -> None:
        """As in `Engine`. A worker is a Python process that Spark has started; the coordinator is the job."""
        if fault.kind is Kind.KILL_COORDINATOR:
            self.kill(fault)
        elif fault.kind is Kind.KILL_WORKER:
            workers = [
                one
                for one in self.children()
                if "pyspark" in " ".join(_words(one)) and "daemon" in " ".join(_words(one))
            ]
            for one in workers[1:] or workers:
                with suppress(psutil.NoSuchProcess):
                    os.kill(one.pid, signal.SIGKILL)
        else:
            super().inject(fault)

    def lines(self) -> Sequence[str]:
        """The committed lines: of the files in the log of sink `files`, or of all visible files."""
        if self.settings["sink"] == "files":
            return [line for file in committed_by_spark(self.place.output) for line in rows_in(file)]
        return [
            line
            for file in sorted(self.place.output.iterdir())
            if not file.name.startswith((".", "_"))
            for line in rows_in(file)
        ]

    def completed(self) -> int | None:
        """The number of the newest committed micro-batch."""
        folder = self.place.checkpoints / "commits"
        if not folder.is_dir():
            return 0
        return max((int(file.name) for file in folder.iterdir() if file.name.isdecimal()), default=0)


def _words(process: psutil.Process) -> list[str]:
    with suppress(psutil.NoSuchProcess, psutil.AccessDenied):
        return process.cmdline()
    return []


def committed_by_spark(output: Path) -> Iterator[Path]:
    """The files in the log of Spark's sink, each once, although a compact log repeats earlier lines."""
    named: dict[str, None] = {}
    log = output / "_spark_metadata"
    for file in sorted(log.iterdir()) if log.is_dir() else ():
        if not file.name.startswith("."):
            for line in rows_in(file)[1:]:
                with suppress(orjson.JSONDecodeError):
                    named[orjson.loads(line)["path"]] = None
    return (Path(path.removeprefix("file://")) for path in named)


@dataclass
class Bytewax(OneProcess):
    """Bytewax with its recovery store, worker threads, and its sink into a file."""

    python: str = field(kw_only=True)

    def command(self) -> Sequence[str]:
        """The command, with a snapshot each second, the shortest interval. The first call makes the store.

        Raises EngineSetUpError if Bytewax cannot make its recovery store.
        """
        if self.starts == 1:
            made = subprocess.run(
                [self.python, "-P", "-m", "bytewax.recovery", str(self.place.checkpoints), "2"],
                capture_output=True,
                text=True,
                timeout=60,
                check=False,
            )
            if made.returncode:
                raise EngineSetUpError(f"expected a recovery store of Bytewax, got: {made.stderr[-300:]}")
        return [
            self.python, "-P", "-m", "bytewax.run", f"{JOBS / 'bytewax_job.py'}:flow",
            "-w", str(self.settings["parallelism"]),
            "-r", str(self.place.checkpoints), "-s", "1", "-b", "0",
        ]  # fmt: skip

    def environment(self) -> dict[str, str]:
        """The folders, and the file that announces the end of the input."""
        names = ("lanes", "output", "progress")
        return {
            "ENGINE_END": str(self.end),
            **{f"ENGINE_{name.upper()}": str(getattr(self.place, name)) for name in names},
        }

    def lines(self) -> Sequence[str]:
        """The lines of the sink's file."""
        return rows_in(self.place.output / "rows")


@dataclass
class Pathway(OneProcess):
    """Pathway with persistence. Setting `sink`: a `new-file` for each start, or always the `same-file`."""

    python: str = field(kw_only=True)

    kinds = frozenset({Kind.KILL_WORKER, Kind.FREEZE, Kind.NO_FOLDER, Kind.DISK_FULL, Kind.STOP})

    def command(self) -> Sequence[str]:
        """The command, with the folders as arguments."""
        number = self.starts if self.settings["sink"] == "new-file" else 1
        folders = (
            self.place.chunks,
            self.place.output / f"rows-{number:03}.jsonl",
            self.place.progress,
            self.place.checkpoints,
        )
        return [self.python, str(JOBS / "pathway_job.py"), *map(str, folders)]

    def lines(self) -> Sequence[str]:
        """The rows of updates that add rows (`diff` > 0), without updates that retract rows."""
        rows: list[str] = []
        for file in sorted(self.place.output.iterdir()):
            for line in rows_in(file):
                try:
                    update = orjson.loads(line)
                except orjson.JSONDecodeError:
                    continue  # the job is writing this line
                if update["diff"] > 0:
                    rows += update["rows"].split(";")[1:]
        return rows
