"""Learns the machine of an implementation with the algorithm L#.

To test a hypothesis, the learner plays the hypothesis's complete suite. So the learned machine is right under
the same condition as a suite in `conform`: the implementation has at most k states more than the machine.
"""

from collections.abc import Callable, Hashable, Sequence
from itertools import chain
from typing import Any, NamedTuple

from aalpy.base import Oracle as EquivalenceOracle
from aalpy.learning_algs import run_Lsharp

from conformance.adapters.protocol import Adapter
from conformance.learn.system import NOT_SENT, NotLearnedError, System
from conformance.suites.alphabet import Alphabet
from conformance.suites.h_method import suite
from conformance.suites.machine import END, Machine, Transition, minimal
from conformance.suites.model_machine import model_machine


class Learned(NamedTuple):
    """A learned machine, and the effort of learning it."""

    machine: Machine
    words: int
    """The number of words that the learner has sent."""
    events: int
    rounds: int
    """The number of hypotheses."""


def learn(
    adapter: Adapter, alphabet: Alphabet, extra: int, may_go_on: Callable[[], bool] = lambda: True
) -> Learned:
    """Learn the machine. `extra`: k. `may_go_on`: whether the budget permits another word.

    Raises NotLearnedError if no finite machine describes the implementation, or if the budget has ended.
    """
    system = System(adapter, alphabet, may_go_on)
    test = _SuiteTest(alphabet, system, extra)
    letters = list(range(len(alphabet.letters)))
    try:
        model = run_Lsharp(letters, system, test, automaton_type="mealy", print_level=0)
    except SystemExit as ended:  # aalpy exits if a word has two answers
        raise NotLearnedError(
            "the same events had two different answers; `barrierspec smoke` shows where"
        ) from ended
    return Learned(machine_of(model, alphabet), system.num_queries, system.num_steps, test.rounds)


class _SuiteTest(EquivalenceOracle):  # type: ignore[misc]  # aalpy has no types
    """Tests a hypothesis with the model's suite for k = 0, then with the hypothesis's suites up to k."""

    def __init__(self, alphabet: Alphabet, system: System, extra: int) -> None:
        super().__init__(list(range(len(alphabet.letters))), system)
        self._alphabet_of_letters = alphabet
        self._first = list(suite(model_machine(alphabet), 0).words())
        self._extra = extra
        self.rounds = 0

    def find_cex(self, hypothesis: Any) -> tuple[int, ...] | None:  # noqa: ANN401 - aalpy has no types
        """A word that the hypothesis answers differently; None if the whole suite agrees."""
        self.rounds += 1
        machine = machine_of(hypothesis, self._alphabet_of_letters)
        for extra in range(self._extra + 1):  # small suites find most differences
            first = self._first if extra == 0 else ()
            for word in chain(first, suite(machine, extra).words()):
                self.num_queries += 1
                found = _first_difference(self.sul.query(word), machine.run(word))
                if found is not None:
                    return word[: found + 1]
        return None


def _first_difference(came: Sequence[str], expected: Sequence[Hashable]) -> int | None:
    """The position of the first different output; None if there is none. No letter is sent after an end."""
    for position, output in enumerate(came):
        if position >= len(expected):
            return None if output == NOT_SENT else position
        if output != expected[position]:
            return position
    return None


def machine_of(learned: Any, alphabet: Alphabet) -> Machine:  # noqa: ANN401 - aalpy has no types
    """Converts a machine of aalpy to a `Machine`. A letter with the output NOT_SENT is not defined."""
    order = [learned.initial_state]
    numbers = {id(learned.initial_state): 0}
    for state in order:
        for letter in range(len(alphabet.letters)):
            after = state.transitions[letter]
            if id(after) not in numbers:
                numbers[id(after)] = len(order)
                order.append(after)
    over = {
        number
        for number, state in enumerate(order)
        if all(one == NOT_SENT for one in state.output_fun.values())
    }

    def row(state: Any) -> tuple[Transition | None, ...]:  # noqa: ANN401 - aalpy has no types
        steps: list[Transition | None] = []
        for letter in range(len(alphabet.letters)):
            output, after = state.output_fun[letter], numbers[id(state.transitions[letter])]
            step = Transition(output, END if after in over else after)
            steps.append(None if output == NOT_SENT else step)
        return tuple(steps)

    return minimal(Machine(alphabet.names, tuple(row(state) for state in order)))
