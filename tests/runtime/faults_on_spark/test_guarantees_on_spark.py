"""The classifier on real runs: a right one, one in mode at-least-once, and some with a planted defect."""

import operator
import sys
import threading

import pytest
from pyspark import cloudpickle

from conformance.observe.guarantees.anomalies import Anomaly, Guarantee, Subject
from conformance.observe.guarantees.guarantee import classify
from conformance.observe.validate import validate
from conformance.torture.account import Reader, account_of
from impl.config import CheckpointConfig, ExecutionConfig
from impl.connectors.parquet_sink import ParquetFiles
from impl.connectors.sources.rate_source import RateSource
from impl.faults import FaultPlan
from impl.job import Job, ParquetOutput, RateInput
from impl.jobs.numbers import UPDATES, Totals, to_rows

cloudpickle.register_pickle_by_value(sys.modules[__name__])  # workers cannot import the module of a test

ROWS = 4_000


class ForgetfulSource(RateSource):
    """Skips 30 rows at each restore, as if it had stored its offset before their processing."""

    def restore(self, snapshot):
        super().restore(snapshot)
        self.read(30)


class Forgetful(RateInput):
    """The input of the job, read by a ForgetfulSource for each partition."""

    def open(self, partition, partitions):
        return ForgetfulSource(self.rows, partition=partition, partitions=partitions)


class LaggingSource(RateSource):
    """Reads slowly, so that its barrier comes when the other partition is ahead."""

    def read(self, max_rows):
        threading.Event().wait(0.02)
        return super().read(max_rows)


class Lagging(RateInput):
    """The input of the job. The source of the second partition is slow."""

    def open(self, partition, partitions):
        source = LaggingSource if partition else RateSource
        return source(self.rows, partition=partition, partitions=partitions)


class HastyFiles(ParquetFiles):
    """Shows pre-committed rows at once."""

    def pre_commit(self, transaction, checkpoint):
        receipt = super().pre_commit(transaction, checkpoint)
        self.commit(receipt)
        return receipt


class Hasty(ParquetOutput):
    """A sink that commits before the checkpoint is complete, and cannot take output back."""

    def open(self, place):
        return HastyFiles(self.directory, subtask=place.subtask, attempt=place.attempt)

    def retract(self, lineage, checkpoint, by=None):
        return ()


@pytest.fixture
def classified(spark, tmp_path):
    def run(mode="EXACTLY_ONCE", source=RateInput, sink=ParquetOutput, event_log=False):
        reader = Reader(tmp_path)
        job = (
            Job("numbers")
            .source("numbers", source(ROWS, to_rows, 4_000.0), 2)
            .key_by(operator.itemgetter(0))
            .aggregate("count", Totals(), 2)
            .sink("sink", sink(tmp_path / "committed", UPDATES), 2)
            .with_checkpoints(CheckpointConfig(60, mode, num_retained_checkpoints=50))
            .with_execution(ExecutionConfig(heartbeat_timeout_ms=60_000))  # for a slow machine
        )
        faults = [FaultPlan("pre-committed", "sink-0", number, "error") for number in (2, 3)]
        result = job.execute(
            "local[8]",
            tmp_path,
            faults=faults,
            spark=spark,
            event_log=event_log,
            on_progress=lambda progress: reader.look(),
        )
        assert len(result.attempts) == 3
        return classify(account_of(ROWS, tmp_path, reader.seen()))

    return run


def names(found):
    return {finding.anomaly for finding in found.findings}


@pytest.mark.rule("ONCE-03")
def test_aligned_checkpoints_are_exactly_once(classified):
    found = classified(source=Lagging)
    assert found.findings == ()
    assert found.guarantee is Guarantee.EXACTLY_ONCE


def test_a_source_that_commits_its_offset_early_is_at_most_once(classified):
    found = classified(source=Forgetful)
    assert names(found) >= {Anomaly.LOST_RECORD, Anomaly.STATE_TOO_SMALL, Anomaly.STATE_BEHIND_OFFSETS}
    assert found.guarantee is Guarantee.AT_MOST_ONCE


@pytest.mark.rule("ONCE-05")
def test_a_sink_that_commits_early_has_dirty_and_duplicated_output(classified):
    found = classified(sink=Hasty)
    assert names(found) >= {Anomaly.DUPLICATED_RECORD, Anomaly.DIRTY_OUTPUT}
    assert found.of(Subject.STATE) is Guarantee.EXACTLY_ONCE
    assert found.of(Subject.OUTPUT) is Guarantee.AT_LEAST_ONCE


def test_a_source_and_a_sink_that_both_commit_early_are_broken(classified):
    found = classified(source=Forgetful, sink=Hasty)
    assert found.guarantee is Guarantee.BROKEN


@pytest.mark.rule("TRACK-01")
def test_mode_at_least_once_is_at_least_once_and_has_state_ahead_of_the_offsets(classified, tmp_path):
    found = classified(mode="AT_LEAST_ONCE", source=Lagging, event_log=True)
    trace = validate(tmp_path / "events")
    assert trace.rejection is None, trace.describe()
    assert trace.modes == {"at-least-once"}
    assert "TRACK-03" in trace.rules
    assert "ALIGN-02" not in trace.rules
    assert Anomaly.LOST_RECORD not in names(found)
    assert found.guarantee is Guarantee.AT_LEAST_ONCE
    assert Anomaly.STATE_AHEAD_OF_OFFSETS in names(found)
