"""Transcripts: an event a line, its effects indented below it, in the form of the wire.

    barrier channel=0 checkpoint=5
      block channel=0

A transcript is replayed by sending each event and writing down what was answered; it must come out as it
stands in the test. An event that is refused is answered `refused`.
"""

import json

import pytest

from impl.core import COMPONENTS, Component, ProtocolError


def _value(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _event(line: str) -> dict[str, object]:
    kind, *fields = line.split()
    return {"kind": kind} | {name: _value(text) for name, text in (field.split("=", 1) for field in fields)}


def _line(effect: dict[str, object]) -> str:
    fields = [
        f"{name}={value if isinstance(value, str) else json.dumps(value, separators=(',', ':'))}"
        for name, value in effect.items()
        if name != "kind"
    ]
    return " ".join([str(effect["kind"]), *fields])


def _replay(component: Component, transcript: str) -> str:
    answers: list[str] = []
    for line in transcript.splitlines():
        if not line.strip() or line.startswith(" "):
            continue
        answers.append(line)
        before = component.observe()
        try:
            answers += [f"  {_line(effect)}" for effect in component.apply(_event(line))]
        except ProtocolError:
            answers.append("  refused")
            assert component.observe() == before, f"{line} was refused and changed something"
    return "\n".join(answers)


@pytest.fixture
def check():
    """Replays a transcript and fails if an answer differs: `check(component, transcript)`."""

    def compare(component: Component, transcript: str) -> None:
        expected = "\n".join(line for line in transcript.splitlines() if line.strip())
        assert _replay(component, transcript) == expected

    return compare


@pytest.fixture
def job():
    """Returns the coordinator of a running job of source `a` and operator `b`: `job(retain=2, ...)`."""

    def make(**config: object) -> Component:
        tasks = [{"id": "a", "source": True}, {"id": "b", "source": False}]
        it = COMPONENTS["coordinator"]({"tasks": tasks, **config})
        for task in ("a", "b"):
            it.apply({"kind": "task_status", "task": task, "status": "RUNNING"})
        assert it.apply({"kind": "job_status", "status": "RUNNING"}) == []
        return it

    return make


@pytest.fixture
def take(check):
    """Takes a checkpoint or savepoint of such a job, and acknowledges it in full: `take(it, 3, ending)`.

    `ending` is the transcript of the effects of the last acknowledgement.
    """

    def complete(it: Component, checkpoint: int, ending: str, requested="checkpoint", shared="[]") -> None:
        check(
            it,
            f"""
trigger type={requested}
  trigger_task task=a checkpoint={checkpoint} type={requested}
acknowledge task=a checkpoint={checkpoint} shared={shared}
  acknowledged task=a checkpoint={checkpoint} result=SUCCESS
acknowledge task=b checkpoint={checkpoint}
  acknowledged task=b checkpoint={checkpoint} result=SUCCESS
{ending}
""",
        )

    return complete
