"""What is thorough runs within its time, one unit after the other, and goes on where it ended."""

import sys
import time

import pytest

from conformance.mutants.score import sources
from conformance.parts import thorough
from conformance.parts.thorough import SHARES, Done, finished, run, run_all, units, verdict
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


def test_a_unit_that_is_not_finished_in_time_is_ended_and_not_reported(monkeypatch):
    words = {
        "quick": 'import sys; sys.stdout.write(\'["", "3 states"]\')',
        "slow": "import time; time.sleep(3600)",
        "broken": "raise SystemExit(3)",
    }
    monkeypatch.setattr(thorough, "own_process", lambda *given: [sys.executable, "-c", words[given[-1]]])
    begun = time.monotonic()
    done = list(run_all(words, begun + 3, processes=3))

    assert {one[:3] for one in done} == {("quick", "", "3 states"), ("broken", "ended with 3", "")}


def test_a_record_of_other_sources_is_not_used(tmp_path):
    record = tmp_path / "thorough.jsonl"
    assert finished(record) == []
    record.write_text(f'["{sources()}",{SHARES}]\n["model a","","3 states",1]\n')
    assert finished(record) == [HOLDS]
    record.write_text(f'["{sources()}",{SHARES}]\n["model a","","3 st')
    assert finished(record) == []
    record.write_text('"other"\n["model a","","3 states",1]\n')
    assert finished(record) == []


def test_a_wrong_count_is_a_complaint(tmp_path, monkeypatch):
    """The smallest thorough model, with one state too many in the manifest; unchanged it holds."""
    name = units()[0].removeprefix("model ")
    model = thorough.load_manifest()[name]
    monkeypatch.setattr(thorough, "load_manifest", lambda: {name: model._replace(states=model.states + 1)})
    complaint, size = run(f"model {name}", tmp_path)

    assert str(model.states + 1) in complaint
    assert size == f"{model.states} states"
