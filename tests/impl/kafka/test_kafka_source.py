"""The Kafka source: its start and end, the assignment of partitions, and the offsets that it commits."""

import pytest

from impl.config import ConfigError
from impl.connectors.errors import OffsetsLostError, SourceChangedError, SourceError
from impl.connectors.kafka.cluster import Cluster
from impl.connectors.kafka.declaration import KafkaEnd, KafkaInput, KafkaRecord, KafkaStart
from impl.job import Job
from tests.impl.kafka.conftest import rest_of, snapshot_of, some_of, source, values
from tests.waiting import until


def test_each_record_is_read_once_up_to_the_end_that_the_topic_had_at_the_start(broker, topic, reading):
    (subtask,) = reading.begin(source(broker, topic))
    broker.produce(topic, values(300, 301, 302), 3)

    assert rest_of(subtask) == list(range(300))
    assert subtask.offset == 300


def test_without_a_deserializer_a_row_is_the_record(broker, topic, reading):
    (subtask,) = reading.begin(KafkaInput(broker.servers, topic, until={(topic, 1): 1}))

    assert [row[:3] + row[4:] for row in iter_rows(subtask)] == [(topic, 1, 0, None, b"1", ())]


def iter_rows(subtask):
    while (rows := subtask.read()) is not None:
        yield from rows


def test_a_deserializer_leaves_records_out_and_its_error_names_the_record(broker, topic, reading):
    even = source(broker, topic)
    object.__setattr__(even, "deserializer", lambda one: (int(one.value),) if int(one.value) % 2 else None)
    (subtask,) = reading.begin(even)
    assert rest_of(subtask) == list(range(1, 300, 2))

    object.__setattr__(even, "deserializer", lambda one: int(one.value, 2))
    (subtask,) = reading.begin(even)
    with pytest.raises(SourceError, match=f"offset . of partition . of topic '{topic}': ValueError.*correct"):
        rest_of(subtask)


@pytest.mark.parametrize(
    ("start", "first"),
    [
        (KafkaStart.EARLIEST, 0),
        (KafkaStart.LATEST, 300),
        (KafkaStart.COMMITTED, 150),
        (KafkaStart.COMMITTED_OR_LATEST, 150),
        ("offsets", 90),
    ],
)
def test_a_source_without_a_checkpoint_starts_where_it_was_declared(broker, topic, reading, start, first):
    (before,) = reading.begin(source(broker, topic, group=topic, until=ends(topic, 50)))
    rest_of(before)
    before.snapshot(1)
    before.notify_complete(1)
    before.close()
    start = ends(topic, 30) if start == "offsets" else start
    (subtask,) = reading.begin(source(broker, topic, group=topic, start=start, until=ends(topic, 102)))
    broker.produce(topic, values(*range(300, 306)), 3)

    assert rest_of(subtask) == list(range(first, 306))


def ends(topic, offset):
    return {(topic, partition): offset for partition in range(3)}


def test_a_group_without_committed_offsets_is_an_error_unless_another_start_is_named(broker, topic, reading):
    with pytest.raises(SourceError, match=r"'nobody' has committed no offset of .*COMMITTED_OR_EARLIEST"):
        reading.begin(source(broker, topic, group="nobody", start=KafkaStart.COMMITTED))
    (subtask,) = reading.begin(source(broker, topic, group="nobody", start=KafkaStart.COMMITTED_OR_EARLIEST))
    assert rest_of(subtask) == list(range(300))


@pytest.mark.rule("OFFSET-03")
@pytest.mark.rule("OFFSET-05")
def test_exactly_the_offsets_of_a_completed_checkpoint_are_committed(broker, topic, reading):
    (subtask,) = reading.begin(source(broker, topic, group=topic, rows_per_second=300.0))
    some_of(subtask, 60)
    first = offsets_of(subtask)
    subtask.snapshot(1)
    some_of(subtask, 60)
    subtask.snapshot(2)
    subtask.notify_abort(2)
    assert broker.committed(topic, topic, 3) == [-1001] * 3
    subtask.notify_complete(1)
    some_of(subtask, 60)
    subtask.snapshot(3)
    subtask.notify_abort(3)  # a wrong commit at this point would be the last commit
    subtask.close()

    assert broker.committed(topic, topic, 3) == first


def offsets_of(subtask):
    return [position.offset for _, position in sorted(subtask._reader.positions.items())]


@pytest.mark.rule("OFFSET-06")
def test_restored_offsets_have_priority_over_committed_ones(broker, topic, reading):
    (subtask,) = reading.begin(source(broker, topic, group=topic))
    read = some_of(subtask, 1)
    snapshot = snapshot_of(subtask, 1)
    rest_of(subtask)
    subtask.snapshot(2)
    subtask.notify_complete(2)
    subtask.close()
    assert broker.committed(topic, topic, 3) == [100] * 3

    (again,) = reading.begin(
        source(broker, topic, group=topic, start=KafkaStart.COMMITTED), before=[snapshot]
    )
    assert sorted(read + rest_of(again)) == list(range(300))
    assert again.offset == 300


@pytest.mark.rule("ONCE-01")
@pytest.mark.parametrize(("before", "after"), [(1, 3), (3, 2), (2, 5)])
def test_a_rescaled_source_reads_every_record_once(broker, topic, reading, before, after):
    subtasks = reading.begin(source(broker, topic, rows_per_second=3_000.0), of=before)
    read = [number for one in subtasks for number in (one.read() or ())]
    read = [number for (number,) in read]
    snapshots = [snapshot_of(one, 1) for one in subtasks]
    rescaled = reading.begin(source(broker, topic), of=after, before=snapshots)
    owners = [partition for one in rescaled for partition in one._reader.positions]

    assert sorted(read + [number for one in rescaled for number in rest_of(one)]) == list(range(300))
    assert sorted(owners) == [(topic, 0), (topic, 1), (topic, 2)]


