"""Jobs with branches and joins: their plans, refused declarations, and the routing of rows."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.observe.exchanges import rows_along
from impl.batches import batch_of, rows_of
from impl.config import CheckpointConfig, ConfigError, ExecutionConfig
from impl.graph.plan import Edge, Partitioning, Plan, Role, Route, Stage
from impl.graph.plan_checks import require_runnable
from impl.job import Job, ParquetOutput, RateInput
from impl.jobs.flights import FlightTotals
from impl.spark.channels.frames import Kind, unpack_rows
from impl.spark.channels.outputs import Outputs
from impl.spark.channels.partitioners import channel_of


def numbers(batch, partition, offset):
    return [(number,) for number in batch.column(0).to_pylist()]


def first(row):
    return row[0]


NUMBERS = RateInput(100, numbers)


class Join:
    def open(self, state):
        self.seen = state.value_state("seen")

    def process_element1(self, key, row):
        return [row]

    def process_element2(self, key, row):
        return [row]


@pytest.fixture
def out(tmp_path):
    return lambda name: ParquetOutput(tmp_path / name, pa.schema({"n": pa.int64()}))


def diamond(out):
    """Two sources and two sinks. One source divides and joins again, the other is broadcast."""
    job = Job("diamond")
    source = job.source("numbers", NUMBERS, parallelism=2)
    even = source.filter("even", lambda row: row[0] % 2 == 0)
    odd = source.rebalance().map("odd", lambda row: row, parallelism=3)
    together = even.union(odd).key_by(first)
    joined = together.connect(job.source("rules", NUMBERS).broadcast()).process("join", Join(), parallelism=2)
    alarms = joined.filter("alarms", bool, parallelism=1)
    return joined.sink("all", out("all")).together_with(alarms.sink("few", out("few")))


def test_the_plan_of_a_diamond(out):
    plan = diamond(out).plan()
    channels = {one.id: plan.inputs(one) for one in plan.subtasks()}
    assert plan.of_role(Role.SOURCE) == ("numbers-0", "numbers-1", "rules-0")
    assert plan.of_role(Role.SINK) == ("all-0", "few-0")
    assert channels["even-1"] == (("numbers-1", 0),)  # forward
    assert channels["odd-2"] == (("numbers-0", 0), ("numbers-1", 0))
    assert channels["join-1"] == (
        ("even-0", 0),
        ("even-1", 0),
        ("odd-0", 0),
        ("odd-1", 0),
        ("odd-2", 0),
        ("rules-0", 1),
    )
    assert channels["few-0"] == (("alarms-0", 0),)
    (alarms,) = (subtask for subtask in plan.subtasks() if subtask.id == "alarms-0")
    assert [route.schema for route in plan.routes(alarms)] == [pa.schema({"n": pa.int64()})]
    numbers_0 = plan.subtasks()[0]
    assert [route.receivers for route in plan.routes(numbers_0)] == [("even-0",), ("odd-0", "odd-1", "odd-2")]
    assert {route.schema for route in plan.routes(numbers_0)} == {None}
    (join,) = (stage for stage in plan.stages if stage.name == "join")
    assert plan.key_selectors(join) == {0: first}
    assert sorted([above, one.id] for one in plan.subtasks() for above in plan.upstream(one)) == sorted(
        plan.edges()
    )


def test_a_stage_that_jobs_share_is_there_once(out):
    plan = diamond(out).plan()
    names = [stage.name for stage in plan.stages]
    assert sorted(names) == ["alarms", "all", "even", "few", "join", "numbers", "odd", "rules"]
    assert len(plan.links) == 8


def one(name, **options):
    return Job("job").source(name, NUMBERS, **options)


@pytest.mark.parametrize(
    ("declare", "why"),
    [
        (lambda out: one("in").sink("in", out("x")), "two are named 'in'"),
        (
            lambda out: one("in").sink("a", out("x")).together_with(one("in").sink("b", out("y"))),
            "two are named 'in'",
        ),
        (lambda out: one("in", parallelism=0), "parallelism of at least 1"),
        (lambda out: one("in", parallelism=129), "max_parallelism is 128"),
        (lambda out: one("in", splits=0), "at least 1 split"),
        (lambda out: one("not-a-name"), "letters, digits"),
        (
            lambda out: one("in").forward().map("m", first, parallelism=2).sink("o", out("x")).plan(),
            "same parallelism",
        ),
        (lambda out: one("in").union(one("other"), one("in")), "two are named 'in'"),
        (lambda out: Job("none").plan(), "from a source to a sink; 'none' has nothing"),
        (lambda out: one("in").job.plan(), "from a source to a sink; 'job' has in"),
        (
            lambda out: one("in").sink("a", out("x")).together_with(Job("other").source("b", NUMBERS).job),
            "one name and one configuration",
        ),
        (
            lambda out: (
                one("in")
                .sink("a", out("x"))
                .together_with(one("b").job.with_checkpoints(CheckpointConfig(checkpointing_interval_ms=77)))
            ),
            "one configuration",
        ),
    ],
)
def test_a_declaration_that_cannot_work_is_refused(declare, why, out):
    with pytest.raises(ConfigError, match=why):
        declare(out)


def test_a_stream_joined_with_itself_needs_a_map_on_one_branch(out):
    source = one("in")
    with pytest.raises(ConfigError, match="'in' sends to 'o' twice; put a map"):
        source.union(source).sink("o", out("x")).plan()
    assert source.union(source.map("again", lambda row: row)).sink("o", out("x")).plan()


A, B, C, OUT = (
    Stage("a", Role.SOURCE, None),
    Stage("b", Role.PROCESS, None),
    Stage("c", Role.PROCESS, None),
    Stage("out", Role.SINK, None),
)


@pytest.mark.parametrize(
    ("stages", "links", "why"),
    [
        ((A, B, OUT), [Edge("a", "out"), Edge("a", "b")], "no sink follows 'b'"),
        ((A, B, OUT), [Edge("a", "out"), Edge("b", "out")], "no source feeds 'b'"),
        ((A, B, C, OUT), [Edge("a", "b"), Edge("b", "c"), Edge("c", "b"), Edge("c", "out")], "no cycle"),
        ((A, OUT), [Edge("a", "nowhere")], "no stage 'nowhere'"),
        ((A, OUT), [Edge("out", "a")], "'out', a sink"),
        ((A, OUT), [Edge("a", "out", Partitioning.HASH)], "takes a key selector"),
        ((A, OUT), [Edge("a", "out", input=1)], "no input 1"),
        ((A, A, OUT), [Edge("a", "out")], "a is used twice"),
    ],
)
def test_a_plan_that_cannot_run_is_refused(stages, links, why):
    with pytest.raises(ConfigError, match=why):
        require_runnable(Plan("job", stages, tuple(links)))


def test_max_parallelism_is_configured_within_bounds():
    with pytest.raises(ConfigError, match="max_parallelism"):
        ExecutionConfig(max_parallelism=0)
    job = Job("job").with_execution(ExecutionConfig(max_parallelism=2))
    with pytest.raises(ConfigError, match="max_parallelism is 2"):
        job.source("in", NUMBERS, parallelism=3)


# ---------------------------------------------------------------- where rows go


class Sent:
    """A channel that records the rows sent."""

    def __init__(self):
        self.frames = []

    def send(self, kind, payload=b""):
        self.frames.append((kind, payload))

    def close(self):
        pass

    def before_the_barrier(self):
        *records, (last, _) = self.frames
        assert last is Kind.BARRIER
        return [row for _, payload in records for row in unpack_rows(payload)]


@pytest.mark.rule("ONCE-01")
@given(batches=st.lists(st.lists(st.tuples(st.integers(0, 40)), max_size=7), max_size=8))
def test_every_row_goes_along_every_edge_and_before_the_barrier(batches):
    rows = [row for batch in batches for row in batch]
    routes = (
        Route(("f-1",), Partitioning.FORWARD),
        Route(("h-0", "h-1", "h-2"), Partitioning.HASH, first),
        Route(("r-0", "r-1"), Partitioning.REBALANCE),
        Route(("b-0", "b-1"), Partitioning.BROADCAST),
    )
    channels = {receiver: Sent() for route in routes for receiver in route.receivers}
    outputs = Outputs(channels, routes, batch_rows=3, max_parallelism=16)
    for batch in batches:
        outputs.emit(batch)
    outputs.broadcast(Kind.BARRIER, 1)
    came, counts = {name: one.before_the_barrier() for name, one in channels.items()}, outputs.sent()
    assert came["f-1"] == came["b-0"] == came["b-1"] == rows
    assert sorted(came["r-0"] + came["r-1"]) == sorted(rows)
    assert came["r-0"] == [row for batch in batches[::2] for row in batch]
    for index in range(3):
        assert came[f"h-{index}"] == [row for row in rows if channel_of(row[0], 3, 16) == index]
    assert counts == {name: len(there) for name, there in came.items()}
    edges = [("x", "f", "forward"), ("x", "h", "hash"), ("x", "r", "rebalance"), ("x", "b", "broadcast")]
    assert rows_along(edges, "x-0", counts) == len(rows)


NAMED = pa.schema({"name": pa.string(), "n": pa.int64()})


def sent_to_a_sink(rows):
    """The content of the frames of one channel to a sink with this schema."""
    channel = Sent()
    outputs = Outputs({"sink-0": channel}, [Route(("sink-0",), schema=NAMED)], batch_rows=2)
    outputs.emit(rows)
    outputs.flush()
    return [unpack_rows(payload) for _, payload in channel.frames]


def test_rows_travel_to_a_sink_as_columns_of_its_schema():
    rows = [("a", 1), (None, 2), ("c", None)]
    batches = sent_to_a_sink(rows)
    assert [batch.schema for batch in batches] == [NAMED, NAMED]
    assert [row for batch in batches for row in rows_of(batch)] == rows


@pytest.mark.parametrize("row", [("a",), ("a", 1, 2), ("a", "b"), (1, 1), ("a", 1 << 63)])
def test_rows_that_do_not_fit_a_sink_travel_as_they_are_and_the_sink_refuses_them(row):
    rows = [("b", 2), row]
    assert sent_to_a_sink(rows) == [rows]
    with pytest.raises((ValueError, TypeError, OverflowError)):
        batch_of(rows, NAMED)


def test_rows_that_share_a_long_value_travel_as_they_are():
    """Arrow would write the long value again for each row."""
    rows = [("x" * 10_000_000, 1)] * 2
    assert sent_to_a_sink(rows) == [rows]


def test_different_counts_of_edges_are_detected():
    edges = [("x", "h", "hash"), ("x", "b", "broadcast")]
    assert rows_along([], "x-0", {"h-0": 1, "h-1": 2}) == 3
    with pytest.raises(ValueError, match="3 to h, 2 to b"):
        rows_along(edges, "x-0", {"h-0": 1, "h-1": 2, "b-0": 2, "b-1": 2})
    with pytest.raises(ValueError, match="a broadcast to b"):
        rows_along(edges, "x-0", {"h-0": 1, "h-1": 2, "b-0": 3, "b-1": 2})


def test_functions_without_state_take_whole_batches():
    stream = Job("rows").source("numbers", NUMBERS)
    stages = stream.map("add", lambda row: (row[0] + 1,)).flat_map("repeat", lambda row: [row] * row[0])
    job = stages.filter("large", lambda row: row[0] > 1).job
    rows = [(1,), (2,)]
    assert job.stage("add").logic.process_rows(rows) == [(2,), (3,)]
    assert job.stage("repeat").logic.process_rows(rows) == [(1,), (2,), (2,)]
    assert job.stage("large").logic.process_element(None, (1,)) == []


def test_an_aggregate_is_one_of_a_stage(out):
    job = one("in").key_by(first).aggregate("count", FlightTotals(), 2).sink("out", out("x"))
    assert job.plan().upstream(job.plan().subtasks()[2]) == ("in-0",)
