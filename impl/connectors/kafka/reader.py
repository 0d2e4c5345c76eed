"""The consumer of one subtask: its partitions, the position in each, and the commits to the group."""

import logging
import threading
import time
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from confluent_kafka import Consumer, KafkaError, Message, TopicPartition

from impl.connectors.errors import OffsetsLostError, SourceError
from impl.connectors.kafka.cluster import ANSWER_SECONDS, Bounds, Cluster, made
from impl.connectors.kafka.declaration import KafkaInput, KafkaRecord, Partition

_LOST: Final = (KafkaError._AUTO_OFFSET_RESET, KafkaError.OFFSET_OUT_OF_RANGE)
_GONE: Final = (
    KafkaError.UNKNOWN_TOPIC_OR_PART,
    KafkaError.UNKNOWN_TOPIC_ID,
    KafkaError._UNKNOWN_TOPIC,
    KafkaError._UNKNOWN_PARTITION,
)
_LAST_COMMIT_SECONDS: Final = 5.0
_LOGGER: Final = logging.getLogger("barrierspec.kafka")


@dataclass(slots=True)
class Position:
    """The position in one partition; snapshots of the source contain it, pickled.

    A restore computes `end` again.
    """

    topic_id: str
    offset: int
    """The offset of the next record to read."""
    end: int | None = None
    """The offset before which the partition ends; None: it has no end."""
    records: int = 0
    """Number of records that were read until now."""

    @property
    def has_ended(self) -> bool:
        """Whether no record is left to read."""
        return self.end is not None and self.offset >= self.end


class KafkaReader:
    """Reads partitions of one or more topics. Used by one thread."""

    def __init__(self, declaration: KafkaInput, cluster: Cluster) -> None:
        self._cluster = cluster
        self._positions: dict[Partition, Position] = {}
        settings = {**declaration.consumer_settings(), "on_commit": self._committed}
        self._group = settings["group.id"]
        self._consumer = made(Consumer, settings)

    @property
    def positions(self) -> Mapping[Partition, Position]:
        """The position in each partition that `begin` has started; the next `read` changes it."""
        return self._positions

    def snapshot(self) -> dict[Partition, Position]:
        """A copy of the current positions."""
        return {one: replace(position) for one, position in self._positions.items()}

    def bounds(self, partitions: Collection[Partition]) -> dict[Partition, Bounds]:
        """The bounds of the partitions; call it before the first `begin`.

        The upper bound comes from a fetch, because some brokers list a lower one: the beginning of the last
        batch. Raises SourceError if no broker answers.
        """
        listed = self._cluster.listed(partitions)
        missing = set(partitions)
        ends: dict[Partition, int] = {}
        self._consumer.assign([TopicPartition(*one, bounds.high) for one, bounds in listed.items()])
        until = time.monotonic() + ANSWER_SECONDS
        while missing and time.monotonic() < until:
            for message in self._consumer.consume(1_000, 0.1):
                where = partition_of(message, self._group)
                if where is not None and _code(message) in (None, KafkaError._PARTITION_EOF):
                    _, ends[where] = self._consumer.get_watermark_offsets(TopicPartition(*where), cached=True)
                    missing.discard(where)
        self._consumer.unassign()
        if missing:
            raise SourceError(f"{sorted(missing)}: the brokers did not send these partitions; start them")
        return {one: Bounds(bounds.low, max(bounds.high, ends[one])) for one, bounds in listed.items()}

    def committed(self, partitions: Collection[Partition]) -> Mapping[Partition, int]:
        """The offsets that the group has committed, of those partitions that have one."""
        return self._cluster.committed(self._consumer, partitions)

    def begin(self, positions: Mapping[Partition, Position]) -> None:
        """Start to read further partitions, from their positions."""
        self._positions |= positions
        read = {one: position for one, position in positions.items() if not position.has_ended}
        self._consumer.incremental_assign([TopicPartition(*one, read[one].offset) for one in read])

    def read(self, most: int) -> list[KafkaRecord]:
        """The records that have arrived, at most `most`; does not wait.

        Raises OffsetsLostError if the broker has no record at a position, SourceError for an error that the
        client does not retry.
        """
        records = []
        for message in self._consumer.consume(most, 0):
            where = partition_of(message, self._group)
            position = None if where is None else self._positions.get(where)
            if where is None or position is None or position.has_ended:
                continue
            offset = message.offset()
            code = _code(message)
            if code is None and offset is not None:
                if position.end is not None and offset >= position.end:
                    position.offset = position.end  # the records before it were deleted or compacted
                elif offset >= position.offset:
                    position.offset = offset + 1
                    position.records += 1
                    records.append(_record(message, where, offset))
            elif code == KafkaError._PARTITION_EOF and offset is not None:
                position.offset = max(position.offset, offset)  # skip the markers of transactions
            else:
                require_retriable(message.error(), where, position.offset)
            if position.has_ended:
                self._consumer.incremental_unassign([TopicPartition(*where)])
        return records

    def commit(self, offsets: Mapping[Partition, int]) -> None:
        """Commit offsets to the group, without waiting. A failure is only logged: newer offsets follow."""
        if not offsets:
            return
        self._consumer.commit(
            offsets=[TopicPartition(*one, offset) for one, offset in offsets.items()], asynchronous=True
        )

    def close(self) -> None:
        """Close the consumer, after a short wait for the answer to the last commit."""
        # `Consumer.close` waits for this answer for up to a minute if the broker hangs
        closing = threading.Thread(target=self._consumer.close, name="kafka close", daemon=True)
        closing.start()
        closing.join(_LAST_COMMIT_SECONDS)

    def _committed(self, error: KafkaError | None, partitions: Iterable[TopicPartition]) -> None:
        failed = [error, *(one.error for one in partitions)]
        for why in filter(None, failed):
            _LOGGER.warning("no offsets were committed to the group: %s; the next checkpoint commits", why)


