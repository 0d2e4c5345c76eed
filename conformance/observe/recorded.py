"""The account of a recorded run, of whatever engine, as a file of JSON: what was sent, and what is left.

`sent`: `record`, `key`, `lane`, `position`, `weight` (1 if left out). `committed`: rows of `key`, `record`,
`place`, `total`. What follows may be left out. `state`: `key`, `records`, `total`. `cuts`: `checkpoint`,
`offsets` (by lane) and `state`. `seen`: a row of `committed` with `checkpoint` and `complete`.
"""

from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from conformance.observe.guarantee import Account, Cut, Row, Seen, Sent, Totals

Object = Mapping[str, Any]


class RecordedError(ValueError):
    """A file that holds no account; the message says where, and what was expected."""


def account_in(file: Path) -> Account:
    """Read the account; raises RecordedError."""
    try:
        read: Object = orjson.loads(file.read_bytes())
        sent: dict[Hashable, Sent] = {
            one["record"]: Sent(one["key"], one["lane"], one["position"], one.get("weight", 1))
            for one in read["sent"]
        }
        return Account(
            sent,
            [_row(one) for one in read["committed"]],
            _state(read["state"]) if "state" in read else None,
            [Cut(one["checkpoint"], one["offsets"], _state(one["state"])) for one in read.get("cuts", ())],
            [Seen(_row(one), one["checkpoint"], one["complete"]) for one in read.get("seen", ())],
        )
    except (OSError, orjson.JSONDecodeError, KeyError, TypeError, AttributeError) as wrong:
        raise RecordedError(f"{file}: expected an account (docs/torture.md), got {wrong!r}") from wrong


def _row(one: Object) -> Row:
    return Row(one["key"], one["record"], one["place"], one["total"])


def _state(rows: Sequence[Object]) -> dict[Hashable, Totals]:
    return {one["key"]: Totals(one["records"], one["total"]) for one in rows}
