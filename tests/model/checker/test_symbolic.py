"""Symbolic execution of plain Python: paths are disjoint and complete, and unsupported code is refused."""

import pytest
import z3

from model.checker.paths import paths, solver_with
from model.checker.relation import Relation, source
from model.checker.symbolic import SymbolicUseError, any_word, concrete, formula, symbolic_like


def biggest(a, b, c):
    top = a
    if b > top:
        top = b
    if c > top:
        top = c
    return top


def test_the_paths_of_a_function_are_disjoint_and_cover_every_input():
    a, b, c = (symbolic_like(0, name) for name in "abc")
    found = list(paths(lambda: biggest(a, b, c)))

    guards = [z3.And(*path.condition) for path in found]
    assert len(found) == 4
    assert solver_with(z3.Not(z3.Or(*guards))).check() == z3.unsat
    for place, guard in enumerate(guards):
        for other in guards[place + 1 :]:
            assert solver_with(guard, other).check() == z3.unsat


def test_each_path_gives_what_the_function_gives():
    a, b, c = (symbolic_like(0, name) for name in "abc")
    for path in paths(lambda: biggest(a, b, c)):
        solver = solver_with(*path.condition)
        assert solver.check() == z3.sat
        values = concrete((a, b, c), solver.model())
        assert concrete(path.result, solver.model()) == biggest(*values)


def test_an_assumption_closes_paths():
    a, b, c = (symbolic_like(0, name) for name in "abc")
    assert len(list(paths(lambda: biggest(a, b, c), solver_with(a.term > b.term, a.term > c.term)))) == 1


def test_a_predicate_becomes_one_formula():
    a, b = symbolic_like(0, "a"), symbolic_like(0, "b")
    found = formula(lambda: a < b or a == b + 1)

    assert solver_with(found != z3.Or(a.term < b.term, a.term == b.term + 1)).check() == z3.unsat


@pytest.mark.parametrize("use", [lambda a: [10, 20][a], lambda a: {a: 1}, lambda a: 1 if a else 2])
def test_code_that_needs_the_value_of_a_symbol_is_refused(use):
    with pytest.raises(SymbolicUseError):
        list(paths(lambda: use(symbolic_like(0, "a"))))


def test_a_word_equals_no_symbol():
    """Records of two kinds may have an int and a word in the same field."""
    a = symbolic_like(0, "a")
    assert [path.result for path in paths(lambda: (bool(a == "one"), bool(a != "one")))] == [(False, True)]


def test_a_symbol_for_any_word_equals_each_word_on_a_path_of_its_own():
    word = any_word("word")

    def which():
        return "one" if word == "one" else "two" if word in ("two", 2) else "another"

    values = {}
    for path in paths(which):
        solver = solver_with(*path.condition)
        assert solver.check() == z3.sat
        values[path.result] = concrete(word, solver.model())
    assert (values["one"], values["two"]) == ("one", "two")
    assert values["another"] not in ("one", "two")
    assert len(list(paths(lambda: bool(word != any_word("other"))))) == 2
    with pytest.raises(SymbolicUseError):
        list(paths(lambda: {word: 1}))


def test_a_compiled_term_computes_what_z3_computes():
    a, b = z3.Int("a"), z3.Bool("b")
    term = z3.If(z3.And(b, z3.Not(a > 3)), -a + 2, a - 1)
    for value in (-1, 3, 4):
        for truth in (True, False):
            expected = z3.simplify(z3.substitute(term, (a, z3.IntVal(value)), (b, z3.BoolVal(truth))))
            assert eval(source(term), {"v": {"a": value, "b": truth}}) == expected.as_long()


def test_a_relation_takes_exactly_one_path_for_each_step_of_the_gate():
    from model.checker.explore import explore
    from model.gate.environment.aligned import closed_gate
    from model.gate.events import Injection
    from model.gate.proofs.aligned import gate_cases

    of_channels = [case for case in gate_cases(2) if not isinstance(case.event, Injection)]
    relations = {(case.event[-1], case.event[0]): Relation(case) for case in of_channels}
    graph = explore(closed_gate(2, 3, counts_as_aligned=True, polled=False))
    for edge in graph.transitions:
        state = graph.nodes[edge.source][0]
        after, effects = relations[edge.event[-1], edge.event[0]].step(state, edge.event)
        assert (after, effects) == (edge.step.state, edge.step.effects)
