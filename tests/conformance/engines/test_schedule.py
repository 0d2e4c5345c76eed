"""A round has the same faults for each engine, at points with a minimum distance."""

from collections import Counter
from itertools import pairwise

import pytest

from conformance.engines.rows import table_row, table_rows
from conformance.engines.schedule import FAULTS, KINDS, RECORDS, SPACING, Kind, faults_of

ONE_PROCESS = frozenset({Kind.KILL_WORKER, Kind.FREEZE, Kind.NO_FOLDER})


def test_a_seed_and_a_number_determine_the_faults():
    assert faults_of(7, 3) == faults_of(7, 3)
    assert faults_of(7, 3) != faults_of(7, 4)
    assert faults_of(7, 3) != faults_of(8, 3)


def test_the_faults_of_one_round_stay_as_they_are():
    assert [(one.point, one.delay, one.kind.value) for one in faults_of(20261125, 0)] == [
        (1_190, 149, "kill-worker"),
        (4_091, 77, "kill-coordinator"),
        (5_336, 155, "stop"),
        (8_501, 291, "kill-worker"),
    ]


def test_points_keep_a_minimum_distance_to_each_other_and_to_the_end():
    for number in range(200):
        points = [0, *(one.point for one in faults_of(1, number)), RECORDS]
        assert min(later - before for before, later in pairwise(points)) >= SPACING
        assert len(points) == FAULTS + 2


def test_every_kind_is_drawn_about_as_often_as_its_weight_says():
    drawn = Counter(one.kind for number in range(300) for one in faults_of(1, number))
    weights = sum(row["weight"] for row in KINDS.values())

    for kind, row in KINDS.items():
        share = drawn[kind] / (300 * FAULTS)
        assert abs(share - row["weight"] / weights) < 0.05, kind


def test_kinds_of_a_row_are_drawn_equally_and_leave_the_other_draws_alone():
    row = table_row("flink-checkpoints")
    drawn = Counter(
        one.kind for number in range(300) for one in faults_of(1, number, FAULTS, RECORDS, row.kinds)
    )

    assert set(drawn) == set(row.kinds)
    for kind, times in Counter(row.kinds).items():
        assert abs(drawn[kind] / (300 * FAULTS) - times / len(row.kinds)) < 0.05, kind
    assert [one.kind.value for one in faults_of(20261125, 0, kinds=row.kinds)] == [
        "read-only", "checkpoint-timeout", "no-space", "no-space",
    ]  # fmt: skip


def test_a_kind_of_weight_0_occurs_only_where_a_row_lists_it():
    listed = {kind for kind, fault in KINDS.items() if fault["weight"] == 0}

    assert listed == {kind for kind in Kind if kind.shows is not None}
    assert not listed & {one.kind for number in range(300) for one in faults_of(1, number)}
    assert {name for name, row in table_rows().items() if listed & set(row.kinds)} == {"flink-checkpoints"}


def test_too_many_faults_are_refused():
    with pytest.raises(ValueError, match="expected at least 11,000 records for 10 faults"):
        faults_of(1, 0, faults=10)


def test_a_kind_that_an_engine_lacks_is_replaced_by_another():
    assert Kind.LONG_FREEZE.among(ONE_PROCESS) is Kind.FREEZE
    assert Kind.RESCALE.among(ONE_PROCESS | {Kind.STOP}) is Kind.STOP
    assert Kind.DISK_FULL.among(ONE_PROCESS) is Kind.NO_FOLDER
    assert {kind.among(frozenset(Kind)) for kind in Kind} == set(Kind)
