"""Automatic mutants: the edits of each operator. Each judge complains of a mutant and not of the original."""

import json
import subprocess
import sys
from importlib import import_module

import pytest

from conformance import cli
from conformance.drive.oracle import Oracle
from conformance.mutants.automatic import campaign, prepared, record, tla_mutant_schema
from conformance.mutants.automatic.complaints import UNPARSED, UNTYPED, Judged, crash, too_long
from conformance.mutants.automatic.equivalent import same_paths
from conformance.mutants.automatic.judges import Judges
from conformance.mutants.automatic.lockstep_scripts import other_configurations, with_illegal_events
from conformance.mutants.automatic.modules import edits
from conformance.mutants.automatic.mypy_refusals import is_refused
from conformance.mutants.automatic.operators import Edit, edits_of
from conformance.mutants.automatic.prepared import judge_anew
from conformance.mutants.automatic.tla_judge import tlc
from conformance.mutants.automatic.tla_mutant_schema import judge_schema
from conformance.mutants.automatic.tla_operators import tla_edits_of
from conformance.mutants.score import ScoreError
from conformance.mutants.source_edit import EditError, install_text
from conformance.report import automatic_mutants as report
from conformance.verdict import Verdict
from model.store.proofs.store import store_cases
from spec.manifest import load_manifest
from spec.stategraph import kept_at
from spec.tlc import check

PYTHON = '''"""A docstring, 1 < 2."""
def step(state: int, seen: tuple[int, ...]) -> int:
    if state < 1 and seen:
        state = state + 1
    return _take(state._replace(a=1, b=2), (Abort(state), *seen), "RULE-01")
def describe(state: int) -> str:
    return "late" if state < 3 else "due"
'''
TLA = """---- MODULE Small ----
EXTENDS Integers
Step(g, n) ==
    IF n > g.current \\* a comment, 1 = 2
    THEN [g EXCEPT !.current = n, !.pending = TRUE]
    ELSE Late(g) \\o Resumes(g)
RULE_01 == [](Step(1, 2) = 3)
Frame == [](Step(1, 2) = 4)
====
"""


def test_no_operator_swaps_the_arguments_of_max():
    """The maximum of two numbers does not depend on their order."""
    text = "latest = max(left, right)\nage = since(left, right)\n"
    found = {edit.after for edit in edits_of("model.small", text)}
    assert found == {"min", "since(right, left)"}


def test_python_is_edited_once_everywhere():
    """Comparisons, operands, constants, statements, effects and changes; not docstrings, types and rules."""
    found = {(edit.operator, edit.before, edit.after) for edit in edits_of("model.small", PYTHON)}
    assert found == {
        ("compare", "state < 1", "state <= 1"),
        ("compare", "state < 1", "state > 1"),
        ("constant", "1", "2"),
        ("constant", "1", "0"),
        ("constant", "2", "3"),
        ("constant", "2", "1"),
        ("and-or", "state < 1 and seen", "((state < 1) or (seen))"),
        ("drop-operand", "state < 1 and seen", "(seen)"),
        ("drop-operand", "state < 1 and seen", "(state < 1)"),
        ("negate-guard", "state < 1 and seen", "not (state < 1 and seen)"),
        ("drop-statement", "state = state + 1", "pass"),
        ("arithmetic", "state + 1", "(state - 1)"),
        ("drop-change", "state._replace(a=1, b=2)", "state._replace(b=2)"),
        ("drop-change", "state._replace(a=1, b=2)", "state._replace(a=1)"),
        ("drop-element", "(Abort(state), *seen)", "(*seen,)"),
        ("drop-element", "(Abort(state), *seen)", "(Abort(state),)"),
    }


def test_tla_is_edited_once_everywhere():
    """Not edited: comments, rules, and the names of fields that get a value."""
    found = {(edit.operator, edit.before, edit.after) for edit in tla_edits_of("spec.gate.Small", TLA)}
    assert found == {
        ("compare", ">", ">="),
        ("compare", ">", "<"),
        ("negate-guard", "n > g.current", "~(n > g.current)"),
        ("constant", "TRUE", "FALSE"),
        ("drop-change", ", !.pending = TRUE", ""),
        ("drop-change", "!.current = n, ", ""),
        ("drop-effect", " \\o Resumes(g)", ""),
    }


def test_the_states_in_which_a_job_may_stay_are_a_rule():
    """HasEnded of AnyDataflow is a rule. Where it does not hold, TLC reports a state without successor."""
    text = "HasEnded ==\n    /\\ up /\\ pending = {}\nStep == up = TRUE\n"

    def defined(module):
        return {edit.id.split(":")[1] for edit in tla_edits_of(module, text)}

    assert defined("spec.dataflow.AnyDataflow") == {"Step"}
    assert defined("spec.gate.PolledGate") == {"HasEnded", "Step"}


