"""Words in boxes and on arrows, of any part."""

from typing import Any

from conformance.adapters.protocol import Wire


def named(name: str, members: list[Any]) -> str:
    """`blocked 0,1`; nothing without members."""
    return f"{name} {','.join(map(str, members))}" if members else ""


def two_lines(*words: str) -> tuple[str, ...]:
    """At most two lines, of the words that say something."""
    said = [word for word in words if word]
    half = (len(said) + 1) // 2
    lines = (" · ".join(said[:half]), " · ".join(said[half:])) if len(said) > 1 else tuple(said)
    return tuple(line for line in lines if line)


def say_id(event: Wire) -> str:
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
