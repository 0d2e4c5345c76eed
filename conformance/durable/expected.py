"""The data that a sink or a store may show after each event, and after a kill during an event.

The reference model determines which transactions are committed and which checkpoints are retained. If the
process is killed during an event, the event may have no effect, its full effect, or a part of it; but each
commit is atomic.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import islice
from random import Random
from typing import Any, NamedTuple, Protocol

from conformance.adapters.protocol import Effects, Wire
from model.components import COMPONENTS
from model.store.store import Entry, Store

TYPES = ("checkpoint", "checkpoint", "savepoint")
"""The types of checkpoints that are added, by weight. A stop ends the job, so none is drawn."""
NEWEST = 0.6
"""The probability that a notification or a restore has the id of the newest possible checkpoint."""
FEW_RECORDS = 3
"""While a transaction has fewer records, the next event is more often a record than a snapshot."""


class Wrong(NamedTuple):
    """Visible data that must not be visible, or missing data that must be visible."""

    rule: str
    what: str


class Expected(Protocol):
    """The expected visible data of one component. Its events change this data."""

    config: Wire

    def draw(self, random: Random) -> Wire:
        """A random next event that the protocol permits in this state."""

    def take(self, event: Wire) -> Effects:
        """Apply the event, and return the effects of the model. Raises WireError if it is not permitted."""

    def visible(self) -> list[Any]:
        """The data that a reader sees while no event is being applied."""

    def wrong(self, visible: Sequence[Any], during: Wire | None = None) -> Wrong | None:
        """The first defect of the visible values; `during`: the event during which the process was killed."""

    def restart(self, visible: Sequence[Any], during: Wire | None) -> None:
        """A new process continues. `visible`: the data that it shows, which has no defect."""


class ExpectedSink:
    """A sink. No two records have the same value, so a value identifies its transaction."""

    def __init__(self) -> None:
        self.config: Wire = {}
        self._model = COMPONENTS["sink"]
        self._state = self._model.new(self.config)
        self._written: dict[int, list[int]] = {}
        self._values = 0
        self._newest = 0
        self._complete = 0
        """The newest checkpoint that is known to be complete; a restore never uses an older checkpoint."""
        self._aborted: set[int] = set()
        self._restored = False

    def draw(self, random: Random) -> Wire:
        """A random event, with weights that make commits likely; after a crash always a restore."""
        state, filed = self._state, self._state.pending
        taken = [one.checkpoint for one in state.snapshots if one.checkpoint >= self._complete]
        may = [checkpoint for checkpoint in taken if checkpoint not in self._aborted]
        chosen = may[-1] if may and random.random() < NEWEST else random.choice(may or [None])
        if not state.running:
            return {"kind": "restore", "checkpoint": chosen}
        undecided = [checkpoint for checkpoint in may if checkpoint > self._complete]
        written = len(self._written.get(state.open or 0, ()))
        weights = {
            "write": 0 if state.finished else 8 if written < FEW_RECORDS else 4,
            "snapshot": 6 if written or state.finished else 1,
            "notify_complete": (5 if filed else 1) if may else 0,
            "notify_abort": 1 if undecided else 0,
            "finish": 0 if state.finished else 0.3,
            "close": 0.2,
        }
        kind = random.choices([*weights], [*weights.values()])[0]
        if kind == "write":
            return {"kind": kind, "value": self._values + 1}
        if kind == "snapshot":
            return {"kind": kind, "checkpoint": self._newest + 1}
        if kind in ("finish", "close"):
            return {"kind": kind}
        return {"kind": kind, "checkpoint": chosen if kind == "notify_complete" else random.choice(undecided)}

    def take(self, event: Wire) -> Effects:
        """Apply the event, and remember the transaction of each written record."""
        self._state, effects, _ = self._model.apply(self._state, event)
        self._begin(event)
        for effect in effects:
            if effect["kind"] == "write":
                self._written.setdefault(effect["transaction"], []).append(effect["value"])
        self._restored = event["kind"] == "restore"
        return effects

    def visible(self) -> list[Any]:
        """The records of the committed transactions."""
        return [value for one in self._state.committed for value in self._written.get(one, ())]

    def wrong(self, visible: Sequence[Any], during: Wire | None = None) -> Wrong | None:
        """Committed transactions must be visible, whole and once. Those that `during` commits may be so."""
        seen = Counter(map(repr, visible))
        must = set(self._state.committed)
        may = must if during is None else must | set(self._model.apply(self._state, during)[0].committed)
        doubled = [value for value, times in seen.items() if times > 1]
        if doubled:
            return Wrong("SINK-08", f"{_some(doubled)} visible more than once")
        for transaction, values in self._written.items():
            found = [value for value in values if repr(value) in seen]
            lost = [value for value in values if repr(value) not in seen]
            if transaction in must and lost:
                rule = "SINK-06" if self._restored else "SINK-03"
                return Wrong(rule, f"{_some(lost)} of a committed transaction not visible")
            if found and transaction not in may:
                return Wrong("SINK-03", f"{_some(found)} visible, but not committed")
            if found and lost:
                return Wrong("SINK-03", f"a part of a transaction visible: {_some(found)}, not {_some(lost)}")
        known = {repr(value) for values in self._written.values() for value in values}
        strange = [value for value in seen if value not in known]
        if during is not None and strange == [repr(during.get("value"))]:
            return Wrong("SINK-03", f"{_some(strange)} visible, but not committed")
        return Wrong("SINK-01", f"{_some(strange)} visible, but never written") if strange else None

    def restart(self, visible: Sequence[Any], during: Wire | None) -> None:
        """Crash the model, if it runs. A transaction that `during` commits is committed if it is visible.

        If `during` is a restore, newer snapshots no longer exist.
        """
        state = self._state
        if during is not None:
            self._begin(during)
            after = self._model.apply(state, during)[0]
            shown = {one for one in after.committed if set(self._written.get(one, ())) & set(visible)}
            committed = tuple(sorted({*state.committed, *shown}))
            kept = state.snapshots
            if during["kind"] == "restore":
                kept = tuple(one for one in kept if one.checkpoint <= (during["checkpoint"] or 0))
            self._state = state._replace(committed=committed, snapshots=kept)
        if self._state.running:
            self.take({"kind": "crash"})

    def _begin(self, event: Wire) -> None:
        """Record the value or the id of an event that is sent, because no later event may use it again."""
        checkpoint = event.get("checkpoint") or 0
        if event["kind"] == "write":
            self._values = max(self._values, event["value"])
        elif event["kind"] == "snapshot":
            self._newest = max(self._newest, checkpoint)
        elif event["kind"] == "notify_abort":
            self._aborted.add(checkpoint)
        elif event["kind"] in ("notify_complete", "restore"):
            self._complete = max(self._complete, checkpoint)


class ExpectedStore:
    """A store of completed checkpoints, with ids that grow."""

    def __init__(self, retain: int = 2) -> None:
        self.config: Wire = {"retain": retain}
        self._model = COMPONENTS["store"]
        self._state: Store = self._model.new(self.config)
        self._types: dict[int, Entry] = {}
        self._newest = 0

    def draw(self, random: Random) -> Wire:
        """A random addition, or a request for the latest checkpoint."""
        if random.random() < 0.3:
            return {"kind": "latest"}
        return {
            "kind": "add",
            "checkpoint": self._newest + random.randint(1, 3),
            "type": random.choice(TYPES),
        }

    def take(self, event: Wire) -> Effects:
        """Apply the event, and return the effects of the model."""
        self._begin(event)
        self._state, effects, _ = self._model.apply(self._state, event)
        return effects

    def visible(self) -> list[Any]:
        """The retained checkpoints."""
        return [entry.checkpoint for entry in self._state.entries]

    def wrong(self, visible: Sequence[Any], during: Wire | None = None) -> Wrong | None:
        """Retained checkpoints must be visible; an addition drops none before the new one is visible."""
        seen = Counter(map(repr, visible))
        before = _ids(self._state)
        after = before if during is None else _ids(self._model.apply(self._state, during)[0])
        doubled = [checkpoint for checkpoint, times in seen.items() if times > 1]
        if doubled:
            return Wrong("SUB-06", f"{_some(doubled)} visible more than once")
        strange = [one for one in seen if one not in {*before, *after}]
        if strange:
            return Wrong("SUB-07", f"{_some(strange)} visible, but not retained")
        added = set(after) <= set(seen)
        lost = [one for one in (after if added else before) if one not in seen]
        return Wrong("SUB-06", f"{_some(lost)} retained, but not visible") if lost else None

    def restart(self, visible: Sequence[Any], during: Wire | None) -> None:
        """Retain the checkpoints that the new process shows. The next addition drops any above the limit."""
        if during is not None:
            self._begin(during)
        self._state = self._state._replace(entries=tuple(self._types[one] for one in sorted(visible)))

    def _begin(self, event: Wire) -> None:
        if event["kind"] == "add":
            self._newest = event["checkpoint"]
            after = self._model.apply(self._model.new(self.config), event)[0]
            self._types[self._newest] = after.entries[-1]


EXPECTED: dict[str, type[ExpectedSink] | type[ExpectedStore]] = {"sink": ExpectedSink, "store": ExpectedStore}
"""Maps each component that has durable data to its expected data."""


def _ids(state: Store) -> list[str]:
    return [repr(entry.checkpoint) for entry in state.entries]


def _some(values: Iterable[object]) -> str:
    """At most five of the values."""
    shown = list(map(str, islice(values, 6)))
    return ", ".join(shown[:5]) + (", ..." if len(shown) > 5 else "")