def test_every_edit_is_another_text_that_compiles():
    """An edit that does not compile would count as killed. Ids are unique: they identify the records."""
    every = [edit for layer in ("model", "impl") for edit in edits(layer)]
    assert len({edit.id for edit in every}) == len(every)
    sources = dict(pair for layer in ("model", "impl") for pair in campaign.modules(layer))
    for edit in every[::25]:
        text = edit.apply(sources[edit.module])
        assert text != sources[edit.module]
        compile(text, edit.module, "exec")
    assert len(edits("model")) >= 3_000
    assert len(edits("impl")) >= 2_000
    assert len(edits("spec")) >= 1_000


def test_an_equivalent_mutant_does_not_survive_and_is_counted():
    found = [_judged(""), _judged("")._replace(same_paths=12)]

    assert report.survivors(found) == found[:1]
    assert [*report.score(found)] == [
        "spec/channel           2 mutants, 0 killed: TLC 0; 1 proved equivalent"
    ]
    assert "equivalent on all 12 paths" in report.row(found[1])


JUDGE = """
import json, sys
from pathlib import Path
from conformance.mutants.automatic import campaign, judges
from conformance.mutants.automatic.operators import Edit
def cases_of(folder):
    from model.offsets.proofs import all_offsets_cases
    from model.proofs import start_cases
    return [*start_cases(cases := [*all_offsets_cases()]), *cases]
judges.cases_of = cases_of
judges.WALKS = 10
edits = [Edit(*fields) for fields in json.loads(sys.argv[2])]
print(json.dumps([
    [judged.complaints, judged.same_paths, judged.crashed]
    for first in (False, True)
    for part in campaign.parts_of(edits, 1)
    for judged in campaign.judge_part(part, Path(sys.argv[1]), first=first)
]))
"""


def test_each_judge_complains_of_the_mutant_only(tmp_path):
    """Tests four mutants of the reader of offsets.

    The first remembers offsets after a crash. The second is equivalent to the original. The third throws at
    a crash. The fourth changes the initial state; from this state the proofs make other cases, and these
    cases judge it.
    """
    module = "model.offsets.offsets"
    source = dict(campaign.modules("model"))[module]
    chosen = [
        ("reader._replace(running=False, remembered=())", "reader._replace(running=False)"),
        ("reader._replace(running=False, remembered=())", "reader._replace(remembered=(), running=False)"),
        ("reader._replace(running=False, remembered=())", "reader._replace(running=bool(0 // 0))"),
        ("Reader(True, ", "Reader(False, "),
    ]
    made = []
    for number, (before, after) in enumerate(chosen):
        start = len(source[: source.index(before)].encode())
        line = source[: source.index(before)].count("\n") + 1
        made.append(
            (f"{module}:by-hand:{number}", module, "by-hand", line, start, start + len(before), before, after)
        )
    model = load_manifest()["offsets_bound_2"]
    check(model, dump=kept_at(model, tmp_path))
    done = subprocess.run(
        [sys.executable, "-c", JUDGE, tmp_path, json.dumps(made)], capture_output=True, text=True, check=True
    )
    remembers, same, crashes, differs, *only_the_first = json.loads(done.stdout)

    assert remembers[0].keys() == {"proofs", "exploration", "triangle", "lock-step"}
    assert all(remembers[0].values())
    assert not any(same[0].values())
    assert same[1] > 0
    assert crashes[2]
    assert differs[0]["proofs"] == "OFFSET-01"
    assert only_the_first[0][0] == {"proofs": remembers[0]["proofs"]}


@pytest.mark.parametrize(
    ("before", "after", "line", "same"),
    [("other > top", "other >= top", None, True), ("other > top", "other < top", None, False),
     ("other > top", "other >= top", 1, False), ("STOP = 2", "STOP = 3", None, False)],
    ids=["equivalent", "different", "not run", "outside of functions"],
)  # fmt: skip
def test_a_mutant_is_equivalent_if_every_path_of_the_proofs_agrees(before, after, line, same):
    module, text = next(pair for pair in campaign.modules("model") if pair[0] == "model.store.store")
    stands = text[: text.index(before)].count("\n") + 1
    edit = Edit(f"{module}:by-hand", module, "by-hand", line or stands, 0, 0, before, after)

    assert bool(same_paths(edit, text.replace(before, after), [*store_cases(1, 2)], {})) is same


