"""What the page on torture shows of `barrierspec classify` is what it prints.

`pytest --rewrite` puts it into the page.
"""

from pathlib import Path

from test_tutorial import BLOCK, run

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "torture.md"


def test_what_is_shown_is_what_is_printed(pytestconfig):
    def play(block):
        (command,) = [line for line in block[2].splitlines() if line.startswith("$ ")]
        return f"```console\n{command}\n{run(command[2:], ROOT)}```\n"

    page = PAGE.read_text(encoding="utf-8")
    played = BLOCK.sub(play, page)
    if pytestconfig.getoption("--rewrite"):
        PAGE.write_text(played, encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == played
    assert played.count("exactly-once is refuted") == 2
