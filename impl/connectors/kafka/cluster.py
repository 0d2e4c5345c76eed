"""Requests to the brokers about topics and offsets. Each call waits for the answer."""

from collections import deque
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import Future
from typing import Any, Final, NamedTuple

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicCollection, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec

from impl.connectors.errors import SourceError
from impl.connectors.kafka.declaration import KafkaInput, Partition
from impl.connectors.retries import Answer

ANSWER_SECONDS: Final = 10.0
"""The time limit of a request, in seconds."""


class Topic(NamedTuple):
    """A topic. A topic that was deleted and created anew has another id."""

    id: str
    partitions: int


class Bounds(NamedTuple):
    """The lowest offset that a partition holds, and the offset of the next record that is written to it."""

    low: int
    high: int


def made(client: Callable[[dict[str, Any]], Answer], settings: dict[str, Any]) -> Answer:
    """A new client with these settings. Raises SourceError if librdkafka refuses a setting."""
    try:
        return client(settings)
    except KafkaException as refused:
        raise SourceError(f"the client refuses a setting: {refused}; correct `options`") from refused


class Cluster:
    """The brokers of a declaration. May be used by any thread."""

    def __init__(self, declaration: KafkaInput) -> None:
        self._declaration = declaration
        self._errors: deque[KafkaError] = deque(maxlen=1)
        self._admin = made(AdminClient, {**declaration.settings(), "error_cb": self._errors.append})

    def topics(self) -> dict[str, Topic]:
        """The topics of the declaration that exist. Raises SourceError if no broker answers."""
        names = self._declaration.names(lambda: list(self._list_topics()))
        found: dict[str, Topic] = {}
        if not names:
            return found
        described = self._admin.describe_topics(TopicCollection(names), request_timeout=ANSWER_SECONDS)
        for name, answer in described.items():
            topic = self._answer(answer, "the description of a topic", KafkaError.UNKNOWN_TOPIC_OR_PART)
            if topic is not None:
                found[name] = Topic(str(topic.topic_id), len(topic.partitions))
        return found

    def listed(self, partitions: Collection[Partition]) -> dict[Partition, Bounds]:
        """The bounds that the brokers list. `high` may be too low: see `KafkaReader.bounds`."""
        ends = []
        for spec in (OffsetSpec.earliest(), OffsetSpec.latest()):
            requested = {TopicPartition(*one): spec for one in partitions}
            listed = self._admin.list_offsets(requested, request_timeout=ANSWER_SECONDS) if requested else {}
            ends.append(
                {
                    (where.topic, where.partition): self._answer(answer, "its offsets").offset
                    for where, answer in listed.items()
                }
            )
        low, high = ends
        return {one: Bounds(low[one], high[one]) for one in partitions}

    def committed(self, consumer: Consumer, partitions: Collection[Partition]) -> Mapping[Partition, int]:
        """The committed offsets of the consumer's group, for the partitions that have one."""
        requested = [TopicPartition(*one) for one in partitions]
        try:
            answers = consumer.committed(requested, timeout=ANSWER_SECONDS)
        except KafkaException as failed:
            raise self._error("the committed offsets", failed) from failed
        return {(one.topic, one.partition): one.offset for one in answers if one.offset >= 0}

    def close(self) -> None:
        """Close the client. An open client tries to connect again and again."""
        self._admin.__exit__(None, None, None)

    def _list_topics(self) -> Collection[str]:
        try:
            names: Collection[str] = self._admin.list_topics(timeout=ANSWER_SECONDS).topics
        except KafkaException as failed:
            raise self._error("the list of topics", failed) from failed
        return names

    def _answer(self, answer: "Future[Any]", what: str, absent: int | None = None) -> Any:  # noqa: ANN401
        """Wait for an answer and return it; None for the error code `absent`. Raises SourceError.

        `what`: the requested thing, for the message.
        """
        try:
            return answer.result(2 * ANSWER_SECONDS)
        except (KafkaException, TimeoutError) as failed:
            if isinstance(failed, KafkaException) and failed.args[0].code() == absent:
                return None
            raise self._error(what, failed) from failed

    def _error(self, what: str, failed: Exception) -> SourceError:
        seen = "".join(f"; the client has reported {error}" for error in self._errors)
        return SourceError(
            f"{self._declaration.servers}: expected {what}, got {failed}{seen}; start the brokers, or "
            "correct `servers` and `options`"
        )
