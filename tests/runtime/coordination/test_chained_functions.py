"""Functions chained in one subtask: the order of their calls, their state, and refused chains."""

import pyarrow as pa
import pytest

from impl.aggregation.rows import Emit
from impl.config import MEMORY, ROCKSDB, ExecutionConfig
from impl.connectors.two_phase import SinkContext
from impl.graph.rescaling import IN_FLIGHT, RestoreRefusedError, require_restorable
from impl.job import Job, ParquetOutput, RateInput
from impl.spark.channels.frames import Kind
from impl.spark.worker.chain import ChainedOperator
from impl.spark.worker.operator_factory import Restored, operator_of
from impl.spark.worker.operators import Operator
from impl.state import CheckpointStorage, CompletedCheckpoint, StateError, encode, pack, sections_of
from impl.state.backends.key_groups import key_group, subtask_of
from impl.state.backends.rocksdb import shared_in
from tests.memory_storage import MemoryStorage
from tests.runtime.one_subtask import OneSubtask

SCHEMA = pa.schema({"key": pa.string()})


class Noting:
    """Records each call. Appends its name to each row; `held` is the row that it emits before a barrier."""

    def __init__(self, name, notes):
        self.name, self.notes = name, notes

    def _note(self, hook, *given):
        self.notes.append((self.name, hook, *given))

    def initialize_state(self, store):
        self._note("initialize")

    def open(self, state):
        self._note("open")

    def process_element(self, key, row):
        self._note("row", row[0])
        return [(f"{row[0]}{self.name}",)]

    def before_barrier(self):
        self._note("before barrier")
        return [(f"held by {self.name}",)]

    def snapshot_state(self, checkpoint):
        self._note("snapshot", checkpoint)

    def notify_checkpoint_complete(self, checkpoint_id):
        self._note("complete", checkpoint_id)

    def notify_checkpoint_aborted(self, checkpoint_id):
        self._note("aborted", checkpoint_id)

    def finish(self):
        self._note("finish")
        return [(f"last of {self.name}",)]

    def close(self):
        self._note("close")


def plan_of(stream, sink=None):
    return stream.sink("out", sink or ParquetOutput("out", SCHEMA)).plan()


def numbers(parallelism=1, name="numbers"):
    return Job("chains").source(name, RateInput(10), parallelism)


def operator_in(plan, storage, snapshots=(), index=0, execution=ExecutionConfig()):  # noqa: B008 - a value
    """The operator of a subtask of the second stage, restored from its snapshots."""
    subtask = next(one for one in plan.subtasks() if one.stage == 1 and one.index == index)
    context = SinkContext("chains", "lineage", subtask.id, 1)
    restored = Restored(1 if snapshots else None, snapshots, storage, None)
    return operator_of(plan, subtask, execution, context, restored)


@pytest.fixture
def storage(tmp_path):
    return CheckpointStorage(tmp_path)


@pytest.fixture
def three(storage):
    """Three functions in one subtask, and the record of their calls."""
    notes = []
    stream = numbers().process("a", Noting("a", notes)).chained().process("b", Noting("b", notes))
    stream = stream.chained().process("c", Noting("c", notes))
    task = OneSubtask(operator_in(plan_of(stream), storage))
    return task, notes


def test_functions_are_opened_from_the_last_to_the_first(three):
    _, notes = three
    assert notes == [(name, hook) for name in "cba" for hook in ("initialize", "open")]


def test_rows_go_from_the_first_to_the_last(three):
    task, notes = three
    notes.clear()
    task.rows(("x",))
    task.outputs.flush()
    assert notes == [("a", "row", "x"), ("b", "row", "xa"), ("c", "row", "xab")]
    assert task.sent == [("xabc",)]


@pytest.mark.rule("TASK-01")
def test_a_snapshot_is_prepared_from_the_first_and_taken_from_the_last(three):
    task, notes = three
    notes.clear()
    task.barrier(1)
    task.snapshot()
    assert notes == [
        ("a", "before barrier"),
        *(("b", "row", "held by a"), ("b", "before barrier")),
        *(("c", "row", "held by ab"), ("c", "row", "held by b"), ("c", "before barrier")),
        *((name, "snapshot", 1) for name in "cba"),
    ]
    assert task.sent == [("held by abc",), ("held by bc",), ("held by c",), (Kind.BARRIER, 1)]


@pytest.mark.rule("TASK-06")
def test_notifications_go_from_the_last_to_the_first(three):
    task, notes = three
    notes.clear()
    task.completed(1)
    task.aborted(3, completed=2)
    assert notes == [
        *((name, "complete", 1) for name in "cba"),
        *((name, "complete", 2) for name in "cba"),
        *((name, "aborted", 3) for name in "cba"),
    ]


def test_finish_is_called_from_the_first_to_the_last(three):
    task, notes = three
    task.end()
    assert [name for name, hook, *_ in notes if hook == "finish"] == ["a", "b", "c"]
    rows = [(f"{what} {names}",) for names in ("abc", "bc", "c") for what in ("held by", "last of")]
    assert task.sent == [*rows, Kind.END_OF_DATA]


