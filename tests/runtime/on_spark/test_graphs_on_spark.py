"""Jobs with branches and joins on Spark: two inputs, two sinks, and a killed worker."""

import json
import sys
import time
from collections import defaultdict

import pyarrow as pa
import pytest
from pyspark import cloudpickle

from conformance.observe.validate import validate
from conformance.verdict import Verdict
from impl.config import CheckpointConfig, ExecutionConfig
from impl.connectors import read_committed
from impl.faults import FaultPlan, Point
from impl.job import Job, ParquetOutput, RateInput

cloudpickle.register_pickle_by_value(sys.modules[__name__])  # workers cannot import a test
EXECUTION = ExecutionConfig(
    batch_rows=100, channel_batches=2, heartbeat_timeout_ms=60_000, startup_timeout_ms=300_000
)
ROWS, RULES, KEYS = 6_000, 5, 50
JOINED = pa.schema({"n": pa.int64(), "way": pa.string(), "rule": pa.int64(), "turn": pa.int64()})
DOUBLED = pa.schema({"n": pa.int64(), "way": pa.string()})


def numbers(batch, partition, offset):
    return [(number,) for number in batch.column(0).to_pylist()]


def key_of(row):
    return row[0] % KEYS


class Ruled:
    """Adds to each row the rule of its key and a count. Rows that come before the rule wait for it."""

    def initialize_state(self, store):
        self.stored = store.broadcast_state("rules")
        self.rules = dict(self.stored)

    def open(self, state):
        self.turns = state.value_state("turns", immutable=True)
        self.waiting = state.list_state("waiting", immutable=True)

    def process_element1(self, key, row):
        rule = self.rules.get(key % RULES)
        if rule is None:
            self.waiting.add(key, row)
            return ()
        return self.ruled(key, row, rule)

    def process_element2(self, key, row):
        assert key is None
        number, rule = row[0], row[0] * 100
        self.rules[number] = rule
        released = [key for key, _ in self.waiting.items() if key % RULES == number]
        waited = [(key, row) for key in released for row in self.waiting.get(key)]
        for key in released:
            self.waiting.remove(key)
        return [made for key, row in waited for made in self.ruled(key, row, rule)]

    def ruled(self, key, row, rule):
        time.sleep(0.0005)  # slower than the sources, so that records wait
        turn = self.turns.get(key, 0) + 1
        self.turns.put(key, turn)
        return [(*row, rule, turn)]

    def snapshot_state(self, checkpoint):
        self.stored.update(self.rules.items())


def diamond(folder):
    """Numbers take two branches, join again by key, and join rules that are broadcast."""
    job = Job("diamond").with_execution(EXECUTION)
    source = job.source("numbers", RateInput(ROWS, numbers, rows_per_second=ROWS))
    left = source.flat_map("left", lambda row: [(*row, "left")] if row[0] % 2 == 0 else [])
    right = source.map("right", lambda row: (*row, "right"))
    rules = job.source("rules", RateInput(RULES, numbers, rows_per_second=2 * RULES))
    joined = (
        left.union(right).key_by(key_of).connect(rules.broadcast()).process("join", Ruled(), parallelism=2)
    )
    return joined.sink("all", ParquetOutput(folder / "all", JOINED)).together_with(
        right.sink("some", ParquetOutput(folder / "some", DOUBLED))
    )


def rows_in(folder):
    return [tuple(row.values()) for row in read_committed(folder).to_pylist()]


def a_row_that_takes_one_of_its_ways(events):
    """The rejection of the log, changed as if one row of `right` had not been sent to the second sink."""
    log = events / "1-right-0.jsonl"
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    shown = next(line for line in lines if sum(line.get("sent", {}).values()))
    shown["sent"]["some-0"] -= 1
    log.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return validate(events).rejection


def join_inputs_in_flight(events):
    """The senders whose in-flight records the join, which has two inputs, has stored in any checkpoint."""
    lines = [
        json.loads(line) for log in events.glob("*-join-*.jsonl") for line in log.read_text().splitlines()
    ]
    stored = [line["stored"] for line in lines if line.get("kind") == "gathered"]
    return {sender for one in stored for sender, rows in one.items() if rows}


MODES = {
    "aligned": ({}, Point.ALIGNMENT_IN_PROGRESS),
    "unaligned": ({"unaligned_checkpoints_enabled": True}, Point.SNAPSHOT_WRITTEN),
    "alternating": (
        {"unaligned_checkpoints_enabled": True, "aligned_checkpoint_timeout_ms": 1},
        Point.SNAPSHOT_WRITTEN,
    ),
}


@pytest.mark.rule("ONCE-03")
@pytest.mark.parametrize("mode", MODES)
def test_ways_that_part_and_meet_are_exact_when_a_worker_is_killed(mode, spark, tmp_path):
    config, point = MODES[mode]
    job = diamond(tmp_path).with_checkpoints(CheckpointConfig(checkpointing_interval_ms=100, **config))
    faults = [FaultPlan(point, "join-1", occurrence=3)]
    result = job.execute("local[8]", tmp_path / "run", faults=faults, event_log=True, spark=spark)

    joined = rows_in(tmp_path / "all")
    expected = [(n, "left", n % RULES * 100) for n in range(0, ROWS, 2)]
    expected += [(n, "right", n % RULES * 100) for n in range(ROWS)]
    assert sorted(row[:3] for row in joined) == sorted(expected)
    assert sorted(rows_in(tmp_path / "some")) == [(n, "right") for n in range(ROWS)]
    turns = defaultdict(list)
    for row in joined:
        turns[key_of(row)].append(row[3])
    assert all(sorted(there) == list(range(1, len(there) + 1)) for there in turns.values())
    assert (len(result.attempts), result.faults) == (2, tuple(faults))
    assert result.attempts[1].restored is not None
    trace = validate(tmp_path / "run" / "events")
    assert trace.rejection is None, trace.describe()
    if mode == "aligned":
        assert trace.verdict is Verdict.CONFORMS, trace.describe()
        of_one_way = a_row_that_takes_one_of_its_ways(tmp_path / "run" / "events")
        assert of_one_way is not None
        assert of_one_way.rules[0] == "ONCE-01"
    else:
        assert trace.modes == {mode}
        assert trace.situations["overtook"] > 0
        assert mode == "alternating" or join_inputs_in_flight(tmp_path / "run" / "events")
