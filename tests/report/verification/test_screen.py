"""The summary on one screen at the end of a verification."""

from dataclasses import replace
from pathlib import Path

import click
import pytest

from conformance.command_line.progress import Progressing
from conformance.parts.result import Finding, PartResult
from conformance.parts.verify import PARTS
from conformance.report.formats.columns import NARROW
from conformance.report.screen import FINDINGS_SHOWN, WIDEST, screen
from conformance.report.verification import document
from conformance.verdict import Verdict

ALL_PASS = """\
barrierspec verify                                                                      commit 8c1f2aa, seed 7
                                                            2 cores, Python 3.11.7, Java 17.0.15, Linux x86_64

  proofs          PASS   46 rules for every checkpoint id, 1 to 4 channels, 1,311 paths             z3     9 s

CONFORMS   within the bounds above
  report  build/report/verification.json, build/report/junit.xml
  again   barrierspec verify --seed 7
"""

ONE_FAILS = """\
barrierspec verify --only lock-step --only proofs         commit 8c1f2aa, seed 7
                              2 cores, Python 3.11.7, Java 17.0.15, Linux x86_64

  lock-step       FAIL   2 steps                                  Python     1 s
  proofs          PASS   46 rules for every checkpoint id, 1 to   z3         9 s
                         4 channels, 1,311 paths
  pipeline        ----   not run

  lock-step       ALIGN-04  a late barrier must not touch the alignment of a
                            newer checkpoint
                  gate diverges at step 2, {'kind': 'barrier'}

  ALIGN-04 in full:

  THE STORY
    step 2  <- here

DIVERGES   see lock-step; this is about lock-step, proofs only
  took    0 s
  again   barrierspec verify --only lock-step --only proofs --seed 7
"""


def test_the_screen_of_a_pass(by_hand, proofs):
    shown = screen(by_hand(proofs), (Path("build/report/verification.json"), Path("build/report/junit.xml")))

    assert shown == ALL_PASS
    assert {len(line) for line in shown.splitlines()[:2]} == {110}
    assert max(map(len, shown.splitlines())) == 110


def test_the_screen_of_a_divergence(by_hand, proofs, lockstep):
    shown = screen(by_hand(lockstep, proofs, not_run=("pipeline",)), width=40)

    assert shown == ONE_FAILS
    assert max(map(len, shown.splitlines())) == 80


@pytest.mark.parametrize("width", [NARROW, WIDEST])
@pytest.mark.parametrize("name", PARTS)
def test_the_line_of_every_part_fits(by_hand, proofs, name, width):
    (line,) = (
        line
        for line in screen(by_hand(replace(proofs, name=name)), width=width).splitlines()
        if line.startswith(f"  {name} ")
    )

    assert len(line) == width
    assert line.endswith("9 s")


def test_a_charged_rule_is_reported_before_what_could_not_run(by_hand, proofs, lockstep):
    broken = replace(
        proofs,
        verdict=Verdict.UNDETERMINED,
        findings=(Finding(None, "proofs could not run: no z3", "TRACEBACK"),),
    )

    both, alone = screen(by_hand(broken, lockstep)), screen(by_hand(broken))

    assert "THE STORY" in both
    assert "TRACEBACK" not in both
    assert "TRACEBACK" in alone
    assert "could not be judged\n                  proofs could not run: no z3" in alone
    assert "UNDETERMINED   nothing diverged, but not everything could be judged: proofs\n" in alone


def test_an_undetermined_part_is_no_pass(by_hand, proofs):
    shown = screen(by_hand(proofs, PartResult("trace", Verdict.UNDETERMINED, "under-covered")))

    assert "  trace           ----   under-covered" in shown
    assert shown.count("PASS") == 1
    assert "CONFORMS" not in shown


def test_smaller_bounds_are_stated(by_hand, proofs):
    shown = screen(by_hand(proofs, quick=True))

    assert "CONFORMS   within the bounds above; smaller bounds (--quick)" in shown
    assert "again   barrierspec verify --seed 7 --quick" in shown
    assert shown.startswith("barrierspec verify --quick  ")


def test_many_findings_stay_on_one_screen(by_hand, lockstep):
    many = tuple(Finding("SUB-01", f"finding {number}") for number in range(FINDINGS_SHOWN + 12))

    shown = screen(by_hand(replace(lockstep, findings=many)))

    assert f"finding {FINDINGS_SHOWN - 1}\n" in shown
    assert f"finding {FINDINGS_SHOWN}\n" not in shown
    assert "and 12 more, all of them in the JSON" in shown


@pytest.mark.parametrize(
    ("rule", "title"), [("NONE-00", "no rule of the index"), ("none", "no rule of the index")]
)
def test_a_charge_outside_the_index_is_still_shown(by_hand, lockstep, rule, title):
    strange = replace(lockstep, findings=(Finding(rule, "acts although no rule fires"),))

    assert f"{rule:<8}  {title}" in screen(by_hand(strange))


def test_colour_changes_no_letter(by_hand, proofs, lockstep):
    done = by_hand(proofs, lockstep)

    assert screen(done, colour=True) != screen(done)
    assert click.unstyle(screen(done, colour=True)) == screen(done)


def test_progress_is_silent_without_a_terminal(capsys, verified):
    with Progressing() as watch:
        verified("passes", "crashes", watch=watch)

    assert capsys.readouterr() == ("", "")


def test_progress_states_the_part_and_its_current_work(proofs):
    from io import StringIO

    from rich.console import Console

    written = StringIO()
    with Progressing(Console(file=written, force_terminal=True, width=80)) as watch:
        watch.begins("proofs")
        watch.show("asking [z3]")
        watch._progress.refresh()
        watch.ends(proofs)
        watch._progress.refresh()

    assert "asking [z3]" in written.getvalue()
    assert "CONFORMS" in written.getvalue()


def test_the_brief_bound_of_a_part_is_shown_and_the_report_has_the_whole(by_hand, proofs):
    bound = "46 rules; inductive: gate (channels 1 to 4), sink (snapshots 0 to 1)"
    whole = by_hand(replace(proofs, bound=bound, brief="46 rules; inductive: gate, sink"))

    assert "46 rules; inductive: gate, sink  " in screen(whole)
    assert document(whole)["parts"][0]["bound"] == bound
