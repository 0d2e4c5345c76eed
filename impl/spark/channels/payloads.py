"""Rows as the payloads of RECORDS frames. No payload exceeds the limit of a frame.

Rows that are too large for one frame are halved until each part fits. The parts keep the order of the rows. A
single record that is too large raises `RecordTooLargeError`, which fails the job.
"""

from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa

from impl.batches import Rows, taken
from impl.spark.channels.frames import MAX_PAYLOAD, pack_rows, unpack_rows
from impl.spark.errors import RecordTooLargeError


def payloads_of(rows: Rows, limit: int = MAX_PAYLOAD) -> Iterator[bytes]:
    """Payloads of at most `limit` bytes that contain `rows`, in order.

    Raises `RecordTooLargeError` for a single record of more than `limit` bytes.
    """
    count = len(rows)
    if count > 1 and isinstance(rows, pa.RecordBatch) and rows.nbytes > 2 * limit:
        yield from _halves(rows, limit)  # this batch is too large, so packing it is useless
        return
    packed = pack_rows(rows)
    if len(packed) <= limit:
        yield packed
    elif count > 1:
        yield from _halves(rows, limit)
    elif isinstance(rows, pa.RecordBatch) and len(packed := pack_rows(_alone(rows))) <= limit:
        yield packed
    else:
        raise RecordTooLargeError(
            f"expected records of at most {limit:,} bytes, got one of {len(packed):,} bytes; divide it into "
            "several records, or store the bytes in a file that the record names"
        )


def within_limit(payloads: Iterable[bytes], limit: int = MAX_PAYLOAD) -> Iterator[bytes]:
    """The payloads, split if they exceed `limit`. A checkpoint of an older version may contain such ones."""
    for payload in payloads:
        if len(payload) <= limit:
            yield payload
        else:
            yield from payloads_of(unpack_rows(payload), limit)


def _halves(rows: Rows, limit: int) -> Iterator[bytes]:
    middle = len(rows) // 2
    if isinstance(rows, pa.RecordBatch):
        parts = [_used(rows.slice(0, middle)), _used(rows.slice(middle))]
    else:
        parts = [rows[:middle], rows[middle:]]
    for part in parts:
        yield from payloads_of(part, limit)


def _used(part: pa.RecordBatch) -> pa.RecordBatch:
    """The slice `part`, with dictionaries that contain only the values of its rows."""
    if any(pa.types.is_dictionary(column.type) for column in part.columns):
        return taken(part, np.arange(part.num_rows))
    return part


def _alone(row: pa.RecordBatch) -> pa.RecordBatch:
    """A copy of a batch of one row. It shares no buffer with the batch from which the row was cut."""
    return pa.RecordBatch.from_pylist(row.to_pylist(), schema=row.schema)
