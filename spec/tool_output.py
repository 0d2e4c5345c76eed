"""Parses the output of TLC with `-tool`: messages between marked lines, each with a code.

The exit code and the messages tell the same story or neither is believed.
"""

import re
from typing import NamedTuple

from spec.counterexample import Trace, parse_ending, parse_step

_MESSAGE = re.compile(r"@!@!@STARTMSG (\d+):(\d+) @!@!@\n(.*?)\n?@!@!@ENDMSG \1 @!@!@", re.DOTALL)

SUCCESS = 2193
INVARIANT_INITIALLY = 2107
INVARIANT = 2110
PROPERTY = 2112
PROPERTY_INITIALLY = 2108
TEMPORAL = 2116
DEADLOCK = 2114
STATE = 2217
BACK = 2122
STUTTERING = 2218
COUNTS = 2199
DEPTH = 2194
UNPARSED = 150
"""The exit code if a module cannot be parsed, or a name in it has no meaning."""
_ERROR_SEVERITY = "1"
_EXPECTED = {
    SUCCESS: 0,
    INVARIANT_INITIALLY: 12,
    INVARIANT: 12,
    PROPERTY_INITIALLY: 13,
    PROPERTY: 13,
    TEMPORAL: 13,
    DEADLOCK: 11,
}

_NAMED = re.compile(r"(?:Invariant|Action property|Property) ([\w!]+) is violated")
_WARNED = re.compile(r"^\*\*\* Warnings: \d+\n(.*?)(?=^@!@!@|\Z)", re.DOTALL | re.MULTILINE)
_LOCATED = re.compile(r"line (\d+), col \d+ to line \d+, col \d+ of module (\w+)")


class TlcError(RuntimeError):
    """TLC could not be run, or did not come to a result."""


class UnparsedError(TlcError):
    """A module or the configuration is no TLA+."""


class WarnedError(TlcError):
    """The parser warns of a module: a name in it may mean something else than it seems to."""


class DisagreementError(TlcError):
    """TLC's exit code and its messages do not tell the same story."""


class Location(NamedTuple):
    """The place of a violated formula in the specification."""

    module: str
    line: int


class SomeTemporalProperty(NamedTuple):
    """TLC says that a temporal property is violated, and not which."""


class Outcome(NamedTuple):
    """The result of one run of TLC."""

    states: int
    """Distinct states."""
    depth: int
    """States on the longest shortest run; of a violation, on the counterexample."""
    violated: str | Location | SomeTemporalProperty | None
    """The violated definition, or where it stands if TLC does not name it; None if everything holds."""
    trace: Trace
    """The counterexample; empty if everything holds. One of a temporal property has a last step that states
    how it goes on for ever."""


class Message(NamedTuple):
    """One message of the tool output."""

    code: int
    severity: str
    text: str


def messages(text: str) -> tuple[Message, ...]:
    """The messages in the output, in their order."""
    return tuple(Message(int(found[1]), found[2], found[3]) for found in _MESSAGE.finditer(text))


def read_outcome(text: str, exit_code: int) -> Outcome:
    """The result of a run.

    Raises:
        UnparsedError: a module is no TLA+.
        WarnedError: the parser warns of a module.
        TlcError: TLC met an error of another kind; the message carries its text.
        DisagreementError: the exit code does not fit the messages, or a count is missing.
    """
    printed = messages(text)
    verdicts = [message for message in printed if message.code in _EXPECTED]
    if not verdicts:
        errors = [message.text for message in printed if message.severity == _ERROR_SEVERITY]
        why = "\n".join(errors).strip() or text[-800:]
        kind = UnparsedError if exit_code == UNPARSED else TlcError
        raise kind(f"expected a verdict from TLC, got exit code {exit_code} and:\n{why}\nMend the model.")
    warned = _WARNED.search(text)
    if warned is not None:
        raise WarnedError(f"expected no warning of the parser, got:\n{warned[1].strip()}\nMend the module.")
    codes = {_EXPECTED[message.code] for message in verdicts}
    if len(verdicts) != 1 or codes != {exit_code}:
        texts = "; ".join(message.text.strip() for message in verdicts)
        raise DisagreementError(
            f"expected an exit code that fits the text, got exit code {exit_code} with: {texts}; "
            "neither can be trusted, run TLC by hand"
        )
    verdict = verdicts[0]
    states = tuple(parse_step(message.text) for message in printed if message.code == STATE)
    trace = states + tuple(
        parse_ending(message.text, states[-1]) for message in printed if message.code in (BACK, STUTTERING)
    )
    if verdict.code == SUCCESS:
        return Outcome(
            _count(printed, COUNTS, r"([\d,]+) distinct"), _count(printed, DEPTH, r"is (\d+)"), None, ()
        )
    if not trace:  # an initial state; TLC prints it with the verdict
        trace = (parse_step("1: <Initial predicate>\n" + verdict.text.partition(":\n")[2]),)
    seen = _count(printed, COUNTS, r"([\d,]+) distinct", 1)
    return Outcome(seen, len(states) or len(trace), _violated(verdict), trace)


def _violated(verdict: Message) -> str | Location | SomeTemporalProperty:
    if verdict.code == TEMPORAL:
        return SomeTemporalProperty()
    if verdict.code == DEADLOCK:
        return "Deadlock"
    named = _NAMED.search(verdict.text)
    if named is not None:
        return named[1]
    located = _LOCATED.search(verdict.text)
    if located is None:
        raise TlcError(
            f"expected the name or the place of what is violated, got: {verdict.text}; is this TLC 2.15?"
        )
    return Location(located[2], int(located[1]))


def _count(printed: tuple[Message, ...], code: int, pattern: str, fallback: int | None = None) -> int:
    for message in reversed(printed):
        found = re.search(pattern, message.text) if message.code == code else None
        if found is not None:
            return int(found[1].replace(",", ""))
    if fallback is not None:
        return fallback
    raise DisagreementError(f"expected message {code} in a finished run, got none; run TLC by hand")
