"""The contents of the picture of each component: configuration, events (`pictures.toml`) and labels."""

import tomllib
from collections.abc import Callable, Mapping
from importlib import resources
from typing import Any

from conformance.adapters.protocol import Wire
from conformance.components.registry import COMPONENTS
from conformance.pictures.graph import Subject
from conformance.site.scenes import event_of
from spec.vocabulary import vocabulary

READS = "Every event of the component's alphabet, in its first configuration."
_ENTRIES: Mapping[str, Any] = tomllib.loads(
    resources.files("conformance.pictures").joinpath("pictures.toml").read_text(encoding="utf-8")
)
UNLISTED = vocabulary().keys() - {entry.get("component", name) for name, entry in _ENTRIES.items()}
"""Components without an entry in `pictures.toml`; their pictures show the events of their alphabets."""
LISTED: Mapping[str, Any] = {
    **_ENTRIES,
    **{name: {"title": vocabulary()[name].title, "reads": READS} for name in sorted(UNLISTED)},
}
"""Every picture by its name, in the order of the page."""
LETTERS = {"barrier": "B", "cancel": "X", "end_of_partition": "E", "announce": "N"}
UNALIGNED = {"unaligned": "U", "timeout": "t"}
IDS = 2
"""Maximum number of checkpoints in the picture of the coordinator, and of attempts in that of fencing."""


def _named(name: str, members: list[Any]) -> str:
    """A name with its members, as `blocked 0,1`; empty if there are no members."""
    return f"{name} {','.join(map(str, members))}" if members else ""


def _two_lines(*words: str) -> tuple[str, ...]:
    """At most two lines with the words that are not empty."""
    shown = [word for word in words if word]
    half = (len(shown) + 1) // 2
    lines = (" · ".join(shown[:half]), " · ".join(shown[half:])) if len(shown) > 1 else tuple(shown)
    return tuple(line for line in lines if line)


def _label_id(event: Wire) -> str:
    """An event by its kind and the checkpoint that it is about."""
    names = {
        "complete_notification": "complete",
        "abort_notification": "abort",
        "abort_on_barrier": "gate aborts",
        "async_done": "done",
        "async_failed": "failed",
        "notify_complete": "complete",
        "notify_abort": "abort",
        "status": "task stops",
    }
    number = event.get("checkpoint", "")
    return f"{names.get(event['kind'], event['kind'])} {'' if number is None else number}".strip()


def _label_gate(event: Wire) -> str:
    if event["kind"] == "advance":
        return f"+{event['ms']} ms"
    letter = UNALIGNED.get(event.get("alignment", ""), LETTERS[event["kind"]])
    if event["kind"] == "announce":
        letter = LETTERS["announce"]
    return f"{letter}{event['channel']}"


def _show_gate(seen: dict[str, Any]) -> tuple[str, ...]:
    if "tracked" in seen:
        return _show_tracked(seen)
    began = "nothing yet" if seen["current"] < 0 else "1 pending" if seen["pending"] else "1 over"
    return _two_lines(
        began,
        _named("blocked", seen["blocked"]),
        _named("counts", seen.get("arrived", [])),
        _named("ended", seen["closed"]),
    )


def _show_tracked(seen: dict[str, Any]) -> tuple[str, ...]:
    began = "nothing yet" if seen["current"] < 0 else "none tracked"
    for _, counted, aborted in seen["tracked"]:
        began = f"1 tracked: {','.join(map(str, counted))}" + (" (aborted)" if aborted else "")
    return _two_lines(began, _named("ended", seen["closed"]))


def _show_subtask(seen: dict[str, Any]) -> tuple[str, ...]:
    return _two_lines(
        f"last {seen['last']}" if seen["last"] >= 0 else "nothing yet",
        _named("runs", seen["running"]),
        _named("aborted", seen["aborted"]),
        f"complete {seen['completed']}" if seen["completed"] >= 0 else "",
    )


def _label_coordinator(event: Wire) -> str:
    match event["kind"]:
        case "acknowledge":
            return f"ack {event['task'][0]}{event['checkpoint']}"
        case "advance":
            return "time-out"
        case "trigger":
            return str(event["type"])
        case _:
            return f"{event['kind']} {event.get('checkpoint', '')}".strip()


