"""Parses the output of TLC with `-tool`: messages between marked lines, each with a code.

If the exit code contradicts the messages, the parser accepts neither and raises DisagreementError.
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
    """TLC could not run, or it gave no result."""


class UnparsedError(TlcError):
    """TLC cannot parse a module or the configuration."""


class WarnedError(TlcError):
    """TLC's parser warns about a module, for example because a name has two meanings."""


class DisagreementError(TlcError):
    """TLC's exit code contradicts its messages, or a message is missing."""


class Location(NamedTuple):
    """The position of a violated formula, for a formula that TLC reports without a name."""

    module: str
    line: int


class SomeTemporalProperty(NamedTuple):
    """A temporal property is violated. TLC does not report which one."""


class Outcome(NamedTuple):
    """The result of one run of TLC."""

    states: int
    """Number of distinct states that TLC has found."""
    depth: int
    """Depth of the state graph in states. If a definition is violated: states of the counterexample."""
    violated: str | Location | SomeTemporalProperty | None
    """The violated definition, or its position if TLC does not name it. None if everything holds."""
    trace: Trace
    """The counterexample. Empty if everything holds.

    A counterexample of a temporal property is infinite. Its last step states how it continues.
    """


class Message(NamedTuple):
    """One message of the tool output."""

    code: int
    severity: str
    text: str


def messages(text: str) -> tuple[Message, ...]:
    """The messages in the output, in order."""
    return tuple(Message(int(found[1]), found[2], found[3]) for found in _MESSAGE.finditer(text))


def read_outcome(text: str, exit_code: int) -> Outcome:
    """Returns the result of a run of TLC, from its output and its exit code.

    Raises:
        UnparsedError: TLC cannot parse a module or the configuration.
        WarnedError: TLC's parser warns about a module.
        TlcError: TLC reports another error; the message contains its text.
        DisagreementError: the exit code contradicts the messages, or a count is missing.
    """
    printed = messages(text)
    verdicts = [message for message in printed if message.code in _EXPECTED]
    if not verdicts:
        errors = [message.text for message in printed if message.severity == _ERROR_SEVERITY]
        why = "\n".join(errors).strip() or text[-800:]
        kind = UnparsedError if exit_code == UNPARSED else TlcError
        raise kind(f"expected a verdict from TLC, got exit code {exit_code} and:\n{why}\nCorrect the model.")
    warned = _WARNED.search(text)
    if warned is not None:
        raise WarnedError(
            f"expected no warning of the parser, got:\n{warned[1].strip()}\nCorrect the module."
        )
    codes = {_EXPECTED[message.code] for message in verdicts}
    if len(verdicts) != 1 or codes != {exit_code}:
        texts = "; ".join(message.text.strip() for message in verdicts)
        raise DisagreementError(
            f"expected an exit code that agrees with the messages, got exit code {exit_code} with: {texts}; "
            "run TLC by hand"
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
    if not trace:  # the initial state violates; TLC prints this state with the verdict
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
            f"expected the name or line of the violated definition, got: {verdict.text}; is this TLC 2.15?"
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
