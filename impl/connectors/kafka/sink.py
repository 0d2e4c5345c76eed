"""A sink that writes a topic of the Kafka protocol, at least once.

It uses no transactions of the broker. It sends each row when it gets the row, and readers see it at once. A
pre-commit waits until the brokers have acknowledged every row that was written before it. So when the sink
acknowledges its snapshot, no row before the barrier can be lost (SINK-02). A commit has no effect.
After a failure the sink writes the rows since the restored checkpoint again, and readers see these rows
twice. No method can remove a row that was sent.
"""

import importlib.util
from collections import deque
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import pyarrow as pa

from impl.config import ConfigError
from impl.connectors.errors import ConnectorError, ServerLostError, ValueRefusedError
from impl.connectors.output_claims import Claim
from impl.connectors.two_phase import SinkContext

if TYPE_CHECKING:
    from confluent_kafka import KafkaError, Producer

_FIXED_SETTINGS: Final[Mapping[str, object]] = MappingProxyType(
    {
        "acks": "all",
        "enable.idempotence": True,  # a repeated request neither duplicates nor reorders rows
        "delivery.report.only.error": True,
    }
)
_REFUSED_SETTINGS: Final = frozenset(
    {
        "bootstrap.servers",
        "metadata.broker.list",
        "transactional.id",
        "request.required.acks",
        "delivery.timeout.ms",
        "message.timeout.ms",
    }
)
"""Other settings that `options` may not have: other fields set them, or they override `_FIXED_SETTINGS`."""
_DEFAULTS: Final[Mapping[str, object]] = MappingProxyType(
    {
        "linger.ms": 5,
        "partitioner": "murmur2_random",  # the partitioner of Kafka's Java client
        "queue.buffering.max.kbytes": 65_536,
    }
)
_ANSWER_SECONDS: Final = 10.0
_POLL_SECONDS: Final = 0.1


class KafkaMessage(NamedTuple):
    """One message for the brokers. Messages with the same key are in one partition."""

    value: bytes | None
    key: bytes | None = None
    headers: tuple[tuple[str, bytes | None], ...] = ()


Serializer = Callable[[tuple[Any, ...]], KafkaMessage]
"""Makes the message of a row."""


@dataclass(frozen=True, slots=True)
class AcknowledgedRows:
    """The receipt of a pre-commit: rows that the brokers have acknowledged."""

    rows: int

    @property
    def names(self) -> tuple[str, ...]:
        """No names: no transaction is open at the brokers."""
        return ()


@dataclass(frozen=True, slots=True)
class KafkaOutput:
    """A topic of the Kafka protocol as the sink of a job, which gets every row at least once.

    `servers`: host:port, or several of them with commas. `topic`: the name of a topic that exists. `schema`:
    the schema of the rows. `serializer`: makes the message of a row. `patience_seconds`: a row that the
    brokers have not acknowledged within this time fails the attempt. `options`: further settings of
    librdkafka, such as those of TLS and SASL. Raises ConfigError for a declaration that cannot work.
    """

    servers: str
    topic: str
    schema: pa.Schema
    serializer: Serializer
    patience_seconds: float = 120.0
    options: Mapping[str, str | int | float | bool] = field(default_factory=dict, repr=False)  # secrets

    def __post_init__(self) -> None:
        if importlib.util.find_spec("confluent_kafka") is None:
            raise ConfigError("a KafkaOutput needs confluent-kafka: pip install 'barrierspec[kafka]'")
        if not self.topic:
            raise ConfigError("a KafkaOutput takes a topic, got an empty name; name it")
        if self.patience_seconds < 1:
            raise ConfigError(f"patience_seconds takes at least 1, not {self.patience_seconds}")
        own = sorted({*_FIXED_SETTINGS, *_REFUSED_SETTINGS} & set(self.options))
        if own:
            raise ConfigError(f"the sink sets {', '.join(own)} itself; leave it out of `options`")

    @property
    def where(self) -> str:
        """The topic and its brokers."""
        return f"topic {self.topic} at {self.servers}"

    def settings(self) -> dict[str, Any]:
        """The settings of a producer, for librdkafka."""
        timeout = {"delivery.timeout.ms": int(self.patience_seconds * 1_000)}
        return {**_DEFAULTS, "bootstrap.servers": self.servers, **self.options, **timeout, **_FIXED_SETTINGS}

    def open(self, context: SinkContext) -> "KafkaRows":
        """A new participant for one sink subtask."""
        return KafkaRows(self, context)

    def prepare(self) -> None:
        """Raise ConnectorError unless a broker answers that the topic exists."""
        from confluent_kafka import KafkaException, TopicCollection
        from confluent_kafka.admin import AdminClient

        try:
            admin = AdminClient({"bootstrap.servers": self.servers, **self.options})
            described = admin.describe_topics(TopicCollection([self.topic]), request_timeout=_ANSWER_SECONDS)
            described[self.topic].result()
        except KafkaException as refused:
            raise ConnectorError(
                f"{self.where}: expected a topic that exists, got {refused}; create it, or correct `servers` "
                "and `options`"
            ) from refused

    def holds_output(self, job: str) -> bool:
        """Always False: a topic does not record which job has written a message."""
        return False

    def claim(self, claim: Claim) -> tuple[str, ...]:
        """Do nothing: the brokers accept the rows of an older attempt, which are duplicates."""
        return ()

    def sweep(self, lineage: str, attempt: int, keep: Collection[str] = ()) -> tuple[str, ...]:
        """Do nothing: no transaction is open at the brokers."""
        return ()

    def lost(self, names: Collection[str]) -> tuple[str, ...]:
        """No names, because receipts have none."""
        return ()

    def retract(self, lineage: str, checkpoint: int | None, by: Claim | None = None) -> tuple[str, ...]:
        """Do nothing: a message that was sent cannot be removed."""
        return ()


