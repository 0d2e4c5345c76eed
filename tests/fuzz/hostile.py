"""Hostile values for options, and ways to damage stored bytes. A seeded `Random` draws all of them."""

from collections.abc import Callable
from random import Random
from typing import Any

WORDS = (
    "", " ", "-", "--",
    "-1", "0", "x", "nan", "inf", "-inf", "1e309", "9" * 40, "-" + "9" * 40, "0x10", "1.5",
    "true", "null", "[]", "{}", '{"a": [1', "a=b", "=", "a=", "=b", "../..", "/", ".", "~", "*", "\n", "\t",
    "\u202e", "\udcff", "é", "💥", "%s%n", "$(id)", "';--", "<b>", "&amp;", "\x1b[31m", "A" * 300, "A" * 5000,
    "gate", "impl", "model", "COORD-01", "ALIGN-99", "2.2.1", "HEAD", "flink-1.14", "flink-0.0", "local[2]",
)  # fmt: skip
NUMBERS = ("nan", "inf", "-inf", "-1", "1e400", "x", "", "--", "١", "0x1", "1_0", "9" * 400)
PATHS = (
    "missing/file", "/dev/null/x", "/proc/none/x", ".", "/", "", "a\nb/c", "\udcff\udcfe", "A" * 300, "loop",
    "folder", "file.txt/x", "empty", "/dev/full",
)  # fmt: skip


def damaged(data: bytes, random: Random) -> tuple[bytes, str]:
    """Damages the bytes in one way. Returns them and the name of the way."""
    name = random.choice(list(_DAMAGES))
    return _DAMAGES[name](data, random), name


def _cut(data: bytes, random: Random) -> bytes:
    return data[: random.randrange(len(data))] if data else b""


def _flip(data: bytes, random: Random) -> bytes:
    if not data:
        return b"\xff"
    at = random.randrange(len(data))
    return data[:at] + bytes([data[at] ^ (1 << random.randrange(8))]) + data[at + 1 :]


def _noise(data: bytes, random: Random) -> bytes:
    at = random.randrange(len(data) + 1)
    return data[:at] + random.randbytes(random.randint(1, 40)) + data[at:]


def _line(change: Callable[[list[bytes], int], list[bytes]]) -> Callable[[bytes, Random], bytes]:
    def damage(data: bytes, random: Random) -> bytes:
        lines = data.splitlines(keepends=True)
        return b"".join(change(lines, random.randrange(len(lines)))) if lines else b"\n"

    return damage


_DAMAGES: dict[str, Callable[[bytes, Random], bytes]] = {
    "cut": _cut,
    "a bit": _flip,
    "noise": _noise,
    "empty": lambda data, random: b"",
    "not UTF-8": lambda data, random: b"\xff\xfe" + data,
    "nothing but zeros": lambda data, random: bytes(len(data)),
    "a line lost": _line(lambda lines, at: lines[:at] + lines[at + 1 :]),
    "a line twice": _line(lambda lines, at: [*lines[:at], lines[at], *lines[at:]]),
    "two lines swapped": _line(
        lambda lines, at: [*lines[:at], *reversed(lines[at : at + 2]), *lines[at + 2 :]]
    ),
    "deeply nested": lambda data, random: b"[" * 100_000,
    "nested and closed": lambda data, random: b'{"a":' * 900 + b"1" + b"}" * 900,
    "one huge line": lambda data, random: b'"' + b"x" * 5_000_000 + b'"\n',
    "a huge number": lambda data, random: b"9" * 10_000,
    "another value": lambda data, random: random.choice((b"null", b"[]", b"{}", b"1")),
}


VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 1.5, 2**63, 2**64 - 1, -(2**63), 1e300, "", "x", "1", "-1", "\u0000",
    "é" * 50, [], {}, [[]], [None], {"": None}, {"kind": "x"}, [1, "a", None], {"1": {"1": {"1": {}}}},
    "A" * 3000,
)  # fmt: skip


def mutated(value: Any, random: Random) -> Any:
    """A JSON value in which one place is replaced, removed, duplicated, or renamed."""
    places = list(_places(value, ()))
    place = random.choice(places)
    if not place:
        return random.choice(VALUES)
    copy = _copied(value)
    parent = copy
    for step in place[:-1]:
        parent = parent[step]
    last, how = place[-1], random.randrange(5)
    if how == 0:
        del parent[last]
    elif how == 1 and isinstance(parent, dict):
        parent[random.choice(("", "kind", "x", "0", "-1", "state", "é"))] = parent.pop(last)
    elif how == 1:
        parent.insert(last, _copied(parent[last]))
    else:
        parent[last] = random.choice(VALUES)
    return copy


def _places(value: Any, place: tuple[Any, ...]) -> Any:
    yield place
    items = list(enumerate(value)) if isinstance(value, list) else []
    for key, inner in value.items() if isinstance(value, dict) else items:
        yield from _places(inner, (*place, key))


def _copied(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _copied(inner) for key, inner in value.items()}
    return [_copied(inner) for inner in value] if isinstance(value, list) else value
