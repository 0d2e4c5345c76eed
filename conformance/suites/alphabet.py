"""Finite alphabets: an event with its ids given relative to the newest one is a letter.

A letter stands for one event in each state of the model: an id is written as a distance from the *newest*
one, the highest id that the state of the model holds (START if it holds none); other fields may depend on the
state, too. A letter is not defined where the alphabet's bound forbids it, and after a failure of the task.
The state of the model depends only on the earlier events. So an implementation behind the alphabet is a
function from words (sequences of letters) to answers. In answers, ids are relative to the newest one as well.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import orjson

from conformance.adapters.protocol import Wire
from conformance.drive.oracle import Edge, Node, Oracle

START = 1_000_000
"""The newest id of a state that holds none: so high that no other number is near."""
LOWEST_ID = START // 2
"""Numbers from here on are ids."""
NOON = 1_000_000_000
"""The time in ms at which the exploration of a model with a clock begins; played sequences begin at 0."""
LOWEST_TIME = NOON // 2
"""Numbers from here on are times."""
PLAYED_START = 20
"""The id that replaces START in a played sequence; it is small, so that reports stay readable."""
STATES_REMEMBERED = 200_000
"""The number of states, and of parts of states, whose ids are cached."""
REFUSED = '"refused"'
"""The output of an event outside the protocol."""


class Dependent(ABC):
    """A value of an event that depends on the state of the model."""

    @property
    def name(self) -> str:
        """The value in the name of a letter; empty: it is left out."""
        return ""

    @abstractmethod
    def at(self, state: Any) -> int | None:  # noqa: ANN401 - the model's own state
        """The value in a state; None: the letter is not defined there."""


@dataclass(frozen=True)
class Newest(Dependent):
    """An id at a distance from the newest one."""

    distance: int

    @property
    def name(self) -> str:
        """`newest+1`."""
        return f"newest{self.distance:+d}" if self.distance else "newest"

    def at(self, state: Any) -> int:  # noqa: ANN401 - the model's own state
        """The id in a state."""
        return newest_id(state) + self.distance


class Letter(NamedTuple):
    """An event whose ids are relative."""

    name: str
    event: Mapping[str, object]
    """The event; a value that is Dependent differs between states."""


def letter(kind: str, **fields: object) -> Letter:
    """A letter with the name that its fields give it: `barrier 0 newest+1`."""
    words = [kind, *(_written(value) for value in fields.values())]
    return Letter(" ".join(word for word in words if word), {"kind": kind, **fields})


def _written(value: object) -> str:
    if isinstance(value, Dependent):
        return value.name
    return value if isinstance(value, str) else orjson.dumps(value).decode()


class Taken(NamedTuple):
    """One letter in one state: the event, and the answer of the model."""

    event: Wire
    edge: Edge


class Clock(NamedTuple):
    """A component whose state holds times."""

    now: Callable[[Any], int]
    """The time in a state of the model, in ms."""
    horizon: int
    """An event that happened longer ago than this, in ms, has the same effect as one exactly so long ago."""
    opening: Wire
    """The event that brings a fresh component to NOON."""


class Alphabet(NamedTuple):
    """The letters of one component under one configuration."""

    component: str
    config: Wire
    letters: tuple[Letter, ...]
    bound: str = ""
    """The bounds of the letters, as text; empty if there are none."""
    allows: Callable[[Any, Wire], bool] = lambda state, event: True
    """Whether the bound permits an event in a state of the model."""
    subject: str = ""
    """The difference from other alphabets of the same configuration, as text."""
    clock: Clock | None = None
    """How times are made relative; None: the component has no clock."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the letters."""
        return tuple(one.name for one in self.letters)

    def start(self, oracle: Oracle) -> Node:
        """The state before the first letter."""
        return oracle.start if self.clock is None else oracle.step(oracle.start, self.clock.opening).after

    def identity(self, node: Node) -> Hashable:
        """A state of the model with relative ids and times: equal for states that take the same steps."""
        state: Any = node.state
        now = None if self.clock is None else self.clock.now(state)
        return relative(state, Frame(newest_id(state), now, self.clock.horizon if self.clock else 0))

    def take(self, oracle: Oracle, node: Node, chosen: int) -> Taken | None:
        """The event of a letter and what the model answers; None: the letter is not defined here."""
        event = dict(self.letters[chosen].event)
        for name, value in event.items():
            if isinstance(value, Dependent):
                event[name] = value.at(node.state)
                if event[name] is None:
                    return None
        return Taken(event, oracle.step(node, event)) if self.allows(node.state, event) else None

    def played(self, event: Wire) -> Wire:
        """An event as it is sent: with ids near PLAYED_START instead of START."""
        return {name: _moved(value, PLAYED_START - START) for name, value in event.items()}

    def events(self, oracle: Oracle, word: Sequence[int]) -> Iterator[Wire]:
        """The events of a word as they are sent, up to its first letter that is not defined."""
        node = self.start(oracle)
        for chosen in word:
            taken = self.take(oracle, node, chosen)
            if taken is None:
                return
            yield self.played(taken.event)
            if taken.edge.fails:
                return
            node = taken.edge.after

    @property
    def describe(self) -> str:
        """The configuration as text."""
        options = ", ".join(f"{name}={value}" for name, value in self.config.items())
        return f"{options}; {self.subject}" if self.subject else options


