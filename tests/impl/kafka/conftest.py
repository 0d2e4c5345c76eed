"""Brokers of this test process, and a source of one subtask that reads them, without Spark."""

import itertools

import pytest

from conformance.torture.brokers.broker import Broker
from conformance.torture.brokers.proxy import BrokerProxy
from impl.connectors.kafka.declaration import KafkaEnd, KafkaInput
from impl.spark.worker.kafka_source import KafkaSourceOperator
from impl.state.sections import pack, sections_of
from tests.waiting import until


def values(*numbers):
    return [b"%d" % number for number in numbers]


def number_of(record):
    return (int(record.value),)


class Reading:
    """The subtasks of one source. The fixture closes them at the end of a test."""

    def __init__(self):
        self._open = []

    def begin(self, declaration, *, of=1, before=()):
        """Starts `of` subtasks, which restore the snapshots `before`."""
        begun = [KafkaSourceOperator(declaration, (index, of), before, 1_000, None) for index in range(of)]
        self._open += begun
        return begun

    def close(self):
        for one in self._open:
            one.close()


@pytest.fixture(scope="module")
def broker():
    with Broker() as running:
        yield running


@pytest.fixture
def proxied():
    """A broker behind a proxy, which this test may freeze and kill."""
    with BrokerProxy() as proxy, Broker(advertised=proxy.port) as running:
        proxy.target = running.port
        yield running, proxy


@pytest.fixture
def reading():
    subtasks = Reading()
    yield subtasks
    subtasks.close()


_TOPICS = itertools.count(1)


@pytest.fixture
def topic(broker):
    """A topic of three partitions, with the numbers from 0 to 299."""
    name = f"numbers-{next(_TOPICS)}"
    broker.create(name, 3)
    broker.produce(name, values(*range(300)), 3)
    return name


def source(broker, topic, **options):
    return KafkaInput(broker.servers, topic, number_of, **{"until": KafkaEnd.LATEST, **options})


def rest_of(subtask):
    """All rows that a bounded source has not read yet."""
    found = []
    while (rows := subtask.read()) is not None:
        found += rows
    return sorted(number for (number,) in found)


def some_of(subtask, least):
    """The rows that a source reads until there are at least `least`."""
    found = []

    def enough():
        found.extend(subtask.read() or ())
        return len(found) >= least

    until(enough)
    return sorted(number for (number,) in found)


def snapshot_of(subtask, checkpoint):
    return sections_of(pack(subtask.snapshot(checkpoint)()), f"chk-{checkpoint}")
