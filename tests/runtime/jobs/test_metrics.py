"""Metrics of a run and their display, without Spark."""

import sys
import xml.etree.ElementTree as ET

import pytest
from rich.console import Console

from conformance.command_line.extras import MissingPartError
from conformance.command_line.progress import RunDisplay, summary, tasks_table
from conformance.report import plots
from impl.core.gate.unaligned_events import Alignment
from impl.job import Progress
from impl.metrics import (
    CheckpointMeasures,
    JobMetrics,
    SnapshotMeasures,
    Stopwatch,
    TaskMeasures,
    read_metrics,
)
from impl.spark.channels.frames import Kind, OvertakingBarrier, pack_barrier
from impl.spark.channels.inbox import Inbox
from impl.spark.channels.overtaking_channels import OvertakingInbox

SVG = "{http://www.w3.org/2000/svg}"


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


def test_an_alignment_lasts_from_the_first_barrier_to_the_last():
    clock = Clock()
    watch = Stopwatch(clock)
    for clock.now in (1.0, 1.004, 1.25):
        watch.barrier(7)
    watch.written(7, 1.25, 300)
    clock.now = 2.0
    watch.written(8, 1.5, 10)
    assert watch.measures(7) == SnapshotMeasures(250.0, 0.0, 300)
    assert watch.measures(8) == SnapshotMeasures(0.0, 500.0, 10)


def test_the_number_of_remembered_unacknowledged_checkpoints_is_bounded():
    watch = Stopwatch()
    for checkpoint in range(1_000):
        watch.barrier(checkpoint)
        watch.written(checkpoint, 0.0, 1)
    assert all(len(known) < 20 for known in (watch._first, watch._aligned, watch._written))


def test_every_completed_checkpoint_has_a_line_that_can_be_read_back(tmp_path):
    metrics = JobMetrics(tmp_path / "metrics.jsonl")
    metrics.alive("count-0", 50, 9)
    metrics.acknowledged("count-0", 3, SnapshotMeasures(4.0, 1.0, 100))
    metrics.acknowledged("sink-0", 3, SnapshotMeasures(9.0, 2.0, 50))
    metrics.completed(3, 2, 20.5)
    with metrics._path.open("a") as file:
        file.write('{"checkpoint": 4, "att')  # a driver died here
    [one] = read_metrics(tmp_path / "metrics.jsonl")
    assert (one.checkpoint, one.attempt, one.duration_ms, one.alignment_ms, one.bytes) == (
        3,
        2,
        20.5,
        9.0,
        150,
    )
    assert metrics.tasks["count-0"] == TaskMeasures(50, 9, SnapshotMeasures(4.0, 1.0, 100))
    metrics.begin_attempt()
    assert metrics.tasks == {}


def test_data_waiting_at_the_inputs_is_counted_in_bytes():
    plain, overtaking = Inbox(1, 4), OvertakingInbox(1, 4, lambda channel, frames: None)
    for inbox in (plain, overtaking):
        inbox.put(0, (Kind.RECORDS, b"12345"))
        inbox.put(0, (Kind.RECORDS, b"678"))
        assert inbox.buffered == 8
        inbox.take((), 0)
        assert inbox.buffered == 3
    overtaking.put(0, (Kind.BARRIER, pack_barrier(OvertakingBarrier(1, Alignment.UNALIGNED.value, 0))))
    assert overtaking.buffered == 3


def measured(checkpoint, attempt, ms=10.0, alignment=2.0):
    return CheckpointMeasures(checkpoint, attempt, ms, {"count-0": SnapshotMeasures(alignment, 1.0, 2_048)})


def test_the_plot_has_a_bar_for_every_checkpoint_and_another_colour_after_a_restore():
    run = [measured(1, 1), measured(2, 1), measured(4, 2)]
    drawn = ET.fromstring(plots.checkpoints(run, "a <run>"))
    bars = {one[0].text: one for one in drawn.iter(f"{SVG}g") if len(one) and one[0].tag == f"{SVG}title"}
    assert list(bars)[:3] == [
        "checkpoint 1, attempt 1: 10",
        "checkpoint 2, attempt 1: 10",
        "checkpoint 4, attempt 2: 10",
    ]
    colours = [bar.find(f"{SVG}path").get("style") for bar in list(bars.values())[:3]]
    assert colours[0] == colours[1] != colours[2]
    assert plots.checkpoints(run, "a <run>") == plots.checkpoints(run, "a <run>")
    with pytest.raises(ValueError, match="nothing to draw"):
        plots.checkpoints([], "none")


def test_without_matplotlib_the_message_states_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingPartError, match=r"pip install 'barrierspec\[plots\]'"):
        plots.checkpoints([measured(1, 1)], "a run")


def test_the_medians_are_reported_in_one_line():
    line = summary([measured(1, 1, 5.0), measured(2, 1, 50.0), measured(3, 1, 7.0)])
    assert "took 7 ms" in line
    assert "medians of 3" in line
    assert summary([]) == "no checkpoint was completed"


def progress(seconds):
    tasks = {"count-0": TaskMeasures(1_234, 77, SnapshotMeasures(4.0, 1.0, 100))}
    return Progress(seconds, 1, True, 10, 1.0, None, 0, 0, tasks)


def test_off_a_terminal_there_is_a_line_every_few_seconds(tmp_path):
    with (tmp_path / "said").open("w") as file, RunDisplay(Console(file=file)) as display:
        for seconds in (0.0, 1.0, 4.9, 5.0, 6.0):
            display.show(f"at {seconds}", progress(seconds))
    assert (tmp_path / "said").read_text().splitlines() == ["at 0.0", "at 5.0"]


def test_on_a_terminal_there_is_a_row_for_every_task():
    console = Console(width=120, force_terminal=True)
    with console.capture() as shown:
        console.print(tasks_table(progress(1.0)))
        with RunDisplay(console) as display:
            display.show("now", progress(1.0))
    assert "1,234" in shown.get()
    assert "now" in shown.get()
