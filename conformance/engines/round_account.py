"""Makes the `Account` of a round for the classifier: input, committed rows, rows read during the round."""

from collections.abc import Hashable, Iterable, Sequence

from conformance.engines.feed import LANES, key_of, weight_of
from conformance.observe.guarantees.guarantee import Account, Row, Seen, Sent

_TORN, _SHOWN = -1, 60


def sent(records: int) -> dict[Hashable, Sent]:
    """The input of a round, by `lane:position`."""
    return {
        f"{lane}:{position}": Sent(key_of(lane, position), lane, position, weight_of(lane, position))
        for lane in range(LANES)
        for position in range(records // LANES)
    }


def rows(lines: Iterable[str], torn: bool = True) -> list[Row]:
    """Parse lines `key,lane,position,place,total` into rows.

    A line of another form becomes the row of a record that was never sent; without `torn` it is left out.
    """
    made = []
    for line in lines:
        try:
            key, lane, position, place, total = map(int, line.split(","))
        except ValueError:
            if torn:
                made.append(Row(_TORN, line[:_SHOWN], 0, 0))
        else:
            made.append(Row(key, f"{lane}:{position}", place, total))
    return made


def account(records: int, lines: Sequence[str], samples: Iterable[Sequence[str]] = ()) -> Account:
    """Make the account. `samples`: the committed lines at several times during the round."""
    seen = [Seen(row, number, True) for number, sample in enumerate(samples) for row in rows(sample, False)]
    return Account(sent(records), rows(lines), seen=seen)
