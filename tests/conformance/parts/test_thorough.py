"""The thorough verification runs its units within a time limit, and continues where it ended."""

import sys
import time

import pytest

from conformance.mutants.score import sources
from conformance.parts import thorough
from conformance.parts.thorough import SHARES, SOURCES, Done, finished, run, run_all, units, verdict
from conformance.verdict import Verdict

HOLDS = Done("model a", "", "3 states", 1)
WRONG = Done("model b", "ALIGN_01 fails", "3 states", 1)


@pytest.mark.parametrize(
    ("done", "left", "found"),
    [([HOLDS], [], Verdict.CONFORMS), ([HOLDS], ["model b"], Verdict.UNDETERMINED),
     ([WRONG], ["model a"], Verdict.DIVERGES), ([], [], Verdict.UNDETERMINED)],
)  # fmt: skip
def test_it_conforms_if_every_unit_has_finished_without_a_complaint(done, left, found):
    assert verdict(done, left) is found


WORDS = {
    "quick": 'import sys; sys.stdout.write(\'["", "3 states"]\')',
    "slow": "import pathlib, signal, sys, tempfile; "
    "pathlib.Path(tempfile.mkdtemp(), 'graph').touch(); signal.pause()",
    "broken": "raise SystemExit(3)",
}


@pytest.fixture
def temporary(monkeypatch, tmp_path):
    """The folder for temporary files of units. Each unit runs a small program instead of a model."""
    monkeypatch.setattr(thorough, "own_process", lambda *given: [sys.executable, "-c", WORDS[given[-1]]])
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    return tmp_path


def test_a_unit_that_finishes_is_reported(temporary):
    done = run_all(["quick", "broken"], time.monotonic() + 3600, processes=2)

    assert {one[:3] for one in done} == {("quick", "", "3 states"), ("broken", "ended with 3", "")}


def test_a_unit_that_is_not_finished_in_time_is_ended_and_not_reported(temporary):
    assert [*run_all(["slow"], time.monotonic() + 0.2, processes=1)] == []
    assert [*temporary.iterdir()] == []


def test_an_interrupt_ends_the_units_that_run(temporary):
    done = run_all(["quick", "slow", "slow"], time.monotonic() + 3600, processes=2)
    assert next(done).unit == "quick"
    done.close()

    assert [*temporary.iterdir()] == []


def test_a_record_of_other_sources_is_not_used(tmp_path):
    record = tmp_path / "thorough.jsonl"
    assert finished(record) == []
    record.write_text(f'["{sources(SOURCES)}",{SHARES}]\n["model a","","3 states",1]\n')
    assert finished(record) == [HOLDS]
    record.write_text(f'["{sources(SOURCES)}",{SHARES}]\n["model a","","3 st')
    assert finished(record) == []
    record.write_text('"other"\n["model a","","3 states",1]\n')
    assert finished(record) == []


def test_a_wrong_count_is_a_complaint(tmp_path, monkeypatch):
    """The manifest has one state too many for the smallest thorough model, so its unit complains."""
    name = units()[0].removeprefix("model ")
    model = thorough.load_manifest()[name]
    monkeypatch.setattr(thorough, "load_manifest", lambda: {name: model._replace(states=model.states + 1)})
    complaint, size = run(f"model {name}", tmp_path)

    assert str(model.states + 1) in complaint
    assert size == f"{model.states} states"
