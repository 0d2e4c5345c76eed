"""The Kafka broker of a campaign. Faults freeze, disconnect and kill it while a round's job reads from it."""

import random
import threading
from collections import Counter
from collections.abc import Callable
from enum import StrEnum
from typing import Final, Self

from conformance.torture.brokers.broker import Broker
from conformance.torture.brokers.proxy import BrokerProxy
from conformance.torture.rounds import Round
from conformance.torture.servers.object_server import BUCKET, ObjectServer
from impl.connectors.kafka.declaration import KafkaInput, KafkaStart
from impl.jobs.numbers import SOURCES, row_of

_PAUSE_SECONDS: Final = (0.2, 1.5)
"""Minimum and maximum time in seconds from the end of a fault to the next one."""
_FAULT_SECONDS: Final = (0.05, 0.8)
"""Minimum and maximum duration of a fault in seconds."""
_RECONNECT_MS: Final = 100
GROUP: Final = "torture"


class BrokerFault(StrEnum):
    """The kinds of faults."""

    FROZEN = "frozen"
    DISCONNECTED = "disconnected"
    KILLED = "killed"


class FaultyBroker:
    """A broker behind a proxy. It keeps its topics in a separate object store, so that it can be killed.

    As a context manager it is stopped at the end of the block.
    """

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._store = ObjectServer()
        self._proxy = BrokerProxy()
        environment = {**self._store.environment, "AWS_ENDPOINT": self._store.endpoint}
        self._broker = Broker(f"s3://{BUCKET}/", environment, self._proxy.port)
        self._proxy.target = self._broker.port
        self._faults: dict[BrokerFault, tuple[Callable[[], None], Callable[[], None]]] = {
            BrokerFault.FROZEN: (self._broker.freeze, self._broker.thaw),
            BrokerFault.DISCONNECTED: (self._proxy.disconnect, self._proxy.connect),
            BrokerFault.KILLED: (self._broker.stop, self._broker.start),
        }
        self._over = threading.Event()
        self._thread: threading.Thread | None = None
        self._happened: Counter[str] = Counter()
        self._topics = 0

    @property
    def pids(self) -> tuple[int, ...]:
        """The processes of the broker and of its store."""
        return self._broker.pid, self._store.pid

    def begin(self, planned: Round) -> KafkaInput:
        """Fill a new topic, start the faults, and return the source of the round.

        Partition p has the numbers p, p + SOURCES, ..., and subtask p reads it. Raises BrokerNotFoundError if
        the broker does not acknowledge them.
        """
        ends = dict[tuple[str, int], int]()
        while not ends:  # the name of a topic decides which subtask reads partition 0
            self._topics += 1
            topic = f"{planned.name}-{self._topics}"
            everything = KafkaInput(self._broker.servers, topic)
            if everything.owner((topic, 0), SOURCES) == 0:
                ends = {(topic, one): len(range(one, planned.rows, SOURCES)) for one in range(SOURCES)}
        self._broker.create(topic, SOURCES)
        self._broker.produce(topic, (b"%d" % number for number in range(planned.rows)), SOURCES)
        self._over.clear()
        self._happened.clear()
        draw = random.Random(f"{self._seed} {planned.name}")
        self._thread = threading.Thread(target=self._disturb, args=(draw,), name="faults of the broker")
        self._thread.start()
        return KafkaInput(
            self._broker.servers,
            topic,
            row_of,
            group=GROUP,
            start=KafkaStart.EARLIEST,
            until=ends,
            rows_per_second=planned.rows_per_second,
            discovery_seconds=1.0,
            options={"reconnect.backoff.max.ms": _RECONNECT_MS},
        )

    def judging(self) -> Counter[str]:
        """End the faults of the round. Returns their number by kind."""
        self._over.set()
        if self._thread is not None:
            self._thread.join()
        self._thread = None
        return Counter(self._happened)

    def _disturb(self, draw: random.Random) -> None:
        while not self._over.wait(draw.uniform(*_PAUSE_SECONDS)):
            fault = draw.choice(list(BrokerFault))
            begin, end = self._faults[fault]
            begin()
            self._happened[fault.value] += 1
            self._over.wait(draw.uniform(*_FAULT_SECONDS))
            end()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.judging()
        self._broker.stop()
        self._proxy.stop()
        self._store.stop()
