"""The page of generations shows the current answers of the model. Invalid sequences of events are refused."""

from pathlib import Path

import pytest

from conformance.scenarios.side_by_side import ScenarioError, answers, event_of, page, scenarios

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "generations.md"


def of_the_model(text):
    """The page without the parts that only a run of the releases can give."""
    return [line for line in text.splitlines() if not line.startswith(("| *seen on*", "Flink ")) and line]


def test_the_page_is_up_to_date():
    assert of_the_model(PAGE.read_text(encoding="utf-8")) == of_the_model(page([], print))


def test_some_release_stands_under_every_generation_that_can_be_fetched():
    seen = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| *seen on*")]

    assert len(seen) == len(scenarios())
    assert all("2.3.0" in line and "1.13.6" in line for line in seen)


@pytest.mark.parametrize("scenario", scenarios(), ids=lambda scenario: scenario.name)
def test_every_event_of_a_scenario_is_answered(scenario):
    for profile in scenario.profiles:
        replies = answers(scenario, profile)
        assert replies is None or len(replies) == len(scenario.events)


@pytest.mark.parametrize("text", ["barrier 1 on 0", "barrier channel", "decline checkpoint=x"])
def test_an_invalid_event_is_refused(text):
    with pytest.raises(ScenarioError, match="expected"):
        event_of(text)


def test_the_page_shows_coordinators_with_their_distinguishing_runs():
    shown = [one for one in scenarios() if one.component == "coordinator"]
    assert len(shown) >= 6
    for one in shown:
        assert len({answers(one, profile) for profile in one.profiles} - {None}) > 1, one.name


def test_an_event_reads_as_on_the_wire():
    assert event_of("record channel=1 value=7") == {"kind": "record", "value": 7, "channel": 1}
    assert event_of('barrier channel=0 checkpoint=5 alignment="unaligned"')["alignment"] == "unaligned"
