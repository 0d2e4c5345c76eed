"""Each reading of a proposed protocol violates the property that it names, or none if it names none."""

import pytest
from click.testing import CliRunner

from conformance.explore import proposed_protocols
from model.any_dataflow.any_dataflow import begin
from model.any_dataflow.regional import regions_of


@pytest.mark.parametrize("reading", proposed_protocols.READINGS, ids=lambda reading: reading.name)
def test_each_reading_violates_the_property_that_it_names(reading):
    violation = reading.explore().violation

    assert (violation.properties if violation else ()) == ((reading.breaks,) if reading.breaks else ())


def test_regions_are_the_tasks_that_channels_connect():
    assert regions_of(((1, 3), (2, 4), (3, 5))) == (frozenset({1, 3, 5}), frozenset({2, 4}))
    assert regions_of(((1, 3), (2, 4), (3, 4))) == (frozenset({1, 2, 3, 4}),)


def test_a_checkpoint_that_falls_back_twice_refers_to_the_same_snapshot():
    dataflow = proposed_protocols.RegionalDataflow(
        proposed_protocols.TWO_CHAINS, regions_of(proposed_protocols.TWO_CHAINS), 2, frozenset({2, 4})
    )
    job = dataflow.new(3)
    for checkpoint in (1, 2):
        job = begin(job)
        for task in (3, 4):
            job = dataflow.snapshot(job, task, checkpoint)
        job = dataflow.acknowledge(dataflow.store(job, 4, checkpoint), 4, checkpoint)
        job = dataflow.fall_back(job, checkpoint)

    assert job.latest == 2
    assert job.checkpoints[2].references == (0, 0, 2, 2)
    assert [dataflow.committable(job, task) for task in dataflow.tasks] == [0, 0, 2, 2]


def test_the_run_of_one_reading_is_printed():
    result = CliRunner().invoke(proposed_protocols.main, ["sender-ahead"])

    assert result.exit_code == 0
    assert "proposed, no released jar" in result.output
    assert result.output.splitlines()[-2:] == [
        "    6 all tasks restart from the latest checkpoint",
        "      the record of 1 is neither in the reader's snapshot nor sent again: it is lost",
    ]


def test_a_reading_that_breaks_nothing_although_it_names_a_property_ends_with_1(monkeypatch):
    mended = proposed_protocols.READINGS[0]._replace(breaks="visible_once")
    monkeypatch.setattr(proposed_protocols, "READINGS", (mended,))

    assert CliRunner().invoke(proposed_protocols.main, []).exit_code == 1
