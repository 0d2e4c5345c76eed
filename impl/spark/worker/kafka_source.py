"""The operator of a Kafka source: it reads partitions, takes snapshots of its positions, and commits offsets.

The core's `OffsetCommitter` decides which offsets the operator commits (OFFSET-01 to OFFSET-07). A restore
continues at the offsets of the checkpoint, not at the offsets that the group has committed. A *discovery* is
a request for the list of topics, which a thread sends at an interval. It detects new partitions, and topics
that were deleted or created anew.
"""

import time
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Final, NamedTuple, assert_never

from impl.batches import Rows
from impl.connectors.errors import OffsetsLostError, SourceChangedError, SourceError
from impl.connectors.kafka.cluster import Bounds, Cluster, Topic
from impl.connectors.kafka.declaration import KafkaEnd, KafkaInput, KafkaRecord, KafkaStart, Partition
from impl.connectors.kafka.reader import REMEDY, KafkaReader, Position
from impl.connectors.retries import patiently
from impl.core import OffsetCommitter
from impl.core.offsets.events import (
    CommitOffsets,
    IgnoreCompletion,
    OffsetsCompleted,
    OffsetsEffect,
    OffsetsEvent,
    RestoreOffsets,
    Seek,
    SnapshotOffsets,
)
from impl.core.sink.events import CheckpointAborted, Crash
from impl.eventlog import EventLog, Recorded
from impl.graph.rescaling import SPLITS, splits_in
from impl.spark.worker.sources import SourceOperator
from impl.state import AsynchronousPart, Sections, StateError, encode
from impl.state.shared import SharedFiles

_START_SECONDS: Final = 30.0
"""If the brokers do not answer, each request at the start is repeated for this time, in seconds."""
_IDLE_SECONDS: Final = 0.01
_SPLITS: Final = 0
"""A snapshot stores this number instead of the number of splits, because new partitions may appear."""
_MISSED_LISTS: Final = 3
_MISSED_SECONDS: Final = 1.0
"""A topic is lost if `_MISSED_LISTS` successive lists, requested at this interval, do not have it. One list
is not enough, because a broker that has just started may not list a topic yet."""


class Discovery(NamedTuple):
    """The result of a discovery."""

    began: float
    """The time of the request, by the monotonic clock."""
    topics: Mapping[str, Topic]
    low: Mapping[Partition, int]
    """The lowest offset of each new partition."""


