"""The JSON report matches its published schema and is read back unchanged. An altered report is refused."""

import copy
import json

import jsonschema
import pytest

from conformance.report import verification
from conformance.report.formats import documents
from conformance.report.formats.documents import ReportError


def test_the_schema_is_a_schema():
    jsonschema.Draft202012Validator.check_schema(documents.schema("verification"))


def test_parts_that_did_not_run_are_named(verified):
    chosen = ("passes", "diverges", "crashes", "doubts")
    done = verified(*chosen, "reads", only=chosen)
    made = verification.document(done)

    assert json.loads(documents.encoded(made)) == made
    assert made["verdict"] == done.verdict.value
    assert made["not_run"] == ["reads"]
    assert [part["rules"] for part in made["parts"]] == [list(part.rules) for part in done.parts]


def test_the_content_of_the_report(by_hand, proofs, lockstep):
    made = verification.document(by_hand(proofs, lockstep, not_run=("trace",)))

    assert made["verdict"] == "DIVERGES"
    assert made["exit_code"] == 1
    assert made["seed"] == 7
    assert made["commit"] == "8c1f2aa"
    assert made["machine"] == {"cores": 2, "python": "3.11.7", "java": "17.0.15", "system": "Linux x86_64"}
    assert made["not_run"] == ["trace"]
    assert [part["engine"] for part in made["parts"]] == ["z3", "Python"]
    assert made["parts"][0]["numbers"] == {"rules": 46}
    assert made["parts"][1]["findings"][0]["rule"] == "ALIGN-04"
    assert made["parts"][1]["findings"][0]["story"].startswith("THE STORY")


def test_a_pass_without_a_bound_is_no_report(by_hand, proofs):
    made = verification.document(by_hand(proofs))
    made["parts"][0]["bound"] = ""

    with pytest.raises(ReportError, match=r"\$\.parts\[0\]\.bound"):
        documents.check("verification", made)


@pytest.mark.parametrize(
    ("where", "value"),
    [("verdict", "GREEN"), ("exit_code", 3), ("format", 2), ("seed", "seven"), ("parts", None), ("extra", 1)],
)
def test_an_altered_report_is_refused(by_hand, proofs, where, value):
    made = copy.deepcopy(verification.document(by_hand(proofs)))
    made[where] = value

    with pytest.raises(ReportError, match=r"see verification\.schema\.json"):
        documents.check("verification", made)


def test_a_pass_with_a_finding_is_refused(by_hand, proofs, lockstep):
    made = verification.document(by_hand(proofs, lockstep))
    made["parts"][0]["findings"] = made["parts"][1]["findings"]

    with pytest.raises(ReportError, match="findings"):
        documents.check("verification", made)
