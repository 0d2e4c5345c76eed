"""Converts requests and answers to frames, which are lines of JSON, and back.

This module checks the frame strictly: its size, its JSON, `seq`, and the fields of the op. It does not check
events, effects and states; the component does. Each error raises `FrameError`, whose message says what was
expected, what was received and what to do.
"""

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import orjson

from conformance.adapters.protocol import (
    PROTOCOL,
    Applied,
    Errored,
    Hello,
    Made,
    Offer,
    Unsupported,
    Visible,
    Wire,
)

FRAME_LIMIT = 4 * 1024 * 1024
"""The maximum size of a frame in bytes, without its newline."""

DEEPEST = 32
"""The maximum depth of nested lists and objects in a frame. The protocol itself needs a depth of 6."""
EFFECTS_OF_ONE_EVENT = 200_000
"""Maximum number of effects of one event; a gate resumes at most 32,768 channels."""

_BRACKETS = re.compile(rb'"(?:[^"\\]|\\.)*"|[\[\]{}]')
"""A string, or a bracket outside of strings."""
_NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))

OPS = ("hello", "new", "apply", "observe", "bye")
Result = Hello | Made | Applied | Visible
"""The answers to a request that was carried out."""


class FrameError(ValueError):
    """A line that is no valid frame. `seq`: the number in the line; None if it could not be read."""

    def __init__(self, what: str, seq: int | None = None) -> None:
        super().__init__(what)
        self.seq = seq


class Request(NamedTuple):
    """One request: its number, its op and the fields of the op."""

    seq: int
    op: str
    component: str = ""
    config: Wire = MappingProxyType({})
    events: Sequence[Wire] = ()
    folder: str | None = None
    at_once: bool = False


# ---------------------------------------------------------------- requests


def encode_hello(seq: int) -> bytes:
    """The request `hello`."""
    return _line({"seq": seq, "op": "hello", "protocol": PROTOCOL})


def encode_new(seq: int, component: str, config: Wire, folder: str | None = None) -> bytes:
    """The request `new`; `folder`: where the instance keeps its durable data."""
    durable = {} if folder is None else {"folder": folder}
    return _line({"seq": seq, "op": "new", "component": component, "config": config, **durable})


def encode_apply(seq: int, events: Sequence[Wire], *, at_once: bool = False) -> bytes:
    """The request `apply` with a batch of events; `at_once`: the events have no order."""
    return _line({"seq": seq, "op": "apply", "events": events, **({"at_once": True} if at_once else {})})


def encode_observe(seq: int) -> bytes:
    """The request `observe`, for the data that a reader of the durable data can read."""
    return _line({"seq": seq, "op": "observe"})


def encode_bye(seq: int) -> bytes:
    """The request `bye`."""
    return _line({"seq": seq, "op": "bye"})


def parse_request(line: bytes, limit: int = FRAME_LIMIT) -> Request:
    """Read a request; raises FrameError."""
    frame = _object(line, limit)
    seq = _seq(frame)
    op = frame.get("op")
    if op == "hello":
        if frame.get("protocol") != PROTOCOL:
            raise FrameError(
                f"protocol: expected {PROTOCOL}, got {_value(frame.get('protocol'))}; use that", seq
            )
        return Request(seq, op)
    if op == "new":
        component, config = frame.get("component"), frame.get("config")
        if not isinstance(component, str):
            raise FrameError(f"component: expected a name, got {_value(component)}", seq)
        if not isinstance(config, dict):
            raise FrameError(f"config: expected an object, got {_value(config)}", seq)
        folder = frame.get("folder")
        if not isinstance(folder, str | None):
            raise FrameError(f"folder: expected the path of a folder, got {_value(folder)}", seq)
        return Request(seq, op, component=component, config=config, folder=folder)
    if op == "apply":
        events = frame.get("events")
        if not isinstance(events, list) or not events or not all(type(event) is dict for event in events):
            raise FrameError("events: expected a list with at least one object; send events in a list", seq)
        return Request(seq, op, events=events, at_once=frame.get("at_once") is True)
    if op in ("observe", "bye"):
        return Request(seq, op)
    raise FrameError(f"op: expected one of {', '.join(OPS)}, got {_value(op)}", seq)


# ---------------------------------------------------------------- answers


def encode_answer(seq: int | None, answer: Result | Unsupported | Errored) -> bytes:
    """One answer as a line; `seq` is None only where the request's number could not be read."""
    frame: dict[str, Any]
    if isinstance(answer, Applied):
        frame = {"seq": seq, "effects": answer.effects, "state": answer.state}
    elif isinstance(answer, Hello):
        components = {name: _offer(offer) for name, offer in answer.components.items()}
        frame = {"seq": seq, "protocol": PROTOCOL, **answer._asdict(), "components": components}
    elif isinstance(answer, Made):
        frame = {"seq": seq, "ok": True}
    elif isinstance(answer, Visible):
        frame = {"seq": seq, "visible": answer.values}
    elif isinstance(answer, Unsupported):
        frame = {"seq": seq, "unsupported": answer.why}
    else:
        frame = {"seq": seq, "error": answer.what}
        if answer.at is not None:
            frame["at"] = answer.at
    return _line(frame)


def _offer(offer: Offer) -> dict[str, Any]:
    offered = offer._asdict()
    limits = dict(offered.pop("limits"))
    return {**offered, "limits": limits} if limits else offered


