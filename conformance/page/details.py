"""The details of each step as JSON values for the page: texts, and the effects and states of both sides."""

from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from typing import Any

import orjson

from conformance import escape
from conformance.adapters import protocol
from conformance.divergence import Answer
from conformance.page.case import Case, Step
from conformance.report.divergence import phrases
from conformance.report.formats.columns import head_and_tail
from conformance.rules import index as rule_index

UNKNOWN_RULE = "no rule of the index"


def data(cases: Sequence[Case], cited: Iterable[str]) -> dict[str, Any]:
    """The data of the page's script: the cases in their order, and the text of every cited rule."""
    return {
        "cases": [[_step(case, at) for at in range(len(case.steps))] for case in cases],
        "rules": {rule_id: rule_text(rule_id) for rule_id in sorted(set(cited))},
    }


def rule_text(rule_id: str) -> dict[str, str]:
    """Title, sentence and source of a rule."""
    try:
        found = rule_index.rule(rule_id)
    except rule_index.UnknownRuleError:
        return {"title": UNKNOWN_RULE, "must": "", "source": ""}
    return {"title": found.title, "must": found.must, "source": found.source}


def embedded(value: object) -> str:
    """The value as JSON for a script element; no text in it can end the element or begin a comment."""
    text = orjson.dumps(_visible(value), option=orjson.OPT_SORT_KEYS).decode()
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def _visible(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """The value, with invisible characters of its texts escaped."""
    if isinstance(value, str):
        return escape.block(value)
    if isinstance(value, dict):
        return {_visible(name): _visible(one) for name, one in value.items()}
    return [_visible(one) for one in value] if isinstance(value, list | tuple) else value


def effects_of(answer: Answer | protocol.Failure | None) -> list[str]:
    """One side's effects in words, in order; a failure to answer is one line."""
    if answer is None:
        return []
    if isinstance(answer, protocol.FAILURES):
        return [answer.describe()]
    if answer.refused is not None:
        return [f"refused: {answer.refused}"]
    return [phrases.of_effect(effect) for effect in answer.effects]


def _step(case: Case, at: int) -> dict[str, Any]:
    step = case.steps[at]
    is_wrong = case.is_wrong and at == len(case.steps) - 1
    whose = (step.task, step.component)
    earlier = (one for one in reversed(case.steps[:at]) if (one.task, one.component) == whose)
    before = next((one.expected.state for one in earlier), {})
    return {
        "event": phrases.of_event(step.event),
        "wire": orjson.dumps(step.event).decode(),
        "component": step.component,
        "task": step.task,
        "place": step.place,
        "effects": effect_rows(step),
        "state": state_rows(step, before),
        "rules": list(dict.fromkeys(step.rules)),
        "fired": "charged" if is_wrong and case.is_recorded else "that fired",
        "wrong": is_wrong,
        "stderr": _stderr(step.got),
        "left": case.left,
        "right": case.right,
    }


def effect_rows(step: Step) -> list[list[str | None]]:
    """Rows of an expected and an actual effect, aligned; None where one side has no such effect."""
    expected, got = step.expected, step.got
    expected_lines = effects_of(expected)
    if got is None:
        return [[one, None] for one in expected_lines]
    came = effects_of(got)
    if isinstance(got, protocol.FAILURES) or expected.refused is not None or got.refused is not None:
        if isinstance(got, Answer) and expected.refused is not None and got.refused is not None:
            return [["refused", "refused"]]
        return [[one, None] for one in expected_lines] + [[None, one] for one in came]
    rows: list[list[str | None]] = []
    matcher = SequenceMatcher(None, _spelled(expected.effects), _spelled(got.effects), autojunk=False)
    for tag, left, left_end, right, right_end in matcher.get_opcodes():
        if tag == "equal":
            rows += [[one, one] for one in expected_lines[left:left_end]]
        else:
            rows += [[one, None] for one in expected_lines[left:left_end]]
            rows += [[None, one] for one in came[right:right_end]]
    return rows


def state_rows(step: Step, before: protocol.Wire) -> list[dict[str, Any]]:
    """One row for each field: the values of both sides, whether they differ, and whether the step changed it.

    The value of the implementation is None if its answer does not have the field.
    """
    came = step.got.state if isinstance(step.got, Answer) else {}
    rows = []
    for name, value in step.expected.state.items():
        shown = name in came
        rows.append(
            {
                "field": name,
                "model": phrases.of_value(value),
                "implementation": phrases.of_value(came[name]) if shown else None,
                "differs": shown and protocol.canonical(came[name]) != protocol.canonical(value),
                "changed": name in before and protocol.canonical(before[name]) != protocol.canonical(value),
            }
        )
    return rows


def _spelled(effects: protocol.Effects) -> list[bytes]:
    return [protocol.canonical(effect) for effect in effects]


def _stderr(got: Answer | protocol.Failure | None) -> str:
    if not isinstance(got, protocol.Crashed | protocol.Hung | protocol.Malformed):
        return ""
    return "\n".join(head_and_tail(got.stderr))