class KafkaSourceOperator(SourceOperator):
    """Reads the partitions of one subtask. `before`: the snapshots of all subtasks that are restored.

    Raises SourceError if the brokers do not answer or a topic does not exist, OffsetsLostError if the records
    at a position do not exist any more, SourceChangedError if `topics` no longer names a restored topic.
    """

    def __init__(
        self,
        declaration: KafkaInput,
        subtask: tuple[int, int],
        before: Sequence[Sections],
        batch_rows: int,
        log: EventLog | None,
    ) -> None:
        self._index, self._parallelism = subtask
        rate = declaration.rows_per_second
        super().__init__(rate / self._parallelism if rate else None, batch_rows)
        self._declaration = declaration
        self._committer = OffsetCommitter()
        self._recorded: Recorded[OffsetsEvent, OffsetsEffect] = Recorded("offsets", self._committer, log)
        self._stored: dict[int, dict[Partition, int]] = {}
        """Maps each pending checkpoint to the offset of each partition."""
        self._cluster = Cluster(declaration)
        self._reader = KafkaReader(declaration, self._cluster)
        self._discoverer = ThreadPoolExecutor(1, thread_name_prefix="topics")
        self._discovery: Future[Discovery] | None = None
        self._next_discovery = time.monotonic() + declaration.discovery_seconds
        self._missed = 0
        self._idle_until = 0.0
        self._ended_at: float | None = None
        self._same_at_end = False
        self._is_closed = False
        try:
            self._start(_positions_in(before), restored=bool(before))
        except BaseException:
            self.close()
            raise

    @property
    def offset(self) -> int:
        """The number of records of its partitions that were read, including those before a restore."""
        return sum(position.records for position in self._reader.positions.values())

    def pause(self, now: float) -> float:
        """The seconds until the rate allows the next batch and the next poll for records is due."""
        return max(super().pause(now), self._idle_until - now)

    def read_next(self, most: int) -> tuple[int, Rows] | None:
        """The records that have arrived, and their number; None when all partitions have ended.

        Before the end, a discovery must have found the same topics.
        """
        now = time.monotonic()
        self._discover(now)
        records = self._reader.read(most)
        if not records:
            self._idle_until = now + _IDLE_SECONDS
            return None if self._has_ended(now) else (0, [])
        make = self._declaration.deserializer
        if make is None:
            return len(records), records
        return len(records), [row for row in (self._row(record) for record in records) if row is not None]

    def snapshot(self, checkpoint: int, alone: SharedFiles | None = None) -> AsynchronousPart:
        """A snapshot of the positions. Their offsets are kept until the checkpoint is complete."""
        positions = self._reader.snapshot()
        self._step(SnapshotOffsets(checkpoint, self.offset))
        self._stored[checkpoint] = {one: position.offset for one, position in positions.items()}
        encoded = encode((_SPLITS, positions))
        return lambda: {SPLITS: encoded}

    def notify_complete(self, checkpoint: int) -> None:
        """Commit the offsets of the checkpoint to the group, if there is one."""
        self._step(OffsetsCompleted(checkpoint))

    def notify_abort(self, checkpoint: int) -> None:
        """Commit nothing (OFFSET-05)."""
        self._step(CheckpointAborted(checkpoint))

    def close(self) -> None:
        """Close the connections to the brokers. A second call does nothing."""
        if not self._is_closed:
            self._is_closed = True
            self._discoverer.submit(self._cluster.close)  # runs after a discovery that has begun
            self._discoverer.shutdown(wait=False)
            self._reader.close()

    # ------------------------------------------------------------ the core

    def _step(self, event: OffsetsEvent) -> None:
        for effect in self._recorded.handle(event):
            match effect:
                case CommitOffsets(checkpoint):
                    if self._declaration.group is not None:
                        self._reader.commit(self._stored[checkpoint])
                    self._stored = {one: kept for one, kept in self._stored.items() if one > checkpoint}
                case IgnoreCompletion():
                    pass
                case Seek():
                    pass  # nothing to do: the caller begins at the restored positions
                case _:
                    assert_never(effect)
        remembered = {one for one, _ in self._committer.observe()["remembered"]}
        self._stored = {one: kept for one, kept in self._stored.items() if one in remembered}

    # ------------------------------------------------------------ the start

    def _start(self, restored_positions: Mapping[Partition, Position], *, restored: bool) -> None:
        topics = patiently(lambda: self._all_topics(restored_positions), _START_SECONDS, SourceError)
        own = {one: at for one, at in restored_positions.items() if self._owns(one)}
        _require_same(topics, own)
        new = [one for one in _partitions_of(topics) if self._owns(one) and one not in own]
        new = [one for one in new if self._declaration.includes(one)]
        bounds = patiently(lambda: self._reader.bounds([*own, *new]), _START_SECONDS, SourceError)
        start = KafkaStart.EARLIEST if restored else self._declaration.start
        offsets = self._offsets(start, new, bounds)
        first = {one: Position(topics[one[0]].id, offsets[one]) for one in new}
        for one, position in {**own, **first}.items():
            position.end = self._end_of(one, position.offset, bounds[one].high)
            if one in first or not position.has_ended:
                _require_offset(one, position, bounds[one])
        own |= first
        if restored:
            self._step(Crash())
            self._step(RestoreOffsets(sum(position.records for position in own.values())))
        self._reader.begin(own)

    def _all_topics(self, restored: Collection[Partition]) -> dict[str, Topic]:
        """The topics of the brokers, by name. Raises SourceError if a declared topic is missing.

        Raises OffsetsLostError if a topic of the checkpoint is missing, SourceChangedError if the declaration
        does not name a topic of the checkpoint any more.
        """
        topics = self._cluster.topics()
        named = self._declaration.topics if isinstance(self._declaration.topics, tuple) else ()
        positions = {topic for topic, _ in restored}
        undeclared = positions - set(self._declaration.names(lambda: list(positions)))
        if undeclared:
            raise SourceChangedError(
                f"the checkpoint has positions in the topics {sorted(undeclared)}, which `topics` does not "
                "name; name them again, or start the job without the checkpoint"
            )
        missing = sorted({*named, *positions} - set(topics))
        if not missing:
            return topics
        if positions.intersection(missing):
            raise OffsetsLostError(f"the topics {missing} of the checkpoint do not exist; {REMEDY}")
        raise SourceError(f"the topics {missing} do not exist; create them, or correct `topics`")

    def _offsets(
        self,
        start: KafkaStart | Mapping[Partition, int],
        partitions: Collection[Partition],
        bounds: Mapping[Partition, Bounds],
    ) -> dict[Partition, int]:
        """The first offset to read in each partition. Raises SourceError if a committed offset is missing."""
        earliest = {one: bounds[one].low for one in partitions}
        latest = {one: bounds[one].high for one in partitions}
        if isinstance(start, Mapping):
            return {one: start.get(one, earliest[one]) for one in partitions}
        if start is KafkaStart.EARLIEST or not partitions:
            return earliest
        if start is KafkaStart.LATEST:
            return latest
        committed = patiently(lambda: self._reader.committed(partitions), _START_SECONDS, SourceError)
        without = sorted(set(partitions) - set(committed))
        if without and start is KafkaStart.COMMITTED:
            raise SourceError(
                f"group {self._declaration.group!r} has committed no offset of {without}; start at "
                "COMMITTED_OR_EARLIEST or COMMITTED_OR_LATEST, or name another group"
            )
        otherwise = latest if start is KafkaStart.COMMITTED_OR_LATEST else earliest
        return {**otherwise, **committed}

    def _end_of(self, partition: Partition, offset: int, high: int) -> int | None:
        """The offset at which a partition ends; None: never. `high`: the offset after its newest record.

        If the declaration states ends without this partition, it has ended at `offset`, its current position.
        The position stays in the snapshots.
        """
        until = self._declaration.until
        if isinstance(until, Mapping):
            return until.get(partition, offset)
        return high if until is KafkaEnd.LATEST else None

    def _owns(self, partition: Partition) -> bool:
        return self._declaration.owner(partition, self._parallelism) == self._index

    # ------------------------------------------------------------ while it runs

    def _discover(self, now: float) -> None:
        """Take the result of a discovery, and begin the next one when it is due."""
        if self._discovery is None:
            if now >= self._next_discovery:
                known = frozenset(self._reader.positions)
                self._discovery = self._discoverer.submit(self._discovered, known)
            return
        if not self._discovery.done():
            return
        done, self._discovery = self._discovery, None
        self._next_discovery = now + self._declaration.discovery_seconds
        try:
            found = done.result()
        except SourceError:
            return  # no broker has answered; the next discovery follows
        gone = {topic for topic, _ in self._reader.positions} - set(found.topics)
        self._missed = self._missed + 1 if gone else 0
        if self._missed >= _MISSED_LISTS:
            raise OffsetsLostError(f"the topics {sorted(gone)} no longer exist; {REMEDY}")
        _require_same(found.topics, self._reader.positions)
        begun = {
            one: Position(found.topics[one[0]].id, low, self._end_of(one, low, low))
            for one, low in found.low.items()
        }
        if begun:
            self._reader.begin(begun)
        if self._ended_at is not None and not gone and found.began >= self._ended_at:
            self._same_at_end = True
        elif self._missed:
            self._next_discovery = min(self._next_discovery, now + _MISSED_SECONDS)

    def _discovered(self, known: Collection[Partition]) -> Discovery:
        """Make a discovery. `known`: the partitions that are not new. Runs in the discovery thread."""
        began = time.monotonic()
        topics = self._cluster.topics()
        new: list[Partition] = []
        if self._declaration.until is not KafkaEnd.LATEST:
            new = [one for one in _partitions_of(topics) if one not in known and self._owns(one)]
            new = [one for one in new if self._declaration.includes(one)]
        return Discovery(began, topics, {one: at.low for one, at in self._cluster.listed(new).items()})

    def _has_ended(self, now: float) -> bool:
        """Whether all partitions have ended, and a discovery after the last record has found their topics."""
        until, positions = self._declaration.until, self._reader.positions
        if until is KafkaEnd.NEVER or not all(one.has_ended for one in positions.values()):
            return False
        if isinstance(until, Mapping) and any(self._owns(one) and one not in positions for one in until):
            return False
        if not positions:
            return True
        if self._ended_at is None:
            self._ended_at = now
        if self._discovery is None and not self._missed:
            self._next_discovery = now
        return self._same_at_end

    def _row(self, record: KafkaRecord) -> tuple[object, ...] | None:
        assert self._declaration.deserializer is not None
        try:
            return self._declaration.deserializer(record)
        except Exception as failed:
            raise SourceError(
                f"the deserializer failed on offset {record.offset} of partition {record.partition} of topic "
                f"{record.topic!r}: {failed!r}; correct it, or return None to leave the record out"
            ) from failed


