"""Compares the learned machine with the model's, and finds a shortest sequence for each difference."""

from collections.abc import Sequence
from typing import NamedTuple

import orjson

from conformance.drive.oracle import Oracle
from conformance.suites.alphabet import Alphabet
from conformance.suites.machine import Machine, Word, differences


class Difference(NamedTuple):
    """In one pair of states, a letter to which the implementation answers differently from the model."""

    letters: tuple[str, ...]
    """A shortest sequence of letters that shows the difference. Only its last answer differs."""
    events: tuple[dict[str, object], ...]
    """The same sequence as events."""
    expected: str
    """The model's output to the last letter."""
    learned: str


def compared(alphabet: Alphabet, model: Machine, learned: Machine) -> list[Difference]:
    """The differences, shortest first. Empty if the machines are equal."""
    return [_difference(alphabet, word, model, learned) for word in differences(model, learned)]


def _difference(alphabet: Alphabet, word: Word, model: Machine, learned: Machine) -> Difference:
    events = alphabet.events(Oracle(alphabet.component, alphabet.config), word)
    return Difference(
        tuple(alphabet.names[letter] for letter in word),
        tuple(dict(event) for event in events),
        str(model.run(word)[-1]),
        str(learned.run(word)[-1]),
    )


def described(differences_found: Sequence[Difference], at_most: int) -> list[str]:
    """The first `at_most` differences as lines, and the number of the others."""
    lines: list[str] = []
    for found in differences_found[:at_most]:
        lines += [
            f"  {' ; '.join(found.letters)}",
            f"      model    {readable(found.expected)}",
            f"      learned  {readable(found.learned)}",
        ]
    if len(differences_found) > at_most:
        lines.append(f"  and {len(differences_found) - at_most} others, which the JSON file has")
    return lines


def readable(output: str) -> str:
    """An output as a short text, such as `block 0, trigger newest [current=newest, pending=false]`."""
    answer = orjson.loads(output)
    if not isinstance(answer, dict):
        return str(answer)
    if "ends" in answer:
        return str(answer["ends"])
    effects = ", ".join(" ".join(_plain(value) for value in _kind_first(one)) for one in answer["effects"])
    state = ", ".join(f"{name}={_plain(value)}" for name, value in answer.get("state", {}).items())
    return f"{effects or '-'}  [{state}]" if state else effects or "-"


def _kind_first(effect: dict[str, object]) -> list[object]:
    return [effect["kind"], *(value for name, value in effect.items() if name != "kind")]


def _plain(value: object) -> str:
    return value if isinstance(value, str) else orjson.dumps(value).decode()
