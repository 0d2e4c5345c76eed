"""Checks that `model.dataflow` refines the theorem: each of its steps is a sequence of the theorem's actions.

`Refinement` couples each state of the model with a state of the theorem. From the event of a step, its
effects and the coordinator's states, it derives the theorem's actions; there may be none. The conditions of
each action must hold. Afterwards `differences` compares the two states, and `false_clause` evaluates the
invariant.

Tasks are the sources, the operator and the sink. Channels are an input and a channel to the operator for each
source, the channel to the sink, and the output. A history is the tuple of records that a task has read.
"""

from collections.abc import Callable, Iterator, Mapping
from itertools import product
from typing import Any, NamedTuple

from model.dataflow.actions import Deliver, Fail, Produce, Receive, ReceiveAtSink
from model.dataflow.dataflow import Counts, Dataflow, content_of
from model.dataflow.messages import ACKNOWLEDGE, TO_TASKS
from model.events import NONE, Step
from model.gate.events import Barrier, Record
from model.sink.events import Commit
from model.subtask.events import Acknowledge, Snapshot
from model.theorem.dataflow import CHANNEL, FIELDS, HISTORY, ID, POSITION, TASK
from model.theorem.exactly_once import EXACTLY_ONCE
from model.theorem.logic import TRUTH, Formula, Function, Sort, State
from model.theorem.theory import Field

ACTIONS = {found.name: found for found in EXACTLY_ONCE.actions}
Tables = Mapping[str, tuple[Any, ...]]
"""By field: the table of its values, for all combinations of elements, in order."""
Taken = tuple[Any, ...]
"""The name of an action and its elements."""


class NoRefinementError(AssertionError):
    """The theorem does not permit a step of the model, a clause is false, or the coupled states differ."""


class Coupled(NamedTuple):
    """A state of the model and the theorem's state that belongs to it."""

    dataflow: Any
    """A `Dataflow`; in `any_refinement` a `Job`."""
    tables: tuple[tuple[Any, ...], ...]
    """The state of the theorem: the tables of its fields, in the order of the fields."""


class QuantifiersOfDataflow:
    """Quantifiers over the tasks, channels, ids and positions of one dataflow."""

    def __init__(self, sizes: Mapping[Sort, int]) -> None:
        self.sizes = sizes
        self.of = {field.name: list(self.elements(field.of)) for field in FIELDS}

    def elements(self, sorts: tuple[Sort, ...]) -> Iterator[tuple[int, ...]]:
        """All combinations of elements."""
        return product(*(range(self.sizes[sort]) for sort in sorts))

    def all(self, sorts: tuple[Sort, ...], holds: Callable[..., Formula]) -> bool:
        """The formula holds for all elements of the sorts."""
        return all(holds(*elements) for elements in self.elements(sorts))


