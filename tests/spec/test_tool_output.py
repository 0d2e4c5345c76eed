"""TLC's tool output: verdict, counts and counterexample. Exit code and text must agree."""

import pytest

from spec.counterexample import TraceSyntaxError, parse_ending, parse_step, render
from spec.tool_output import (
    DisagreementError,
    Location,
    SomeTemporalProperty,
    TlcError,
    WarnedError,
    read_outcome,
)


def message(code, text, severity=0):
    return f"@!@!@STARTMSG {code}:{severity} @!@!@\n{text}\n@!@!@ENDMSG {code} @!@!@\n"


COUNTS = message(2199, "1,597 states generated, 1,257 distinct states found, 0 states left on queue.")
DEPTH = message(2194, "The depth of the complete state graph search is 6.")
SUCCESS = message(2193, "Model checking completed. No error has been found.") + COUNTS + DEPTH
TRACE = (
    message(2217, '1: <Initial predicate>\n/\\ x = 0\n/\\ out = <<>>\n', 4)
    + message(2217, '2: <Barrier line 5, col 1 to line 6, col 2 of module M>\n'
              '/\\ x = 1\n/\\ out = <<<<"barrier", 0, 1>>, <<"block", 0>>>>\n', 4)
)  # fmt: skip
VIOLATION = message(2112, "Action property ALIGN_03 is violated.", 1) + TRACE + COUNTS + DEPTH


def test_a_success_has_its_counts():
    outcome = read_outcome(SUCCESS, 0)
    assert (outcome.states, outcome.depth, outcome.violated, outcome.trace) == (1257, 6, None, ())


def test_a_violation_has_its_name_and_its_counterexample():
    outcome = read_outcome(VIOLATION, 13)
    assert (outcome.violated, outcome.depth) == ("ALIGN_03", 2)
    assert [(step.action, step.arguments) for step in outcome.trace] == [("", ()), ("Barrier", (0, 1))]
    assert outcome.trace[1].state["x"] == 1


def test_a_violated_formula_without_a_name_has_a_place():
    text = VIOLATION.replace("ALIGN_03", "line 89, col 17 to line 89, col 29 of module ConsistentCut")
    assert read_outcome(text, 13).violated == Location("ConsistentCut", 89)


@pytest.mark.parametrize(
    ("ending", "shown"),
    [
        (message(2122, "1: Back to state: <Barrier line 5, col 1 to line 6, col 2 of module M>\n", 4), "1"),
        (message(2218, "3: Stuttering", 4), "stuttering"),
    ],
    ids=["in a circle", "not at all"],
)
def test_a_run_that_never_ends_states_how_it_continues(ending, shown):
    outcome = read_outcome(
        message(2116, "Temporal properties were violated.\n", 1) + TRACE + ending + COUNTS, 13
    )
    assert outcome.violated == SomeTemporalProperty()
    assert outcome.depth == 2
    assert outcome.trace[-1].state == outcome.trace[-2].state
    assert shown in render(outcome.trace).splitlines()[-1]


def test_a_warning_of_the_parser_is_an_error_that_carries_its_text():
    warning = (
        "*** Warnings: 1\n\nline 2, col 1 of module B\n\nWarning: the definition of 'Foo' conflicts\n\n\n"
    )

    with pytest.raises(WarnedError, match="definition of 'Foo' conflicts\nCorrect"):
        read_outcome(warning + message(2219, "SANY finished.") + SUCCESS, 0)


def test_an_ending_of_another_form_is_refused():
    with pytest.raises(TraceSyntaxError, match="Back to state"):
        parse_ending("for ever", read_outcome(VIOLATION, 13).trace[-1])


def test_an_initial_state_is_a_counterexample_of_one_step():
    text = message(2107, "Invariant TypeOK is violated by the initial state:\n/\\ x = 7\n", 1)
    outcome = read_outcome(text, 12)
    assert (outcome.violated, outcome.depth, outcome.trace[0].state) == ("TypeOK", 1, {"x": 7})


@pytest.mark.parametrize(
    ("text", "exit_code"),
    [
        (SUCCESS, 12),
        (VIOLATION, 0),
        (VIOLATION, 12),
        (SUCCESS + VIOLATION, 13),
        (SUCCESS.replace(COUNTS, ""), 0),
    ],
    ids=["success fails", "violation succeeds", "wrong kind", "both", "no count"],
)
def test_exit_code_and_text_that_disagree_are_an_error(text, exit_code):
    with pytest.raises(DisagreementError, match="expected"):
        read_outcome(text, exit_code)


@pytest.mark.parametrize("exit_code", [0, 75])
def test_no_verdict_is_an_error_that_carries_the_text(exit_code):
    with pytest.raises(TlcError, match="Unknown operator"):
        read_outcome(message(2103, "Unknown operator", 1), exit_code)


def test_a_state_without_a_header_is_refused():
    with pytest.raises(TraceSyntaxError, match="expected"):
        parse_step("/\\ x = 1")


def test_a_counterexample_reads_as_one_line_a_step():
    first, second = render(read_outcome(VIOLATION, 13).trace).splitlines()
    assert "initially" in first
    assert "Barrier(0, 1)" in second
    assert "block 0" in second
    assert "x = 1" in second
