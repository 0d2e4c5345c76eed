"""The page about a recorded run: its parts in causal order, its situations, and the rejected event."""

import gzip
import json
import re
from pathlib import Path

import orjson
import pytest
from simulated_run import SimulatedRun

from conformance import cli
from conformance.diagram.run import in_causal_order, moment_of, of_run
from conformance.observe import validate
from conformance.observe.record import Record
from conformance.page.of_trace import concerned, lanes_of
from conformance.verdict import Exit

LOG = Path(__file__).parent / "logs" / "flink-2.2.1.log.gz"


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    folder = tmp_path_factory.mktemp("recorded") / "events"
    return SimulatedRun(folder, seed=3, fail_at=(200, 400), max_concurrent=2, checkpoint_every=12).execute()


def page_of(log, folder):
    file = folder / "page.html"
    code = cli.run(["trace", str(log), "--html", str(file)])
    text = file.read_text(encoding="utf-8")
    data = re.search(r'id="data">(.*?)</script>', text, re.DOTALL)
    return code, text, orjson.loads(data[1])["cases"]


def test_an_accepted_run_shows_pieces_and_where_situations_came(recorded, tmp_path):
    code, text, cases = page_of(recorded, tmp_path)
    links = re.findall(r'href="#case-(\d+)-step-(\d+)">([^<]+)</a>', text)

    assert code == Exit.CONFORMS
    assert 1 <= len(cases) <= 4
    assert {"channel blocked", "aligned", "checkpoint completed", "commit on restore"} <= {
        name for *_, name in links
    }
    for case, step, name in links:
        shown = cases[int(case) - 1][int(step) - 1]
        if name == "aligned":
            assert ["trigger" in row[0] for row in shown["effects"]].count(True) == 1
    assert all(row[0] == row[1] for steps in cases for step in steps for row in step["effects"])
    assert all(row["implementation"] is None for steps in cases for step in steps for row in step["state"])


@pytest.mark.parametrize("seed", range(4))
def test_no_event_comes_before_what_it_follows_from(seed, tmp_path):
    log = SimulatedRun(tmp_path, seed=seed, fail_at=(200,), max_concurrent=2, checkpoint_every=12).execute()
    record = Record()
    assert validate(log, required=(), record=record).rejection is None
    lanes = lanes_of(record)
    reported = in_causal_order([moment_of(seen, record) for seen in record.seen], lanes)
    arrows = of_run(reported, lanes, is_wrong=False).arrows
    places = [
        (moment.attempt, moment.step.task, int(moment.step.place.rpartition(":")[2])) for moment in reported
    ]

    assert lanes == ["coordinator", "src-0", "src-1", "count-0", "count-1", "sink-0"]
    assert len(reported) == len(record.seen)
    sent = {message for moment in reported for message in moment.sends}
    assert len(arrows) == sum(moment.receives in sent for moment in reported) > 50  # sent before it arrives
    for task in lanes:
        own = [place for place in places if place[1] == task]
        assert own == sorted(own)


@pytest.mark.rule("ALIGN-06")
def test_a_rejected_event_is_the_last_step_with_what_is_missing(recorded, tmp_path):
    bad = tmp_path / "events"
    bad.mkdir()
    for file in recorded.glob("*.jsonl"):
        lines = [json.loads(line) for line in file.read_text().splitlines()]
        if file.name == "2-count-0.jsonl":
            (line, *_) = [one for one in lines if any(e["kind"] == "trigger" for e in one.get("effects", ()))]
            line["effects"] = [effect for effect in line["effects"] if effect["kind"] != "resume"]
            place = f"{file.name}:{line['seq'] + 1}"
        (bad / file.name).write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    code, text, (steps,) = page_of(bad, tmp_path)

    assert code == Exit.DIVERGES
    assert [step["wrong"] for step in steps] == [False] * (len(steps) - 1) + [True]
    assert steps[-1]["place"] == place
    assert [row for row in steps[-1]["effects"] if row[0] != row[1]] == [
        ["resume 0", None],
        ["resume 1", None],
    ]
    assert steps[-1]["rules"][0] == "ALIGN-06"
    assert "The recorded run violates the protocol: ALIGN-06." in text
    assert "none: this is what the protocol does" in text
    assert len({step["wire"] for step in steps if step["component"] == "gate"}) > 1


def test_the_page_states_the_subject_of_an_event():
    replaced = [{"kind": "complete", "checkpoint": 3}, {"kind": "discard", "checkpoint": 2}]
    assert concerned({"kind": "acknowledge", "checkpoint": 3}, replaced) == {3}
    assert concerned({"kind": "trigger"}, [{"kind": "trigger_task", "checkpoint": 4}]) == {4}
    assert concerned({"kind": "restore"}, [{"kind": "restored", "checkpoint": None}]) == set()


def test_a_log_that_cannot_be_read_has_a_page(tmp_path):
    (tmp_path / "events").mkdir()
    (tmp_path / "events" / "coordinator.jsonl").write_text("{")
    code, text, cases = page_of(tmp_path / "events", tmp_path)

    assert code == Exit.UNDETERMINED
    assert cases == []
    assert "the last line is cut off" in text


def test_the_log_of_a_flink_job_has_a_page(tmp_path):
    file = tmp_path / "page.html"
    assert cli.run(["trace", "flink", str(LOG), "--html", str(file)]) == Exit.CONFORMS
    text = file.read_text(encoding="utf-8")
    assert "follow the protocol." in text
    assert '<h2 id="situations">' in text
    gate, coordinator = (text.index(f"{who}: from the first checkpoint on") for who in ("#0", "coordinator"))
    assert gate < coordinator
    assert text[gate:coordinator].count("channel 1") > 0
    assert "line " in text[gate:coordinator]

    lines = gzip.decompress(LOG.read_bytes()).decode().splitlines(keepends=True)
    kept = [line for line in lines if "Triggering checkpoint 2 " not in line]
    (tmp_path / "job.log").write_text("".join(kept))
    assert len(kept) < len(lines)
    assert cli.run(["trace", "flink", str(tmp_path / "job.log"), "--html", str(file)]) == Exit.DIVERGES
    text = file.read_text(encoding="utf-8")
    assert "The logged run violates the protocol: " in text
    assert "follows these steps, and no rule allows it." in text
