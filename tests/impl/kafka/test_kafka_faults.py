"""Brokers that do not answer or lose data: each record is read once, or an error names the fix."""

import json

import obstore
import pytest
from confluent_kafka import KafkaError, Message
from obstore.store import S3Store

from conformance.torture.brokers.broker import Broker
from conformance.torture.servers.object_server import BUCKET
from impl.connectors.errors import OffsetsLostError, SourceError
from impl.connectors.kafka.declaration import KafkaEnd
from impl.connectors.kafka.reader import partition_of, require_retriable
from tests.impl.kafka.conftest import rest_of, snapshot_of, some_of, source, values
from tests.waiting import until

MANY = range(6_000)
IMPATIENT = {"reconnect.backoff.max.ms": 100}


def filled(broker, topic="t", partitions=2):
    broker.create(topic, partitions)
    broker.produce(topic, values(*MANY), partitions)


@pytest.mark.rule("ONCE-02")
def test_a_frozen_broker_delays_the_source_which_continues_exactly(proxied, reading):
    broker, _ = proxied
    filled(broker)
    (subtask,) = reading.begin(source(broker, "t", until=KafkaEnd.NEVER, rows_per_second=20_000.0))
    read = some_of(subtask, 500)
    broker.freeze()
    subtask.snapshot(1)
    subtask.notify_complete(1)
    read += [
        number for _ in range(50) for (number,) in subtask.read()
    ]  # records that the client had already fetched
    broker.thaw()
    broker.produce("t", values(*range(len(MANY), 7_000)), 2)
    read += some_of(subtask, 7_000 - len(read))

    assert sorted(read) == list(range(7_000))


@pytest.mark.rule("OFFSET-03")
def test_a_source_ends_although_the_broker_does_not_answer_its_last_commit(proxied, reading, monkeypatch):
    monkeypatch.setattr("impl.connectors.kafka.reader._LAST_COMMIT_SECONDS", 0.1)
    broker, _ = proxied
    filled(broker)
    (subtask,) = reading.begin(source(broker, "t", group="late"))
    rest_of(subtask)
    subtask.snapshot(1)
    broker.freeze()
    subtask.notify_complete(1)
    subtask.close()
    broker.thaw()

    until(lambda: broker.committed("late", "t", 2) == [3_000, 3_000])


@pytest.mark.rule("ONCE-02")
def test_a_disconnected_source_connects_again_and_continues_exactly(proxied, reading):
    broker, proxy = proxied
    broker.create("t", 2)
    (subtask,) = reading.begin(source(broker, "t", until=KafkaEnd.NEVER, options=IMPATIENT))
    read = []
    for begin in range(0, len(MANY), 3_000):
        broker.produce("t", values(*MANY[begin : begin + 1_000]), 2)
        proxy.disconnect()
        read += [number for _ in range(50) for (number,) in subtask.read()]
        proxy.connect()
        broker.produce("t", values(*MANY[begin + 1_000 : begin + 3_000]), 2)
        read += some_of(subtask, begin + 3_000 - len(read))

    assert sorted(read) == list(MANY)
    assert proxy.disconnected >= 2


def test_brokers_that_do_not_answer_are_an_error_that_names_them(proxied, reading, monkeypatch):
    broker, proxy = proxied
    filled(broker)
    proxy.disconnect()
    for seconds in (
        "impl.spark.worker.kafka_source._START_SECONDS",
        "impl.connectors.kafka.cluster.ANSWER_SECONDS",
    ):
        monkeypatch.setattr(seconds, 0.5)
    with pytest.raises(SourceError, match=rf"{broker.servers}: expected the description of a topic.*start"):
        reading.begin(source(broker, "t"))


@pytest.mark.rule("ONCE-01")
def test_a_broker_that_restarts_empty_is_refused_by_a_restore(proxied, reading, monkeypatch):
    monkeypatch.setattr("impl.spark.worker.kafka_source._START_SECONDS", 0.0)
    broker, _ = proxied
    filled(broker)
    (subtask,) = reading.begin(source(broker, "t", until=KafkaEnd.NEVER))
    some_of(subtask, 500)
    snapshot = snapshot_of(subtask, 1)
    subtask.close()
    broker.stop()
    broker.start()
    with pytest.raises(OffsetsLostError, match=r"topics \['t'\] of the checkpoint do not exist; restore the"):
        reading.begin(source(broker, "t"), before=[snapshot])
    filled(broker)
    with pytest.raises(
        OffsetsLostError, match=r"'t' was created anew: expected the id .* belongs to another"
    ):
        reading.begin(source(broker, "t"), before=[snapshot])


@pytest.fixture
def kept(object_server, request):
    """A broker whose topics are in an object store, so that a kill loses no data."""
    where = {**object_server.environment, "AWS_ENDPOINT": object_server.endpoint}
    store = S3Store(
        BUCKET,
        region="us-east-1",
        endpoint=object_server.endpoint,
        access_key_id="testing",
        secret_access_key="testing",
        client_options={"allow_http": True},
        prefix="clusters/tansu_cluster",
    )
    with Broker(f"s3://{BUCKET}/", where) as running:
        yield running, store
        running.delete("t")


