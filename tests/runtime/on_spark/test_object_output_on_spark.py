"""Jobs on real Spark are exact with Parquet output and checkpoints in an object store whose requests fail."""

from collections import Counter

import pytest

from conformance.torture.faulty_store import FaultyStore, StoreFault, drawn
from impl.config import CheckpointConfig, ExecutionConfig, RestartConfig
from impl.connectors import ParquetOutput, list_committed, read_committed
from impl.faults import Action, FaultPlan, Point
from impl.jobs.numbers import KEYS, UPDATES, numbers_job
from impl.spark.datasource import FORMAT, register
from impl.spark.errors import JobFailedError
from impl.state import StorageError
from impl.state.locations import Retries, location_of, object_store, paths_and_uris

ROWS = 3_000
EXECUTION = ExecutionConfig(startup_timeout_ms=300_000, heartbeat_timeout_ms=60_000)
EXACT = sorted((number % KEYS, number, number // KEYS + 1) for number in range(ROWS))


@pytest.fixture
def reach(object_server, spark, monkeypatch, request):
    """A function that connects this process and the workers of Spark to the store, or to a proxy of it.

    The function returns a URI in the store, one for each test.
    """

    def reached(proxy=None):
        for name, value in (object_server.environment | (proxy.environment if proxy else {})).items():
            monkeypatch.setenv(name, value)
            monkeypatch.setitem(spark.sparkContext.environment, name, value)
        monkeypatch.setattr(paths_and_uris, "_CLIENTS", {})
        return object_server.uri(request.node.name.translate(str.maketrans("[]", "--")))

    return reached


def job_into(place, restarts=0, **checkpoints):
    config = CheckpointConfig(checkpointing_interval_ms=200, **checkpoints)
    return (
        numbers_job(ROWS, ParquetOutput(f"{place}/committed", UPDATES), 1_000.0)
        .with_checkpoints(config)
        .with_execution(EXECUTION)
        .with_restarts(RestartConfig(attempts=restarts))
    )


def committed(place):
    rows = read_committed(f"{place}/committed")
    return sorted(zip(*(rows.column(name).to_pylist() for name in ("key", "number", "count")), strict=True))


def unlisted(place):
    """Data files that are in no manifest."""
    listed = {name for one in list_committed(f"{place}/committed") for name in one.names}
    output = location_of(f"{place}/committed")
    return {f"data/{one}" for one in output.sizes("data")} - listed


@pytest.mark.rule("ONCE-03")
@pytest.mark.parametrize(
    "point", [Point.PRE_COMMIT_DUE, Point.PRE_COMMITTED, Point.COMMIT_DUE, Point.COMMITTED]
)
def test_a_job_that_is_killed_around_a_commit_is_exact(spark, tmp_path, reach, point):
    place = reach()
    fault = FaultPlan(point, "sink-1", occurrence=3)
    result = job_into(place, restarts=1).execute(
        "local[8]", tmp_path, faults=[fault], spark=spark, checkpoints=f"{place}/checkpoints"
    )
    assert [one.action for one in result.faults] == [Action.SIGKILL]
    assert len(result.attempts) == 2
    assert committed(place) == EXACT
    assert unlisted(place) == set()
    assert [*location_of(f"{place}/committed").working().glob("data/.*")] == []
    register(spark)
    read = spark.read.format(FORMAT).load(f"{place}/committed")
    assert sorted(tuple(row) for row in read.select("key", "number", "count").collect()) == EXACT


@pytest.mark.rule("ONCE-03")
@pytest.mark.parametrize("seed", range(2))
def test_a_job_is_exact_whatever_becomes_of_its_requests(object_server, spark, tmp_path, reach, seed):
    with FaultyStore(object_server.endpoint, drawn(f"{seed}", 0.1), slow_seconds=0.2) as store:
        place = reach(store)
        fault = FaultPlan(Point.COMMITTED, "sink-0", occurrence=2)
        result = job_into(place, restarts=1).execute(
            "local[8]", tmp_path, faults=[fault], spark=spark, checkpoints=f"{place}/checkpoints"
        )
        assert len(result.attempts) == 2
        assert set(store.happened) == set(StoreFault)
    reach()
    assert committed(place) == EXACT
    assert unlisted(place) == set()


@pytest.mark.rule("ONCE-03")
def test_a_store_that_stops_answering_fails_the_job_which_resumes_exactly(
    object_server, spark, tmp_path, reach, monkeypatch
):
    monkeypatch.setattr(object_store, "Retries", lambda: Retries(1.0))  # only the driver stops after a second
    manifests = Counter()

    def dies(method, path):
        manifests.update([path] if "/committed/manifests/" in path and method == "PUT" else [])
        return StoreFault.THROTTLED if len(manifests) > 3 and "/checkpoints/" in path else None

    with FaultyStore(object_server.endpoint, dies) as store:
        place = reach(store)
        with pytest.raises((JobFailedError, StorageError), match="failed"):
            job_into(place).execute("local[8]", tmp_path, spark=spark, checkpoints=f"{place}/checkpoints")
    reach()
    assert 0 < len(committed(place)) < ROWS
    job_into(place, restarts=2).execute("local[8]", tmp_path, resume=True, spark=spark)
    assert committed(place) == EXACT
    assert unlisted(place) == set()
