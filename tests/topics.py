"""Reads the topics of a test's broker as any other reader does."""

from typing import TYPE_CHECKING

from conformance.torture.brokers.broker import Broker
from tests.waiting import until

if TYPE_CHECKING:
    from confluent_kafka import Message


def messages_in(broker: Broker, topic: str, partitions: int) -> list["Message"]:
    """All messages of a topic, up to the end of each partition. The ends that Tansu lists are too low."""
    from confluent_kafka import Consumer, KafkaError, TopicPartition

    settings = {"bootstrap.servers": f"127.0.0.1:{broker.port}", "group.id": "tests"}
    consumer = Consumer({**settings, "enable.partition.eof": True})
    consumer.assign([TopicPartition(topic, number, 0) for number in range(partitions)])
    found: list[Message] = []
    ended: set[int] = set()

    def at_the_end() -> bool:
        for one in consumer.consume(1_000, 0.1):
            if one.error() is None:
                found.append(one)
            elif one.error().code() == KafkaError._PARTITION_EOF:
                ended.add(one.partition())
        return len(ended) == partitions

    try:
        until(at_the_end)
    finally:
        consumer.close()
    return found
