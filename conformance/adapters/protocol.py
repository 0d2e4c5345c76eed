"""The requests of the suite to an implementation under test, and all possible answers.

`Adapter` has a method for each request of the protocol (docs/adapter-protocol.md): `hello`, `new`, `apply`,
`bye`. An adapter never raises because of a fault of the implementation. Each kind of answer has its own type,
so that the suite cannot confuse a crash or a skip with a pass.
"""

import json
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol, runtime_checkable

import orjson

from conformance import escape

Wire = Mapping[str, Any]
"""A configuration, an event, an effect or a state in wire form."""
Effects = Sequence[Wire]
"""The effects of one event, in order."""

OBSERVE, RESTART, CONCURRENT, FIRST_ID = "observe", "restart", "concurrent", "first_id"
"""Capabilities: the durable data can be read; the process may be killed; events may arrive at the same time;
a coordinator has an option for the id of its first checkpoint."""
RESTORED = "restored"
"""The capability of a subtask with an option for the checkpoint from which its task is restored."""
CLEANING = "cleaning"
"""The capability of a coordinator whose deletions do not end until events end them, one by one."""
IO_FAILURES = "io_failures"
"""The capability of a coordinator whose I/O can be made to fail by an event."""
RESTORED_SAVEPOINT = "restored_savepoint"
"""The capability of a coordinator whose job may start from a savepoint, in a claim mode from 1.15 on."""
DESCRIBED = 2_000
"""The maximum number of characters that a line of a report shows of an implementation's text."""
LIMITS = MappingProxyType({"ids": 2**31 - 1, "channels": 1, "milliseconds": 2**31 - 1})
"""For each kind of value: an implementation must accept values up to this number, or up to more."""
PROTOCOL = 1
"""The version of the adapter protocol that this suite uses."""
ANSWER_LIMIT_SECONDS = 5.0
"""The time limit of one answer, if no other is chosen."""


def canonical(wire: object) -> bytes:
    """The JSON text of a value, with sorted keys. Equal values have equal texts; 1, 1.0 and true differ.

    orjson cannot write an int beyond 64 bits or a single surrogate; the standard library writes these.
    """
    try:
        return orjson.dumps(wire, option=orjson.OPT_SORT_KEYS)
    except orjson.JSONEncodeError:
        return json.dumps(wire, sort_keys=True, separators=(",", ":")).encode()


class Offer(NamedTuple):
    """The modes, profiles and capabilities that an implementation offers for one component."""

    modes: tuple[str, ...]
    profiles: tuple[str, ...]
    capabilities: tuple[str, ...]
    limits: Mapping[str, int] = MappingProxyType({})
    """The greatest values that the implementation accepts, by kind (LIMITS). The suite sends none above."""


class Hello(NamedTuple):
    """The answer to `hello`: the implementation, and the components that it offers."""

    implementation: str
    version: str
    language: str
    components: Mapping[str, Offer]


class Made(NamedTuple):
    """A new instance was made."""


class Applied(NamedTuple):
    """A batch was taken: the effects of each event, and the state after the last one."""

    effects: Sequence[Effects]
    state: Wire
    rules: Sequence[tuple[str, ...]] = ()
    """The rules that fired at each event; only the model knows them."""


class Visible(NamedTuple):
    """The data that a reader of the durable data can read."""

    values: Sequence[Any]
    """Committed records of a sink, or ids of the retained checkpoints of a store; in any order."""


class Unsupported(NamedTuple):
    """The implementation does not offer this. The suite counts the case as skipped, never as passed."""

    why: str

    def describe(self) -> str:
        """The answer in one line."""
        return escape.short(f"unsupported: {self.why}", DESCRIBED)


class Errored(NamedTuple):
    """The implementation refused the event at position `at` of the batch (None: the whole request)."""

    what: str
    at: int | None = None

    def describe(self) -> str:
        """The answer in one line."""
        return escape.short(f"error: {self.what}", DESCRIBED)


class Crashed(NamedTuple):
    """The implementation has ended, or has raised an unexpected exception."""

    how: str
    stderr: str

    def describe(self) -> str:
        """One line, without stderr."""
        return escape.short(f"crashed: {self.how}", DESCRIBED)


class Hung(NamedTuple):
    """The implementation did not answer within the time limit. `stderr`: its head and its tail."""

    seconds: float
    stderr: str

    def describe(self) -> str:
        """The answer in one line."""
        return f"hung: no answer within {self.seconds:g} s"


class Malformed(NamedTuple):
    """The answer is not valid."""

    what: str
    stderr: str

    def describe(self) -> str:
        """The answer in one line."""
        return escape.short(f"malformed: {self.what}", DESCRIBED)


Failure = Unsupported | Errored | Crashed | Hung | Malformed
FAILURES = (Unsupported, Errored, Crashed, Hung, Malformed)


class Adapter(Protocol):
    """One implementation under test. Between `new` and the next `new` it holds one instance."""

    def hello(self) -> Hello | Failure:
        """The implementation and the components that it offers."""

    def new(self, component: str, config: Wire) -> Made | Failure:
        """Make a new instance and drop the previous one. An implementation that has died is started again."""

    def apply(self, events: Sequence[Wire]) -> Applied | Failure:
        """Give the instance a batch of at least one event, in order."""

    def bye(self) -> None:
        """End the implementation and release its resources. It may be called more than once."""


@runtime_checkable
class Watched(Adapter, Protocol):
    """An adapter whose memory can be read."""

    def memory(self) -> int | None:
        """The memory of the implementation in bytes; None if it cannot be read here."""


@runtime_checkable
class Overlapping(Adapter, Protocol):
    """An adapter that processes one batch while the suite prepares the next one."""

    def submit(self, events: Sequence[Wire]) -> None:
        """Hand over a batch."""

    def collect(self) -> Applied | Failure:
        """The answer to the batch that was submitted."""


@runtime_checkable
class Keeping(Adapter, Protocol):
    """An adapter that keeps durable data in a folder, and reads it as a user of the sink or store does."""

    def new_in(self, component: str, config: Wire, folder: str) -> Made | Failure:
        """Make an instance that keeps its durable data in a folder, and continues from the data there."""

    def observe(self) -> Visible | Failure:
        """The data that a reader of the durable data can read now."""


@runtime_checkable
class Killable(Keeping, Overlapping, Protocol):
    """An adapter whose process can be killed."""

    def kill(self) -> None:
        """Kill the implementation with all its processes, as the system would."""


@runtime_checkable
class Concurrent(Adapter, Protocol):
    """An adapter that gives its implementation several events without waiting between them."""

    def apply_at_once(self, events: Sequence[Wire]) -> Applied | Failure:
        """Give the instance events without an order. Returns the effects of each, and one state after all."""