def test_all_are_closed_from_the_last_to_the_first_although_one_fails(three, monkeypatch):
    task, notes = three
    notes.clear()

    def fail(self):
        notes.append((self.name, "close"))
        raise ValueError(self.name)

    monkeypatch.setattr(Noting, "close", fail)
    with pytest.raises(ValueError, match="c"):
        task.subtask._operator.close()
    assert notes == [(name, "close") for name in "cba"]


class Last:
    """Keeps its rows until the end of the data."""

    def open(self, state):
        self.rows = state.value_state("row", immutable=True)

    def process_element(self, key, row):
        self.rows.put(key, row)
        return ()

    def finish(self):
        return [row for _, row in self.rows.items()]


class Total:
    """Adds up the numbers of a key."""

    def create_accumulator(self):
        return 0

    def add(self, row, accumulator):
        return accumulator + row[1]

    def get_result(self, row, accumulator):
        return (row[0], accumulator)


def test_an_aggregate_that_emits_before_barriers_emits_the_last_rows_of_the_function_before_it(storage):
    stream = numbers().key_by(key_of).process("last", Last()).chained_by(key_of)
    operator = operator_in(plan_of(stream.aggregate("total", Total(), emit=Emit.CHANGED)), storage)
    task = OneSubtask(operator)
    task.rows(("a", 1), ("b", 2))
    task.end()
    task.barrier(1)
    task.snapshot()
    assert task.sent == [("a", 1), ("b", 2), Kind.END_OF_DATA, (Kind.BARRIER, 1)]


class HoldsBack:
    """Emits a batch before each barrier."""

    def process_batch(self, batch):
        return batch

    def before_barrier(self):
        return pa.record_batch({"number": [1]})


def test_batches_that_several_functions_have_held_back_become_one_batch(storage):
    stream = numbers().process("a", HoldsBack()).chained().process("b", HoldsBack())
    operator = operator_in(plan_of(stream), storage)
    assert operator.before_barrier().equals(pa.record_batch({"number": [1, 1]}))


def test_what_is_open_is_closed_if_another_function_cannot_be_opened(storage, monkeypatch):
    notes = []
    stream = numbers().process("a", Noting("a", notes)).chained().process("b", Noting("b", notes))
    monkeypatch.setattr(Noting, "open", lambda self, state: 1 / (self.name == "b"))
    with pytest.raises(ZeroDivisionError):
        operator_in(plan_of(stream), storage)
    assert notes == [("b", "initialize"), ("a", "initialize"), ("b", "close")]


class Part(Operator):
    """An operator with a timer that is due in `wait` seconds."""

    inputs = (lambda rows: rows,)

    def __init__(self, notes, name, wait):
        self.notes, self.name, self.seconds = notes, name, wait
        self.timers = self

    def wait(self):
        return self.seconds

    def snapshot(self, checkpoint, alone=None):
        return dict

    def notify_complete(self, checkpoint):
        self.notes.append((self.name, "complete", checkpoint))

    def notify_abort(self, checkpoint):
        self.notes.append((self.name, "aborted", checkpoint))


def test_the_state_of_all_functions_is_notified_from_the_last_to_the_first():
    notes = []
    chained = ChainedOperator(Part(notes, "a", 1), {"b": Part(notes, "b", 1)})
    chained.notify_complete(3)
    chained.notify_abort(4)
    assert notes == [("b", "complete", 3), ("a", "complete", 3), ("b", "aborted", 4), ("a", "aborted", 4)]


@pytest.mark.parametrize(("waits", "first"), [((5, 0.5, 2), 0.5), ((None, 3, None), 3), ((None,) * 3, None)])
def test_the_subtask_waits_for_the_earliest_timer_of_the_chain(waits, first):
    head, *behind = (Part([], str(number), wait) for number, wait in enumerate(waits))
    assert ChainedOperator(head, {one.name: one for one in behind}).timers.wait() == first


# ---------------------------------------------------------------- state


class Count:
    """Counts the rows of each key. Emits (key, count), and (key, 0) at the timer of the key."""

    def open(self, state):
        self.counts = state.value_state("count", immutable=True)

    def initialize_state(self, store):
        self.rows = store.list_state("rows")

    def open_timers(self, timers):
        self.timers = timers

    def process_element(self, key, row):
        self.counts.put(key, self.counts.get(key, 0) + 1)
        self.rows.update([sum(self.rows) + 1])
        self.timers.register_processing_time_timer(key, 10)  # a time in 1970, which has passed
        return [(key, self.counts.get(key))]

    def on_timer(self, key, timestamp):
        return [(key, 0)]


def key_of(row):
    return row[0]


def counted(parallelism=1, second="again"):
    """Counts rows by key, removes odd counts, and counts the even ones by the same key."""
    stream = numbers(parallelism).key_by(key_of).process("count", Count(), parallelism)
    stream = stream.chained().filter("even", lambda row: row[1] % 2 == 0)
    return plan_of(stream.chained_by(key_of).process(second, Count()))


KEYS = [f"key-{number}" for number in range(8)]


