"""The fenced blocks of README and docs: what each is, and how one is played as a reader would.

The language says what a block is. `console` has commands (`$ ...`) with all that they print, `sh` commands
alone, `python` a program, `java` a file, `diff` a change of one, `wire` a talk with an adapter, which the
model's has to answer so; everything else is shown, and no command. A comment right above a block says more:

    <!-- file: my_gate.py -->          this is that file, or a change of it
    <!-- ends with: 1 -->              what its last command ends with; else 0
    <!-- varies: what -->              what is printed differs from run to run, so only the ends are compared
    <!-- apart: why -->                too dear for every run of the tests: `make docs-run` plays it
    <!-- not run: why -->              nobody plays it

A page's blocks are played one after the other in one folder.
"""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
PLAYED = ("console", "sh", "python", "java", "diff", "wire")
SHOWN = ("text", "json", "toml", "yaml", "properties", "tla")
MARKS = ("file", "ends with", "varies", "apart", "not run")
FENCE = re.compile(r"((?:^ *<!-- [^\n]* -->\n)*)^( *)```([^\n]*)\n(.*?)^\2```$", re.DOTALL | re.MULTILINE)
MARK = re.compile(r"<!-- ([a-z ]+): (.+) -->")
SECONDS = re.compile(r"\b\d+\.\d s\b")


class Block(NamedTuple):
    """A fenced block of a page, with the marks of the comment above it."""

    page: str
    line: int
    language: str
    text: str
    marks: dict[str, str]

    @property
    def where(self) -> str:
        return f"{self.page}:{self.line}"

    @property
    def is_played(self) -> bool:
        return (self.language in PLAYED or "file" in self.marks) and "not run" not in self.marks


def block_of(found: re.Match[str], page: Path) -> Block:
    comments, _, language, text = found.groups()
    line = found.string.count("\n", 0, found.start(2)) + 1
    return Block(page.relative_to(ROOT).as_posix(), line, language, text, dict(MARK.findall(comments)))


def blocks_of(page: Path) -> list[Block]:
    return [block_of(found, page) for found in FENCE.finditer(page.read_text(encoding="utf-8"))]


class Player:
    """Executes the blocks of a page in a folder, as a reader would."""

    def __init__(self, folder: Path, checkout: Path | None = None) -> None:
        """`checkout`: the checkout whose code runs; None: that of these tests."""
        self.folder = folder
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        self.environment = {**os.environ, "PATH": path, "COLUMNS": "100"}
        if checkout is not None:
            self.environment["PYTHONPATH"] = str(checkout)

    def play(self, block: Block) -> str:
        """Executes the block. Returns its text, with the current output of its commands."""
        file = self.folder / block.marks["file"] if "file" in block.marks else None
        if block.language == "diff":
            assert file is not None, f"{block.where}: a diff needs a comment `<!-- file: NAME -->`"
            file.write_text(changed(file.read_text(encoding="utf-8"), block.text), encoding="utf-8")
        elif block.language == "java" or file is not None:
            assert file is not None, f"{block.where}: a block of java needs a comment `<!-- file: NAME -->`"
            file.write_text(block.text, encoding="utf-8")
        elif block.language == "python":
            self.give([sys.executable, "-c", block.text], block)
        elif block.language == "sh":
            self.give(["bash", "-euc", block.text], block)
        elif block.language == "wire":
            return self.exchanged(block)
        else:
            return self.printed(block)
        return block.text

    def printed(self, block: Block) -> str:
        commands = [line[2:] for line in block.text.splitlines() if line.startswith("$ ")]
        shown = []
        for command in commands:
            last = command is commands[-1]
            output = self.give(["bash", "-c", command], block if last else None)
            shown.append(f"$ {command}\n{SECONDS.sub('0.5 s', output)}")
        return block.text if "varies" in block.marks else "\n".join(shown)

    def exchanged(self, block: Block) -> str:
        """Sends each line after `> ` to the model's adapter, and puts its answers after `< `."""
        requests = "".join(f"{line[2:]}\n" for line in block.text.splitlines() if line.startswith("> "))
        output = self.give(["barrierspec", "serve", "model"], block, requests).splitlines()
        answers = (json.loads(line) for line in output)
        lines = []
        for line in requests.splitlines():
            lines += [f"> {line}", f"< {json.dumps(next(answers))}"]
        return "\n".join(lines) + "\n"

    def give(self, command: list[str], block: Block | None, stdin: str | None = None) -> str:
        """Returns the output of a command. Fails if its exit code is not the one that the block states."""
        done = subprocess.run(
            command,
            cwd=self.folder,
            env=self.environment,
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
            timeout=900,
        )
        expected = None if block is None else int(block.marks.get("ends with", "0"))
        where = shlex.join(command) if block is None else block.where
        assert expected in (None, done.returncode), f"{where}: {done.stdout}{done.stderr}"
        return done.stdout


def changed(text: str, diff: str) -> str:
    """Returns the text with a diff applied.

    The diff has no line numbers; its old lines must occur exactly once.
    """
    lines = diff.splitlines(keepends=True)
    before = "".join(line[1:] for line in lines if line[0] != "+")
    after = "".join(line[1:] for line in lines if line[0] != "-")
    assert text.count(before) == 1, before
    return text.replace(before, after)
