"""Results of rounds are written to a file, read back, summarised, and printed on the page."""

from pathlib import Path

import pytest

from conformance.engines import campaign
from conformance.engines.campaign import SEED, Order, run_campaign
from conformance.engines.engine import EngineSetUpError
from conformance.engines.makers import version
from conformance.engines.results import ResultsError, Summary, read, summaries, written
from conformance.engines.rows import UnknownRowError, table_row, table_rows
from conformance.observe.guarantees.anomalies import Guarantee
from conformance.report import engines as report
from conformance.verdict import Verdict

ROOT = Path(__file__).parents[3]


def one(row, number=0, *anomalies, undetermined=""):
    findings = [{"anomaly": name, "times": 2, "first": f"key 1: {name}"} for name in anomalies]
    return {
        "row": row, "version": "1", "seed": 7, "round": number, "settings": {"sink": "files"}, "rows": 10,
        "faults": [{"kind": "kill-worker"}, {"kind": "freeze"}], "findings": findings, "log": {}, "rest": [],
        "guarantee": None if undetermined else "exactly-once", "undetermined": undetermined, "seconds": 1.0,
    }  # fmt: skip


def summary(row, *rounds):
    return Summary(table_row(row), rounds)


def test_rounds_are_read_as_they_were_written(tmp_path):
    rounds = [one("spark"), one("flink@1.20.5", 1, "LOST_RECORD")]
    file = tmp_path / "results.json"
    file.write_bytes(written(rounds))

    assert read(file) == rounds
    assert [found.row.name for found in summaries(read(file))] == ["flink@1.20.5", "spark"]
    assert read(tmp_path / "none.json") == []


@pytest.mark.parametrize("content", [b"", b"[]", b'{"rounds": [{}]}', b'{"rounds": [{"guarantee": "best"}]}'])
def test_a_file_that_holds_no_results_is_refused(tmp_path, content):
    (tmp_path / "results.json").write_bytes(content)

    with pytest.raises(ResultsError, match="expected the rounds of a table of engines"):
        read(tmp_path / "results.json")


def test_a_claim_stands_until_a_round_refutes_it():
    assert summary("spark", one("spark")).verdict is Verdict.CONFORMS
    assert summary("spark", one("spark", 0, "DUPLICATED_RECORD")).verdict is Verdict.DIVERGES
    assert summary("pathway", one("pathway", 0, "DUPLICATED_RECORD")).verdict is Verdict.CONFORMS
    assert summary("pathway", one("pathway", 0, "LOST_RECORD")).verdict is Verdict.DIVERGES
    assert summary("spark", one("spark", undetermined="it did not start")).verdict is Verdict.UNDETERMINED


def test_an_anomaly_that_the_documentation_announces_does_not_refute_its_claim():
    taken_back = summary("bytewax", *(one("bytewax", at, "OUTPUT_TAKEN_BACK") for at in range(3)))

    assert taken_back.verdict is Verdict.CONFORMS
    assert taken_back.guarantee is Guarantee.EXACTLY_ONCE
    assert "as documented" in report.markdown([taken_back])
    assert summary("bytewax", one("bytewax", 0, "LOST_RECORD")).verdict is Verdict.DIVERGES


def test_a_planted_defect_must_be_seen():
    assert summary("flink-early", one("flink-early")).verdict is Verdict.UNDETERMINED
    assert summary("flink-early", one("flink-early", 0, "LOST_RECORD")).verdict is Verdict.UNDETERMINED
    assert summary("flink-early", one("flink-early", 0, "DUPLICATED_RECORD")).verdict is Verdict.CONFORMS


def test_one_round_refutes_a_claim_and_the_page_marks_results_of_fewer_than_three_rounds():
    twice = summary("spark", *(one("spark", at, "DUPLICATED_RECORD") for at in range(2)), one("spark", 2))
    thrice = summary("spark", *(one("spark", at, "DUPLICATED_RECORD") for at in range(3)))

    for found in (twice, thrice):
        assert found.guarantee is Guarantee.AT_LEAST_ONCE
        assert found.verdict is Verdict.DIVERGES
    assert "not reproduced three times" in report.markdown([twice])
    assert "not reproduced three times" not in report.markdown([thrice])


