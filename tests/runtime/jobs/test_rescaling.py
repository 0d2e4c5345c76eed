"""A job continues at another parallelism: refused plans, and new owners of splits and transactions."""

from collections import Counter
from copy import deepcopy

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from impl.config import ExecutionConfig
from impl.connectors import read_committed
from impl.connectors.two_phase import SinkContext
from impl.graph.plan import Edge, Partitioning, Plan, Role, Stage
from impl.graph.rescaling import RestoreRefusedError, StageSnapshots, by_stage, require_restorable, taken_over
from impl.job import ParquetOutput, RateInput
from impl.spark.channels.partitioners import channel_of
from impl.spark.worker.operator_factory import Restored, operator_of
from impl.state import CompletedCheckpoint, encode, pack, sections_of
from tests.memory_storage import MemoryStorage

ROWS = 60
SOURCE = RateInput(ROWS, lambda batch, split, offset: [(n, split) for n in batch.column(0).to_pylist()])
SCHEMA = pa.schema({"n": pa.int64()})


class Nothing:
    def process_element(self, key, row):
        return [row]


def plan_of(
    sources=1, work=1, sinks=1, output=None, splits=None, max_parallelism=128, names=("in", "work", "out")
):
    source, process, sink = names
    stages = (
        Stage(source, Role.SOURCE, SOURCE, sources, splits),
        Stage(process, Role.PROCESS, Nothing(), work),
        Stage(sink, Role.SINK, output, sinks),
    )
    return Plan("job", stages, (Edge(source, process), Edge(process, sink)), max_parallelism)


def operators(plan, stage, attempt=1, restored=None, before=()):
    """The operators of a stage. Each has a copy of the plan, as in every worker."""
    for subtask in plan.subtasks():
        if plan.stages[subtask.stage].name == stage:
            context = SinkContext(plan.name, "lineage", subtask.id, attempt)
            yield operator_of(
                deepcopy(plan),
                subtask,
                ExecutionConfig(),
                context,
                Restored(restored, before, MemoryStorage(), None),
            )


def snapshots_of(operators, checkpoint=1):
    return [
        sections_of(pack(one.snapshot(checkpoint)()), f"{number}") for number, one in enumerate(operators)
    ]


# ---------------------------------------------------------------- who takes over what


@given(st.integers(1, 9), st.integers(1, 9))
def test_every_split_and_transaction_is_taken_over_once(before, now):
    taken = [one for index in range(now) for one in taken_over(index, before, now)]
    assert sorted(taken) == list(range(before))


@pytest.mark.rule("ONCE-02")
@given(data=st.data(), splits=st.integers(1, 6), before=st.integers(1, 5), now=st.integers(1, 5))
def test_every_row_is_read_once_although_the_parallelism_changes_in_between(data, splits, before, now):
    read, old = [], list(operators(plan_of(sources=before, splits=splits), "in"))
    for source in old:
        source._batch_rows = 5
        for _ in range(data.draw(st.integers(0, 4))):
            read += source.read() or []
    new = list(operators(plan_of(sources=now), "in", 2, 1, snapshots_of(old)))
    assert sum(source.offset for source in new) == len(read)
    for source in new:
        while (rows := source.read()) is not None:
            read += rows
    assert sorted(n for n, _ in read) == list(range(ROWS))
    assert all(n % splits == split for n, split in read)


class Counting:
    def open(self, state):
        self.counts = state.value_state("counts")

    def process_element(self, key, row):
        self.counts.put(key, self.counts.get(key, 0) + 1)
        return [(key, self.counts.get(key))]


@pytest.mark.rule("ONCE-01")
@given(st.lists(st.integers(0, 30), max_size=60), st.integers(1, 6), st.integers(1, 6), st.integers(6, 9))
def test_every_count_goes_on_with_the_owner_of_its_key(keys, before, now, every):
    def counters(parallelism, snapshots=()):
        stages = (
            Stage("in", Role.SOURCE, SOURCE),
            Stage("work", Role.PROCESS, Counting(), parallelism),
            Stage("out", Role.SINK, None),
        )
        by_key = Edge("in", "work", Partitioning.HASH, lambda row: row[0])
        plan = Plan("job", stages, (by_key, Edge("work", "out")), every)
        return list(operators(plan, "work", 2, 1, snapshots))

    def count(there):
        return [there[channel_of(key, len(there), every)].inputs[0]([(key,)])[0] for key in keys]

    old = counters(before)
    first = count(old)
    again = count(counters(now, snapshots_of(old)))
    total = Counter(keys)
    assert [(key, seen + total[key]) for key, seen in first] == again


def test_a_subtask_without_a_split_is_at_its_end_at_once():
    first, second = operators(plan_of(sources=2, splits=1), "in")
    assert second.read() is None
    assert second.pause(0.0) == 0
    assert len(first.read()) == ROWS


@pytest.mark.rule("SINK-06")
@pytest.mark.parametrize(("before", "now"), [(3, 1), (3, 2), (1, 3), (2, 2)])
def test_a_pre_committed_transaction_is_committed_once_by_its_new_owner(before, now, tmp_path):
    output = ParquetOutput(tmp_path / "out", SCHEMA)
    old = list(operators(plan_of(sinks=before, output=output), "out"))
    for number, sink in enumerate(old):
        sink.inputs[0]([(number,), (number + 10,)])
    before_it_was_told = snapshots_of(old)
    old[0].notify_complete(1)  # the others are killed before the notification
    for sink in old:
        sink.inputs[0]([(99,)])  # after the checkpoint, so it must be forgotten
        sink.close()
    for attempt in (2, 3):
        for sink in operators(plan_of(sinks=now, output=output), "out", attempt, 1, before_it_was_told):
            sink.close()
        committed = Counter(read_committed(tmp_path / "out").column("n").to_pylist())
        assert committed == Counter([*range(before), *range(10, 10 + before)])
    assert len(list((tmp_path / "out" / "data").iterdir())) == before


