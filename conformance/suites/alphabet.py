"""Finite alphabets. A letter is an event whose ids are written relative to the newest id.

The *newest* id is the highest id that the state of the model holds (START if it holds none). In each state of
the model a letter represents one event: an id is a distance from the newest one. Other fields of a letter may
depend on the state, too. A letter is not defined in states in which the alphabet's bound forbids it, and
after a failure of the task. The state of the model depends only on the earlier events. So an implementation
behind the alphabet is a function from words (sequences of letters) to answers. In answers, ids are relative
to the newest id, too.
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
"""The newest id of a state that holds no id. It is so high that no other number is near it."""
LOWEST_ID = START // 2
"""Numbers from this one on are ids."""
NOON = 1_000_000_000
"""The time in ms at which the exploration of a model with a clock begins. Played sequences begin at 0."""
LOWEST_TIME = NOON // 2
"""Numbers from this one on are times."""
PLAYED_START = 20
"""The id that replaces START in a played sequence. It is small, so that reports stay readable."""
STATES_REMEMBERED = 200_000
"""The number of states, and of parts of states, whose ids are cached."""
REFUSED = '"refused"'
"""The output if the event is refused, because it is outside the protocol."""


class Dependent(ABC):
    """A value of an event that depends on the state of the model."""

    @property
    def name(self) -> str:
        """The text of the value in the name of a letter; empty: the name does not show the value."""
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
        """The text, such as `newest+1`."""
        return f"newest{self.distance:+d}" if self.distance else "newest"

    def at(self, state: Any) -> int:  # noqa: ANN401 - the model's own state
        """The id of this distance in a state."""
        return newest_id(state) + self.distance


class Letter(NamedTuple):
    """An event whose ids are relative."""

    name: str
    event: Mapping[str, object]
    """The event. A value that is Dependent may differ between states."""


def letter(kind: str, **fields: object) -> Letter:
    """A letter that is named after its kind and fields, as `barrier 0 newest+1`."""
    words = [kind, *(_written(value) for value in fields.values())]
    return Letter(" ".join(word for word in words if word), {"kind": kind, **fields})


def _written(value: object) -> str:
    if isinstance(value, Dependent):
        return value.name
    return value if isinstance(value, str) else orjson.dumps(value).decode()


class Taken(NamedTuple):
    """The event that a letter represents in one state, and the answer of the model."""

    event: Wire
    edge: Edge


class Clock(NamedTuple):
    """The clock of a component, by which times in its state are made relative."""

    now: Callable[[Any], int]
    """The time in a state of the model, in ms."""
    horizon: int
    """All times at least this long ago, in ms, have the same effect."""
    opening: Wire
    """The event that sets the time of a new component to NOON."""


class Alphabet(NamedTuple):
    """The letters of one component under one configuration."""

    component: str
    config: Wire
    letters: tuple[Letter, ...]
    bound: str = ""
    """The bounds of the letters, as text; empty if there are none."""
    allows: Callable[[Any, Wire], bool] = lambda state, event: True
    """A function of a state of the model and an event: whether the bound permits the event."""
    subject: str = ""
    """As text, the property that distinguishes this alphabet from others of the same configuration."""
    clock: Clock | None = None
    """None if the component has no clock."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the letters."""
        return tuple(one.name for one in self.letters)

    def start(self, oracle: Oracle) -> Node:
        """The state before the first letter."""
        return oracle.start if self.clock is None else oracle.step(oracle.start, self.clock.opening).after

    def identity(self, node: Node) -> Hashable:
        """The state with relative ids and times. States that are equal in this form take the same steps."""
        state: Any = node.state
        now = None if self.clock is None else self.clock.now(state)
        return relative(state, Frame(newest_id(state), now, self.clock.horizon if self.clock else 0))

    def take(self, oracle: Oracle, node: Node, chosen: int) -> Taken | None:
        """The event of a letter and the answer of the model.

        None: the letter is not defined in this state.
        """
        event = dict(self.letters[chosen].event)
        for name, value in event.items():
            if isinstance(value, Dependent):
                event[name] = value.at(node.state)
                if event[name] is None:
                    return None
        return Taken(event, oracle.step(node, event)) if self.allows(node.state, event) else None

    def played(self, event: Wire) -> Wire:
        """The event as it is sent. PLAYED_START replaces START in its ids."""
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
    """The newest id and the present time. The ids and times of a state are relative to them."""

    newest: int
    now: int | None = None
    horizon: int = 0


def relative(value: Hashable, frame: Frame) -> Hashable:
    """A state of the model, or a part of it, in which each id and each time is a distance.

    Two states that are equal in this form take the same steps, because the model compares ids only with ids,
    and times only with the present.
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
    """An answer in which each id is a text such as `newest+1`."""
    if type(value) is int and value >= LOWEST_ID:
        return Newest(value - newest).name
    if isinstance(value, Mapping):
        return {key: shown(part, newest) for key, part in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [shown(part, newest) for part in value]
    return value


def output(effects: object, state: object, newest: int) -> str:
    """An answer as one text, the output of a machine.

    `newest`: the newest id of the state after the event.
    """
    answer = {"effects": shown(effects, newest), "state": shown(state, newest)}
    return orjson.dumps(answer, option=orjson.OPT_SORT_KEYS).decode()


def failure(effects: Sequence[Wire], newest: int) -> str:
    """The output if the task fails: the effects, without the text of the failure, and without the state."""
    plain = [{"kind": "fail"} if effect.get("kind") == "fail" else effect for effect in effects]
    return orjson.dumps({"effects": shown(plain, newest)}, option=orjson.OPT_SORT_KEYS).decode()
