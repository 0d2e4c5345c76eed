"""Starts Spark, and refuses settings under which barrier execution cannot work.

Barrier execution runs all subtasks at the same time, and needs a slot for each. Spark reports a lack of slots
only after minutes, so this module counts the slots first. It refuses dynamic allocation and speculation,
because they remove subtasks or start them twice. Spark's output goes to a file, because one failed task
prints a hundred lines.
"""

import os
import shutil
import sys
import threading
import time
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from impl.spark.channels.addresses import LOOPBACK, connect_remote, is_connect, own_address
from impl.spark.errors import JavaNotFoundError, SparkStartError, TooFewSlotsError, UnsupportedSettingError

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

_QUIET = {"spark.log.level": "OFF", "spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false"}
_BARRIER = {
    "spark.scheduler.barrier.maxConcurrentTasksCheck.interval": "1s",
    "spark.scheduler.barrier.maxConcurrentTasksCheck.maxFailures": "3",
    "spark.python.worker.reuse": "true",
    "spark.python.use.daemon": "true",
    "spark.python.worker.idleTimeoutSeconds": "0",
    "spark.python.task.killTimeout": "500ms",
    "spark.locality.wait": "0s",
    # Java only starts the tasks and waits, so a short start is more important than fast code
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1",
}
_REFUSED = {
    "spark.dynamicAllocation.enabled": "executors would be taken from running subtasks",
    "spark.speculation": "a subtask would be started twice",
}


_LOOK_SECONDS = 0.1


def _needs_package(master: str) -> bool:
    """Whether this package must be sent to executors; not if Spark runs in local mode, without executors."""
    return master != "local" and not master.startswith("local[")


@contextmanager
def spark_session(
    master: str, output: Path, name: str = "barrierspec", packages: Sequence[str] = ("impl",)
) -> Iterator["SparkSession"]:
    """A context with a SparkSession on `master`, which stops at the end. `output`: the file of its output.

    `packages`: the packages that are sent to executors that cannot read the files of this installation.
    Raises `JavaNotFoundError`, `SparkStartError`, `UnsupportedSettingError`.
    """
    _require_java()
    from pyspark.sql import SparkSession

    output.parent.mkdir(parents=True, exist_ok=True)
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    settings = {**_QUIET, **_BARRIER}
    address = own_address(master)
    if address == LOOPBACK:
        os.environ.setdefault("SPARK_LOCAL_IP", LOOPBACK)
    if address is not None and not is_connect(master):
        settings |= {"spark.driver.host": address, "spark.driver.bindAddress": address}
    if not _needs_package(master):
        settings["spark.executorEnv.PYTHONPATH"] = str(Path(__file__).resolve().parents[2])
        settings["spark.executorEnv.PYTHONSAFEPATH"] = "1"  # import no `impl` from the working folder
        settings["spark.python.daemon.module"] = "impl.spark.worker.daemon"
    builder = SparkSession.builder.appName(name)
    builder = builder.remote(connect_remote(master)) if is_connect(master) else builder.master(master)
    if master.startswith("sc://"):
        settings = {}  # a running server already has its settings
    for key, value in settings.items():
        builder = builder.config(key, value)
    try:
        with _standard_error_in(output):
            spark = builder.getOrCreate()
    except Exception as failed:
        printed = output.read_text(errors="replace")[-2_000:]
        raise SparkStartError(f"Spark did not start on {master!r}: {failed}\n{printed}") from failed
    try:
        refuse_unsupported(spark)
        if _needs_package(master):
            _ship(spark, output.parent, packages)
        yield spark
    finally:
        _stop(spark, master)


def refuse_unsupported(spark: "SparkSession") -> None:
    """Raise `UnsupportedSettingError` if Spark may remove running subtasks or start them twice."""
    for setting, why in _REFUSED.items():
        if str(spark.conf.get(setting, "false")).lower() == "true":
            raise UnsupportedSettingError(f"{setting} is true: {why}; set it to false for this job")


def require_slots(spark: "SparkSession", subtasks: int, patience_ms: int = 0) -> None:
    """Raise `TooFewSlotsError` if `spark` cannot run `subtasks` tasks at once.

    Executors register one by one. The function waits for them for at most `patience_ms`.
    """
    context = getattr(spark, "sparkContext", None)
    slots = _slots(context) if context is not None else _probed_slots(spark, subtasks)
    if context is not None and _needs_package(context.master):
        until = time.monotonic() + patience_ms / 1_000
        while slots < subtasks and time.monotonic() < until:
            threading.Event().wait(_LOOK_SECONDS)
            slots = _slots(context)
    if slots < subtasks:
        raise TooFewSlotsError(
            f"the job has {subtasks} subtasks, which must all run at once, and this Spark master has "
            f"{slots} slots: use local[{subtasks}] or more, more executor cores, or less parallelism"
        )


def _slots(context: "SparkContext") -> int:
    scala = context._jsc.sc()
    profile = scala.resourceProfileManager().defaultResourceProfile()
    slots: int = scala.maxNumConcurrentTasks(profile)
    return slots


def _probed_slots(spark: "SparkSession", subtasks: int) -> int:
    """Run a short barrier job; returns `subtasks` if it gets this number of slots, else `subtasks` - 1.

    Used with Spark Connect, whose session has no SparkContext that counts the slots.
    """
    try:
        spark.range(0, subtasks, 1, subtasks).mapInArrow(_unchanged, "id long", barrier=True).collect()
    except Exception as refused:
        if "BarrierJobSlotsNumberCheckFailed" in str(refused) or "barrier" in str(refused).lower():
            return subtasks - 1
        raise
    return subtasks


def _unchanged(batches: Iterator[Any]) -> Iterator[Any]:
    yield from batches


def _require_java() -> None:
    home = os.environ.get("JAVA_HOME")
    if home and not (Path(home) / "bin" / "java").exists():
        raise JavaNotFoundError(f"JAVA_HOME is {home!r} and has no bin/java: point it at Java 17 or newer")
    if not home and shutil.which("java") is None:
        raise JavaNotFoundError("no `java` on PATH and no JAVA_HOME: install Java 17 or newer for Spark")


def _ship(spark: "SparkSession", folder: Path, packages: Sequence[str]) -> None:
    """Send `packages` to executors that cannot read their files."""
    home = Path(__file__).resolve().parents[2]
    archive = folder / f"{packages[0]}-package.zip"
    with zipfile.ZipFile(archive, "w") as package:
        for source in (one for name in packages for one in sorted((home / name).rglob("*.py"))):
            package.write(source, source.relative_to(home))
    context = getattr(spark, "sparkContext", None)
    if context is None:
        spark.addArtifacts(str(archive), pyfile=True)
    else:
        context.addPyFile(str(archive))


def _stop(spark: "SparkSession", master: str) -> None:
    context = getattr(spark, "sparkContext", None)
    application = "" if context is None else context.applicationId
    spark.stop()
    if master.startswith("local-cluster"):
        # in local-cluster mode, Spark leaves the files of every application in the installed package
        home = Path(sys.modules["pyspark"].__file__ or "").parent
        shutil.rmtree(home / "work" / application, ignore_errors=True)


@contextmanager
def _standard_error_in(output: Path) -> Iterator[None]:
    """Redirect file descriptor 2 to `output` while Java starts. Java inherits the descriptor and keeps it."""
    sys.stderr.flush()
    kept = os.dup(2)
    target = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    try:
        os.dup2(target, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(target)
