"""PyFlink on the same cluster: the jars are those of its package, and a Python process builds the job."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from conformance.engines.engine import EngineSetUpError
from conformance.engines.feed import LANES
from conformance.engines.flink.cluster import FlinkCluster
from conformance.engines.flink.distribution import Distribution

_JOB = Path(__file__).parents[1] / "python" / "jobs" / "pyflink_job.py"


def with_python(distribution: Distribution, python: str) -> Distribution:
    """The compiled source of the job with the jars of this Python's PyFlink. Raises EngineSetUpError."""
    classes = distribution.class_path.partition(":")[0]
    jars = sorted(_package(python).glob("lib/*.jar"))
    return distribution._replace(class_path=":".join([classes, *map(str, jars)]))


def _package(python: str) -> Path:
    environment = Path(python).parents[1]
    for package in environment.glob("lib/python*/site-packages/pyflink"):
        return package
    raise EngineSetUpError(f"expected PyFlink in {environment}, got none; remove it to install it anew")


@dataclass
class PyFlinkCluster(FlinkCluster):
    """The job's functions run in Python. `execution`: in a `thread` of Java, or in a separate `process`."""

    python: str = field(kw_only=True)

    job_class: ClassVar[str] = "org.apache.flink.client.python.PythonDriver"

    def job_words(self) -> Sequence[str]:
        """The client of PyFlink takes the file of the job, then the words of the job."""
        words = ["-pyclientexec", self.python, "-pyexec", self.python, "-py", str(_JOB)]
        return [*words, str(self.place.lanes), str(LANES), str(self.place.output), str(self.place.progress)]

    def state(self) -> None:
        """PyFlink's state consists of pickled Python values, which our jobs cannot read."""
        return

    def environment(self) -> dict[str, str]:
        """The folder in which Flink finds the jar for Python; otherwise its start scripts name it."""
        return {"FLINK_OPT_DIR": str(_package(self.python) / "opt")}

    def more_settings(self) -> dict[str, str]:
        """Small bundles: a checkpoint waits until the records of a bundle have come back from Python."""
        return {
            "python.executable": self.python,
            "python.client.executable": self.python,
            "python.pythonpath": str(_package(self.python).parent),  # a thread does not look there by itself
            "python.execution-mode": self.settings["execution"],
            "python.fn-execution.bundle.size": "100",
            "python.fn-execution.bundle.time": "20",
        }