@pytest.mark.rule("ONCE-01")
def test_a_restored_source_ends_where_it_is_declared_now(broker, topic, reading):
    (subtask,) = reading.begin(source(broker, topic, until=ends(topic, 50)))
    assert rest_of(subtask) == list(range(150))
    first = snapshot_of(subtask, 1)
    (other,) = reading.begin(source(broker, topic, until={(topic, 0): 60}), before=[first])
    assert rest_of(other) == list(range(150, 180, 3))
    second = snapshot_of(other, 2)
    broker.produce(topic, values(300, 301, 302), 3)
    (rest,) = reading.begin(source(broker, topic), before=[second])

    assert rest_of(rest) == sorted({*range(150, 303)} - {*range(150, 180, 3)})


def test_a_restored_topic_that_is_not_declared_any_more_is_an_error(broker, topic, reading):
    (subtask,) = reading.begin(source(broker, topic))
    broker.create("another", 1)
    with pytest.raises(SourceChangedError, match=rf"\['{topic}'\], which `topics` does not name; name them"):
        reading.begin(source(broker, "another"), before=[snapshot_of(subtask, 1)])


def test_partitions_that_appear_are_read_from_their_first_record(broker, reading):
    broker.create("appear-1", 2)
    broker.produce("appear-1", values(*range(10)), 2)
    everything = {(name, number): 5 for name in ("appear-1", "appear-2") for number in range(2)}
    declared = source(broker, "^appear-", until=everything, discovery_seconds=0.05, start=KafkaStart.LATEST)
    subtasks = reading.begin(declared, of=2)
    assert [one.read() for one in subtasks] == [[], []]
    broker.create("appear-2", 2)
    broker.produce("appear-2", values(*range(10, 20)), 2)

    assert sorted(number for one in subtasks for number in rest_of(one)) == list(range(10, 20))


def test_a_partition_that_appeared_is_in_the_snapshot_and_a_later_one_begins_with_its_first_record(
    broker, reading
):
    broker.create("later-1", 1)
    declared = source(
        broker, "^later-", until=KafkaEnd.NEVER, discovery_seconds=0.05, start=KafkaStart.LATEST
    )
    (subtask,) = reading.begin(declared)
    broker.create("later-2", 1)
    broker.produce("later-2", values(1, 2, 3), 1)
    assert some_of(subtask, 3) == [1, 2, 3]
    snapshot = snapshot_of(subtask, 1)
    broker.create("later-3", 1)
    broker.produce("later-3", values(5, 6), 1)
    (again,) = reading.begin(declared, before=[snapshot])
    broker.produce("later-2", values(4), 1)

    assert some_of(again, 3) == [4, 5, 6]


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"topics": ()}, "at least one topic"),
        ({"start": KafkaStart.COMMITTED}, "set `group`"),
        ({"options": {"auto.offset.reset": "latest"}}, "sets auto.offset.reset itself"),
        ({"options": {"default.topic.config": {"auto.offset.reset": "latest"}}}, "sets default.topic.config"),
        ({"options": {"sasl.password": None}}, "takes a text or a number, not a NoneType"),
        ({"discovery_seconds": 0}, "discovery_seconds takes more than 0"),
        ({"rows_per_second": 0}, "rows_per_second takes more than 0"),
        ({"start": {("u", 0): 1}}, "start names 'u', which is not in `topics`"),
        ({"until": {("u", 0): 1}}, "until names 'u', which is not in `topics`"),
    ],
)
def test_a_declaration_that_cannot_work_is_refused(wrong, says):
    with pytest.raises(ConfigError, match=says):
        KafkaInput(**{"servers": "127.0.0.1:1", "topics": "t", **wrong})


def test_a_misspelled_setting_is_a_typed_error_and_no_text_has_a_secret():
    declared = KafkaInput("127.0.0.1:1", "t", options={"sasl.pasword": "hunter2"})
    with pytest.raises(SourceError, match=r"sasl\.pasword.*correct `options`") as raised:
        Cluster(declared)
    assert "hunter2" not in f"{raised.value} {declared}"


def test_the_partitions_are_the_splits():
    with pytest.raises(ConfigError, match="leave `splits` out"):
        Job("k").source("k", KafkaInput("127.0.0.1:1", "t"), splits=2)


def test_a_closed_source_leaves_no_client(broker, topic, reading):
    (subtask,) = reading.begin(source(broker, topic))
    subtask.close()

    def left():
        try:
            subtask._cluster.topics()
        except RuntimeError as closed:
            return "closed" in str(closed)
        return False

    until(left)


def test_a_topic_that_does_not_exist_is_an_error(broker, reading, monkeypatch):
    monkeypatch.setattr("impl.spark.worker.kafka_source._START_SECONDS", 0.0)
    with pytest.raises(SourceError, match=r"\['nowhere'\] do not exist; create them"):
        reading.begin(source(broker, "nowhere"))


def test_the_offsets_at_which_a_job_starts_must_exist(broker, topic, reading):
    with pytest.raises(OffsetsLostError, match=r"from offset 101.*from 0 to 100.*from an offset that exists"):
        reading.begin(source(broker, topic, start=ends(topic, 101)))


def test_records_are_tuples():
    assert KafkaRecord("t", 0, 1, None, None, b"v", ())[5] == b"v"
