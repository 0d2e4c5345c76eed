"""Barrier snapshots on any dataflow: each property fails if the mechanism that ensures it is removed."""

import pytest
from click.testing import CliRunner

from conformance.explore import dataflows
from conformance.parts import thorough
from model.any_dataflow.any_dataflow import AnyDataflow, commit
from model.any_dataflow.bounds import JobBounds
from model.any_dataflow.environment import small_dataflows
from model.any_dataflow.job import History, Job, Place, Task
from model.any_dataflow.key_groups import Subtasks, scaled_in, scaled_out

TWO_INPUTS = ((1, 3), (2, 3))


class NeverBlocked(AnyDataflow):
    def is_readable(self, job: Job, channel: Place) -> bool:
        return job.up and bool(job.channels[channel])


class SourcesFromTheBeginning(AnyDataflow):
    def restore(self, job: Job) -> Job:
        job = super().restore(job)
        return job._replace(tasks=(Task(), Task(), *job.tasks[2:]))


class CommitsAtOnce(AnyDataflow):
    def snapshot(self, job: Job, task: int, checkpoint: int) -> Job:
        job = super().snapshot(job, task, checkpoint)
        return commit(job._replace(latest=checkpoint), task)._replace(latest=job.latest)


class RestoresTheStart(AnyDataflow):
    def restore(self, job: Job) -> Job:
        return super().restore(job._replace(latest=0))._replace(latest=job.latest)


class SharedPool(AnyDataflow):
    def has_credit(self, job: Job, channel: Place) -> bool:
        gate = self.inputs[self.channels[channel][1]]
        return sum(len(job.channels[one]) for one in gate) < self.capacity * len(gate)


class EndDoesNotCount(AnyDataflow):
    def counted(self, job: Job, task: int) -> frozenset[Place]:
        return frozenset()


class FinishesEarly(AnyDataflow):
    def is_settled(self, job: Job, task: int) -> bool:
        return True


class EndsOnce(AnyDataflow):
    def restore(self, job: Job) -> Job:
        return super().restore(job)._replace(channels=job.checkpoints[job.latest].kept)


class CountedAsFinished(AnyDataflow):
    def snapshot(self, job: Job, task: int, checkpoint: int, awaited: frozenset[Place] = frozenset()) -> Job:
        job = super().snapshot(job, task, checkpoint, awaited)
        known = job.checkpoints[checkpoint]
        captured = (one and one._replace(finished=True) for one in known.captured)
        known = known._replace(captured=tuple(captured))
        before, behind = job.checkpoints[:checkpoint], job.checkpoints[checkpoint + 1 :]
        return job._replace(checkpoints=(*before, known, *behind))


class ReadsOn(AnyDataflow):
    def is_suspended(self, job: Job, task: int) -> bool:
        return False


class SuspendedForGood(AnyDataflow):
    def is_suspended(self, job: Job, task: int) -> bool:
        return job.tasks[task - 1].passed in self.stops


class StopsUncommitted(AnyDataflow):
    def has_stopped(self, job: Job) -> bool:
        return job.latest in self.stops


