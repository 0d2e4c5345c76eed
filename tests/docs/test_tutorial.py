"""The tutorial is run as a reader runs it: its files are saved, its commands are given, its changes are made.

`pytest --rewrite` puts what the commands print into the page.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

from conformance import cli

PAGE = Path(__file__).parents[2] / "docs" / "verify-your-implementation.md"
BLOCK = re.compile(r"^```(python|java|console|diff)\n(.*?)^```\n", re.DOTALL | re.MULTILINE)
SECONDS = re.compile(r"\b\d+\.\d s\b")


def run(line, folder):
    """What a command prints; how long it took is not told."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    script = (
        f"import sys; sys.argv = {line.split(maxsplit=1)[:1]!r} + __import__('shlex').split({line!r})[1:]"
    )
    ran = subprocess.run(
        [sys.executable, "-c", f"{script}\nfrom {cli.__name__} import main\nmain()"],
        cwd=folder,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert ran.stderr == ""
    return SECONDS.sub("0.5 s", ran.stdout)


def changed(text, diff):
    """A file after the lines of a diff, which has no line numbers."""
    lines = diff.splitlines(keepends=True)
    before = "".join(line[1:] for line in lines if line[0] != "+")
    after = "".join(line[1:] for line in lines if line[0] != "-")
    assert text.count(before) == 1
    return text.replace(before, after)


def test_the_tutorial_is_what_happens(tmp_path, pytestconfig):
    files = {"python": tmp_path / "my_gate.py", "java": tmp_path / "Adapter.java"}
    file = files["python"]

    def play(block):
        nonlocal file
        kind, text = block.groups()
        if kind in files:
            file = files[kind]
            file.write_text(text, encoding="utf-8")
        elif kind == "diff":
            file.write_text(changed(file.read_text(encoding="utf-8"), text), encoding="utf-8")
        else:
            commands = [line for line in text.splitlines() if line.startswith("$ ")]
            text = "\n".join(f"{command}\n{run(command[2:], tmp_path)}" for command in commands)
        return f"```{kind}\n{text}```\n"

    page = PAGE.read_text(encoding="utf-8")
    played = BLOCK.sub(play, page)
    if pytestconfig.getoption("--rewrite"):
        PAGE.write_text(played, encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == played
    assert "DIVERGES  ALIGN-12" in played
    assert "CONFORMS   within the steps above: gate" in played
    assert "also fired at this step: SUB-08" in played
    assert "CONFORMS   within the steps above: store" in played
