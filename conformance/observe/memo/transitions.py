"""Caches whole transitions of a task's reader, with checkpoint ids relative to a base.

The replay of a line has two parts. The first part depends only on the line and on the reader's state: the
steps of gate, subtask and sink, the due events, the rules and the situations. The first part is cached,
because it is equal for equal lines and states, apart from a shift of ids. The second part depends on other
files: whether a message was sent, whether numbers of records agree. This part is repeated for every line: a
transition names the functions to call, a check and the acts.
"""

from abc import abstractmethod
from collections.abc import Callable, Hashable
from typing import Any, NamedTuple

from conformance.observe.causes import Causes, FileReader, Need
from conformance.observe.eventlog import LogFile
from conformance.observe.lines.line import Line

MOST_TRANSITIONS = 100_000
"""The maximum number of cached states and transitions, about 35 MB. Further lines are replayed each time."""
Check = Callable[[Any, Line, Any], Need | None]
"""Returns the missing cause of a line, or None. Arguments: reader, line, and a value."""
Act = Callable[[Any, Line, Any], None]
"""Changes data that other files read. Arguments: the reader, the line, and a checkpoint or value.

Raises Rejected.
"""


class Notes:
    """Records the results of a line while the line is replayed for the first time."""

    __slots__ = ("acts", "check", "is_repeatable", "rules", "situations")

    def __init__(self) -> None:
        self.check: tuple[Check, Any] | None = None
        self.acts: list[tuple[Act, int | None, Any]] = []
        """Each: the act, and its argument: an id relative to the line's base, or None and the value."""
        self.rules: tuple[str, ...] = ()
        self.situations: list[str] = []
        self.is_repeatable = False
        """Whether the line has the same result whenever it comes in this state, so that it can be cached."""


class ReaderState:
    """A state of a reader relative to its bases, and the cached transitions from it."""

    __slots__ = ("local", "transitions")

    def __init__(self, local: Hashable) -> None:
        self.local: Any = local
        self.transitions: dict[tuple[int, ...], Transition] = {}
        """By the number of the line's shape, and its ids relative to the bases."""


class Outcome:
    """The results of a line besides the reader's new state. Many transitions share an outcome."""

    __slots__ = ("acts", "argument", "check", "rules", "situations")

    def __init__(self, notes: Notes) -> None:
        self.check: Check | None = None
        self.argument: object = None
        if notes.check is not None:
            self.check, self.argument = notes.check
        self.acts = tuple(notes.acts)
        self.rules = notes.rules
        self.situations = tuple(notes.situations)


class Transition(NamedTuple):
    """The transition that lines of one shape take in one state."""

    outcome: Outcome
    after: ReaderState
    shift: int
    """The number that the transition adds to the base."""
    further: int
    """The number that the transition adds to the second base."""


Moved = tuple[ReaderState, int, int]
"""The last fields of a Transition."""


class Located(NamedTuple):
    """A state relative to two bases: the id of a checkpoint, and the id of a transaction."""

    local: Hashable
    base: int
    other: int


class Taken:
    """Counts the cached transitions that the readers of one run take, for `Run.add_up`."""

    __slots__ = ("counts", "rules")

    def __init__(self) -> None:
        self.counts: dict[Outcome, int] = {}
        self.rules: set[str] = set()
        """The rules of a rejected line."""


class Memory:
    """All cached states, of all readers of this process."""

    def __init__(self) -> None:
        self.states: dict[Hashable, ReaderState] = {}
        self.size = 0
        """The number of states and transitions."""
        self._outcomes: dict[Hashable, Outcome] = {}
        """By content: the one outcome that equal transitions share."""

    def state(self, local: Hashable) -> ReaderState | None:
        """The one cached state that equals `local`; None if it is new and the cache is full."""
        found = self.states.get(local)
        if found is None and self.size < MOST_TRANSITIONS:
            found = self.states[local] = ReaderState(local)
            self.size += 1
        return found

    def keep(self, before: ReaderState, key: tuple[int, ...], notes: Notes, moved: Moved) -> None:
        """Cache a transition, unless the cache is full."""
        if self.size >= MOST_TRANSITIONS:
            return
        content = (notes.check, tuple(notes.acts), notes.rules, tuple(notes.situations))
        outcome = self._outcomes.get(content)
        if outcome is None:
            outcome = self._outcomes[content] = Outcome(notes)
        before.transitions[key] = Transition(outcome, *moved)
        self.size += 1


memory = Memory()


class RememberingReader(FileReader):
    """A reader that caches its transitions.

    While `_state` is set, it is the reader's state, and the *parts* (gate, subtask, sink) have an older one.
    So a cached transition only replaces `_state`.
    """

    def __init__(self, file: LogFile, causes: Causes, taken: Taken, *, shaped: bool) -> None:
        """`shaped`: whether transitions are cached. If not, each line is replayed with the parts."""
        super().__init__(file, causes, shaped=shaped)
        self._taken = taken
        self.remembers = shaped
        """Whether transitions are cached. Without shapes a cached transition would never be found."""
        self._state: ReaderState | None = None
        self._base = self._other = 0
        self._notes = Notes()

    @abstractmethod
    def take(self, line: Line) -> Need | None:
        """Replay one line with the parts, and record its transition. Result and errors are as in `replay`."""

    @abstractmethod
    def located(self) -> Located | None:
        """The state of the parts; None if it cannot be made relative."""

    @abstractmethod
    def move_to(self, local: Any, base: int, other: int) -> None:  # noqa: ANN401 - as `located` made it
        """Set the state of the parts to one that `located` has returned, with these bases."""

    def replay(self, line: Line) -> Need | None:
        """As in `FileReader`."""
        state, shape = self._state, line.shape
        if state is None or shape is None:
            return self._replay_with_parts(line, None)
        base = line.base
        if shape.has_transactions:
            key: tuple[int, ...] = (shape.number, base - self._base, line.transaction - self._other)
        else:
            key = (shape.number, base - self._base)
        known = state.transitions.get(key)
        if known is None:
            return self._replay_with_parts(line, key)
        outcome, after, shift, further = known
        if outcome.check is not None:
            need = outcome.check(self, line, outcome.argument)
            if need is not None:
                return need
        self._state = after
        self._base += shift
        self._other += further
        try:
            for act, relative, value in outcome.acts:
                act(self, line, value if relative is None else base + relative)
        except Exception:
            self._taken.rules.update(outcome.rules)
            raise
        counts = self._taken.counts
        counts[outcome] = counts.get(outcome, 0) + 1
        return None

    def bring_up_to_date(self) -> None:
        """As in `FileReader`: move the parts to the reader's state."""
        state = self._state
        if state is not None:
            self._state = None
            self.move_to(state.local, self._base, self._other)

    def _replay_with_parts(self, line: Line, key: tuple[int, ...] | None) -> Need | None:
        """Replay a line that has no cached transition, and cache its transition if `key` is not None."""
        before, base, other = self._state, self._base, self._other
        self.bring_up_to_date()
        notes = self._notes = Notes()
        need = self.take(line)
        if need is not None:
            self._state = before  # the line has to wait, so the state is as before
            return need
        located = self.located() if self.remembers else None
        if located is None:
            return None
        after, shape = memory.state(located.local), line.shape
        # a number that is no id does not shift with the ids, and without an id the key depends on the base
        is_shifted = shape is not None and shape.has_ids and not shape.has_number
        if (
            notes.is_repeatable
            and is_shifted
            and key is not None
            and before is not None
            and after is not None
        ):
            memory.keep(before, key, notes, (after, located.base - base, located.other - other))
        self._state, self._base, self._other = after, located.base, located.other
        return None
