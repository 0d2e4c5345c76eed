"""The mutation operators for TLA+: every edit of one token or conjunct of a protocol module.

Operators do not edit comments, strings, and parts that do not belong to the protocol: declarations, types,
bounds of quantifiers, definitions that a model checks, and the definitions in `_MAY_STAY`. Most rules are in
separate modules (`...Model`), which are not mutated.
"""

import re
from collections.abc import Iterator
from functools import cache
from itertools import count

from conformance.mutants.automatic.operators import Edit
from spec.manifest import load_manifest

_HIDDEN = re.compile(r'\\\*[^\n]*|\(\*.*?\*\)|"[^"\n]*"', re.DOTALL)
_DEFINED = re.compile(r"^(\w+)(?:\([^)]*\))? ==", re.MULTILINE)
_NOT_PROTOCOL = re.compile(
    r"^(EXTENDS|CONSTANTS?|ASSUME|VARIABLES?|\w*Type ==)[^\n]*(\n[ \t]+[^\n]*)*", re.MULTILINE
)
_FIELD = r"!\.\w+(?:\[\w+\])? = [^][(),\n]*(?:\((?:[^()\n]|\([^()\n]*\))*\)[^][(),\n]*)*"
"""In EXCEPT: a field with its new value, if the value is on one line and has no square brackets."""
_MEMBER = r"(?<!\w)\\in(?!\w)"

_TOKENS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("compare", r"(?<= )(?:=<|<=|\\leq)(?= )", ("<",)),
    ("compare", r"(?<= )>=(?= )", (">", "=<")),
    ("compare", r"(?<= )<(?= )", ("=<", ">")),
    ("compare", r"(?<= )>(?= )", (">=", "<")),
    ("compare", r"(?<= )#(?= )", ("=",)),
    ("compare", r"(?<= )=(?= )", ("#",)),
    ("member", r"\\notin(?!\w)", (r"\in",)),
    ("and-or", r"(?<=\S )/\\(?= )", (r"\/",)),
    ("and-or", r"(?<=\S )\\/(?= )", (r"/\ ".strip(),)),
    ("constant", r"\bTRUE\b", ("FALSE",)),
    ("constant", r"\bFALSE\b", ("TRUE",)),
    ("constant", r"(?<![\w.])\d+(?!\w)", ("+1",)),
    ("drop-not", r"~", ("",)),
    ("quantifier", r"\\A(?= )", (r"\E",)),
    ("quantifier", r"\\E(?= )", (r"\A",)),
    ("set", r"\\cup(?!\w)", (r"\cap", "\\")),
    ("set", r"\\cap(?!\w)", (r"\cup",)),
    ("set", r"(?<= )\\(?= )", (r"\cup",)),
    ("arithmetic", r"(?<= )\+(?= )", ("-",)),
    ("arithmetic", r"(?<= )-(?= )", ("+",)),
    ("drop-effect", r" \\o [\w!]+(?:\([^()]*\))?", ("",)),
    ("drop-change", rf", {_FIELD}(?=[,\]])", ("",)),
    ("drop-change", rf"(?<=EXCEPT ){_FIELD}, ", ("",)),
    ("drop-conjunct", r"(?m)^ +/\\ [^\n']*\n(?= *(?:/\\|\n))", ("",)),
)
_NO_STEP = re.compile(r"[A-Z]+_\d\d|Init|Spec|vars|\w*OK")
"""Names of definitions that are no step: rules, types, initial states, variables, the whole specification."""
_MAY_STAY = {f"spec.dataflow.AnyDataflow:{name}" for name in ("HasEnded", "HasStopped", "Ended")}
"""Definitions of the states in which a job may stay as it is.

A step that leaves all variables unchanged is allowed in every state. So these definitions only decide which
states are a deadlock.
"""
_GUARD = re.compile(r"\bIF ([^\n]*?)\s+THEN\b")


def tla_edits_of(module: str, source: str) -> tuple[Edit, ...]:
    """Every edit of a module, in the order of its text."""
    shown = _HIDDEN.sub(_blank, source)
    shown = _NOT_PROTOCOL.sub(_blank, shown)
    defined = [(found.start(), found[1]) for found in _DEFINED.finditer(shown)]
    numbers: dict[str, Iterator[int]] = {}
    found: list[Edit] = []
    for operator, start, end, after in sorted(_all(shown)):
        names = [name for begins, name in defined if begins <= start]
        if not names or _NO_STEP.fullmatch(names[-1]) or names[-1] in _checked():
            continue
        if f"{module}:{names[-1]}" in _MAY_STAY:
            continue
        key = f"{module}:{names[-1]}:{operator}"
        number = next(numbers.setdefault(key, count(1)))
        byte = len(source[:start].encode())
        before = source[start:end]
        if operator == "negate-guard":
            after = f"~({before})"
        found.append(
            Edit(f"{key}:{number}", module, operator, source.count("\n", 0, start) + 1, byte,
                 byte + len(before.encode()), before, after)
        )  # fmt: skip
    return tuple(sorted(found, key=lambda edit: (edit.start, edit.end, edit.id)))


@cache
def _checked() -> frozenset[str]:
    """The names of the definitions that some model checks."""
    return frozenset(name for model in load_manifest().values() for name in model.configuration.checked)


def _all(shown: str) -> Iterator[tuple[str, int, int, str]]:
    for operator, token, replaced in _TOKENS:
        for found in re.finditer(token, shown):
            if token.endswith("=(?= )") and _assigns(shown, found.start()):
                continue
            for after in replaced:
                yield operator, found.start(), found.end(), str(int(found[0]) + 1) if after == "+1" else after
    for found in re.finditer(_MEMBER, shown):
        if not _binds(shown, found.start()):
            yield "member", found.start(), found.end(), r"\notin"
    for found in _GUARD.finditer(shown):
        yield "negate-guard", found.start(1), found.end(1), ""


def _blank(found: re.Match[str]) -> str:
    """A text of the same length that no operator matches: spaces for a comment, else a fixed character."""
    return re.sub(r"[^\n]", " " if found[0].startswith(("\\*", "(*")) else "\0", found[0])


def _assigns(shown: str, at: int) -> bool:
    """Whether this `=` gives a value: to a field of a record, or to a variable in the next state."""
    return re.search(r"(!\.\w+(\[[^\]]*\])?|![\[][^\]]*\]|\w')\s*$", shown[max(0, at - 60) : at]) is not None


def _binds(shown: str, at: int) -> bool:
    r"""Whether this `\in` bounds a variable: of a quantifier, a set, a function, CHOOSE."""
    before = shown[max(0, at - 60) : at]
    return re.search(r"(\\[AE]|CHOOSE|[{\[,])\s*[\w, ]+$|<<[\w, ]+>>\s*$", before) is not None