class KafkaRows:
    """The participant of one sink subtask. Its producer connects at the first row."""

    def __init__(self, output: KafkaOutput, context: SinkContext) -> None:
        self._output = output
        self._context = context
        self._producer: Producer | None = None
        self._failures: deque[KafkaError] = deque(maxlen=1)
        self._rows = 0

    def write(self, transaction: int, rows: pa.RecordBatch) -> None:
        """Send rows to the brokers. Waits while the queue of the producer is full.

        Raises ServerLostError if an earlier row was not acknowledged in time, ValueRefusedError for a message
        that the client refuses, and ConnectorError if the serializer fails.
        """
        for row in zip(*(column.to_pylist() for column in rows.columns), strict=True):
            try:
                message = KafkaMessage(*self._output.serializer(row))
            except Exception as failed:
                raise ConnectorError(
                    f"{self._output.where}: the serializer failed: {type(failed).__name__}: {failed}; "
                    "correct it"
                ) from failed
            self._send(message)
        self._rows += rows.num_rows
        self._require_no_failure()

    def pre_commit(self, transaction: int, checkpoint: int) -> AcknowledgedRows:
        """Wait until the brokers have acknowledged every row. Raises ServerLostError if one is not."""
        while self._producer is not None and self._producer.flush(_POLL_SECONDS):
            self._require_no_failure()  # within `patience_seconds` each row is acknowledged or refused
        self._require_no_failure()
        rows, self._rows = self._rows, 0
        return AcknowledgedRows(rows)

    def commit(self, receipt: AcknowledgedRows) -> None:
        """Do nothing, because readers see the rows already."""

    def committed(self, checkpoint: int) -> None:
        """Do nothing, because a topic records no checkpoint."""

    def remnant(self, transaction: int) -> str:
        """A name for the open transaction. The brokers do not know this name."""
        return f"{self._context.subtask}-{self._context.attempt}-{transaction}"

    def abort(self, remnant: str) -> None:
        """Do nothing: rows that were sent cannot be removed. After a restore they are written again."""

    def close(self) -> None:
        """Drop the rows that are not sent yet."""
        if self._producer is not None:
            self._producer.purge(blocking=False)
            self._producer.poll(0)
            self._producer = None

    def _send(self, message: KafkaMessage) -> None:
        from confluent_kafka import KafkaException

        while True:
            producer = self._connected()
            try:
                producer.produce(
                    self._output.topic,
                    value=message.value,
                    key=message.key,
                    headers=[*message.headers] or None,
                    on_delivery=self._note,
                )
            except BufferError:
                producer.poll(_POLL_SECONDS)
                self._require_no_failure()
            except KafkaException as refused:
                raise ValueRefusedError(
                    f"{self._output.where}: the client refuses a message of "
                    f"{len(message.value or b''):,} bytes: {refused}; write smaller messages, or raise "
                    "message.max.bytes in `options` and at the brokers"
                ) from refused
            else:
                producer.poll(0)
                return

    def _connected(self) -> "Producer":
        from confluent_kafka import KafkaException, Producer

        if self._producer is None:
            try:
                self._producer = Producer(self._output.settings())
            except KafkaException as refused:
                raise ConnectorError(
                    f"the client refuses a setting: {refused}; correct `options`"
                ) from refused
        return self._producer

    def _note(self, error: "KafkaError | None", message: object) -> None:
        if error is not None:
            self._failures.append(error)

    def _require_no_failure(self) -> None:
        if self._failures:
            raise ServerLostError(
                f"{self._output.where}: the brokers have not acknowledged a row: {self._failures[0]}; the "
                "job restarts and writes the rows since its checkpoint again"
            )
