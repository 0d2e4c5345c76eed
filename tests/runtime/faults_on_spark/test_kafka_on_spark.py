"""Jobs from a broker to Parquet on Spark: exact although workers, drivers and the broker fail."""

import sys

import pyarrow as pa
import pytest
from pyspark import cloudpickle

from conformance.observe.validate import validate
from conformance.torture.brokers.broker import Broker
from conformance.torture.brokers.proxy import BrokerProxy
from impl.config import CheckpointConfig
from impl.connectors import read_committed
from impl.driver import supervise
from impl.faults import Action, FaultPlan, Point
from impl.job import Job, KafkaEnd, KafkaInput, ParquetOutput
from impl.spark.errors import JobFailedError

cloudpickle.register_pickle_by_value(sys.modules[__name__])  # workers cannot import a test
ROWS, AT_FIRST = 2_000, 1_500
PARTITIONS = 3
ENDS = [667, 667, 666]


def number_of(record):
    return (int(record.value),)


@pytest.fixture
def proxied():
    with BrokerProxy() as proxy, Broker(advertised=proxy.port) as broker:
        proxy.target = broker.port
        yield broker, proxy


def fill(broker, rows=ROWS):
    broker.create("numbers", PARTITIONS)
    write(broker, range(rows))


def write(broker, numbers):
    broker.produce("numbers", (b"%d" % number for number in numbers), PARTITIONS)


def job_of(broker, folder, **options):
    given = {
        "until": KafkaEnd.LATEST,
        "group": "readers",
        "rows_per_second": 2_000.0,
        "options": {"reconnect.backoff.max.ms": 200},
        **options,
    }
    return (
        Job("kafka")
        .source("numbers", KafkaInput(broker.servers, "numbers", number_of, **given), parallelism=2)
        .sink("sink", ParquetOutput(folder / "committed", pa.schema({"n": pa.int64()})), parallelism=2)
        .with_checkpoints(CheckpointConfig(checkpointing_interval_ms=200))
    )


def committed(folder):
    return sorted(read_committed(folder / "committed").column("n").to_pylist())


def in_turn(*steps):
    """Takes one step at each report of progress, from the first completed checkpoint on.

    If a step returns False, the next report repeats it.
    """
    left = list(steps)

    def take_step(progress):
        if progress.completed and left and left[0]() is not False:
            left.pop(0)

    return take_step


@pytest.mark.rule("ONCE-03")
@pytest.mark.rule("OFFSET-03")
@pytest.mark.rule("OFFSET-06")
def test_a_job_is_exact_although_a_worker_dies_and_its_broker_is_frozen_and_disconnected(
    spark, tmp_path, proxied
):
    broker, proxy = proxied
    fill(broker, AT_FIRST)

    def disconnect():
        """Between two attempts there is no connection, so nothing is disconnected."""
        proxy.disconnect()
        if not proxy.disconnected:
            proxy.connect()
        return proxy.disconnected > 0

    restarts = []

    def write_the_rest():
        """The job cannot end before the worker has died, because its last records are written after that."""
        return write(broker, range(AT_FIRST, ROWS)) if restarts[-1] else False

    take_step = in_turn(broker.freeze, broker.thaw, disconnect, proxy.connect, write_the_rest)

    def on_progress(progress):
        restarts.append(progress.restarts)
        take_step(progress)

    ends = {("numbers", partition): end for partition, end in enumerate(ENDS)}
    faults = [FaultPlan(Point.SNAPSHOT_WRITTEN, "numbers-0", occurrence=3)]
    result = job_of(broker, tmp_path, until=ends).execute(
        "local[8]",
        tmp_path,
        spark=spark,
        faults=faults,
        event_log=True,
        on_progress=on_progress,
    )
    trace = validate(tmp_path / "events")

    assert [one.action for one in result.faults] == [Action.SIGKILL]
    assert proxy.disconnected > 0
    assert committed(tmp_path) == list(range(ROWS))
    assert broker.committed("readers", "numbers", PARTITIONS) == ENDS
    assert trace.rejection is None
    assert {"OFFSET-01", "OFFSET-03", "OFFSET-06"} <= set(trace.rules)


@pytest.mark.rule("ONCE-01")
def test_a_broker_that_loses_its_data_while_a_job_reads_fails_the_job(spark, tmp_path, proxied):
    """The client may crash when its topic is created again. Then the next attempt detects the loss."""
    broker, _ = proxied
    fill(broker)

    def restart():
        broker.stop()
        broker.start()
        fill(broker)

    with pytest.raises(JobFailedError, match=r"OffsetsLostError: .*(created anew|no longer exist).*resume"):
        job_of(broker, tmp_path, until=KafkaEnd.NEVER, discovery_seconds=0.2).execute(
            "local[8]", tmp_path, spark=spark, on_progress=in_turn(restart)
        )


@pytest.mark.cluster
@pytest.mark.usefixtures("spark_classes")
@pytest.mark.rule("ONCE-03")
def test_a_supervised_job_outlives_its_driver(tmp_path, proxied):
    broker, _ = proxied
    fill(broker)
    faults = [FaultPlan(Point.COMPLETION_STORED, occurrence=3, action=Action.KILL_DRIVER)]
    result = supervise(job_of(broker, tmp_path), "local[6]", tmp_path, faults=faults, event_log=True)
    trace = validate(tmp_path / "events")

    assert len(result.deaths) == 1
    assert committed(tmp_path) == list(range(ROWS))
    assert broker.committed("readers", "numbers", PARTITIONS) == ENDS
    assert trace.rejection is None
