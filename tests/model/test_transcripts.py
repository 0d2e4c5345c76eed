"""The model gives the stored transcript of every named scenario."""

from pathlib import Path

import pytest
from transcripts import component_of, files, fired_rules, replayed

from model.components import COMPONENTS


def named(path: Path) -> str:
    return f"{component_of(path)}/{path.stem}"


@pytest.mark.parametrize("path", files(), ids=named)
def test_a_scenario_gives_its_stored_transcript(path: Path, pytestconfig: pytest.Config) -> None:
    text = path.read_text(encoding="utf-8")
    now = replayed(text)
    if pytestconfig.getoption("--rewrite"):
        path.write_text(now, encoding="utf-8")
    assert now == text or pytestconfig.getoption("--rewrite")


@pytest.mark.parametrize("path", files(), ids=named)
def test_a_scenario_shows_the_rules_it_names(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    named = set(text.splitlines()[0].partition("rules:")[2].split())
    assert named
    assert named <= fired_rules(text)


def test_there_are_scenarios_of_every_component() -> None:
    assert {component_of(path) for path in files()} == set(COMPONENTS)
