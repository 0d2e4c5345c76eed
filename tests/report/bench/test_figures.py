"""The figures of a measurement: the median and its confidence interval."""

import random

import pytest

from conformance.bench.figures import interval


@pytest.mark.parametrize(
    ("times", "cut"), [(1, 0), (2, 0), (5, 0), (6, 0), (8, 0), (9, 1), (11, 1), (21, 5), (25, 7)]
)
def test_the_interval_leaves_out_as_many_samples_as_its_confidence_allows(times, cut):
    """Every table of the sign test contains these ranks."""
    assert interval(range(times)) == (cut, times - 1 - cut)


def test_the_median_lies_in_the_interval_as_often_as_the_confidence_states():
    """20,000 measurements with median 0, drawn from a distribution with a long tail."""
    draw = random.Random(20261122)
    inside = 0
    for _ in range(20_000):
        low, high = interval([draw.lognormvariate(0, 1) - 1 for _ in range(11)])
        inside += low <= 0 <= high
    assert 0.985 < inside / 20_000 < 0.991  # 24 of the 2^11 combinations of signs lie outside