class EvenRanges(Subtasks):
    def ranges(self, subtask: int, subtasks: int, groups: int) -> range:
        return range(subtask * groups // subtasks, (subtask + 1) * groups // subtasks)


class HalfASnapshot(AnyDataflow):
    def group(self, job: Job, task: int) -> tuple[int, ...]:
        return super().group(job, task)[:1]


class KeepsNothing(AnyDataflow):
    def _kept(self, job: Job, channel: Place, records: tuple[History, ...]) -> Job:
        return job


@pytest.mark.parametrize(
    ("broken", "found", "bounds"),
    [
        (EndDoesNotCount, "no_deadlock", JobBounds(failures=0, ends=True)),
        (FinishesEarly, "complete_at_the_end", JobBounds(checkpoints=1, failures=0, ends=True)),
        (EndsOnce, "no_deadlock", JobBounds(checkpoints=1, ends=True)),
        (CountedAsFinished, "finished_for_good", JobBounds(checkpoints=1, failures=0, ends=True)),
        (KeepsNothing, "consistent_cut", JobBounds(checkpoints=1, failures=0, unaligned=frozenset({1}))),
        (ReadsOn, "stops_at_the_savepoint", JobBounds(checkpoints=1, failures=0, stops=frozenset({1}))),
        (SuspendedForGood, "no_deadlock", JobBounds(checkpoints=1, aborts=1, stops=frozenset({1}))),
        (StopsUncommitted, "complete_when_stopped", JobBounds(checkpoints=1, stops=frozenset({1}))),
        (HalfASnapshot, "no_deadlock", JobBounds(checkpoints=1, failures=0, parallelism=scaled_out)),
    ],
)
def test_each_option_has_properties_that_can_fail(monkeypatch, broken, found, bounds):
    monkeypatch.setattr(dataflows, "AnyDataflow", broken)

    violation = dataflows.explore(*dataflows.closed_with_properties(TWO_INPUTS, bounds)).violation

    assert violation is not None
    assert found in violation.properties


def test_other_ranges_of_key_groups_than_records_are_sent_to_are_found(monkeypatch):
    monkeypatch.setattr(dataflows, "Subtasks", EvenRanges)
    bounds = JobBounds(checkpoints=1, parallelism=scaled_in)

    violation = dataflows.explore(
        *dataflows.closed_with_properties(((1, 2), (1, 3), (1, 4)), bounds)
    ).violation

    assert violation is not None
    assert "each_record_once" in violation.properties


@pytest.mark.parametrize("groups", range(1, 9))
@pytest.mark.parametrize("subtasks", range(1, 9))
def test_each_key_group_is_restored_where_its_records_go_and_nowhere_else(groups, subtasks):
    fan = Subtasks([(1, task) for task in range(2, groups + 2)], lambda _, most: min(subtasks, most))
    many = min(subtasks, groups)

    held = [number for one in range(many) for number in fan.ranges(one, many, groups)]

    assert held == [*range(groups)]
    assert all(fan.holds(0, task) for task in range(2, groups + 2))


@pytest.mark.parametrize(
    ("channels", "bounds", "states"),
    [
        (((1, 2), (1, 2)), JobBounds(), 495),
        (((1, 2), (2, 3)), JobBounds(max_concurrent=2, ends=True), 4606),
        (((1, 2), (2, 3)), JobBounds(aborts=1, stops=frozenset({1})), 416),
        (((1, 3), (2, 3)), JobBounds(checkpoints=1, slow=frozenset({3}), parallelism=scaled_out), 361),
    ],
    ids=["two channels between two tasks", "tasks that finish", "an aborted stop", "two splits, scaled out"],
)
def test_the_properties_hold_in_other_dataflows(channels, bounds, states):
    graph = dataflows.explore(*dataflows.closed_with_properties(channels, bounds))

    assert graph.violation is None
    assert len(graph.nodes) == states


@pytest.mark.parametrize(
    ("broken", "found"),
    [
        (NeverBlocked, "consistent_cut"),
        (SourcesFromTheBeginning, "each_record_once"),
        (CommitsAtOnce, "output_of_the_run"),
        (RestoresTheStart, "nothing_left_out"),
        (SharedPool, "no_deadlock"),
    ],
)
def test_each_property_fails_without_its_mechanism(monkeypatch, broken, found):
    bounds = JobBounds(records=2, capacity=1, checkpoints=1) if found == "no_deadlock" else JobBounds()
    monkeypatch.setattr(dataflows, "AnyDataflow", broken)

    violation = dataflows.explore(*dataflows.closed_with_properties(TWO_INPUTS, bounds)).violation

    assert violation is not None
    assert violation.properties == (found,)


@pytest.mark.parametrize(("tasks", "many"), [(2, 1), (3, 4), (4, 24)])
def test_all_connected_dataflows_without_a_cycle_are_found(tasks, many):
    assert len(small_dataflows(tasks)) == many  # the number of weakly connected acyclic graphs


def test_the_properties_hold_in_all_dataflows_of_three_tasks():
    result = CliRunner().invoke(dataflows.main, ["--tasks", "3"])

    assert "5 dataflows of up to 3 tasks" in result.output
    assert result.stdout.splitlines()[-1].split()[:2] == ["3,801", "8,361"]


@pytest.mark.parametrize("options", [["--unaligned", "--stops"], ["--ends", "--scales", "out"]])
def test_options_that_exclude_each_other_are_refused(options):
    assert CliRunner().invoke(dataflows.main, ["--tasks", "2", *options]).exit_code == 2


@pytest.mark.parametrize(
    ("options", "states"),
    [(["--ends"], "833"), (["--stops"], "183"), (["--scales", "in"], "209"), (["--unaligned"], "618")],
)
def test_each_option_changes_what_is_explored(options, states):
    result = CliRunner().invoke(dataflows.main, ["--tasks", "2", *options])

    assert result.output.splitlines()[1].split()[0] == states


def test_the_thorough_dataflows_are_units_of_their_own(tmp_path):
    names = [*dataflows.thorough_dataflows()]

    assert len(names) == len(set(names)) == 29 * len(dataflows.THOROUGH)
    assert thorough.run("dataflow stops:1-2", tmp_path) == ("", "183 states, 300 transitions")


def test_a_violation_is_shown_with_its_run(monkeypatch):
    monkeypatch.setattr(dataflows, "AnyDataflow", NeverBlocked)

    result = CliRunner().invoke(dataflows.main, ["--tasks", "3"])

    assert result.exit_code == 1
    assert "DIVERGES  consistent_cut" in result.output