def _positions_in(before: Sequence[Sections]) -> dict[Partition, Position]:
    """The positions of all subtasks in the snapshots of a checkpoint."""
    found: dict[Partition, Position] = {}
    for snapshot in before:
        splits, own = splits_in(snapshot)
        if splits != _SPLITS:
            raise StateError(f"{snapshot.file}: expected positions in topics, got {splits} splits")
        found |= own  # type: ignore[arg-type]  # the keys of this source are partitions
    return found


def _partitions_of(topics: Mapping[str, Topic]) -> list[Partition]:
    return [(name, number) for name, topic in topics.items() for number in range(topic.partitions)]


def _require_same(topics: Mapping[str, Topic], positions: Mapping[Partition, Position]) -> None:
    """Raise OffsetsLostError if a topic was created anew, because its offsets now mean other records."""
    for (name, number), position in positions.items():
        if name in topics and topics[name].id != position.topic_id:
            raise OffsetsLostError(
                f"topic {name!r} was created anew: expected the id {position.topic_id}, got "
                f"{topics[name].id}; offset {position.offset} of its partition {number} now belongs to "
                f"another record; {REMEDY}"
            )


def _require_offset(partition: Partition, position: Position, bounds: Bounds) -> None:
    """Raise OffsetsLostError unless the broker has the record at a position, or will have it next."""
    if bounds.low <= position.offset <= bounds.high:
        return
    topic, number = partition
    raise OffsetsLostError(
        f"the job must read partition {number} of topic {topic!r} from offset {position.offset}, but the "
        f"broker has the offsets from {bounds.low} to {bounds.high}: records were lost, or deleted before "
        f"the job has read them; {REMEDY}"
    )