class Refinement:
    """Couples the dataflow of `model.dataflow` with the theorem.

    The dataflow has `sources` sources with `records` records each, and ids up to `ids`.
    """

    def __init__(self, sources: int, records: int, ids: int) -> None:
        self.sources, self.records = sources, records
        self.operator, self.sink = sources, sources + 1
        self.to_sink, self.output = 2 * sources, 2 * sources + 1
        self.domain = QuantifiersOfDataflow(
            {TASK: sources + 2, CHANNEL: 2 * sources + 2, ID: ids + 1, POSITION: sources * records + 2}
        )
        targets = (*range(sources), *(self.operator,) * sources, self.sink, self.sink)
        senders = (*range(sources), *range(sources), self.operator, self.sink)
        self.constants: Mapping[str, Function] = {
            "source_of": lambda c: senders[c],
            "target_of": lambda c: targets[c],
            "is_input": lambda c: c < sources,
            "is_output": lambda c: c == self.output,
            "is_bounded": lambda c: False,
            "size": lambda c: 0,
            "rank": lambda t: max(0, t - sources + 1),
            "first_history": lambda t: (),
            "next_history": lambda h, c, v: (*h, v),
            "count": lambda c, h: 1,
            "emit": lambda c, h, p: h[-1] if h else NONE,
            "overtakes": lambda n: False,
            "stops": lambda n: False,
            "is_savepoint": lambda n: False,
            "lost": lambda: NONE,
        }

    def start(self, dataflow: Any) -> Coupled:  # noqa: ANN401 - a state of the model
        """The initial state of the model together with that of the theorem."""
        anything: dict[str, Function] = {
            field.name: lambda *_, field=field: _outside(field) for field in FIELDS
        }
        anything["value"] = self.input_value
        empty = State({**anything, **self.constants}, self.domain)
        tables = self._settled({}, {**anything, **EXACTLY_ONCE.start(empty)})
        return Coupled(dataflow, tuple(tables.values()))

    def input_value(self, c: int, p: int) -> Any:  # noqa: ANN401 - a number, here
        """The record at position `p` of the input `c`; NONE if the channel is no input."""
        return c * self.records + p if c < self.sources else NONE

    def state(self, coupled: Coupled) -> State:
        """The theorem's state, with its fields as functions."""
        return self._state({field.name: t for field, t in zip(FIELDS, coupled.tables, strict=True)})

    def after(self, coupled: Coupled, event: Any, step: Step[Any]) -> Coupled:  # noqa: ANN401
        """Both states after a step of the model. Raises NoRefinementError if the theorem has no such step."""
        tables: Tables = {field.name: t for field, t in zip(FIELDS, coupled.tables, strict=True)}
        for name, *elements in self.actions(coupled.dataflow, event, step):
            tables = self._taken(tables, name, *elements)
        for t, n in self.given_up(step.state, self._state(tables)):
            tables = self._taken(tables, "give up", t, n)
        return Coupled(step.state, tuple(tables.values()))

    def actions(self, before: Any, event: Any, step: Step[Any]) -> Iterator[Taken]:  # noqa: ANN401
        """The theorem's actions for a step of the model, except the action `give up`."""
        after = step.state
        if type(event) is not Fail:
            yield from self._of_tasks(before, event, step)
        was, now = _pending(before), _pending(after)
        if after.completed not in (before.completed, NONE):
            yield "complete", after.completed
        if type(event) is Fail:
            yield ("crash",)
            yield ("restore",)
        else:
            yield from (("abort", n) for n in was - now if n > after.completed)
            yield from (("begin", n) for n in sorted(now - was))
        yield from self._commits(before, after, step)

    def _of_tasks(self, before: Dataflow, event: Any, step: Step[Dataflow]) -> Iterator[Taken]:  # noqa: ANN401
        task = NONE
        if type(event) is Produce:
            yield "process", event.source, event.source
        elif type(event) is Receive or type(event) is ReceiveAtSink:
            if type(event) is Receive:
                task, channel = self.operator, self.sources + event.channel
                attempt, item = before.tasks.inputs[event.channel][0]
            else:
                task, channel = self.sink, self.to_sink
                attempt, item = before.tasks.output[0]
            if attempt == before.attempt and type(item) is Record:
                yield "process", task, channel
            elif attempt == before.attempt and type(item) is Barrier:
                yield "receive", channel, item.checkpoint
        elif type(event) is Deliver and event.message.kind in TO_TASKS:
            task = event.message.task
        elif type(event) is Deliver and event.message.kind == ACKNOWLEDGE:
            message = event.message
            if message.attempt == before.attempt and message.checkpoint in _pending(before):
                yield "acknowledge", message.task, message.checkpoint
        arriving_at_once = set() if before.wires.slow[task] else _pending(before)
        for effect in step.effects:
            if type(effect) is Snapshot:
                yield "snapshot", task, effect.checkpoint
                yield "store", task, effect.checkpoint
            elif type(effect) is Acknowledge and effect.checkpoint in arriving_at_once:
                yield "acknowledge", task, effect.checkpoint

    def _commits(self, before: Dataflow, after: Dataflow, step: Step[Dataflow]) -> Iterator[Taken]:
        filed = [*before.sink.pending, *after.sink.pending]
        for taken in (*before.sink.snapshots, *after.sink.snapshots):
            filed.extend(taken.pending)
        checkpoints = {one.transaction: one.checkpoint for one in filed}
        for effect in step.effects:
            if type(effect) is Commit and effect.transaction not in before.sink.committed:
                yield "commit", self.output, checkpoints[effect.transaction]

    def given_up(self, dataflow: Any, s: State) -> Iterator[tuple[int, int]]:  # noqa: ANN401
        """The alignments (task, checkpoint) that block a channel in the theorem but not in the model."""
        for c, n in product(range(self.sources, self.output), range(self.domain.sizes[ID])):
            if self.waits(s, c, n) and not self._is_blocked(dataflow, c):
                yield s.target_of(c), n

    def waits(self, s: State, c: int, n: int) -> bool:
        """Whether a barrier of the checkpoint blocks the channel in the theorem."""
        t = s.target_of(c)
        return bool(s.current(n) and s.arrived(c, n) and not s.passed(t, n) and not s.given_up(t, n))

    def _is_blocked(self, dataflow: Dataflow, c: int) -> bool:
        tasks = dataflow.tasks
        return tasks.sink_gate.blocked[0] if c == self.to_sink else tasks.gate.blocked[c - self.sources]

    def _taken(self, tables: Tables, name: str, *elements: int) -> Tables:
        state = self._state(tables)
        guards, changes = ACTIONS[name].step(state, *elements)
        for guard, holds in guards.items():
            if not holds:
                raise NoRefinementError(f"{name} {elements}: not {guard!r}")
        return self._settled(tables, changes)

    def _settled(self, tables: Tables, changes: Mapping[str, Function]) -> Tables:
        return {
            field.name: tuple(changes[field.name](*x) for x in self.domain.of[field.name])
            if field.name in changes
            else tables[field.name]
            for field in FIELDS
        }

    def _state(self, tables: Tables) -> State:
        functions = dict(self.constants)
        for field in FIELDS:
            table = dict(zip(self.domain.of[field.name], tables[field.name], strict=True))
            other = _outside(field)
            functions[field.name] = lambda *x, table=table, other=other: table.get(x, other)
        return State(functions, self.domain)

    def false_clause(self, coupled: Coupled) -> str:
        """The name of the first clause of the invariant or the theorem that is false; empty if none is."""
        s = self.state(coupled)
        for found in (*EXACTLY_ONCE.invariant, *EXACTLY_ONCE.theorem):
            if not self.domain.all(found.of, lambda *x, found=found: found.holds(s, *x)):
                return found.name
        return ""

    def differences(self, coupled: Coupled) -> tuple[str, ...]:
        """The names of the fields in which the two states differ."""
        d, s = coupled.dataflow, self.state(coupled)
        sources, links = range(self.sources), range(self.sources, self.output)
        ids, tasks = range(self.domain.sizes[ID]), range(self.sources + 2)
        latest = max(d.completed, 0)
        stored = {cut.checkpoint: cut for cut in d.cuts}
        seen = [
            s.visible(self.output, p)
            for p in range(self.domain.sizes[POSITION])
            for _ in range(s.times(self.output, p))
        ]
        opened = range(s.opened_at(self.output), s.sent(self.output))
        pairs = {
            "offsets": (d.tasks.offsets, tuple(s.read(c) for c in sources)),
            "channels": ([_items(d, c) for c in (*d.tasks.inputs, d.tasks.output)],
                         [self._items(s, c) for c in links]),
            "blocked": ([self._is_blocked(d, c) for c in links],
                        [any(self.waits(s, c, n) for n in ids) for c in links]),
            "state": (d.tasks.counted, self._counts(s.state(self.operator))),
            "pending": (_pending(d), {n for n in ids if s.pending(n)}),
            "latest": (latest, s.latest()),
            "acknowledged": (
                {(p.checkpoint, t) for p in d.coordinator.pending for t in tasks if p.acknowledged[t]},
                {(p.checkpoint, t) for p in d.coordinator.pending for t in tasks
                 if s.acknowledged(t, p.checkpoint)},
            ),
            "stored": (
                {(n, t) for n in stored for t in tasks if stored[n].stored[t]},
                {(n, t) for n in stored for t in tasks if s.stored(t, n)},
            ),
            "saved offsets": (
                {(n, c, stored[n].offsets[c]) for n in stored for c in sources if stored[n].stored[c]},
                {(n, c, s.offset(c, n)) for n in stored for c in sources if s.stored(c, n)},
            ),
            "saved state": (
                {(n, stored[n].counted) for n in stored if stored[n].stored[self.operator]},
                {(n, self._counts(s.saved(self.operator, n))) for n in stored if s.stored(self.operator, n)},
            ),
            "open transaction": (
                content_of(d, d.sink.open).records, self._counts(s.value(self.output, p) for p in opened)
            ),
            "output": (d.committed, self._counts(seen)),
        }  # fmt: skip
        return tuple(name for name, (model, theorem) in pairs.items() if model != theorem)

    def _counts(self, numbers: Any) -> Counts:  # noqa: ANN401 - any iterable of record numbers
        found = list(numbers)
        return tuple(
            tuple(found.count(source * self.records + index) for index in range(self.records))
            for source in range(self.sources)
        )

    def _items(self, s: State, c: int) -> list[tuple[str, int]]:
        """The items of a channel: records, and each barrier before the record of its position."""
        sender, found = s.source_of(c), list[tuple[str, int]]()
        for p in range(s.read(c), s.sent(c) + 1):
            for n in range(self.domain.sizes[ID]):
                if s.current(n) and s.passed(sender, n) and not s.arrived(c, n) and s.barrier(c, n) == p:
                    found.append(("barrier", n))
            if p < s.sent(c):
                found.append(("record", s.value(c, p)))
        return found


