"""A job into a topic on Spark with killed workers: it loses no row and writes some twice."""

import json
import sys

import pytest
from pyspark import cloudpickle

from conformance.observe.guarantees.anomalies import Anomaly, Guarantee
from conformance.observe.guarantees.guarantee import Account, Row, classify
from conformance.observe.validate import validate
from conformance.torture.account import sent
from conformance.torture.brokers.broker import Broker
from conformance.torture.brokers.proxy import BrokerProxy
from conformance.verdict import Verdict
from impl.config import CheckpointConfig, ExecutionConfig
from impl.connectors.errors import ConnectorError
from impl.faults import FaultPlan, Point
from impl.job import KafkaMessage, KafkaOutput
from impl.jobs.numbers import UPDATES, numbers_job
from tests.topics import messages_in

cloudpickle.register_pickle_by_value(sys.modules[__name__])  # workers cannot import a test
ROWS, PARTITIONS = 3_000, 3
FAULTS = (
    FaultPlan(Point.PRE_COMMIT_DUE, "sink-0", 2),
    FaultPlan(Point.PRE_COMMITTED, "sink-1", 2),
    FaultPlan(Point.SNAPSHOT_WRITTEN, "count-0", 2),
)


def message_of(row):
    return KafkaMessage(json.dumps(row).encode(), b"%d" % row[0])


def job_into(output):
    checkpoints = CheckpointConfig(checkpointing_interval_ms=200)
    execution = ExecutionConfig(startup_timeout_ms=300_000, heartbeat_timeout_ms=60_000)
    return numbers_job(ROWS, output, 500.0).with_checkpoints(checkpoints).with_execution(execution)


def rows_in(broker, topic):
    return [Row(*json.loads(one.value())) for one in messages_in(broker, topic, PARTITIONS)]


@pytest.fixture
def proxied():
    with BrokerProxy() as proxy, Broker(advertised=proxy.port) as broker:
        proxy.target = broker.port
        broker.create("updates", PARTITIONS)
        yield broker, proxy


def test_killed_workers_and_a_frozen_broker_lose_no_row_and_double_some(spark, tmp_path, proxied):
    broker, proxy = proxied
    steps = [broker.freeze, broker.thaw, proxy.disconnect, proxy.connect]

    def on_progress(progress):
        if progress.completed and steps:
            steps.pop(0)()

    output = KafkaOutput(broker.servers, "updates", UPDATES, message_of)
    result = job_into(output).execute(
        "local[8]", tmp_path / "run", spark=spark, faults=FAULTS, event_log=True, on_progress=on_progress
    )
    assert set(result.faults) == set(FAULTS)
    assert len(result.attempts) > 1
    assert steps == []
    rows = rows_in(broker, "updates")
    found = classify(Account(sent(ROWS), tuple(rows)))
    assert found.guarantee is Guarantee.AT_LEAST_ONCE
    assert {one.anomaly for one in found.findings} == {Anomaly.DUPLICATED_RECORD, Anomaly.WRONG_RESULT}
    assert len(rows) > ROWS
    assert classify(Account(sent(ROWS), tuple(set(rows)))).guarantee is Guarantee.EXACTLY_ONCE
    assert validate(tmp_path / "run" / "events", required=()).verdict is Verdict.CONFORMS


def test_without_failures_every_row_is_there_once(spark, tmp_path, proxied):
    broker, _ = proxied
    output = KafkaOutput(broker.servers, "updates", UPDATES, message_of)
    result = job_into(output).execute("local[8]", tmp_path / "run", spark=spark)
    assert len(result.attempts) == 1
    found = classify(Account(sent(ROWS), tuple(rows_in(broker, "updates"))))
    assert found.guarantee is Guarantee.EXACTLY_ONCE


def test_a_topic_that_does_not_exist_is_an_error_before_the_job_starts(spark, tmp_path, proxied):
    broker, _ = proxied
    output = KafkaOutput(broker.servers, "no-such-topic", UPDATES, message_of)
    with pytest.raises(ConnectorError, match="expected a topic that exists"):
        job_into(output).execute("local[8]", tmp_path / "run", spark=spark)