@pytest.mark.rule("ONCE-03")
@pytest.mark.parametrize("backend", [MEMORY, ROCKSDB])
def test_each_function_has_its_state_and_its_timers_also_at_another_parallelism(backend, storage):
    execution = ExecutionConfig(state_backend=backend)
    before = operator_in(counted(), storage, execution=execution)
    assert before.inputs[0]([(key,) for key in KEYS * 2]) == [(key, 1) for key in KEYS]
    taken = before.snapshot(1)()
    before.close()
    assert len(shared_in(taken, "task")) == (2 if backend == ROCKSDB else 0)

    seen, fired, rows = [], [], []
    for index in range(2):
        task = operator_in(counted(2), storage, [sections_of(pack(taken), "task")], index, execution)
        own = [(key,) for key in KEYS if subtask_of(key_group(key, 128), 2, 128) == index]
        seen += task.inputs[0](own * 2)
        assert task.timers.wait() == 0
        fired += task.timers.fire(1_000)
        assert task.timers.fire(1_000) == []
        assert task.timers.wait() is None
        rows += [sum(one._function.rows) for one in task._operators if hasattr(one, "_function")]
        task.close()
    assert sum(rows) == (16 + 16) + (8 + 8 + 8)
    assert sorted(seen) == [(key, 2) for key in KEYS]
    assert sorted(fired) == sorted([*((key, 3) for key in KEYS), *((key, 0) for key in KEYS)])


def test_a_chain_may_get_a_new_function_which_begins_without_state(storage):
    for backend in (MEMORY, ROCKSDB):
        execution = ExecutionConfig(state_backend=backend)
        alone = plan_of(numbers().key_by(key_of).process("count", Count()))
        before = operator_in(alone, storage, execution=execution)
        before.inputs[0]([("a",), ("b",)])
        taken = before.snapshot(1)()
        before.close()
        longer = operator_in(counted(), storage, [sections_of(pack(taken), "task")], execution=execution)
        assert longer.inputs[0]([("a",)]) == [("a", 1)]
        longer.close()


def test_a_restore_without_the_function_of_a_state_is_refused(storage):
    written = MemoryStorage()
    taken = operator_in(counted(), storage).snapshot(1)()
    handle = written.write(1, "count-0", 1, pack(taken), offset=None, shared=())
    completed = CompletedCheckpoint(1, 1, {"count-0": handle}, 128)
    require_restorable(counted(), completed, written)
    renamed = counted(second="renamed")
    with pytest.raises(RestoreRefusedError, match="has the state of again, which the job lacks"):
        require_restorable(renamed, completed, written)
    require_restorable(renamed, completed, written, allow_non_restored_state=True)


def test_a_change_of_a_chain_is_refused_if_the_checkpoint_has_records_in_flight(storage):
    written = MemoryStorage()
    taken = {**operator_in(counted(), storage).snapshot(1)(), IN_FLIGHT: encode(({}, {"out-0": (b"",)}))}
    handle = written.write(1, "count-0", 1, pack(taken), offset=None, shared=())
    completed = CompletedCheckpoint(1, 1, {"count-0": handle}, 128)
    require_restorable(counted(), completed, written)
    stream = numbers().key_by(key_of).process("count", Count()).chained().filter("even", all)
    longer = plan_of(stream.chained_by(key_of).process("again", Count()).chained().map("new", tuple))
    with pytest.raises(RestoreRefusedError, match="the functions chained to 'count' cannot be changed now"):
        require_restorable(longer, completed, written)


def test_state_of_a_function_that_has_moved_to_another_chain_is_refused(storage):
    written = MemoryStorage()
    taken = operator_in(counted(), storage).snapshot(1)()
    handle = written.write(1, "count-0", 1, pack(taken), offset=None, shared=())
    stream = numbers().key_by(key_of).process("count", Count()).process("next", Passing())
    moved = plan_of(stream.chained_by(key_of).process("again", Count()))
    with pytest.raises(RestoreRefusedError, match="has the state of again"):
        require_restorable(moved, CompletedCheckpoint(1, 1, {"count-0": handle}, 128), written)


def test_a_row_of_a_key_of_another_subtask_is_refused_also_by_a_function_that_keeps_nothing(storage):
    stream = numbers(2).process("first", Passing(), 2).chained_by(key_of).process("next", Passing())
    own, other = (
        next(key for key in KEYS if subtask_of(key_group(key, 128), 2, 128) == index) for index in range(2)
    )
    task = operator_in(plan_of(stream), storage)
    assert task.inputs[0]([(own,)] * 2) == [(own,)] * 2
    with pytest.raises(StateError, match="belongs to another subtask; chain by the key by which"):
        task.inputs[0]([(own,), (other,)])


# ---------------------------------------------------------------- declarations


class Passing:
    def process_element(self, key, row):
        return [row]


def test_a_chain_is_one_stage_and_takes_its_parallelism():
    plan = counted(2)
    assert plan.ids() == ("numbers-0", "numbers-1", "count-0", "count-1", "out-0")
    assert [one.name for one in plan.stages[1].chained] == ["even", "again"]