def effect(kind, failed, lines):
    return {
        "fault": kind,
        "failed": failed,
        "completed": 3,
        "lines": lines,
        "messages": {f"declined by {'0a' * 16}_{failed}": failed},
    }


@pytest.mark.parametrize(
    ("failed", "lines", "verdict"),
    [(2, 1, Verdict.CONFORMS), (0, 1, Verdict.UNDETERMINED), (2, 0, Verdict.UNDETERMINED)],
)
def test_a_kind_of_fault_without_any_effect_leaves_a_row_undetermined(failed, lines, verdict):
    found = [effect("decline", failed, lines), effect("no-space", 4, 9)]
    round_ = {**one("flink-checkpoints"), "rest": found}

    assert summary("flink-checkpoints", round_).verdict is verdict
    assert ("NO EFFECT" in report.line(round_)) is (verdict is Verdict.UNDETERMINED)
    seen = "1 of 1" if verdict is Verdict.CONFORMS else "0 of 1"
    table = report.markdown([summary("flink-checkpoints", round_)])
    assert f"| `flink-checkpoints` | decline | {seen} | {failed} | 3 | declined by ({failed}) |" in table
    again = {**one("flink-checkpoints", 1), "rest": [effect("decline", 1, 1)]}
    assert summary("flink-checkpoints", round_, again).verdict is Verdict.CONFORMS


def test_the_page_names_engines_whose_state_was_read_and_the_line_gives_the_reason_if_not():
    read = {**one("flink-double-state", 0, "STATE_TOO_LARGE"), "state": {"keys": 13, "records": 20_000}}
    unread = {**one("flink-double-state", 1), "state": {"unread": "no savepoint"}}

    assert "20,000 records of 13 keys" in report.line(read)
    assert "state in the last savepoint: no savepoint" in report.line(unread)
    table = report.markdown([summary("flink-double-state", read, unread)])
    assert "| `flink-double-state` | 2 | 1 | 1 |" in table


def test_a_row_that_the_table_does_not_have_is_refused():
    assert table_row("flink@1.20.5").release == "1.20.5"
    for name in ("storm", "spark@3.5.0"):
        with pytest.raises(UnknownRowError, match="expected one of flink"):
            table_row(name)


def test_every_row_draws_its_settings_by_the_seed():
    for row in table_rows().values():
        assert row.settings(1, 2) == row.settings(1, 2)
        assert set(row.settings(1, 2)) == set(row.draws)


def test_a_continued_campaign_repeats_rounds_without_a_verdict_or_of_another_version(tmp_path):
    class BeginsError(Exception):
        """Raised where a campaign starts the engine of a round."""

    def begins(what):
        raise BeginsError(what)

    def goes_on(**differs):
        done = {**one("spark"), "version": version(table_row("spark")), "seed": SEED, **differs}
        return list(run_campaign(Order([table_row("spark")], only=[0]), tmp_path, [done], begins))

    assert goes_on() == []
    for differs in ({"undetermined": "it did not start"}, {"version": "1"}, {"seed": 1}):
        with pytest.raises(BeginsError):
            goes_on(**differs)


def test_rounds_of_an_older_version_do_not_count():
    older = {**one("spark", 0, "DUPLICATED_RECORD"), "version": "0"}

    assert summary("spark", older, one("spark")).verdict is Verdict.CONFORMS
    assert summary("spark", older, one("spark")).faults == 2


def test_an_engine_that_cannot_be_set_up_does_not_stop_the_other_rows(tmp_path, monkeypatch):
    def make(row):
        if row.name == "bytewax":
            raise EngineSetUpError("no such package")
        return

    monkeypatch.setattr(campaign, "maker", make)
    monkeypatch.setattr(campaign, "_round", lambda row, *_: {"row": row.name})
    order = Order([table_row("bytewax"), table_row("pathway")], only=[0, 1])
    rounds = run_campaign(order, tmp_path)

    assert [next(rounds)["row"] for _ in range(2)] == ["pathway", "pathway"]
    with pytest.raises(EngineSetUpError, match="bytewax: no such package"):
        next(rounds)


def test_the_page_has_the_table_of_the_stored_results():
    page = (ROOT / "docs/run/engines.md").read_text(encoding="utf-8")
    rounds = read(ROOT / "conformance/engines/results.json")

    assert len(rounds) > 20
    assert report.page(page, rounds) == page