def _show_coordinator(seen: dict[str, Any]) -> tuple[str, ...]:
    pending = seen["pending"].items()
    waiting = [f"{number} awaits {','.join(task[0] for task in tasks)}" for number, tasks in pending]
    return _two_lines(*(waiting or [f"next id {seen['next_id']}"]), _named("kept", seen["completed"]))


def _show_sink(seen: dict[str, Any]) -> tuple[str, ...]:
    if not seen["running"]:
        return _two_lines("not running", _named("visible", seen["committed"]))
    return _two_lines(
        f"open {seen['open']}" if seen["open"] else "none open",
        _named("pre-committed", [transaction for _, transaction in seen["pending"]]),
        _named("visible", seen["committed"]),
    )


def _show_offsets(seen: dict[str, Any]) -> tuple[str, ...]:
    if not seen["running"]:
        return _two_lines("not running", f"committed {seen['committed'][0]}" if seen["committed"] else "")
    return _two_lines(
        _named("remembered", [checkpoint for checkpoint, _ in seen["remembered"]]) or "none remembered",
        f"committed {seen['committed'][0]}" if seen["committed"] else "",
    )


def _show_source(seen: dict[str, Any]) -> tuple[str, ...]:
    waiting = _named("triggered", seen["told"]), _named("ahead", seen["ahead"])
    return _two_lines("" if seen["running"] else "not running", *waiting) or ("runs",)


_Show = Callable[[dict[str, Any]], tuple[str, ...]]
_WORDS: Mapping[str, tuple[_Show, Callable[[Wire], str]]] = {
    "gate": (_show_gate, _label_gate),
    "subtask": (_show_subtask, _label_id),
    "coordinator": (_show_coordinator, _label_coordinator),
    "store": (
        lambda seen: (",".join(map(str, seen["completed"])) or "empty",),
        lambda event: f"{event['type']} {event['checkpoint']}",
    ),
    "sink": (_show_sink, _label_id),
    "offsets": (_show_offsets, _label_id),
    "source": (_show_source, _label_id),
    "fencing": (
        lambda seen: tuple(
            f"driver {driver}: {phase} {attempt or ''}".rstrip()
            for driver, (phase, attempt) in enumerate(zip(seen["phases"], seen["attempts"], strict=True), 1)
        ),
        lambda event: f"{event['kind']} {event['driver']}",
    ),
    "failures": (
        lambda seen: (f"{seen['counted']} counted",),
        lambda event: f"{'ok' if event['kind'] == 'success' else 'fails'} {event['checkpoint']}",
    ),
}
"""For each component, functions for the lines of a state and for the label of an event."""
_MAY: Mapping[str, Callable[[dict[str, Any], Wire], bool]] = {
    "coordinator": lambda seen, event: event["kind"] != "trigger" or seen["next_id"] <= IDS,
    "fencing": lambda seen, event: event["kind"] != "draw" or len(seen["starts"]) < IDS,
    "store": lambda seen, event: event["checkpoint"] > max(seen["completed"], default=0),
}
"""For each component, whether an event is drawn in a state. Without an entry all events are drawn."""


def of_alphabet(component: str) -> Subject:
    """The picture of a component without an entry: its state fields, and its events with their values."""
    entry = COMPONENTS[component]
    assert entry.alphabets is not None, f"{component} has no alphabet; give it an entry in pictures.toml"
    config = entry.configs[0]
    return Subject(
        component,
        component,
        config,
        [],
        [dict(letter.event) for letter in next(entry.alphabets(config)).letters],
        lambda seen: _two_lines(*(f"{name} {value}" for name, value in seen.items())),
        lambda event: " ".join(map(str, event.values())),
    )


SUBJECTS = tuple(
    Subject(
        name,
        listed["component"],
        listed["config"],
        [event_of(line) for line in listed.get("opening", ())],
        [event_of(line) for line in listed["events"]],
        *_WORDS[listed["component"]],
        _MAY.get(listed["component"], lambda seen, event: True),
    )
    for name, listed in _ENTRIES.items()
    if "component" in listed
) + tuple(of_alphabet(name) for name in sorted(UNLISTED))
"""The pictures of components, in the order of the page."""