def edit(store, name, change):
    found = json.loads(bytes(obstore.get(store, name).bytes()))
    change(found)
    obstore.put(store, name, json.dumps(found).encode())


@pytest.mark.rule("ONCE-02")
def test_a_broker_that_is_killed_and_started_again_is_read_on_exactly(kept, reading):
    broker, _ = kept
    filled(broker)
    (subtask,) = reading.begin(source(broker, "t", until=KafkaEnd.NEVER, options=IMPATIENT))
    read = some_of(subtask, 1)
    broker.stop()
    read += [number for _ in range(50) for (number,) in subtask.read()]
    broker.start()
    broker.produce("t", values(*range(len(MANY), 7_000)), 2)
    read += some_of(subtask, 7_000 - len(read))

    assert sorted(read) == list(range(7_000))


@pytest.mark.rule("ONCE-01")
def test_records_that_retention_has_deleted_before_they_were_read_are_an_error(kept, reading):
    broker, store = kept
    broker.create("t", 1)
    for begin in range(0, len(MANY), 2_000):
        broker.produce("t", values(*MANY[begin : begin + 2_000]), 1)
    (subtask,) = reading.begin(source(broker, "t", until=KafkaEnd.NEVER, rows_per_second=1_000.0))
    some_of(subtask, 10)
    snapshot = snapshot_of(subtask, 1)
    batches = batches_of(store)
    store.delete(batches[:-1])
    first = first_of(batches[-1])
    lost = rf"must read partition 0 of topic 't' .* from {first} to 6000: records were lost, or deleted"
    with pytest.raises(OffsetsLostError, match=lost):
        reading.begin(source(broker, "t"), before=[snapshot])


def batches_of(store):
    return sorted(one["path"] for one in store.list("topics/t/partitions/0000000000/records").collect())


def first_of(batch):
    return int(batch.rpartition("/")[2].removesuffix(".batch"))


def test_a_partition_ends_at_its_end_offset_also_without_a_record_there(kept, reading):
    """A compacted topic is such a case."""
    broker, store = kept
    broker.create("t", 1)
    for begin in range(0, len(MANY), 1_000):
        broker.produce("t", values(*MANY[begin : begin + 1_000]), 1)
    gone = batches_of(store)[-2:-1]
    store.delete(gone)
    end = first_of(gone[0]) + 1
    (subtask,) = reading.begin(source(broker, "t", until={("t", 0): end}))

    assert rest_of(subtask) == list(range(end - 1))
    assert subtask._reader.positions["t", 0].offset == end


def test_partitions_that_are_added_to_a_topic_are_read(kept, reading):
    broker, store = kept
    filled(broker)
    (subtask,) = reading.begin(source(broker, "t", until=KafkaEnd.NEVER, discovery_seconds=0.1))
    assert some_of(subtask, len(MANY)) == list(MANY)
    broker.stop()
    edit(store, "meta.json", lambda found: found["topics"]["t"]["topic"].update(num_partitions=3))
    broker.start()
    broker.produce("t", values(*range(30)), 3)

    assert some_of(subtask, 30) == list(range(30))
    assert sorted(subtask._reader.positions) == [("t", 0), ("t", 1), ("t", 2)]


@pytest.mark.parametrize(
    ("code", "says"),
    [
        (KafkaError._AUTO_OFFSET_RESET, "has no record at offset 7, the next to read: gone.*restore the rec"),
        (
            KafkaError.UNKNOWN_TOPIC_OR_PART,
            "partition 0 of topic 't' does not exist now: gone; create it",
        ),
        (KafkaError.TOPIC_AUTHORIZATION_FAILED, "cannot be read at offset 7: .*correct what it names"),
    ],
)
def test_an_error_of_the_client_states_what_is_lost(code, says):
    """No broker is involved: Tansu never sends OFFSET_OUT_OF_RANGE, which Kafka sends first."""
    with pytest.raises(SourceError, match=says) as raised:
        require_retriable(KafkaError(code, "gone"), ("t", 0), 7)
    assert isinstance(raised.value, OffsetsLostError) == (code == KafkaError._AUTO_OFFSET_RESET)


def test_an_error_of_the_whole_client_names_the_group():
    with pytest.raises(SourceError, match=r"group 'g' cannot go on: .*allow the group to this client"):
        partition_of(Message(error=KafkaError(KafkaError.GROUP_AUTHORIZATION_FAILED)), "g")


@pytest.mark.rule("ONCE-01")
@pytest.mark.parametrize(
    ("again", "says"), [(True, r"'t' was created anew"), (False, r"topics \['t'\] no longer exist; restore")]
)
def test_the_loss_of_a_topic_during_reading_is_detected_at_the_end(
    proxied, reading, monkeypatch, again, says
):
    monkeypatch.setattr("impl.spark.worker.kafka_source._MISSED_SECONDS", 0.01)
    broker, _ = proxied
    filled(broker)
    (subtask,) = reading.begin(source(broker, "t"))
    some_of(subtask, len(MANY))
    broker.stop()
    broker.start()
    if again:
        filled(broker)
    with pytest.raises(OffsetsLostError, match=says):
        rest_of(subtask)
