"""The campaign against Structured Streaming, tested without Spark: its rounds, its faults, its sinks."""

import pyarrow as pa
import pytest

from conformance.observe.guarantees.anomalies import Guarantee
from conformance.observe.guarantees.guarantee import Totals
from conformance.torture.judge import Outcome
from conformance.torture.rounds import StreamingRound, streaming_round
from conformance.torture.streaming import _judge
from conformance.torture.streaming_query import (
    AFTER,
    APPENDING,
    BEFORE,
    IDEMPOTENT,
    PAIRS,
    StreamingFault,
    sink,
)
from impl.jobs.numbers import KEYS
from impl.spark.errors import InjectedFaultError

ROWS = 2 * KEYS


class Frame:
    """A micro-batch of Structured Streaming with the given numbers."""

    def __init__(self, numbers):
        self._numbers = numbers

    def toArrow(self):  # noqa: N802 - Spark's name
        columns = {
            "key": [number % KEYS for number in self._numbers],
            "number": list(self._numbers),
            "count": [number // KEYS + 1 for number in self._numbers],
            "total": [sum(range(number % KEYS, number + 1, KEYS)) for number in self._numbers],
        }
        return pa.table(columns)


def test_a_round_is_drawn_from_the_seed_and_no_two_faults_are_alike():
    assert streaming_round(3, 1) == streaming_round(3, 1) != streaming_round(3, 2)
    faults = streaming_round(3, 1).faults
    assert len({(one.point, one.action) for one in faults}) == len(faults)
    drawn = {(one.point, one.action) for k in range(20) for one in streaming_round(k, 1).faults}
    assert drawn == set(PAIRS)


def test_a_fault_is_injected_once(tmp_path):
    fault = StreamingFault(BEFORE, 1, "error")
    assert [fault.due(str(tmp_path)) for _ in range(3)] == [True, False, False]
    assert fault.mark(str(tmp_path)).exists()


@pytest.mark.parametrize(
    ("kind", "kept"), [(IDEMPOTENT, Guarantee.EXACTLY_ONCE), (APPENDING, Guarantee.AT_LEAST_ONCE)]
)
def test_a_batch_that_is_written_again_is_there_once_or_twice(tmp_path, kind, kept):
    (tmp_path / "output").mkdir()
    fault = StreamingFault(AFTER, 1, "error")
    write = sink(tmp_path, kind, [fault])
    write(Frame(range(KEYS)), 0)
    with pytest.raises(InjectedFaultError, match="batch-written"):
        write(Frame(range(KEYS, ROWS)), 1)
    write(Frame(range(KEYS, ROWS)), 1)

    outcome = Outcome(StreamingRound("spark-0", kind, (fault,), ROWS))
    _judge(outcome, tmp_path, {key: Totals(2, 2 * key + KEYS) for key in range(KEYS)})
    assert outcome.guarantee is kept
