"""Escapes text from outside: one function for each language into which the text is embedded.

Texts from outside are the name, version, errors, effects and stderr of an implementation, names of files,
lines of logs, and names of revisions. The result of each function is valid in its language for every text.
Invisible characters (control characters, bidirectional overrides, lone surrogates) are escaped as `\\x1b`.
"""

import hashlib
import pprint
import re
import shlex
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote

SHOWN = 400
"""Maximum number of characters of a name, or of an error, that a report shows."""

LONGEST_IN_TLA = 10_000
"""Maximum number of characters of a TLA+ string; the parser needs minutes for a million."""

_FORMAT = (
    "\xad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    "\ufff9-\ufffb\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0001\U000e0020-\U000e007f"
)
"""Categories Cf, Zl and Zp of Unicode: invisible characters, some of which reorder visible ones."""
_UNSEEN = re.compile(f"[\x00-\x1f\x7f-\x9f{_FORMAT}\ud800-\udfff]")
_UNSEEN_IN_BLOCK = re.compile(f"[\x00-\x09\x0b-\x1f\x7f-\x9f{_FORMAT}\ud800-\udfff]")
_COLOUR = re.compile(r"(\x1b\[[0-9;]*m)")
_SURROGATE = re.compile("[\ud800-\udfff]")
_NOT_IN_TLA = re.compile(r"[^\x20-\x5f\x61-\x7e]")
"""TLA+'s parser rejects a backtick in a string."""
_NO_BYTE = re.compile("[\ud800-\udc7f\udd00-\udfff]")
_NOT_ASCII = re.compile(r"[^\x20-\x7e]")
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_COMMAND = re.compile(r"^(\s*):(?=:)", re.MULTILINE)
"""A workflow command of GitHub begins a line, after spaces or not."""
_OLD_COMMAND = re.compile(r"##(?=\w*\[)")
"""Commands of older runners and of other services stand anywhere in a line: `##[error]`, `##teamcity[`."""
_MARKDOWN = re.compile(r"[\\`*_\[\]|~]|^[#+=:-]")


# ---------------------------------------------------------------- terminals and logs


def line(text: str) -> str:
    """One line for a terminal or a log, without invisible characters and without a workflow command."""
    return _no_command(_UNSEEN.sub(_spelled, text))


def block(text: str) -> str:
    """Several lines, each escaped like `line`. Line breaks stay, a tab becomes four spaces."""
    return _no_command(_UNSEEN_IN_BLOCK.sub(_spelled, text.replace("\r\n", "\n").replace("\t", "    ")))


def printed(text: str) -> str:
    """The output of a command of this project, escaped like `block`, with its colours kept."""
    parts = _COLOUR.split(text)
    return _no_command(
        "".join(
            part if number % 2 else _UNSEEN_IN_BLOCK.sub(_spelled, part.replace("\t", "    "))
            for number, part in enumerate(parts)
        )
    )


def short(text: str, most: int = SHOWN) -> str:
    """One line, escaped like `line`; of a longer text the first `most` characters, `...` and its length."""
    if len(text) <= most:
        return line(text)
    return f"{line(text[:most])}... ({len(text):,} characters)"


def _no_command(text: str) -> str:
    return _OLD_COMMAND.sub(r"#\\x23", _COMMAND.sub(r"\1\\x3a", text))


def workflow_data(text: str) -> str:
    """The text escaped for the message of a workflow command of GitHub, whose runner decodes it."""
    return block(text).replace("%", "%25").replace("\n", "%0A")


def workflow_property(text: str) -> str:
    """The text escaped for a property of a workflow command of GitHub."""
    return workflow_data(text).replace(":", "%3A").replace(",", "%2C")


# ---------------------------------------------------------------- commands


def shell(words: Iterable[str]) -> str:
    """The words as one line for a shell. A word with invisible characters is written as `$'...'`."""
    return " ".join(map(_word, words))


def _word(word: str) -> str:
    if line(word) == word:
        return shlex.quote(word)
    spelled = word.replace("\\", "\\\\").replace("'", "\\'")
    spelled = _OLD_COMMAND.sub(r"#\\x23", _COMMAND.sub(r"\1\\x3a", spelled))
    return f"$'{_UNSEEN.sub(_spelled_in_shell, spelled)}'"


def _spelled_in_shell(found: "re.Match[str]") -> str:
    code = ord(found[0])
    if 0xDC80 <= code <= 0xDCFF:  # a byte of a name that is no UTF-8
        return f"\\x{code - 0xDC00:02x}"
    if code < 0x80:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


# ---------------------------------------------------------------- Python


def python(data: object) -> str:
    """A value of JSON, or a text, as an expression of Python in ASCII."""
    return pprint.pformat(data, width=100, sort_dicts=False).encode("ascii", "backslashreplace").decode()


def python_text(text: str) -> str:
    """A text as an expression of Python in ASCII, on one line."""
    return ascii(text)


def python_docstring(text: str) -> str:
    """The text escaped for a Python docstring; line breaks stay."""
    quoted = text.replace("\\", "\\\\").replace('"', '\\"')
    return _UNSEEN_IN_BLOCK.sub(_spelled, quoted).encode("ascii", "backslashreplace").decode()


# ---------------------------------------------------------------- TLA+


def tla_string(text: str) -> str:
    """The text as a TLA+ string in ASCII; different texts give different strings, long ones by their hash."""
    if len(text) > LONGEST_IN_TLA:
        digest = hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()
        text = f"{text[:SHOWN]}... {len(text)} characters, sha256 {digest}"
    spelled = _NOT_IN_TLA.sub(_spelled, text.replace("\\", "\\\\"))
    return '"' + spelled.replace("\\", "\\\\").replace('"', '\\"') + '"'


def tla_comment(text: str) -> str:
    """The text escaped for a comment of TLA+, on one line."""
    return _NOT_ASCII.sub(_spelled, text).replace("(*", "( *").replace("*)", "* )")


# ---------------------------------------------------------------- documents


def xml(text: str) -> str:
    """Several lines with characters of XML 1.0 only; the XML writer escapes markup."""
    return _NOT_XML.sub(_spelled, block(text))


def utf8(text: str) -> str:
    """The text with lone surrogates escaped, so that UTF-8, JSON and a file can hold it."""
    return _SURROGATE.sub(_spelled, text)


def json(data: Any) -> Any:  # noqa: ANN401 - any JSON value
    """The JSON value with every text and every name passed through `utf8`."""
    if isinstance(data, str):
        return utf8(data)
    if isinstance(data, Mapping):
        return {json(name): json(one) for name, one in data.items()}
    if isinstance(data, list | tuple):
        return [json(one) for one in data]
    return data


def uri(path: str) -> str:
    """The path percent-encoded for a URI; bytes that are no UTF-8 keep their values."""
    return quote(_NO_BYTE.sub(_spelled, path), safe="/", errors="surrogateescape")


def markdown(text: str) -> str:
    """Plain text on one line of Markdown, also in a table."""
    safe = line(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _MARKDOWN.sub(r"\\\g<0>", safe)


def markdown_code(text: str) -> str:
    """A Markdown code span, also for a table, with more backticks around it than the text has in a row."""
    safe = line(text).replace("|", "\\|")
    longest = max((len(run) for run in re.findall("`+", safe)), default=0)
    fence = "`" * (longest + 1)
    return f"{fence} {safe} {fence}" if longest or safe != safe.strip() or not safe else f"`{safe}`"


def _spelled(found: "re.Match[str]") -> str:
    code = ord(found[0])
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
