"""Listeners of checkpoints: for which checkpoints, in which order and how often they are notified."""

import pyarrow as pa
import pytest

from impl.config import ConfigError
from impl.connectors.sources.rate_source import RateSource
from impl.connectors.two_phase import SinkContext
from impl.job import Job, RateInput
from impl.spark.worker.listeners import Listeners
from impl.spark.worker.processing import ProcessOperator
from impl.spark.worker.sinks import SinkOperator
from impl.spark.worker.sources import SplitsOperator
from impl.state import HeapKeyedStateBackend
from tests.runtime.one_subtask import OneSubtask


class Noting:
    """Records its notifications."""

    def __init__(self, notes=None):
        self.notes = [] if notes is None else notes

    def process_element(self, key, row):
        return [row]

    def notify_checkpoint_complete(self, checkpoint_id):
        self.notes.append(("complete", checkpoint_id))

    def notify_checkpoint_aborted(self, checkpoint_id):
        self.notes.append(("aborted", checkpoint_id))


class Receipt:
    rows, names = 2, ("file",)


class NotingBackend(HeapKeyedStateBackend):
    def __init__(self, notes):
        super().__init__()
        self.notes = notes

    def notify_complete(self, checkpoint):
        self.notes.append(("backend complete", checkpoint))

    def notify_abort(self, checkpoint):
        self.notes.append(("backend aborted", checkpoint))


def subtask_of(function, backend=None, restored=None):
    return OneSubtask(ProcessOperator(function, {}, backend or HeapKeyedStateBackend()), restored=restored)


@pytest.mark.rule("TASK-06")
def test_completions_come_once_and_only_grow():
    function = Noting()
    task = subtask_of(function)
    task.completed(1)
    task.completed(3)
    task.completed(3)
    task.completed(2)
    task.completed(4)
    assert function.notes == [("complete", 1), ("complete", 3), ("complete", 4)]


@pytest.mark.rule("TASK-06")
def test_an_abort_brings_a_newer_completion_before_it():
    function = Noting()
    task = subtask_of(function)
    task.completed(1)
    task.aborted(3, completed=2)
    task.completed(2)
    assert function.notes == [("complete", 1), ("complete", 2), ("aborted", 3)]


def test_the_backend_is_notified_before_the_function():
    notes = []
    task = subtask_of(Noting(notes), NotingBackend(notes))
    task.completed(1)
    task.aborted(2)
    assert notes == [("backend complete", 1), ("complete", 1), ("backend aborted", 2), ("aborted", 2)]


@pytest.mark.rule("TASK-06")
def test_nothing_is_sent_for_the_restored_checkpoint_of_an_earlier_attempt():
    notes = []
    task = subtask_of(Noting(notes), NotingBackend(notes), restored=4)
    task.aborted(6, completed=4)
    task.completed(7)
    assert notes == [
        *(("backend aborted", 6), ("aborted", 6)),
        *(("backend complete", 7), ("complete", 7)),
    ]


def test_an_exception_of_a_listener_fails_the_task():
    class Failing(Noting):
        def notify_checkpoint_complete(self, checkpoint_id):
            raise ValueError(f"cannot publish {checkpoint_id}")

    task = subtask_of(Failing())
    with pytest.raises(ValueError, match="cannot publish 1"):
        task.completed(1)


def test_each_listener_of_a_subtask_is_notified_although_one_fails():
    class Failing:
        def notify_checkpoint_complete(self, checkpoint_id):
            raise ValueError("first")

    notes = []
    listeners = Listeners((Failing(), Noting(notes), object()))
    with pytest.raises(ValueError, match="first"):
        listeners.complete(1)
    listeners.aborted(2)
    assert notes == [("complete", 1), ("aborted", 2)]


def test_the_sources_of_all_splits_are_notified():
    class Numbers(RateSource, Noting):
        def __init__(self, partition, partitions):
            RateSource.__init__(self, 10, partition=partition, partitions=partitions)
            Noting.__init__(self)

    class Input(RateInput):
        def open(self, partition, partitions):
            opened.append(Numbers(partition, partitions))
            return opened[-1]

    opened = []
    task = OneSubtask(SplitsOperator(Input(10), 3, {0: None, 2: None}, 100), channels=0)
    task.completed(1)
    assert [source.notes for source in opened] == [[("complete", 1)], [("complete", 1)]]


def test_a_participant_is_notified_after_it_has_committed():
    class Participant(Noting):
        schema, open = pa.schema({"n": pa.int64()}), lambda self, context: self
        remnant = staticmethod(lambda transaction: f"open-{transaction}")

        def write(self, transaction, rows):
            self.notes.append(("write", rows.num_rows))

        def pre_commit(self, transaction, checkpoint):
            return Receipt()

        def commit(self, receipt):
            self.notes.append("commit")

        def committed(self, checkpoint):
            self.notes.append("committed")

    participant = Participant()
    context = SinkContext("job", "lineage", "task-0", 1)
    task = OneSubtask(SinkOperator(participant, context, None, None, None))
    task.rows((1,), (2,))
    task.barrier(1)
    task.snapshot()
    task.completed(1)
    assert participant.notes == [("write", 2), "commit", "committed", ("complete", 1)]


@pytest.mark.parametrize("name", ["notify_checkpoint_complete", "notify_checkpoint_aborted"])
@pytest.mark.parametrize("wrong", [lambda: None, 7], ids=["without id", "no method"])
def test_a_listener_that_cannot_be_called_is_refused_before_the_job_starts(name, wrong):
    function = Noting()
    setattr(function, name, wrong)
    numbers = Job("job").source("numbers", RateInput(10))
    with pytest.raises(
        ConfigError, match=f"Noting.{name}: expected a method with the arguments \\(checkpoint_id\\)"
    ):
        numbers.process("noting", function)
    with pytest.raises(ConfigError, match="Noting"):
        Listeners((function,))