def _outside(field: Field) -> Any:  # noqa: ANN401 - a value of the field's sort
    """The value of the field for elements outside the tables."""
    return () if field.value is HISTORY else False if field.value is TRUTH else 0


def _items(dataflow: Dataflow, channel: Any) -> list[tuple[str, int]]:  # noqa: ANN401
    found = list[tuple[str, int]]()
    for attempt, item in channel:
        if attempt == dataflow.attempt and type(item) is Record:
            found.append(("record", item.value))
        elif attempt == dataflow.attempt and type(item) is Barrier:
            found.append(("barrier", item.checkpoint))
    return found


def _pending(dataflow: Dataflow) -> set[int]:
    """The checkpoints that may still complete: pending ones, and those that the store may hold."""
    coordinator = dataflow.coordinator
    in_store = {entry.checkpoint for entry in coordinator.unseen}
    return in_store | {pending.checkpoint for pending in coordinator.pending}


def compared(closed: Any, refinement: Refinement, limit: int) -> tuple[int, int]:  # noqa: ANN401 - a ClosedModel
    """Explores the closed model breadth first, up to `limit` states, and compares each step with the theorem.

    Returns the numbers of coupled states and of steps. Raises NoRefinementError with the shortest run if the
    theorem does not permit a step, a clause is false, or the states differ.
    """
    first = (refinement.start(closed.state), closed.environment)
    known: dict[Any, Any] = {first: ()}
    frontier, steps = [first], 0
    _check(refinement, first[0], ())
    while frontier and len(known) < limit:
        found = []
        for node in frontier:
            coupled, environment = node
            for _, event in closed.offers(coupled.dataflow):
                permitted = closed.allows(environment, event)
                if permitted is None:
                    continue
                steps += 1
                run = (node, event)
                step = closed.step(coupled.dataflow, event)
                try:
                    target = (refinement.after(coupled, event, step), permitted)
                except NoRefinementError as wrong:
                    raise NoRefinementError(f"{wrong}, after {_events(known, run)}") from None
                if target not in known:
                    known[target] = run
                    _check(refinement, target[0], _events(known, run))
                    found.append(target)
        frontier = found
    return len(known), steps


def _events(known: Mapping[Any, Any], run: Any) -> tuple[Any, ...]:  # noqa: ANN401
    events: list[Any] = []
    while run:
        node, event = run
        events.append(event)
        run = known[node]
    return tuple(reversed(events))


def _check(refinement: Refinement, coupled: Coupled, run: tuple[Any, ...]) -> None:
    if clause := refinement.false_clause(coupled):
        raise NoRefinementError(f"{clause!r} is false after {run}")
    if differ := refinement.differences(coupled):
        raise NoRefinementError(f"{', '.join(differ)} differ after {run}")
