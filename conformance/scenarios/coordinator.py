"""Sequences of a coordinator in few words, as `scenarios.toml` writes them: wire events and back."""

from collections.abc import Callable, Mapping

from conformance.adapters.protocol import Wire


class ScenarioError(ValueError):
    """The file of scenarios cannot be read; the message says where."""


def opening(config: Wire) -> tuple[Wire, ...]:
    """The job and all of its tasks begin to run."""
    tasks = [{"kind": "task_status", "task": task["id"], "status": "RUNNING"} for task in config["tasks"]]
    return ({"kind": "job_status", "status": "RUNNING"}, *tasks)


def event_of(text: str) -> Wire:
    """`savepoint`, `acknowledge 1 by src`, `decline 1 by src CHECKPOINT_DECLINED`, `advance 100`, ..."""
    kind, *rest = text.split()
    if kind in ("checkpoint", "savepoint", "stop") and not rest:
        return {"kind": "trigger", "type": kind}
    made = _WORDS.get(kind)
    if made is None:
        raise ScenarioError(f"scenarios.toml: expected one of {', '.join(_WORDS)} or a request, got {text!r}")
    try:
        return {"kind": kind, **made(*rest)}
    except (TypeError, ValueError) as wrong:
        raise ScenarioError(f"scenarios.toml: {text!r} is no event of a coordinator: {wrong}") from wrong


def _by(number: str, by: str, task: str) -> Wire:
    return {"checkpoint": int(number), _expected(by): task}


def _expected(by: str) -> str:
    if by != "by":
        raise ValueError(f"expected `by`, got {by!r}")
    return "task"


def _decline(number: str, by: str, task: str, reason: str) -> Wire:
    return {**_by(number, by, task), "reason": reason}


def _answer(number: str, by: str, name: str) -> Wire:
    _expected(by)
    return {"name": name, "checkpoint": int(number)}


_WORDS: Mapping[str, Callable[..., Wire]] = {
    "acknowledge": _by,
    "decline": _decline,
    "advance": lambda ms: {"ms": int(ms)},
    "store_fails": lambda when: {"when": when},
    "fail_tasks": lambda *tasks: {"tasks": list(tasks)},
    "job_status": lambda status: {"status": status},
    "task_status": lambda task, status: {"task": task, "status": status},
    "coordinator_done": _answer,
    "coordinator_fails": _answer,
    "restore": dict,
}
