"""Events for walks at one channel: records, barriers that overtake or time out, snapshots, restores."""

from collections.abc import Callable, Mapping
from random import Random

from hypothesis import strategies as st

from conformance.adapters.protocol import Wire
from conformance.generators.chooser import STRAY, Chooser

CONFIGS: list[Wire] = [
    {"profile": profile} for profile in ("flink-2.3", "flink-1.16", "flink-1.13", "flink-1.12")
]

_ALIGNMENTS = ("unaligned", "timeout", "timeout", "aligned", "forced-aligned")
_ROOM = 6
"""A walk that has this much in flight reads before it writes."""


def channel_chooser(config: Wire, rng: Random) -> Chooser:
    """Both ends and the network in any order; checkpoints mostly grow, stragglers are of those around."""
    draw = rng.random
    newest = 0
    numbers = 0
    overtakes = draw()

    def near() -> int:
        return max(0, newest + (0, 0, 0, 0, 1, -1, -2)[int(draw() * 7)])

    def choose(observed: Wire) -> Wire:
        nonlocal newest, numbers
        luck = draw()
        if luck < STRAY:
            return _stray(draw(), newest)
        unread = [item[1] for item in observed["input"] if item[0] == "announce"]
        waiting = [
            item
            for item in observed["input"]
            if item[0] == "barrier" and item[2] == "timeout" and (item[1] not in unread or draw() < 0.1)
        ]
        if waiting and draw() < 0.3:
            return {"kind": "prioritise", "checkpoint": waiting[int(draw() * len(waiting))][1]}
        if observed["promised"] is not None and draw() < 0.3:
            return {"kind": "abort" if draw() < 0.2 else "time_out", "checkpoint": observed["promised"]}
        luck = draw()
        full = len(observed["output"]) + len(observed["input"]) > _ROOM
        if luck < 0.24 and not full:
            numbers += 1
            return {"kind": "emit", "value": numbers}
        if luck < 0.5:
            return {"kind": "transfer"}
        if luck < 0.66 or full:
            return {"kind": "take"}
        if luck < 0.76:
            newest = newest + 1 if draw() < 0.9 else near()
            alignment = _ALIGNMENTS[int(draw() ** (0.5 + overtakes) * len(_ALIGNMENTS))]
            return {"kind": "send_barrier", "checkpoint": newest, "alignment": alignment}
        if luck < 0.86:
            return {"kind": "start_persisting", "checkpoint": near()}
        if luck < 0.91:
            return {"kind": "stop_persisting", "checkpoint": near()}
        if luck < 0.95:
            return {"kind": "resume" if observed["blocked"] or draw() < 0.1 else "transfer"}
        if luck < 0.98:
            return {"kind": "time_out" if draw() < 0.6 else "abort", "checkpoint": near()}
        parts = [[100 + place for place in range(int(draw() * 4))] for _ in range(2)]
        return {"kind": "restore", "input": parts[0], "output": parts[1]}

    return choose


def _stray(luck: float, newest: int) -> Wire:
    if luck < 0.4:
        return {"kind": "prioritise", "checkpoint": newest + 100}
    if luck < 0.7:
        return {"kind": "send_barrier", "checkpoint": newest, "alignment": "sideways"}
    return {"kind": "no_such_event"}


# ---------------------------------------------------------------- for state machines


def _ids(seen: Wire) -> list[int]:
    """Checkpoints that stand in the channel or are awaited, and the next one."""
    barriers = [item[1] for item in (*seen["output"], *seen["input"]) if item[0] == "barrier"]
    known = [one for one in (seen["promised"], seen["persisting"], *barriers) if one is not None]
    return [*known, max(known, default=0) + 1]


def _of_checkpoint(kind: str) -> Callable[[st.DataObject, Wire, Wire], Wire]:
    def draw(data: st.DataObject, config: Wire, seen: Wire) -> Wire:
        return {"kind": kind, "checkpoint": data.draw(st.sampled_from(_ids(seen)), "checkpoint")}

    return draw


def _plain(kind: str) -> Callable[[st.DataObject, Wire, Wire], Wire]:
    return lambda data, config, seen: {"kind": kind}


def _emit(data: st.DataObject, config: Wire, seen: Wire) -> Wire:
    return {"kind": "emit", "value": data.draw(st.integers(0, 9), "value")}


def _send_barrier(data: st.DataObject, config: Wire, seen: Wire) -> Wire:
    alignment = data.draw(st.sampled_from(("unaligned", "timeout", "aligned")), "alignment")
    return {**_of_checkpoint("send_barrier")(data, config, seen), "alignment": alignment}


def _restore(data: st.DataObject, config: Wire, seen: Wire) -> Wire:
    records = st.lists(st.integers(100, 109), max_size=2)
    return {"kind": "restore", "input": data.draw(records, "input"), "output": data.draw(records, "output")}


CHANNEL_DRAWS: Mapping[str, Callable[[st.DataObject, Wire, Wire], Wire]] = {
    "emit": _emit,
    "send_barrier": _send_barrier,
    "transfer": _plain("transfer"),
    "transfer_more": _plain("transfer"),
    "read": _plain("take"),
    "resume": _plain("resume"),
    "time_out": _of_checkpoint("time_out"),
    "abort": _of_checkpoint("abort"),
    "start_persisting": _of_checkpoint("start_persisting"),
    "stop_persisting": _of_checkpoint("stop_persisting"),
    "prioritise": _of_checkpoint("prioritise"),
    "restore": _restore,
}
"""For each rule of the channel's machine: how its event is drawn."""
