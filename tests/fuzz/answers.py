"""Hostile answers of an adapter: the model's answers with one of them mutated, for three commands."""

import sys
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import orjson

from conformance.adapters.frames import encode_answer
from conformance.adapters.in_process import InProcess, model_adapter
from conformance.adapters.protocol import Adapter, Hello
from conformance.drive.smoke import smoke
from tests.fuzz.hostile import mutated
from tests.fuzz.judge import Case

LIAR = Path(__file__).with_name("liar.py")
COMPONENTS = ("store", "sink", "gate", "coordinator", "source", "offsets")
SEPARATOR = b"\n\x00"


class Recorder:
    """The model with one component. It records the lines of all its answers."""

    def __init__(self, component: str) -> None:
        self._model: InProcess = model_adapter()
        self._component = component
        self.lines: list[bytes] = []

    def _kept(self, answer: Any) -> Any:
        self.lines.append(encode_answer(len(self.lines), answer).rstrip(b"\n"))
        return answer

    def hello(self) -> Any:
        """The model's answer to `hello`, with one component."""
        hello = self._model.hello()
        assert isinstance(hello, Hello)
        return self._kept(hello._replace(components={self._component: hello.components[self._component]}))

    def new(self, component: str, config: Any) -> Any:
        """The model's answer to `new`."""
        return self._kept(self._model.new(component, config))

    def apply(self, events: Any) -> Any:
        """The model's answers to `apply`."""
        return self._kept(self._model.apply(events))

    def bye(self) -> None:
        """Ends the model."""
        self._model.bye()


@cache
def right_answers(component: str) -> tuple[bytes, ...]:
    """The lines that the model answers to `smoke` of the component with seed 0."""
    recorder = Recorder(component)
    adapter: Adapter = recorder
    for _ in smoke(adapter, 0):
        pass
    return (*recorder.lines, b'{"seq": 0, "ok": true}')


def case(name: str, random: Random, folder: Path) -> Case:
    """A case: one command with an adapter that gives the right answers, except one."""
    component = random.choice(COMPONENTS)
    answers = list(right_answers(component))
    at = random.choice((0, 1, 2, 3, random.randrange(min(len(answers), 60))))
    how, broken, fatal = _broken(answers[at], random)
    answers[at] = broken
    file = folder / "answers"
    file.write_bytes(SEPARATOR.join(answers))
    adapter = f"{sys.executable} -S {LIAR} {file}"
    command = random.choice(("smoke", "smoke", "smoke", "classify", "conform"))
    arguments = [command, "--adapter", adapter, "--limit", "60"]
    if command == "conform":
        arguments += ["--component", component, "--examples", "1", "--no-suites", "--out", "divergences"]
    may_end = frozenset({1, 2}) if fatal and command == "smoke" else frozenset({0, 1, 2, 64})
    return Case(name, tuple(arguments), may_end, f"answer {at} of {component}: {how}")


def _broken(answer: bytes, random: Random) -> tuple[str, bytes, bool]:
    """Damages an answer. Returns how, the damaged bytes, and whether they cannot be a valid answer."""
    choice = random.randrange(16)
    field = random.choice((b'"seq"', b'"seq":0,"x"'))
    match choice:
        case 0:
            return "cut", answer[: random.randrange(1, len(answer))], True
        case 1:
            return "not UTF-8", answer.replace(b'"', b'"\xff', 1), True
        case 2:
            return "NaN", answer[:-1] + b',"state":NaN}', True
        case 3:
            return "nested", answer[:-1] + b',"state":{"a":' + b"[" * 300 + b"]" * 300 + b"}}", True
        case 4:
            return "nested deeply", answer[:-1] + b',"state":' + b"[" * 90_000 + b"]" * 90_000 + b"}", True
        case 5:
            return "another frame", answer + b"\n" + answer, False
        case 6:
            return "duplicate keys", answer[:-1] + b',"effects":[],' + field + b":1}", False
        case 7:
            return "a huge line", answer[:-1] + b',"x":"' + b"x" * 5_000_000 + b'"}', True
        case 8:
            many = b",".join([b'{"kind":"x"}'] * 300_000)
            return "many effects", b'{"seq": 0,"effects":[[' + many + b']],"state":{}}', True
        case 9:
            many = b",".join([b'{"kind":"x"}'] * 100_000)
            return "100,000 effects", b'{"seq": 0,"effects":[[' + many + b']],"state":{}}', True
        case 10:
            return "no kind", answer.replace(b'"kind"', b'"kin"'), b'"kind"' in answer
        case 11:
            return "a huge number", answer[:-1] + b',"state":{"current":' + b"9" * 3_000 + b"}}", False
        case 12:
            return "an empty line", b"", True
        case _:
            frame = orjson.loads(answer)
            frame["seq"] = 0
            return "mutated", orjson.dumps(mutated(frame, random)), False
