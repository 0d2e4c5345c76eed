"""Makes a finite machine of the model of a component: explores the model over an alphabet, then minimises."""

from collections.abc import Hashable

from conformance.drive.oracle import Edge, Oracle
from conformance.suites.alphabet import REFUSED, Alphabet, failure, newest_id, output
from conformance.suites.machine import END, Machine, Transition, minimal

STATES_AT_MOST = 20_000
"""Default limit of the number of states."""


class TooLargeError(ValueError):
    """The model has too many states over the alphabet."""


def model_machine(alphabet: Alphabet, states_at_most: int = STATES_AT_MOST) -> Machine:
    """The minimal machine of the model. Raises TooLargeError beyond `states_at_most` states."""
    return minimal(explored(alphabet, states_at_most))


def explored(alphabet: Alphabet, states_at_most: int = STATES_AT_MOST) -> Machine:
    """The machine of all states that words lead to. Raises TooLargeError beyond `states_at_most` states."""
    oracle = Oracle(alphabet.component, alphabet.config)
    start = alphabet.start(oracle)
    numbers: dict[Hashable, int] = {alphabet.identity(start): 0}
    nodes = [start]
    rows: list[tuple[Transition | None, ...]] = []
    for node in nodes:
        row: list[Transition | None] = []
        for chosen in range(len(alphabet.letters)):
            taken = alphabet.take(oracle, node, chosen)
            if taken is None:
                row.append(None)
                continue
            answer = answer_of(taken.edge)
            if taken.edge.fails:
                row.append(Transition(answer, END))
                continue
            number = numbers.setdefault(alphabet.identity(taken.edge.after), len(nodes))
            if number == len(nodes):
                if number >= states_at_most:
                    raise TooLargeError(
                        f"{alphabet.component} ({alphabet.describe}): more than {states_at_most:,} states; "
                        "bound the letters more tightly"
                    )
                nodes.append(taken.edge.after)
            row.append(Transition(answer, number))
        rows.append(tuple(row))
    return Machine(alphabet.names, tuple(rows))


def answer_of(edge: Edge) -> str:
    """The output of one step of the model."""
    if edge.refused is not None:
        return REFUSED
    newest = newest_id(edge.after.state)
    if edge.fails:
        return failure(edge.effects, newest)
    return output(edge.effects, edge.after.observed, newest)
