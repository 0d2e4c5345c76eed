"""The comparison with Flink: rates without start-up, ratios of one turn, latency, settings."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from conformance.bench.benchmark import MeasurementError
from conformance.bench.flink_comparison import contestants, latency, rows
from conformance.bench.flink_comparison.comparison import figures_of
from conformance.bench.flink_comparison.contestants import CONTESTANTS, FLINK, GOALS, PYFLINK, Contestant
from conformance.bench.flink_comparison.paced_source import PacedInput
from conformance.bench.flink_comparison.processes import SETTINGS, Flink, order_of
from conformance.bench.flink_comparison.turns import Sample, Turns
from conformance.bench.runtime import word_counts

ARROW, MINI_BATCH = "Arrow batch API, memory", "Flink SQL with mini-batch, memory"


def sample(name, turn, *seconds, rows=(1_000_000, 5_000_000)):
    return Sample(name, turn, rows, seconds, (1.0, 9.0), 7, 1.5)


@pytest.fixture
def file(tmp_path):
    return tmp_path / "flink" / "turns.jsonl"


def test_runs_of_two_sizes_exclude_the_start_up_time():
    one = sample(ARROW, 0, 2.0, 4.0)

    assert one.rate == 2_000_000.0
    assert one.cpu_a_million == 2.0


def test_a_ratio_is_of_two_runs_of_one_turn(file):
    turns = Turns(file, "settings")
    for turn, (ours, flink) in enumerate([((1.0, 2.0), (2.0, 6.0)), ((1.0, 3.0), (1.0, 5.0))]):
        turns.add(sample(ARROW, turn, *ours))
        turns.add(sample(MINI_BATCH, turn, *flink))
    turns.add(sample(ARROW, 2, 1.0, 9.0))  # the other did not take its turn

    by_name = {one.name: one for one in figures_of(turns)}

    goal = by_name[f"throughput, {ARROW}, compared with {MINI_BATCH}"]
    assert goal.samples == [4.0, 2.0]
    assert goal.target == 3.0
    assert by_name[ARROW].samples == [4.0, 2.0, 0.5]
    assert by_name[f"processor time, {MINI_BATCH}"].samples == [2.0, 2.0]


def test_a_small_run_that_took_longer_is_excluded_and_counted(file):
    turns = Turns(file, "settings")
    turns.add(sample(ARROW, 0, 2.0, 1.0))
    turns.add(sample(ARROW, 1, 1.0, 2.0))
    turns.add(sample(MINI_BATCH, 0, 1.0, 2.0))

    by_name = {one.name: one for one in figures_of(turns)}

    assert by_name[ARROW].samples == [4.0]
    assert by_name[ARROW].note.endswith("1 of 2 excluded: the small run took longer")
    assert not [name for name in by_name if "compared" in name]


def test_runs_under_different_load_are_not_compared(file):
    turns = Turns(file, "settings")
    turns.add(sample(ARROW, 0, 1.0, 2.0))
    turns.add(replace(sample(MINI_BATCH, 0, 1.0, 2.0), load=3.1))

    assert turns.pairs(ARROW, MINI_BATCH) == []


def test_an_interrupted_measurement_continues_where_it_was(file):
    Turns(file, "settings").add(sample(ARROW, 0, 1.0, 2.0))
    Turns(file, "other settings").add(sample(ARROW, 0, 1.0, 9.0))

    Turns(file, "settings").add_latency("row API", [300.0, 600.0, 1_000.0])

    again = Turns(file, "settings")

    assert again.latencies == {"row API": [300.0, 600.0, 1_000.0]}
    assert again.samples == [sample(ARROW, 0, 1.0, 2.0)]
    assert again.resumed == 1
    assert again.has(ARROW, 0)
    assert not again.has(ARROW, 1)
    assert again.whole([ARROW]) == 1
    assert again.whole([ARROW, MINI_BATCH]) == 0


def test_goals_compare_contestants_that_exist():
    names = {one.name for one in CONTESTANTS}

    assert len(names) == len(CONTESTANTS)
    assert {goal.first for goal in GOALS} | {goal.second for goal in GOALS} <= names
    assert all(one.small < one.large for one in CONTESTANTS)


@pytest.mark.parametrize("one", [x for x in CONTESTANTS if x.kind in (FLINK, PYFLINK)], ids=lambda x: x.name)
def test_each_contestant_of_flink_has_its_settings(one, tmp_path):
    package = tmp_path / "lib" / "python3.11" / "site-packages" / "pyflink"
    package.mkdir(parents=True)
    python = tmp_path / "bin" / "python"

    made = Flink(python, tmp_path).settings(one, tmp_path / "out")

    assert made["execution.checkpointing.interval"] == "500ms"
    assert made["execution.checkpointing.mode"] == "EXACTLY_ONCE"
    assert made["pipeline.object-reuse"] == "true"
    assert made["state.backend.type"] == ("rocksdb" if one.backend == contestants.ROCKSDB else "hashmap")
    assert made.get("table.exec.mini-batch.enabled") == (
        "true" if one.api == contestants.MINI_BATCH else None
    )
    assert made.get("python.execution-mode") == (one.api if one.kind == PYFLINK else None)
    order = order_of(one, made, source="in", output="out")
    assert order["api"] == ("sql" if one.api in (contestants.SQL, contestants.MINI_BATCH) else "stream")
    assert order["parts"] == 2


def test_python_states_stay_in_the_worker():
    assert int(SETTINGS["process"]["python.state.cache-size"]) >= word_counts.KEYS


def test_binary_files_have_the_rows_of_the_parquet_files(tmp_path):
    source = word_counts.files(tmp_path, 250_000)

    made = rows.binary(source)

    words = np.array((made / rows.WORDS).read_text().split())
    files = sorted(made.glob("*.bin"))
    read = np.concatenate([np.frombuffer(one.read_bytes(), "<i4").reshape(-1, 2) for one in files])
    table = pa.table({"word": words[read[:, 0]], "value": read[:, 1]})
    totals = table.group_by("word").aggregate([([], "count_all"), ("value", "sum")])
    columns = (totals["word"], totals["count_all"], totals["value_sum"])
    assert word_counts._by_word(*columns) == word_counts.exact(source)
    assert rows.binary(source) == made


def test_the_newest_committed_update_counts_and_hidden_files_do_not(tmp_path):
    (tmp_path / "a.csv").write_text("word-1,1,5\nword-2,3,9\n")
    (tmp_path / "b.csv").write_text("word-1,4,8\n")
    (tmp_path / ".c.csv").write_text("word-1,5,9\n")

    assert rows.answer(tmp_path) == {"word-1": (4, 8), "word-2": (3, 9)}

    (tmp_path / "d.csv").write_text("word-1,4,8\n")
    with pytest.raises(ValueError, match="1 updates were committed twice"):
        rows.answer(tmp_path)


def test_output_without_files_gives_no_result(tmp_path):
    with pytest.raises(ValueError, match="expected committed files, got none"):
        rows.answer(tmp_path)


def updates(at, **counts):
    return latency.Update(at, pa.table({"word": list(counts), "count": list(counts.values())}))


def test_a_row_is_visible_with_the_first_update_that_counts_it():
    parts = [["a", "c", "a", "a"], ["b", "b"]]

    seen = latency.visible_times(parts, [updates(1.0, a=1, b=2), updates(2.0, a=3, c=1)])

    assert [times.tolist() for times in seen] == [[1.0, 2.0, 2.0, 2.0], [1.0, 1.0]]


def test_a_row_that_no_update_counts_is_missing():
    with pytest.raises(MeasurementError, match="row 2 of a is not in committed output"):
        latency.visible_times([["a", "a"], []], [updates(1.0, a=1)])


def test_a_word_occurs_in_the_files_of_one_source(tmp_path):
    made = latency.paced_files(tmp_path, 20_000)

    words = [set(pa.parquet.read_table(one)["word"].to_pylist()) for one in sorted(made.glob("*.parquet"))]

    assert len(words) == latency.SOURCES
    assert not words[0] & words[1]
    assert latency.paced_files(tmp_path, 20_000) == made


def test_a_paced_source_records_the_earliest_start_that_its_reads_show(tmp_path, monkeypatch):
    made = latency.paced_files(tmp_path / "rows", 20_000)
    source = PacedInput(made, tmp_path, 2_000.0).open(1, 2)
    times = iter([1_600_000_000, 2_050_000_000])
    monkeypatch.setattr("conformance.bench.flink_comparison.paced_source.time.time_ns", lambda: next(times))

    source.read(500)  # due 0.5 s after the start
    source.read(500)

    assert (tmp_path / "begun-1").read_text() == "1050000000"


def test_fewer_rows_keep_the_contestant_and_two_sizes():
    one = Contestant("x", FLINK, contestants.SQL, contestants.MEMORY, 400_000, 2_000_000)

    assert one.smaller(1) == one
    assert one.smaller(20) == one._replace(small=20_000, large=100_000)
    assert one.smaller(1_000) == one._replace(small=20_000, large=40_000)
