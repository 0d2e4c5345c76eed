"""How Hypothesis draws the events of operators: sinks, and sources that commit offsets or are induced."""

from collections.abc import Callable, Mapping

from hypothesis import strategies as st

from conformance.adapters.protocol import Wire

Draw = Callable[[st.DataObject, Wire, Wire], Wire]


def _ids(seen: Wire, field: str) -> list[int]:
    return [filed[0] for filed in seen[field]]


def _told(kind: str, field: str) -> Draw:
    """Told of a checkpoint: one that waits in this field of the state, or one near the newest of these."""

    def draw(data: st.DataObject, config: Wire, seen: Wire) -> Wire:
        known = _ids(seen, field)
        is_known = data.draw(st.booleans(), "known")
        if known and is_known:
            return {"kind": kind, "checkpoint": known[data.draw(st.integers(0, len(known) - 1), "position")]}
        near = max(known, default=0) + data.draw(st.integers(-2, 3), "distance")
        return {"kind": kind, "checkpoint": max(0, near)}

    return draw


def _plain(kind: str) -> Draw:
    return lambda data, config, seen: {"kind": kind}


# ---------------------------------------------------------------- sink


def _write(data: st.DataObject, config: Wire, seen: Wire) -> Wire:
    return {"kind": "write", "value": data.draw(st.integers(0, 9), "value")}


def _snapshot(data: st.DataObject, config: Wire, seen: Wire) -> Wire:
    newest = max(_ids(seen, "pending"), default=0)
    return {"kind": "snapshot", "checkpoint": newest + data.draw(st.integers(1, 3), "distance")}


def _failing_completion(data: st.DataObject, config: Wire, seen: Wire) -> Wire:
    told = _told("notify_complete", "pending")(data, config, seen)
    return {**told, "fails": data.draw(st.integers(1, 6), "fails")}


def _restore(data: st.DataObject, config: Wire, seen: Wire) -> Wire:
    return {"kind": "restore", "checkpoint": data.draw(st.integers(1, 6) | st.none(), "checkpoint")}


def _failing_restore(data: st.DataObject, config: Wire, seen: Wire) -> Wire:
    return {**_restore(data, config, seen), "fails": data.draw(st.integers(1, 4), "fails")}


SINK: Mapping[str, Draw] = {
    "write": _write,
    "snapshot": _snapshot,
    "notify_complete": _told("notify_complete", "pending"),
    "failing_completion": _failing_completion,
    "notify_abort": _told("notify_abort", "pending"),
    "finish": _plain("finish"),
    "close": _plain("close"),
    "crash": _plain("crash"),
    "restore": _restore,
    "failing_restore": _failing_restore,
}

# ---------------------------------------------------------------- offsets


def _snapshot_offsets(data: st.DataObject, config: Wire, seen: Wire) -> Wire:
    newest = max([*(seen["committed"] or (0,))[:1], *_ids(seen, "remembered")])
    checkpoint = newest + data.draw(st.integers(1, 3), "distance")
    return {"kind": "snapshot", "checkpoint": checkpoint, "offsets": data.draw(st.integers(0, 9), "offsets")}


def _restore_offsets(data: st.DataObject, config: Wire, seen: Wire) -> Wire:
    return {"kind": "restore", "offsets": data.draw(st.integers(0, 9), "offsets")}


OFFSETS: Mapping[str, Draw] = {
    "snapshot": _snapshot_offsets,
    "notify_complete": _told("notify_complete", "remembered"),
    "notify_abort": _told("notify_abort", "remembered"),
    "crash": _plain("crash"),
    "restore": _restore_offsets,
}

# ---------------------------------------------------------------- source


def _of_source(kind: str) -> Draw:
    """An id that is told or ahead, or one near the newest of these."""

    def draw(data: st.DataObject, config: Wire, seen: Wire) -> Wire:
        known = [*seen["told"], *seen["ahead"]]
        is_known = data.draw(st.booleans(), "known")
        if known and is_known:
            return {"kind": kind, "checkpoint": known[data.draw(st.integers(0, len(known) - 1), "position")]}
        near = max(known, default=0) + data.draw(st.integers(-2, 3), "distance")
        return {"kind": kind, "checkpoint": max(0, near)}

    return draw


def _elsewhere(data: st.DataObject, config: Wire, seen: Wire) -> Wire:
    return {**_of_source("trigger")(data, config, seen), "to": "elsewhere"}


def _status(data: st.DataObject, config: Wire, seen: Wire) -> Wire:
    return {"kind": "status", "running": data.draw(st.booleans(), "running")}


SOURCE: Mapping[str, Draw] = {
    "trigger": _of_source("trigger"),
    "elsewhere": _elsewhere,
    "induce": _of_source("induce"),
    "ended": _of_source("ended"),
    "status": _status,
}

RESTORES = frozenset({"restore", "failing_restore"})
"""Rules that make sense while the operator does not run; all others only while it does."""