def parse_answer(
    line: bytes, seq: int, op: str, events: int = 0, limit: int = FRAME_LIMIT
) -> Result | Unsupported | Errored:
    """Read the answer to request `seq`, an `op` with this number of events. Raises FrameError."""
    frame = _object(line, limit)
    if _seq(frame) != seq:
        raise FrameError(f"seq: expected {seq}, got {frame['seq']}; answer each request once, in order", seq)
    if "unsupported" in frame:
        return Unsupported(_text(frame, "unsupported", seq))
    if "error" in frame:
        at = frame.get("at")
        if at is not None and (type(at) is not int or not 0 <= at < max(events, 1)):
            raise FrameError(f"at: expected a position in the batch of {events}, got {_value(at)}", seq)
        return Errored(_text(frame, "error", seq), at)
    if op == "hello":
        return _hello(frame, seq)
    if op == "apply":
        return _applied(frame, seq, events)
    if op == "observe":
        if type(frame.get("visible")) is not list:
            raise FrameError(f"visible: expected a list, got {_value(frame.get('visible'))}", seq)
        return Visible(frame["visible"])
    if frame.get("ok") is not True:
        raise FrameError(f"ok: expected true in the answer to {op!r}, got {_shown(line)}", seq)
    return Made()


def _hello(frame: Mapping[str, Any], seq: int) -> Hello:
    if frame.get("protocol") != PROTOCOL:
        raise FrameError(f"protocol: expected {PROTOCOL}, got {_value(frame.get('protocol'))}", seq)
    offered = frame.get("components")
    if not isinstance(offered, dict):
        raise FrameError(f"components: expected an object of names, got {_value(offered)}", seq)
    components = {}
    for name, offer in offered.items():
        if not isinstance(offer, dict):
            raise FrameError(f"components.{name}: expected an object, got {_value(offer)}", seq)
        modes, profiles, capabilities = (
            _texts(offer, key, f"components.{name}", seq) for key in ("modes", "profiles", "capabilities")
        )
        limits = _limits(offer, f"components.{name}.limits", seq)
        components[name] = Offer(modes, profiles, capabilities, limits)
    implementation, version, language = (
        _text(frame, key, seq) for key in ("implementation", "version", "language")
    )
    return Hello(implementation, version, language, components)


def _applied(frame: Mapping[str, Any], seq: int, events: int) -> Applied:
    effects, state = frame.get("effects"), frame.get("state")
    if type(effects) is not list or len(effects) != events:
        came = len(effects) if isinstance(effects, list) else _value(effects)
        raise FrameError(f"effects: expected a list of {events} lists, one for each event, got {came}", seq)
    for at, of_event in enumerate(effects):
        if type(of_event) is not list or len(of_event) > EFFECTS_OF_ONE_EVENT:
            what = f"expected a list of at most {EFFECTS_OF_ONE_EVENT:,} objects"
            raise FrameError(f"effects[{at}]: {what}, got {_value(of_event)}", seq)
        for effect in of_event:
            if type(effect) is not dict or type(effect.get("kind")) is not str:
                what = "expected a list of objects with a string 'kind'"
                raise FrameError(f"effects[{at}]: {what}, got {_value(effect)}", seq)
    if type(state) is not dict:
        raise FrameError(f"state: expected an object, got {_value(state)}", seq)
    return Applied(effects, state)


# ---------------------------------------------------------------- lines


def _line(frame: Mapping[str, Any]) -> bytes:
    return orjson.dumps(frame, option=orjson.OPT_APPEND_NEWLINE)


def _object(line: bytes, limit: int) -> dict[str, Any]:
    if len(line) > limit + 1:
        raise FrameError(f"a frame has at most {limit} bytes, got {len(line)}; send smaller batches")
    try:
        frame = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise FrameError(f"expected one JSON object a line, got {_shown(line)}: {error}") from error
    if _is_deep(line):
        raise FrameError(f"expected lists and objects at most {DEEPEST} deep, got {_shown(line)}")
    if type(frame) is not dict:
        raise FrameError(f"expected a JSON object, got {_shown(line)}")
    return frame


def _seq(frame: Mapping[str, Any]) -> int:
    seq = frame.get("seq")
    if type(seq) is not int:
        raise FrameError(f"seq: expected an int, got {_value(seq)}; every frame carries its number")
    return seq


def _text(frame: Mapping[str, Any], name: str, seq: int) -> str:
    value = frame.get(name)
    if not isinstance(value, str):
        raise FrameError(f"{name}: expected a string, got {_value(value)}", seq)
    return value


def _texts(offer: Mapping[str, Any], name: str, where: str, seq: int) -> tuple[str, ...]:
    values = offer.get(name)
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise FrameError(f"{where}.{name}: expected a list of strings, got {_value(values)}", seq)
    return tuple(values)


def _limits(offer: Mapping[str, Any], where: str, seq: int) -> Mapping[str, int]:
    values = offer.get("limits", {})
    if not isinstance(values, dict) or not all(type(value) is int for value in values.values()):
        raise FrameError(f"{where}: expected an object of ints, got {_value(values)}", seq)
    return values


def _is_deep(line: bytes) -> bool:
    """Whether lists and objects are nested deeper than DEEPEST."""
    left = line.translate(None, _NO_BRACKETS)
    for _ in range(DEEPEST // 2):  # each round takes away at least the innermost level, and at most two
        if not left:
            return False
        left = left.replace(b"[]", b"").replace(b"{}", b"")
    deepest = depth = 0
    for found in _BRACKETS.finditer(line):
        if found[0] in (b"[", b"{"):
            depth += 1
            deepest = max(deepest, depth)
        elif len(found[0]) == 1:
            depth -= 1
    return deepest > DEEPEST


def _value(value: object) -> str:
    """The beginning of a value, shortened for a message."""
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def _shown(line: bytes) -> str:
    """The beginning of a line, shortened for a message."""
    text = line[:80].decode(errors="replace").rstrip("\n")
    return repr(text + "..." if len(line) > 80 else text)