REMEDY: Final = (
    "restore the records in the broker and resume the job, or start a new job, without the checkpoints, from "
    "an offset that exists"
)


def partition_of(message: Message, group: str) -> Partition | None:
    """The partition of a message; None if the message is an error of the whole client, which retries.

    Raises SourceError for an error of the whole client after which the client does not retry.
    """
    topic, number, error = message.topic(), message.partition(), message.error()
    if topic is not None and number is not None:
        return topic, number
    if error is not None and not error.retriable():
        raise SourceError(
            f"the consumer of group {group!r} cannot go on: {error}; allow the group to this client, or "
            "correct `options`"
        )
    return None


def require_retriable(error: KafkaError | None, where: Partition, offset: int) -> None:
    """Raise OffsetsLostError or SourceError for an error that the client does not retry.

    `offset`: the offset of the next record to read.
    """
    if error is None or error.retriable():
        return
    topic, number = where
    if error.code() in _LOST:
        raise OffsetsLostError(
            f"partition {number} of topic {topic!r} has no record at offset {offset}, the next to read: "
            f"{error.str()}. The broker has lost or deleted records that were not read; {REMEDY}"
        )
    if error.code() in _GONE:
        raise SourceError(  # a broker that is starting may give this error; the next attempt tries longer
            f"partition {number} of topic {topic!r} does not exist now: {error.str()}; create it, or {REMEDY}"
        )
    raise SourceError(
        f"partition {number} of topic {topic!r} cannot be read at offset {offset}: {error}; correct what it "
        "names"
    )


def _code(message: Message) -> int | None:
    error = message.error()
    return None if error is None else error.code()


def _record(message: Message, where: Partition, offset: int) -> KafkaRecord:
    kind, stamp = message.timestamp()
    headers = tuple(message.headers() or ())
    return KafkaRecord(*where, offset, stamp if kind else None, message.key(), message.value(), headers)