@lru_cache(STATES_REMEMBERED)
def newest_id(state: Hashable) -> int:
    """The highest id that a state of the model holds; START if it holds none."""
    return max((number for number in _numbers(state) if number < LOWEST_TIME), default=START)


@lru_cache(STATES_REMEMBERED)
def _numbers(value: Hashable) -> frozenset[int]:
    """The ids and times in a state of the model, or in a part of one."""
    if type(value) is int:
        return frozenset((value,)) if value >= LOWEST_ID else frozenset()
    if isinstance(value, Mapping):
        return frozenset().union(*map(_numbers, value.keys()), *map(_numbers, value.values()))
    if isinstance(value, tuple | frozenset):
        return frozenset().union(*map(_numbers, value))
    return frozenset()


def _moved(value: object, distance: int) -> object:
    return value + distance if type(value) is int and value >= LOWEST_ID else value


class Frame(NamedTuple):
    """The values to which the numbers of a state are relative."""

    newest: int
    now: int | None = None
    horizon: int = 0


def relative(value: Hashable, frame: Frame) -> Hashable:
    """A state of the model, or a part of one, with each id and each time as a distance.

    Two states that are equal in this form take the same steps: the model compares ids with ids, and times
    with the present.
    """
    if type(value) is int:
        if frame.now is not None and value >= LOWEST_TIME:
            return ("now", max(value - frame.now, -frame.horizon))
        return ("newest", value - frame.newest) if value >= LOWEST_ID else value
    if not _numbers(value):
        return value
    if isinstance(value, tuple):
        return tuple(relative(part, frame) for part in value)
    if isinstance(value, frozenset):
        return frozenset(relative(part, frame) for part in value)
    assert isinstance(value, Mapping)
    return tuple((relative(key, frame), relative(part, frame)) for key, part in value.items())


def shown(value: object, newest: int) -> object:
    """An answer with each id as text: `newest+1`."""
    if type(value) is int and value >= LOWEST_ID:
        return Newest(value - newest).name
    if isinstance(value, Mapping):
        return {key: shown(part, newest) for key, part in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [shown(part, newest) for part in value]
    return value


def output(effects: object, state: object, newest: int) -> str:
    """An answer as one text, the output of a machine. `newest`: that of the state after the event."""
    answer = {"effects": shown(effects, newest), "state": shown(state, newest)}
    return orjson.dumps(answer, option=orjson.OPT_SORT_KEYS).decode()


def failure(effects: Sequence[Wire], newest: int) -> str:
    """The answer of a task that fails; the text of the failure and the state are not compared."""
    plain = [{"kind": "fail"} if effect.get("kind") == "fail" else effect for effect in effects]
    return orjson.dumps({"effects": shown(plain, newest)}, option=orjson.OPT_SORT_KEYS).decode()
