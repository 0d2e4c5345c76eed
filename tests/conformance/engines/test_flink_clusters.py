"""Parts of a Flink cluster, tested without one: the output table in a database, and PyFlink's command."""

import tempfile
from pathlib import Path

import psycopg
import pytest

from conformance.engines.engine import EngineSetUpError, Place
from conformance.engines.flink.distribution import Distribution
from conformance.engines.flink.pyflink import PyFlinkCluster, with_python
from conformance.engines.flink.table import CommittedTable
from conformance.engines.processes import EngineError, Processes
from conformance.engines.rows import table_row
from conformance.torture.servers.postgres_server import PostgresServer

JARS = Distribution("2.3.0", "/cache/classes:/cache/flink-dist.jar", None)


@pytest.fixture
def table(tmp_path):
    driver = tmp_path / "postgresql.jar"
    driver.touch()
    table = CommittedTable(driver)
    yield table
    table.stop()


def test_a_table_shows_a_prepared_transaction_once_it_is_committed(table):
    with psycopg.connect(table.url.removeprefix("jdbc:"), autocommit=True) as job:
        for name in ("first", "second"):
            job.execute("BEGIN")
            job.execute("INSERT INTO committed VALUES (%s)", (f"row of {name}",))
            job.execute(f"PREPARE TRANSACTION '{name}'")
        assert (table.lines(), table.left()) == ([], 2)
        job.execute("COMMIT PREPARED 'second'")

    assert (table.lines(), table.left()) == (["row of second"], 1)


def test_without_a_driver_for_java_the_error_names_the_package_to_install(tmp_path):
    with pytest.raises(EngineSetUpError, match="apt-get install libpostgresql-jdbc-java"):
        CommittedTable(tmp_path / "none.jar")


@pytest.fixture
def folders(monkeypatch):
    """The temporary folders that the test creates."""
    made = []
    make = tempfile.mkdtemp

    def recorded(*args, **kwargs):
        made.append(Path(make(*args, **kwargs)))
        return str(made[-1])

    monkeypatch.setattr(tempfile, "mkdtemp", recorded)
    return made


@pytest.mark.parametrize("cut", [KeyboardInterrupt, OSError])
def test_the_folder_of_a_server_whose_first_connection_fails_is_removed(tmp_path, folders, monkeypatch, cut):
    driver = tmp_path / "postgresql.jar"
    driver.touch()

    def connect(*_, **__):
        raise cut

    monkeypatch.setattr(psycopg, "connect", connect)
    with pytest.raises(cut):
        CommittedTable(driver)
    assert [one.exists() for one in folders] == [False]


def test_a_server_whose_start_is_interrupted_is_stopped_and_its_folder_removed(folders, monkeypatch):
    pids = []

    def interrupted(server):
        start(server)
        pids.append(server.process)
        raise KeyboardInterrupt

    start = PostgresServer.start
    monkeypatch.setattr(PostgresServer, "start", interrupted)
    with pytest.raises(KeyboardInterrupt):
        PostgresServer()
    assert [one.exists() for one in folders] == [False]
    command = Path(f"/proc/{pids[0]}/cmdline")  # the file is empty for a zombie process
    assert not command.exists() or not command.read_bytes()


def test_a_server_that_has_ended_is_an_error_of_the_round(table):
    table._server.crash()
    with pytest.raises(EngineError, match="expected rows of the PostgreSQL server"):
        table.lines()


@pytest.fixture
def package(tmp_path):
    """The folder of PyFlink in a virtual environment."""
    package = tmp_path / "lib" / "python3.11" / "site-packages" / "pyflink"
    for jar in ("lib/flink-table-2.3.0.jar", "lib/flink-dist-2.3.0.jar", "opt/flink-python-2.3.0.jar"):
        (package / jar).parent.mkdir(parents=True, exist_ok=True)
        (package / jar).touch()
    return package


@pytest.fixture
def python(package):
    return str(package.parents[3] / "bin" / "python")


def test_pyflink_runs_from_the_jars_of_its_environment(package, python):
    assert with_python(JARS, python).class_path.split(":") == [
        "/cache/classes",
        str(package / "lib/flink-dist-2.3.0.jar"),
        str(package / "lib/flink-table-2.3.0.jar"),
    ]


def test_an_environment_without_pyflink_is_refused(tmp_path):
    with pytest.raises(EngineSetUpError, match=r"expected PyFlink in .*; remove it"):
        with_python(JARS, str(tmp_path / "bin" / "python"))


def test_the_cluster_of_pyflink_uses_the_settings_of_its_row(tmp_path, package, python):
    place, settings = Place(tmp_path, Processes(tmp_path)), table_row("pyflink").settings(1, 2)
    cluster = PyFlinkCluster(place, settings, distribution=JARS, python=python)

    assert cluster.environment() == {"FLINK_OPT_DIR": str(package / "opt")}
    assert cluster.more_settings()["python.execution-mode"] == settings["execution"]
    assert cluster.more_settings()["python.pythonpath"] == str(package.parent)
    assert cluster.job_words()[:4] == ["-pyclientexec", python, "-pyexec", python]
    assert cluster.job_words()[-4:] == [
        str(tmp_path / "lanes"), "4", str(tmp_path / "output"), str(tmp_path / "progress"),
    ]  # fmt: skip