def test_a_mutant_of_a_module_that_is_loaded_is_refused():
    import_module("model.offsets.offsets")
    with pytest.raises(EditError, match="loaded already"):
        install_text("model.offsets.offsets", "")


def test_a_sample_is_judged_recorded_and_resumed(tmp_path, monkeypatch, capfd):
    """The verdict states its bound and the command that repeats the run. No mutant is judged twice."""
    chosen = ["--layer", "spec", "--component", "offsets", "--sample", "1", "--seed", "3"]
    words = ["mutants", "--automatic", *chosen, "--first", "--threshold", "90"]
    page = tmp_path / "page.md"
    outputs = []
    for more in ((), ("--resume",)):
        monkeypatch.setattr(
            "sys.argv",
            ["barrierspec", *words, "--out", str(tmp_path / "mutants.json"), "--page", str(page), *more],
        )
        with pytest.raises(SystemExit):
            cli.main()
        outputs.append(capfd.readouterr().out.splitlines())
    first, again = outputs
    assert "1 of 24 automatic mutants, 0 judged before" in first[0]
    assert "1 judged before" in again[0]
    assert first[-3:] == again[-3:]
    assert first[-1] == f"again   barrierspec {' '.join(words)}"
    assert "| spec/offsets | 1 | 1 | 1 | 0 | 0 | 0 | 0 |" in page.read_text().splitlines()


def _judged(complaint):
    return Judged(next(iter(edits("spec"))), {"TLC": complaint})


def test_an_outcome_of_another_mutant_stays_and_one_of_other_sources_does_not(tmp_path, monkeypatch):
    kept = record.Record(tmp_path / "mutants.jsonl")
    kept.begin()
    kept.add(_judged("ALIGN_01"))
    before = kept.file.read_bytes()

    assert kept.resumed([]) == {}
    assert kept.file.read_bytes() == before
    assert [*kept.resumed(edits("spec")).values()] == [_judged("ALIGN_01")]
    monkeypatch.setattr(record, "sources_now", lambda: "changed")
    with pytest.raises(ScoreError, match="sources changed"):
        kept.add(_judged(""))


def test_mutants_in_one_run_of_tlc_are_judged_like_each_by_itself():
    """The first edit is invalid TLA+, the second breaks a rule, and the third is the unchanged original."""
    module, text = next(pair for pair in campaign.modules("spec") if pair[0] == "spec.offsets.Offsets")
    edit = next(one for one in edits("spec") if one.module == module and ":drop-effect:" not in one.id)
    before = "Len(entries)"
    start = len(text[: text.index(before)].encode())
    here = edit._replace(
        line=text[: text.index(before)].count("\n") + 1, start=start, end=start + len(before), before=before
    )
    edited = [here._replace(after="Lenn(entries)"), edit, here._replace(after=before)]
    unparsed, broken, same = (judged.complaints["TLC"] for judged in judge_schema(edited))

    assert unparsed == UNPARSED
    assert broken == tlc("Offsets", edit.apply(text))
    assert broken
    assert same == ""


def test_a_mutant_without_bounds_is_searched_up_to_a_number_of_states(monkeypatch):
    """A source that reads without end breaks no rule. The unchanged text breaks none, and its search ends."""
    monkeypatch.setattr(tla_mutant_schema, "models_of", lambda _: [load_manifest()["any_parallel"]])
    module, text = next(pair for pair in campaign.modules("spec") if pair[0].endswith(".AnyDataflow"))
    before = "Len(task[t].history) < MaxRecords"
    start = len(text[: text.index(before)].encode())
    line = text[: text.index(before)].count("\n") + 1
    reads_on = Edit(f"{module}:1", module, "by-hand", line, start, start + len(before), before, "TRUE")
    same = reads_on._replace(id=f"{module}:2", after=before)
    unbounded, ended = judge_schema([reads_on, same])

    assert unbounded.complaints == {"TLC": too_long("any_parallel")}
    assert unbounded.took_too_long
    assert ended.survives


def test_lock_step_plays_events_that_must_be_refused():
    """The model refuses a restore while the reader runs, for instance, and its state does not change."""
    oracle = Oracle("offsets", {})
    restore, crash = {"kind": "restore", "offsets": 0}, {"kind": "crash"}
    (script,) = with_illegal_events("offsets", [(oracle, (crash, restore) * 9)])
    edges = oracle.transcript(script.events)

    assert {edge.refused is None for edge in edges} == {True, False}


