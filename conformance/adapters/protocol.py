"""The requests of the suite to an implementation under test, and all possible answers.

`Adapter` is the in-process twin of the wire (docs/adapter-protocol.md): `hello`, `new`, `apply`, `bye`.
An adapter never raises for what the implementation does; each outcome has a type of its own, so that
a crash or a skip cannot be taken for a pass.
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
"""Capabilities: the durable data can be read, the process may be killed, events may arrive at once, a
coordinator takes the id of its first checkpoint."""
RESTORED = "restored"
"""The capability of a subtask that takes the checkpoint from which its task is restored."""
CLEANING = "cleaning"
"""The capability of a coordinator whose deletions may be slow: an event ends them, one by one."""
IO_FAILURES = "io_failures"
"""The capability of a coordinator whose inputs and outputs fail when an event demands it."""
RESTORED_SAVEPOINT = "restored_savepoint"
"""The capability of a coordinator whose job may start from a savepoint, in a claim mode from 1.15 on."""
DESCRIBED = 2_000
"""Maximum number of characters of an implementation's text in one line."""
LIMITS = MappingProxyType({"ids": 2**31 - 1, "channels": 1, "milliseconds": 2**31 - 1})
"""By kind of value, the least limit that an implementation may declare for it."""
PROTOCOL = 1
"""The version of the wire that this suite speaks."""
ANSWER_LIMIT_SECONDS = 5.0
"""The time limit of one answer, if no other is chosen."""


def canonical(wire: object) -> bytes:
    """One spelling for each JSON value: 1, 1.0 and true differ, the order of keys makes no difference.

    The standard library writes what orjson cannot: an int beyond 64 bits, half a pair of surrogates.
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
    """The greatest values that the implementation takes, by kind (LIMITS); nothing greater is sent."""


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
    """The data that a reader of the durable data sees."""

    values: Sequence[Any]
    """Committed records of a sink, or ids of the retained checkpoints of a store; in any order."""


class Unsupported(NamedTuple):
    """The implementation does not offer this: a skip, never a pass."""

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
        """Bytes that the implementation occupies; None: they cannot be read here."""


@runtime_checkable
class Overlapping(Adapter, Protocol):
    """An adapter that works on a batch while the suite prepares the next one; at most one is under way."""

    def submit(self, events: Sequence[Wire]) -> None:
        """Hand over a batch."""

    def collect(self) -> Applied | Failure:
        """The answer to the batch that was submitted."""


@runtime_checkable
class Keeping(Adapter, Protocol):
    """An adapter that keeps durable data in a folder, and reads it as a user of the sink or store would."""

    def new_in(self, component: str, config: Wire, folder: str) -> Made | Failure:
        """Make an instance that keeps its durable data in a folder, and continues what it finds there."""

    def observe(self) -> Visible | Failure:
        """What a reader of the durable data sees now."""


@runtime_checkable
class Killable(Keeping, Overlapping, Protocol):
    """An adapter whose process can be killed."""

    def kill(self) -> None:
        """Kill the implementation with all its processes, as the system would."""


@runtime_checkable
class Concurrent(Adapter, Protocol):
    """An adapter that gives its implementation several events without waiting between them."""

    def apply_at_once(self, events: Sequence[Wire]) -> Applied | Failure:
        """Give the instance events in no order: the effects of each, and one state after all."""
