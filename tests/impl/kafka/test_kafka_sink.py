"""The Kafka sink with a real broker: after a pre-commit, the broker has acknowledged every earlier row."""

import itertools

import pyarrow as pa
import pytest

from impl.config import ConfigError
from impl.connectors.errors import ConnectorError, ServerLostError, ValueRefusedError
from impl.connectors.kafka.sink import KafkaMessage, KafkaOutput
from impl.connectors.two_phase import SinkContext, TwoPhaseSink
from tests.topics import messages_in

SCHEMA = pa.schema({"n": pa.int64(), "text": pa.string()})
CONTEXT = SinkContext("job", "11ea", "sink-0", 1)
_TOPICS = itertools.count(1)


def message_of(row):
    return KafkaMessage(f"{row[0]}:{row[1]}".encode(), b"%d" % (row[0] % 5), (("from", b"test"),))


@pytest.fixture
def empty(broker):
    name = f"written-{next(_TOPICS)}"
    broker.create(name, 2)
    return name


@pytest.fixture
def sink():
    opened = []

    def begin(servers, topic, serializer=message_of, **options):
        output = KafkaOutput(servers, topic, SCHEMA, serializer, **options)
        opened.append(TwoPhaseSink(output.open(CONTEXT)))
        return opened[-1]

    yield begin
    for one in opened:
        one.close()


def rows(*numbers):
    return pa.record_batch([list(numbers), [f"row {n}" for n in numbers]], schema=SCHEMA)


def test_after_a_pre_commit_the_broker_has_every_row_with_its_key_and_headers(broker, empty, sink):
    one = sink(broker.servers, empty)
    one.write(rows(*range(500)))
    one.snapshot(1)
    receipts = one.state_of(1).receipts.values()
    assert [(receipt.rows, receipt.names) for receipt in receipts] == [(500, ())]
    one.close()  # rows without an acknowledgement would be lost now
    found = messages_in(broker, empty, 2)
    assert sorted(record.value() for record in found) == sorted(b"%d:row %d" % (n, n) for n in range(500))
    assert all(record.key() == b"%d" % (int(record.value().split(b":")[0]) % 5) for record in found)
    assert found[0].headers() == [("from", b"test")]
    partitions = {(record.key(), record.partition()) for record in found}
    assert len(partitions) == 5  # all rows of a key are in one partition


def test_a_row_that_no_broker_acknowledges_fails_the_pre_commit(proxied, sink):
    broker, _ = proxied
    broker.create("frozen", 2)
    one = sink(broker.servers, "frozen", patience_seconds=2)
    one.write(rows(1))
    one.snapshot(1)
    broker.freeze()
    one.write(rows(2))
    with pytest.raises(
        ServerLostError, match=r"topic frozen at .* have not acknowledged a row.*writes the rows"
    ):
        one.snapshot(2)
    broker.thaw()


def test_a_pre_commit_waits_for_a_broker_that_is_disconnected_for_a_while(proxied, sink):
    broker, proxy = proxied
    broker.create("cut", 2)
    one = sink(broker.servers, "cut", options={"reconnect.backoff.max.ms": 100})
    one.write(rows(*range(50)))
    one.snapshot(1)
    proxy.disconnect()
    one.write(rows(*range(50, 100)))
    proxy.connect()
    one.snapshot(2)
    one.close()
    numbers = [int(record.value().split(b":")[0]) for record in messages_in(broker, "cut", 2)]
    assert sorted(numbers) == list(range(100))


def test_no_row_is_lost_if_the_queue_is_full(broker, empty, sink):
    one = sink(broker.servers, empty, options={"queue.buffering.max.messages": 10})
    one.write(rows(*range(1_000)))
    one.snapshot(1)
    one.close()
    assert len(messages_in(broker, empty, 2)) == 1_000


def test_a_topic_that_does_not_exist_is_refused_by_the_sink(broker, empty):
    KafkaOutput(broker.servers, empty, SCHEMA, message_of).prepare()
    with pytest.raises(ConnectorError, match=r"topic missing at .*expected a topic that exists.*create it"):
        KafkaOutput(broker.servers, "missing", SCHEMA, message_of).prepare()


def test_an_error_of_the_client_or_the_serializer_names_the_topic_and_the_fix(broker, empty, sink):
    small = sink(
        broker.servers, empty, lambda row: KafkaMessage(bytes(5_000)), options={"message.max.bytes": 1_000}
    )
    with pytest.raises(ValueRefusedError, match=r"5,000 bytes.*MSG_SIZE_TOO_LARGE.*write smaller messages"):
        small.write(rows(1))
    with pytest.raises(ConnectorError, match="the serializer failed: ZeroDivisionError"):
        sink(broker.servers, empty, lambda row: 1 // 0).write(rows(1))
    with pytest.raises(ConnectorError, match=r"the client refuses a setting.*correct `options`"):
        sink(broker.servers, empty, options={"no.such.setting": 1}).write(rows(1))


@pytest.mark.parametrize(
    ("wrong", "expected"),
    [
        ({"topic": ""}, "takes a topic"),
        ({"patience_seconds": 0}, "at least 1"),
        ({"options": {"acks": "1"}}, "sets acks itself"),
        ({"options": {"transactional.id": "mine"}}, "sets transactional.id itself"),
    ],
)
def test_a_declaration_that_cannot_work_is_refused(wrong, expected):
    given = {"servers": "127.0.0.1:1", "topic": "t", "schema": SCHEMA, "serializer": message_of}
    with pytest.raises(ConfigError, match=expected):
        KafkaOutput(**(given | wrong))


def test_a_declaration_shows_no_secret():
    output = KafkaOutput("127.0.0.1:1", "t", SCHEMA, message_of, options={"sasl.password": "geheim"})
    assert "geheim" not in repr(output)
