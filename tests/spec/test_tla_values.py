"""The reader of TLA+ values converts TLC's output into Python values."""

import pytest

from spec.values import Function, ValueSyntaxError, format_value, parse_state, parse_value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("-1", -1),
        ("TRUE", True),
        ('"a \\"b\\" \\\\"', 'a "b" \\'),
        ("{}", frozenset()),
        ("{1, 3,\n  2}", frozenset({1, 2, 3})),
        ("1..3", frozenset({1, 2, 3})),
        ("<<>>", ()),
        ('<<<<"barrier", 0, 1>>, <<"block", 0>>>>', (("barrier", 0, 1), ("block", 0))),
        ("[id |-> 1, type |-> model]", {"id": 1, "type": "model"}),
        ("(0 :> 100 @@ 1 :> {-1})", {0: 100, 1: frozenset({-1})}),
        ("[a |-> (0 :> <<[b |-> TRUE]>>)]", {"a": {0: ({"b": True},)}}),
    ],
)
def test_a_value_is_read(text, value):
    assert parse_value(text) == value
    assert parse_value(format_value(value)) == value


def test_a_set_may_hold_functions():
    assert parse_value("{(0 :> 1), [a |-> 2]}") == frozenset({Function({0: 1}), Function({"a": 2})})


def test_true_is_not_one():
    assert parse_value("TRUE") is True
    assert type(parse_value("1")) is int


@pytest.mark.parametrize("text", ["", "<<1", "[a |> 1]", "{1,}", "1 2", "(0 :> )", "?"])
def test_an_invalid_value_is_refused(text):
    with pytest.raises(ValueSyntaxError, match="expected"):
        parse_value(text)


def test_a_state_is_a_conjunction():
    text = "/\\ out = <<>>\n/\\ gate = [current |-> -1,\n  blocked |-> {}]\n"
    assert parse_state(text) == {"out": (), "gate": {"current": -1, "blocked": frozenset()}}


def test_a_state_of_one_variable_has_no_conjunction_sign():
    assert parse_state("x = 3") == {"x": 3}
