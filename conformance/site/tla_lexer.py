"""A lexer of TLA+ for Pygments: neither Pygments nor a package of PyPI has one."""

from typing import ClassVar

from pygments import lexers
from pygments.lexer import RegexLexer
from pygments.token import Comment, Keyword, Name, Number, Operator, Punctuation, String, Text

__all__ = ["TlaLexer"]  # Pygments reads it when it loads the lexer

_KEYWORDS = (
    "ACTION|ASSUME|ASSUMPTION|AXIOM|BY|CASE|CHOOSE|CONSTANT|CONSTANTS|DEF|DEFINE|DOMAIN|ELSE|ENABLED|"
    "EXCEPT|EXTENDS|IF|IN|INSTANCE|LAMBDA|LEMMA|LET|LOCAL|MODULE|NEW|OBVIOUS|OTHER|PROOF|PROVE|QED|"
    "RECURSIVE|SUBSET|SUFFICES|THEN|THEOREM|UNCHANGED|UNION|VARIABLE|VARIABLES|WITH"
)


class TlaLexer(RegexLexer):  # type: ignore[misc]  # Pygments has no types
    """TLA+ without PlusCal."""

    name = "TLA+"
    aliases: ClassVar = ["tla", "tlaplus"]
    filenames: ClassVar = ["*.tla"]
    tokens: ClassVar = {
        "root": [
            (r"\s+", Text),
            (r"\\\*.*", Comment.Single),
            (r"\(\*", Comment.Multiline, "comment"),
            (r"-{4,}|={4,}", Punctuation),
            (r'"(?:\\.|[^"\\\n])*"', String),
            (r"\b(?:WF|SF)_", Keyword),
            (rf"\b(?:{_KEYWORDS})\b", Keyword),
            (r"\b(?:TRUE|FALSE|BOOLEAN|STRING|Nat|Int|Seq)\b", Keyword.Constant),
            (r"^(\w+)(?=\s*(?:\([^()]*\)|\[[^\[\]]*\])?\s*==)", Name.Function),
            (r"\\[A-Za-z]+", Operator.Word),
            (r"\d+", Number.Integer),
            (r"\w+", Name),
            (r"<<|>>_?|[()\[\]{},:.!]|\|->", Punctuation),
            (r"/\\|\\/|==|=>|<=>|->|<-|[-+*/=#<>~^%&|@\'$?;\\]", Operator),
        ],
        "comment": [
            (r"\(\*", Comment.Multiline, "#push"),
            (r"\*\)", Comment.Multiline, "#pop"),
            (r"[^(*]+|[(*]", Comment.Multiline),
        ],
    }


def register() -> None:
    """Register the lexer, so that Pygments finds it by its name."""
    lexers.LEXERS[TlaLexer.__name__] = (
        __name__,
        TlaLexer.name,
        tuple(TlaLexer.aliases),
        tuple(TlaLexer.filenames),
        (),
    )
