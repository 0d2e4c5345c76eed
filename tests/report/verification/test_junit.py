"""JUnit XML: one suite for each part, a case for the part and for each rule, and a kind for each outcome."""

from xml.etree import ElementTree

import pytest

from conformance.report.formats import junit
from conformance.rules.index import title


@pytest.fixture
def parsed(verified):
    """The root element of the XML written for these parts."""

    def parse(*names, only=()):
        return ElementTree.fromstring(junit.junit(verified(*names, only=only)))

    return parse


def counts(element):
    return {name: int(element.get(name)) for name in ("tests", "failures", "errors", "skipped")}


def test_counts_of_the_whole(parsed):
    root = parsed(
        "passes", "diverges", "crashes", "doubts", "reads", only=("passes", "diverges", "crashes", "doubts")
    )

    assert [suite.get("name") for suite in root] == ["passes", "diverges", "crashes", "doubts", "reads"]
    assert counts(root) == {"tests": 11, "failures": 2, "errors": 4, "skipped": 1}
    assert len(root.findall(".//testcase")) == 11
    assert len(root.findall(".//failure")) == 2
    assert len(root.findall(".//error")) == 4


def test_a_part_that_passes(parsed):
    (suite,) = parsed("passes")

    assert counts(suite) == {"tests": 3, "failures": 0, "errors": 0, "skipped": 0}
    assert [case.get("name") for case in suite] == [
        "the part as a whole",
        f"ALIGN-01 {title('ALIGN-01')}",
        f"ALIGN-05 {title('ALIGN-05')}",
    ]
    assert suite[0].findtext("system-out") == "7 steps"


def test_a_charged_rule_fails_and_a_reason_is_an_error(parsed):
    (suite,) = parsed("diverges")

    whole, first, charged, reason = suite
    assert counts(suite) == {"tests": 4, "failures": 2, "errors": 1, "skipped": 0}
    assert whole.find("failure").get("type") == "DIVERGES"
    assert len(first) == 0
    assert charged.get("name").startswith("ALIGN-04 ")
    assert charged.find("failure").get("message") == "gate diverges at step 2"
    assert "barrier 4 on 1" in charged.findtext("failure")
    assert "barrier 8 on 0" in charged.findtext("failure")
    assert reason.find("error").get("message") == "the store gave no answer"


def test_a_charged_rule_has_its_case_even_if_the_part_did_not_count_it(parsed):
    (suite,) = parsed("denies")

    assert counts(suite) == {"tests": 2, "failures": 2, "errors": 0, "skipped": 0}
    assert suite[1].get("name").startswith("SUB-01 ")
    assert suite[1].findtext("failure") == "an older checkpoint completed"


def test_characters_that_xml_cannot_hold_are_escaped(parsed):
    (suite,) = parsed("diverges")

    assert suite[3].findtext("error") == "stderr said: \\x1b[31mout of memory\\x1b[0m"


def test_an_undetermined_part_is_never_green(parsed):
    (suite,) = parsed("doubts")

    assert counts(suite) == {"tests": 1, "failures": 0, "errors": 1, "skipped": 0}
    assert suite[0].find("error").get("message") == "the budget ended after 3 steps"


def test_a_part_that_was_not_chosen_is_skipped(parsed):
    suite = parsed("passes", "reads", only=("passes",))[1]

    assert counts(suite) == {"tests": 1, "failures": 0, "errors": 0, "skipped": 1}
    assert suite[0].find("skipped").get("message") == "not requested"
