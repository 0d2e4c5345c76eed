"""The same job on every kind of Spark cluster, with a killed worker. `make clusters` runs it."""

import os
import pickle
import re
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pyarrow as pa
import pyspark
import pytest

import impl
from conformance.torture.servers.loopback import free_port
from conformance.torture.servers.spark_cluster import SparkCluster
from impl.job import CsvInput, JsonLinesInput, ParquetInput, ParquetOutput, SqliteOutput
from impl.spark.channels.addresses import is_connect, is_local, own_address

ROOT = Path(impl.__file__).parents[1]


@pytest.mark.parametrize(
    ("master", "local", "connect"),
    [
        ("local[4]", True, False),
        ("local-cluster[2,4,1024]", True, False),
        ("spark://127.0.0.1:7077", False, False),
        ("sc://127.0.0.1:15002", False, True),
        ("sc:local[4]", True, True),
    ],
)
def test_processes_of_one_host_meet_on_loopback(master, local, connect):
    assert (is_local(master), is_connect(master)) == (local, connect)
    assert own_address(master) == "127.0.0.1"


def test_a_remote_master_is_met_by_an_address_that_it_can_reach():
    address = own_address("spark://192.0.2.1:7077") if _has_route() else "192.0.2.9"
    assert address not in ("127.0.0.1", "0.0.0.0", None)
    assert own_address("yarn") is None


def _has_route():
    try:
        own_address("spark://192.0.2.1:7077")
    except OSError:
        return False
    return True


class Daemons:
    """Spark's own daemons, started on loopback, and ended by their process ids."""

    def __init__(self, folder):
        self.folder = folder
        self.home = Path(pyspark.__file__).parent
        self.stack = ExitStack()

    def start(self, name, until, *arguments):
        """Starts a daemon, and waits for the log line that reports its start."""
        log = (self.folder / f"{name}.log").open("w")
        environment = {
            **os.environ,
            "SPARK_HOME": str(self.home),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "PYSPARK_PYTHON": sys.executable,
        }
        process = subprocess.Popen(
            [self.home / "bin" / arguments[0], *arguments[1:]],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=environment,
            cwd=self.folder,
        )
        self.stack.callback(_end, process)
        answers = ""
        for line in process.stdout:
            answers += line
            if re.search(until, line):
                subprocess.Popen(["cat"], stdin=process.stdout, stdout=log)  # keeps its pipe empty
                return
        raise AssertionError(answers)


def _end(process):
    process.terminate()
    process.wait()


@pytest.mark.parametrize(
    ("declared", "field"),
    [
        (CsvInput(Path("here/file")), "path"),
        (ParquetInput(Path("here/file")), "path"),
        (JsonLinesInput(Path("here/file"), pa.schema([])), "path"),
        (ParquetOutput(Path("here/file"), pa.schema([])), "directory"),
        (SqliteOutput(Path("here/file"), "updates", pa.schema([])), "database"),
    ],
)
def test_a_relative_path_of_a_job_is_in_the_working_folder_of_its_driver(
    declared, field, tmp_path, monkeypatch
):
    packed = pickle.dumps(declared)
    there = Path.cwd() / "here/file"
    monkeypatch.chdir(tmp_path)  # an executor has a working folder of its own
    assert getattr(pickle.loads(packed), field) == there


def test_the_uri_of_an_output_stays():
    assert ParquetOutput("s3://bucket/flights", pa.schema([])).directory == "s3://bucket/flights"


def local_cluster(daemons):
    return "local-cluster[2,4,1024]"


def standalone(daemons):
    return daemons.stack.enter_context(SparkCluster(daemons.folder / "hidden")).master


def connect_server(daemons):
    port = free_port()
    server = "org.apache.spark.sql.connect.service.SparkConnectServer"
    settings = {
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": str(port),
        "spark.python.worker.reuse": "true",
        "spark.ui.enabled": "false",
    }
    options = [word for name, value in settings.items() for word in ("--conf", f"{name}={value}")]
    submit = ["spark-submit", "--class", server, "--master", "local[8]", *options, "spark-internal"]
    daemons.start("connect", "Spark Connect server started", *submit)
    return f"sc://127.0.0.1:{port}"


def connect_local(daemons):
    return "sc:local[8]"


@pytest.mark.cluster
@pytest.mark.rule("ONCE-03")
@pytest.mark.parametrize("kind", [local_cluster, standalone, connect_server, connect_local])
def test_every_flight_is_counted_once_on(kind, tmp_path):
    daemons = Daemons(tmp_path)
    with daemons.stack:
        master = kind(daemons)
        job = ["run", "--master", master, "--rows", "20000", "--rate", "8000", "--out", "run"]
        ended = subprocess.run(
            [sys.executable, "-m", "conformance.cli", *job, "--scenario", "killed-while-aligning"],
            cwd=tmp_path,  # no executor has this working folder
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=False,
        )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "exact: 20000 updates of 340 keys, one for each flight" in ended.stdout
    assert "1 of 1 faults occurred" in ended.stdout
