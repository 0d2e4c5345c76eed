"""An implementation behind an alphabet: it maps a word of letters to one output for each letter."""

from collections.abc import Callable, Sequence

from aalpy.base import SUL

from conformance.adapters.protocol import (
    FAILURES,
    Adapter,
    Applied,
    Errored,
    Failure,
    Malformed,
    Wire,
    canonical,
)
from conformance.drive.oracle import Node, Oracle
from conformance.suites.alphabet import REFUSED, Alphabet, failure, newest_id, output

NOT_SENT = '"not sent"'
"""The output of a letter that is not defined in the current state, or that follows the instance's end."""


WORDS_AT_MOST = 300_000
"""Maximum number of words that are sent to learn one machine."""


class NotLearnedError(RuntimeError):
    """The implementation does not answer, or no finite machine answers like it, or the budget has ended."""


class System(SUL):  # type: ignore[misc]  # aalpy has no types
    """One implementation as a system under learning (a class of aalpy).

    A letter is a position in the alphabet.
    """

    def __init__(
        self, adapter: Adapter, alphabet: Alphabet, may_go_on: Callable[[], bool] = lambda: True
    ) -> None:
        super().__init__()
        self._may_go_on = may_go_on
        self.words = 0
        """The number of instances that were made."""
        self._adapter = adapter
        self._alphabet = alphabet
        self._oracle = Oracle(alphabet.component, alphabet.config)
        self._start = alphabet.start(self._oracle)
        self._node: Node = self._start
        self._has_ended = False

    def pre(self) -> None:
        """Create a new instance. Raises NotLearnedError if there is none, or if the budget has ended."""
        self.words += 1
        if self.words > WORDS_AT_MOST:
            raise NotLearnedError(
                f"no finite machine after {WORDS_AT_MOST:,} words: its state grows without a bound, or "
                "it shows a value that the model does not have; "
                "`barrierspec conform` finds the first difference"
            )
        if not self._may_go_on():
            raise NotLearnedError("the budget ended before the machine was learned; give more --seconds")
        made = self._adapter.new(self._alphabet.component, self._alphabet.config)
        if isinstance(made, FAILURES):
            raise NotLearnedError(f"no instance: {made.describe()}; learn a configuration that it offers")
        self._node, self._has_ended = self._start, False
        if self._alphabet.clock is not None:
            self._answer([self._alphabet.clock.opening])

    def post(self) -> None:
        """Do nothing, because the next call of `pre` replaces the instance."""

    def step(self, letter: int | None) -> str:
        """Send the event of a letter, and return the output.

        Raises NotLearnedError if an answer is missing.
        """
        if letter is None or self._has_ended:
            return NOT_SENT
        taken = self._alphabet.take(self._oracle, self._node, letter)
        if taken is None:
            return NOT_SENT
        answer = self._answer([taken.event])
        self._node = taken.edge.after
        newest = newest_id(self._node.state)
        if isinstance(answer, Errored):
            return REFUSED
        if not isinstance(answer, Applied):
            self._has_ended = True
            return canonical({"ends": type(answer).__name__.lower()}).decode()
        (effects,) = answer.effects
        if any(effect.get("kind") == "fail" for effect in effects) and self._fails_for_good:
            self._has_ended = True
            return failure(effects, newest)
        self._has_ended = taken.edge.fails  # without a state of the model, letters have no events
        return output(effects, answer.state, newest)

    @property
    def _fails_for_good(self) -> bool:
        return self._alphabet.component not in ("coordinator", "source")

    def _answer(self, events: Sequence[Wire]) -> Applied | Failure:
        answer = self._adapter.apply(events)
        if isinstance(answer, FAILURES) and not isinstance(answer, Errored | Malformed):
            described = answer.describe()
            if type(answer).__name__ != "Crashed":
                raise NotLearnedError(f"{described}; learn a configuration that it offers, or give --limit")
        return answer
