"""The declaration of a Kafka source."""

import importlib.util
import re
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Final, NamedTuple, TypeAlias

from impl.config import ConfigError

Partition: TypeAlias = tuple[str, int]
"""A topic, and the number of its partition."""


class KafkaRecord(NamedTuple):
    """One record as the broker stores it."""

    topic: str
    partition: int
    offset: int
    timestamp_ms: int | None
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...]


class KafkaStart(StrEnum):
    """The position at which the source begins to read a partition, if no checkpoint has a position in it."""

    EARLIEST = "earliest"
    LATEST = "latest"
    COMMITTED = "committed"
    """At the offset that the group has committed; without one the job fails."""
    COMMITTED_OR_EARLIEST = "committed-or-earliest"
    COMMITTED_OR_LATEST = "committed-or-latest"


class KafkaEnd(StrEnum):
    """The position at which the job stops reading a partition."""

    NEVER = "never"
    LATEST = "latest"
    """At the end that the partition has when the attempt starts."""


Deserializer: TypeAlias = Callable[[KafkaRecord], "tuple[Any, ...] | None"]
"""Makes the row of a record; None leaves the record out."""

_FIXED_SETTINGS: Final[Mapping[str, object]] = MappingProxyType(
    {
        "enable.auto.commit": False,  # only a completed checkpoint commits (OFFSET-01)
        "enable.auto.offset.store": False,
        "enable.partition.eof": True,
        "auto.offset.reset": "error",  # a lost offset is an error
        "allow.auto.create.topics": False,
    }
)
_REFUSED_SETTINGS: Final = frozenset(
    {"bootstrap.servers", "metadata.broker.list", "group.id", "default.topic.config"}
)
"""Other settings that `options` may not have: other fields set them, or they override `_FIXED_SETTINGS`."""
_NO_GROUP: Final = "barrierspec"
"""The group if the declaration has none, because a consumer requires one; no offset is committed to it."""


@dataclass(frozen=True, slots=True)
class KafkaInput:
    """Topics of the Kafka protocol as the source of a job.

    `servers`: host:port, or several of them with commas. `topics`: their names, or a regular expression that
    begins with `^`. `deserializer`: None makes each `KafkaRecord` a row. `group`: the consumer group to which
    the source commits the offsets of each completed checkpoint; None: it commits no offsets. `start`: the
    first position in each partition that exists when the job starts. It may be a mapping from partitions to
    offsets; a partition without an entry begins at its earliest offset, as does a partition that appears
    later. `until`: a mapping has the offset before which each partition ends; the source does not read a
    partition without an entry. `discovery_seconds`: the interval between two requests for the topics.
    `options`: further settings of librdkafka, such as those of TLS and SASL.

    Raises ConfigError for a declaration that cannot work.
    """

    servers: str
    topics: tuple[str, ...] | str
    deserializer: Deserializer | None = None
    group: str | None = None
    start: KafkaStart | Mapping[Partition, int] = KafkaStart.EARLIEST
    until: KafkaEnd | Mapping[Partition, int] = KafkaEnd.NEVER
    rows_per_second: float | None = None
    discovery_seconds: float = 10.0
    options: Mapping[str, str | int | float | bool] = field(default_factory=dict, repr=False)  # secrets

    def __post_init__(self) -> None:
        if importlib.util.find_spec("confluent_kafka") is None:
            raise ConfigError("a KafkaInput needs confluent-kafka: pip install 'barrierspec[kafka]'")
        if not self.topics:
            raise ConfigError("a KafkaInput needs at least one topic, got none; name a topic in `topics`")
        if isinstance(self.topics, str) and not self.topics.startswith("^"):
            object.__setattr__(self, "topics", (self.topics,))
        committed = isinstance(self.start, KafkaStart) and self.start.startswith("committed")
        if committed and self.group is None:
            raise ConfigError(f"start {self.start} needs a group that has committed offsets; set `group`")
        own = sorted({*_FIXED_SETTINGS, *_REFUSED_SETTINGS} & set(self.options))
        if own:
            raise ConfigError(f"the source sets {', '.join(own)} itself; leave it out of `options`")
        for name, value in self.options.items():
            if not isinstance(value, str | int | float | bool):
                raise ConfigError(f"options[{name!r}] takes a text or a number, not a {type(value).__name__}")
        for name, number in (
            ("discovery_seconds", self.discovery_seconds),
            ("rows_per_second", self.rows_per_second),
        ):
            if number is not None and number <= 0:
                raise ConfigError(f"{name} takes more than 0, not {number}")
        for name, offsets in (("start", self.start), ("until", self.until)):
            for topic, _ in offsets if isinstance(offsets, Mapping) else ():
                if isinstance(self.topics, tuple) and topic not in self.topics:
                    raise ConfigError(
                        f"{name} names {topic!r}, which is not in `topics`; correct one of them"
                    )

    def settings(self) -> dict[str, Any]:
        """The settings of a client, for librdkafka."""
        return {"bootstrap.servers": self.servers, **self.options}

    def consumer_settings(self) -> dict[str, Any]:
        """The settings of a consumer."""
        return {
            "fetch.wait.max.ms": 100,
            **self.settings(),
            "group.id": self.group or _NO_GROUP,
            **_FIXED_SETTINGS,
        }

    def names(self, list_topics: Callable[[], list[str]]) -> list[str]:
        """The names of the topics. `list_topics`: returns the brokers' topics; it is called for a pattern."""
        if isinstance(self.topics, tuple):
            return list(self.topics)
        return [name for name in list_topics() if re.match(self.topics, name)]

    def owner(self, partition: Partition, parallelism: int) -> int:
        """The index of the subtask, of `parallelism`, that reads the partition.

        Partitions of a topic go to the subtasks in turn. The topic's name determines the first subtask.
        """
        topic, number = partition
        return (zlib.crc32(topic.encode()) + number) % parallelism

    def includes(self, partition: Partition) -> bool:
        """Whether the source reads the partition: always, unless `until` is a mapping without it."""
        return not isinstance(self.until, Mapping) or partition in self.until
