"""Runs PyFlink on the same cluster, with the jars of its package. A Python process builds the job."""

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
    """The distribution with the compiled classes of the job and the jars of this Python's PyFlink.

    `python`: the path of the interpreter. Raises EngineSetUpError if it has no PyFlink.
    """
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
    """A cluster whose job has Python functions. Setting `execution`: in a Java `thread`, or a `process`."""

    python: str = field(kw_only=True)

    job_class: ClassVar[str] = "org.apache.flink.client.python.PythonDriver"

    def job_words(self) -> Sequence[str]:
        """The arguments of PyFlink's client, with the file of the job, and then the arguments of the job."""
        words = ["-pyclientexec", self.python, "-pyexec", self.python, "-py", str(_JOB)]
        return [*words, str(self.place.lanes), str(LANES), str(self.place.output), str(self.place.progress)]

    def state(self) -> None:
        """Return None: PyFlink's state consists of pickled Python values, which `StateReader` cannot read."""
        return

    def environment(self) -> dict[str, str]:
        """The variable with the folder of the jar for Python, which Flink's start scripts would set."""
        return {"FLINK_OPT_DIR": str(_package(self.python) / "opt")}

    def more_settings(self) -> dict[str, str]:
        """Settings for Python. Bundles are small, because a checkpoint waits for the end of a bundle."""
        return {
            "python.executable": self.python,
            "python.client.executable": self.python,
            "python.pythonpath": str(_package(self.python).parent),  # execution in a thread needs it
            "python.execution-mode": self.settings["execution"],
            "python.fn-execution.bundle.size": "100",
            "python.fn-execution.bundle.time": "20",
        }