# ---------------------------------------------------------------- what is refused


def checkpoint_of(plan, max_parallelism=128, flying=()):
    """A checkpoint of `plan`, and its storage. The tasks in `flying` have in-flight records."""
    storage = MemoryStorage()
    for subtask in plan.subtasks():
        splits = {"splits": encode((plan.stages[0].splits or plan.stages[0].parallelism, {}))}
        in_flight = {"in-flight": encode(({"in-0": (b"",)}, {}))} if subtask.id in flying else {}
        storage.write(1, subtask.id, 1, pack({**splits, **in_flight}))
    handles = {handle.task: handle for handle, _ in storage._files.values()}
    return CompletedCheckpoint(1, 1, handles, max_parallelism), storage


@pytest.mark.parametrize(
    ("old", "new", "told", "why"),
    [
        (
            {},
            {"names": ("in", "job", "out")},
            {},
            "has the state of work.*undo that change.*allow_non_",
        ),
        ({}, {"max_parallelism": 64}, {}, "128 key groups and the job has 64.*set max_parallelism to 128"),
        ({"splits": 4}, {"splits": 3}, {}, "4 splits of 'in', and the job declares 3.*declare 4"),
        (
            {},
            {"work": 2},
            {"flying": ["work-0"]},
            "in flight at work-0.*'work' from 1 to 2.*savepoint",
        ),
    ],
)
def test_a_plan_that_would_lose_something_of_the_checkpoint_is_refused(old, new, told, why):
    with pytest.raises(RestoreRefusedError, match=why):
        require_restorable(plan_of(**new), *checkpoint_of(plan_of(**old), **told))


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ({}, {"sources": 2, "work": 3, "sinks": 2}, {}),
        ({"sources": 3, "work": 3}, {"splits": 3}, {}),
        ({}, {}, {"flying": ["work-0"]}),
        ({"work": 2}, {"work": 2, "max_parallelism": 64}, {"max_parallelism": None}),
    ],
)
def test_a_plan_that_fits_the_checkpoint_is_accepted(old, new, told):
    require_restorable(plan_of(**new), *checkpoint_of(plan_of(**old), **told))


@pytest.mark.parametrize(
    ("task", "in_flight"),
    [
        ("work-0", ({"in-0": (b"",)}, {})),
        ("in-0", ({}, {"work-0": (b"",)})),
        ("work-0", ({}, {"out-0": (b"",)})),
    ],
)
def test_a_stage_between_two_others_is_refused_while_records_are_in_flight_there(task, in_flight):
    """UNAL-36: the stored frames belong to a channel that the new plan does not have."""
    old = plan_of()
    completed, storage = checkpoint_of(old)
    handle = storage.write(1, task, 2, pack({"splits": encode((1, {})), "in-flight": encode(in_flight)}))
    completed = CompletedCheckpoint(1, 1, {**completed.handles, task: handle}, 128)
    require_restorable(old, completed, storage)
    before = task if in_flight[1] else "in-0"
    above, below = before.partition("-")[0], {"in-0": "work", "work-0": "out"}[before]
    new = Stage("new", Role.PROCESS, Nothing())
    edges = [one for one in old.links if one.upstream != above]
    longer = Plan("job", (*old.stages, new), (*edges, Edge(above, "new"), Edge("new", below)))

    refused = f"in flight at {task}, .* the edge from '{above}' to '{below}' cannot be changed now.*savepoint"
    with pytest.raises(RestoreRefusedError, match=refused):
        require_restorable(longer, completed, storage)


def test_a_stage_is_inserted_where_nothing_is_in_flight():
    old = plan_of()
    stages = (*old.stages, Stage("new", Role.PROCESS, Nothing()))
    edges = (Edge("in", "work"), Edge("work", "new"), Edge("new", "out"))
    require_restorable(Plan("job", stages, edges), *checkpoint_of(old))
    require_restorable(Plan("job", stages, edges), *checkpoint_of(old, flying=["work-0"]))


def test_the_state_of_a_removed_stage_can_be_dropped():
    there = checkpoint_of(plan_of())
    require_restorable(plan_of(names=("in", "job", "out")), *there, allow_non_restored_state=True)


def test_only_the_requested_snapshots_are_opened():
    completed, storage = checkpoint_of(plan_of(work=3))
    opened = []
    storage.open = lambda handle: opened.append(handle.task) or sections_of(pack({}), handle.file)
    before = StageSnapshots(storage, by_stage(completed.handles)["work"])
    assert before.tasks == ("work-0", "work-1", "work-2")
    list(operators(plan_of(work=3), "work", 2, 1, before))
    assert opened == ["work-0", "work-1", "work-2"]
    opened.clear()
    own = next(iter(operators(plan_of(work=3), "work", 2, 1, StageSnapshots(storage, before._handles))))
    assert own.inputs[0]([(1,)]) == [(1,)]
    assert opened == ["work-0"]
