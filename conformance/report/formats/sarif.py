"""Findings as SARIF 2.1.0. The rules are those of the index, and each result is a finding.

A finding that charges a rule has the level `error` and the kind `fail`; one that could not be judged has the
level `warning` and the kind `open`. The location of a finding is a line of a log or a replay file, or else
the index of rules.
"""

import hashlib
from collections.abc import Iterator, Sequence
from typing import Any

from conformance import escape
from conformance.divergence import Divergence
from conformance.parts.result import Finding, PartResult
from conformance.report.divergence import phrases
from conformance.report.formats import documents
from conformance.rules import index as rule_index
from conformance.verdict import Verdict, together
from conformance.version import own_version

URI = "https://json.schemastore.org/sarif-2.1.0.json"
INDEX = "spec/rules.toml"
UNJUDGED = "could-not-be-judged"
OUTSIDE = "outside-the-index"
"""The id for all findings that charge no rule of the index: no rule fires, or a change is not declared."""
_MORE = {
    UNJUDGED: "Something could not be judged; a skip is never a pass.",
    OUTSIDE: "The finding charges no rule of the index.",
}


def document(parts: Sequence[PartResult]) -> dict[str, Any]:
    """The document: one SARIF run with the findings of all parts."""
    ids = [*rule_index.rules(), *_MORE]
    verdict = together(result.verdict for result in parts)
    made: dict[str, Any] = {
        "$schema": URI,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": {"name": "barrierspec", "version": own_version(), "rules": [*_rules()]}},
                "invocations": [
                    {
                        "executionSuccessful": verdict is not Verdict.UNDETERMINED,
                        "exitCode": int(verdict.exit_code),
                        "exitCodeDescription": verdict.value,
                    }
                ],
                "results": [_result(part, found, ids) for part in parts for found in part.findings],
                "properties": {
                    "parts": [
                        {"name": part.name, "verdict": part.verdict.value, "bound": part.bound}
                        for part in parts
                    ]
                },
            }
        ],
    }
    made = escape.json(made)
    documents.check("sarif", made)
    return made


def _rules() -> Iterator[dict[str, Any]]:
    for rule in rule_index.rules().values():
        yield {
            "id": rule.id,
            "shortDescription": {"text": rule.title},
            "fullDescription": {"text": rule.must},
            "help": {"text": f"Source: {rule.source}. Holds: {rule.holds}."},
        }
    for name, meaning in _MORE.items():
        yield {"id": name, "shortDescription": {"text": meaning}}


def _result(part: PartResult, found: Finding, ids: list[str]) -> dict[str, Any]:
    rule = UNJUDGED if found.rule is None else found.rule if found.rule in ids else OUTSIDE
    key = f"{part.name} {rule} {found.file} {found.line}"
    return {
        "ruleId": rule,
        "ruleIndex": ids.index(rule),
        "kind": "open" if found.rule is None else "fail",
        "level": "warning" if found.rule is None else "error",
        "message": {"text": f"{found.line}\n\n{found.story}".rstrip()},
        "locations": [{**_place(found, found.row), "logicalLocations": [{"name": part.name}]}],
        **({"codeFlows": [_flow(found, found.divergence)]} if found.divergence is not None else {}),
        "partialFingerprints": {"barrierspec/v1": hashlib.sha256(escape.utf8(key).encode()).hexdigest()[:16]},
    }


def _place(found: Finding, row: int) -> dict[str, Any]:
    place: dict[str, Any] = {"artifactLocation": {"uri": escape.uri(found.file or INDEX)}}
    return {"physicalLocation": {**place, **({"region": {"startLine": row}} if row else {})}}


def _flow(found: Finding, case: Divergence) -> dict[str, Any]:
    """The events of a case in their order, each at its line of the replay file, with the answers."""
    locations = []
    permitted = (*case.before, case.expected)
    for number, (event, due) in enumerate(zip(case.events, permitted, strict=True)):
        text = f"{phrases.of_event(event)}: {phrases.of_answer(due)}"
        if number == case.step - 1:
            text += f"; got {phrases.of_answer(case.got)}"
        row = found.rows[number] if number < len(found.rows) else 0
        location = {**_place(found, row), "message": {"text": text}}
        locations.append({"location": location, "executionOrder": number + 1})
    return {"threadFlows": [{"locations": locations}]}
