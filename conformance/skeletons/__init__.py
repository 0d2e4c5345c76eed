"""The files that `barrierspec init` writes: an adapter that conforms, a workflow, hooks, an empty list.

`languages.toml` has the differences between the languages; the templates are in the same folder.
"""

import re
import shlex
import tomllib
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple

from jinja2 import Environment, PackageLoader, StrictUndefined

from conformance.command_line.written import write
from conformance.errors import InputError
from conformance.version import own_version

KNOWN = "known-divergences.json"
COMMON = {
    ".github/workflows/barrierspec.yml": "workflow.yml.jinja",
    ".pre-commit-config.yaml": "hooks.yaml.jinja",
    KNOWN: f"{KNOWN}.jinja",
}
"""The files of every language, each with its template."""


class ExistsError(InputError):
    """A file of the skeleton exists already. The message names it, and says what to do."""


class Skeleton(NamedTuple):
    """The files of a folder, and the commands that check them."""

    files: Mapping[str, str]
    build: str | None
    """The command that compiles the adapter; None if it runs without compilation."""
    smoke: str
    conform: str


def languages() -> dict[str, dict[str, Any]]:
    """The entries of `languages.toml`, by language."""
    return tomllib.loads(resources.files(__name__).joinpath("languages.toml").read_text(encoding="utf-8"))


def skeleton(language: str, requirement: str | None = None) -> Skeleton:
    """The files for a language; CI installs `requirement`, as pip names it (None: this version)."""
    requirement = requirement or f"barrierspec=={own_version()}"
    known = {"build": None, "setup": None, **languages()[language]}
    adapter = f"--adapter {shlex.quote(known['run'])}"
    commands = (
        known["build"],
        f"barrierspec smoke {adapter}",
        f"barrierspec conform {adapter} --known-divergences {KNOWN}",
    )
    made = Skeleton({}, *commands)
    templates = Environment(
        loader=PackageLoader(__name__, "."),
        undefined=StrictUndefined,
        variable_start_string="@{",
        variable_end_string="}",
        block_start_string="<%",
        block_end_string="%>",
        comment_start_string="<%#",
        comment_end_string="#%>",
        trim_blocks=True,
        keep_trailing_newline=True,
    )
    words = {
        **known,
        **made._asdict(),
        "version": own_version(),
        "requirement": requirement,
        # pre-commit installs in another folder, where a relative path is wrong
        "is_in_repository": requirement.endswith(".whl") and not re.match(r"/|[^ ]+://|.* @ ", requirement),
        "bash": lambda line: f"bash -c {shlex.quote(f'{made.build} && {line}')}" if made.build else line,
    }
    named = {known["file"]: f"adapter{Path(known['file']).suffix}.jinja", **COMMON}
    texts = {file: templates.get_template(template).render(words) for file, template in named.items()}
    return made._replace(files=texts)


def write_skeleton(made: Skeleton, folder: Path, *, keep: bool) -> list[str]:
    """Write the files. With `keep`, existing files stay unchanged; returns their names.

    Raises ExistsError, and writes nothing, if a file exists and `keep` is false.
    """
    there = [name for name in made.files if (folder / name).exists() or (folder / name).is_symlink()]
    if there and not keep:
        raise ExistsError(
            f"{folder}: expected no file of these names, got {', '.join(there)}; give another folder, or "
            "--keep, which leaves them as they are and writes the others"
        )
    for name, text in made.files.items():
        if name not in there:
            write(folder / name, text)
    return there