def test_an_edit_that_is_no_tla_is_no_mutant():
    found = [_judged(UNPARSED), _judged("ALIGN_01"), _judged("")]

    assert [*report.score(found)] == [
        "spec/channel           2 mutants, 1 killed: TLC 1; 1 edits are no TLA+ or no typed Python",
    ]
    assert report.verdict(found[:1]) is Verdict.UNDETERMINED
    assert report.verdict(found[:2]) is Verdict.CONFORMS
    assert report.verdict(found) is Verdict.DIVERGES
    assert report.verdict(found, 50) is Verdict.CONFORMS
    assert report.closing(found, 24, 50, "it").startswith(
        "CONFORMS   3 of 24 first-order edits judged; 1 survived every judge, 50 % may"
    )


def test_no_mutant_starts_after_the_time_limit(tmp_path):
    """The report states how many mutants were not judged. If more than half were not, it is UNDETERMINED."""
    chosen = [one for one in edits("spec") if one.module == "spec.offsets.Offsets"][:1]

    assert [*campaign.judge_all(chosen, tmp_path, seconds=0)] == []
    killed = [_judged("ALIGN_01")]
    assert report.verdict(killed, drawn=2) is Verdict.CONFORMS
    assert report.verdict(killed, drawn=3) is Verdict.UNDETERMINED
    assert "judged, the time was too short for 2 of 3; " in report.closing(killed, 24, 100, "it", drawn=3)


def test_a_mutant_that_crashes_and_has_wrong_types_is_no_mutant():
    """mypy refuses swapped arguments, for instance. A mutant that mypy accepts counts as crashed."""
    texts = dict(campaign.modules("model"))

    def refused(after):
        edit = next(one for one in edits("model") if one.after.startswith(after))
        return is_refused(edit, edit.apply(texts[edit.module]))

    assert refused("self.discard(coordinator, reason, pending")
    assert not refused("not (channel.restored > 0)")
    assert not _judged(UNTYPED).is_mutant


def test_mypy_checks_a_mutant_at_its_first_crash(monkeypatch, tmp_path):
    """mypy runs once. If it refuses the edit, no further unit and no further judge runs."""
    requested: list[Edit] = []
    edit = next(one for one in edits("model") if one.id.startswith("model.offsets."))

    def judged(refused):
        crashes = [(prepared.Unit(lambda: crash("TypeError")), 0)] * 3
        monkeypatch.setattr(prepared, "is_refused", lambda *_: requested.append(edit) or refused)
        tally = prepared._tallied(edit, "text", crashes, prepared.Tally(), first=False)
        monkeypatch.setattr(prepared, "answers", lambda *_: iter([tally]))
        return judge_anew(edit, "text", Judges("model", "offsets", tmp_path), first=False)

    assert judged(True).complaints == {"mypy": UNTYPED}
    assert judged(False).crashed
    assert len(requested) == 2


def test_lock_step_plays_behind_a_failure_and_out_of_bounds():
    """The model refuses every event after a failure, and every id below 0."""
    oracle = Oracle("subtask", {})
    failing = {"kind": "checkpoint", "checkpoint": 1, "fails": True}
    (script,) = with_illegal_events("subtask", [(oracle, (failing,))])
    (_, *behind) = oracle.transcript(script.events)

    assert behind
    assert all(edge.refused is not None for edge in behind)


def test_lock_step_tries_every_option():
    """A configuration with `retain` 0 or without `retain` is refused. One that retains 3 gets a walk."""
    played = {str(script.config): bool(script.events) for script in other_configurations("store")}

    assert played["{'retain': 0, 'profile': '2.3'}"] is False
    assert played["{'profile': '2.3'}"] is False
    assert played["{'retain': 3}"] is True


def test_the_interval_is_that_of_wilson():
    """For 81 of 263, a textbook states Wilson's interval (1927) as 0.2553 to 0.3662."""
    assert [round(one, 4) for one in report.interval(81, 263)] == [0.2553, 0.3662]
    assert report.interval(10, 10)[1] == pytest.approx(1)


def test_a_target_is_stated_if_its_judges_have_run():
    """With `--first`, the triangle does not judge a mutant that the proofs have killed."""
    edit = next(iter(edits("model")))
    consulted = [
        Judged(edit, {"proofs": "COORD-01"}),
        Judged(edit, {"proofs": "", "triangle": "", "lock-step": "COORD-01"}),
        Judged(edit, {"proofs": ""}, same_paths=3),
    ]

    assert [share.split(";")[0] for share in report.shares(consulted)] == [
        "model, rules alone: 1 of 2 killed, 50.0%",
        "model, every judge: 2 of 2 killed, 100.0%",
    ]
