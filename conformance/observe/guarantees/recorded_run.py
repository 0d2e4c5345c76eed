"""Reads the recorded run of any engine from a JSON file: its input, its output, and its state.

`sent`: `record`, `key`, `lane`, `position`, `weight` (1 if left out). `committed`: rows of `key`, `record`,
`place`, `total`. The other fields may be left out. `state`: `key`, `records`, `total`. `cuts`: `checkpoint`,
`offsets` (by lane) and `state`. `seen`: a row of `committed` with `checkpoint` and `complete`.
"""

from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from conformance.errors import InputError
from conformance.observe.guarantees.guarantee import Account, Cut, Row, Seen, Sent, Totals

Object = Mapping[str, Any]


class RecordedError(InputError):
    """The file does not hold a recorded run. The message has the file and what was expected."""


def account_in(file: Path) -> Account:
    """Read the recorded run. Raises RecordedError if the file cannot be read or a field is wrong."""
    try:
        read: Object = orjson.loads(file.read_bytes())
        sent: dict[Hashable, Sent] = {
            one["record"]: Sent(
                _name(one["key"]), _name(one["lane"]), _number(one["position"]), _number(one.get("weight", 1))
            )
            for one in read["sent"]
        }
        return Account(
            sent,
            [_row(one) for one in read["committed"]],
            _state(read["state"]) if "state" in read else None,
            [_cut(one) for one in read.get("cuts", ())],
            [_seen(one) for one in read.get("seen", ())],
        )
    except (OSError, orjson.JSONDecodeError, KeyError, TypeError, AttributeError, RecursionError) as wrong:
        raise RecordedError(f"{file}: expected an account (docs/run/torture.md), got {wrong!r}") from wrong


def _cut(one: Object) -> Cut:
    offsets: dict[Hashable, int] = {lane: _number(offset) for lane, offset in one["offsets"].items()}
    return Cut(_number(one["checkpoint"]), offsets, _state(one["state"]))


def _seen(one: Object) -> Seen:
    return Seen(_row(one), _number(one["checkpoint"]), bool(one["complete"]))


def _name(value: object) -> str | int:
    if not isinstance(value, str | int):
        raise TypeError(f"expected a string or an int, got {value!r:.60}")
    return value


def _number(value: object) -> int:
    if type(value) is not int:
        raise TypeError(f"expected an int, got {value!r:.60}")
    return value


def _row(one: Object) -> Row:
    return Row(_name(one["key"]), _name(one["record"]), _number(one["place"]), _number(one["total"]))


def _state(rows: Sequence[Object]) -> dict[Hashable, Totals]:
    return {_name(one["key"]): Totals(_number(one["records"]), _number(one["total"])) for one in rows}
