"""Executes every block of README and docs as a reader would, unless its mark says that it is not run.

`pytest --rewrite` writes the current output of the commands into the pages.
"""

import subprocess

import pytest
from blocks import FENCE, MARKS, PAGES, PLAYED, ROOT, SHOWN, Player, block_of, blocks_of

CLONED = ("changing-the-protocol.md", "proposed-protocols.md")
"""The pages that are read in a checkout, whose files they change."""


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_block_states_what_it_is(page):
    for block in blocks_of(page):
        assert block.language in (*PLAYED, *SHOWN), f"{block.where}: {block.language!r}"
        assert set(block.marks) <= set(MARKS), block.where
        reasons = [block.marks[mark] for mark in ("apart", "not run", "varies") if mark in block.marks]
        assert all(len(reason) > 10 for reason in reasons), block.where
        assert not reasons or block.language in PLAYED, f"{block.where}: nobody would play it"


def test_no_block_is_overlooked():
    for page in PAGES:
        fences = page.read_text(encoding="utf-8").count("```")
        assert fences == 2 * len(blocks_of(page)), page.name


def played(page, tmp_path, rewrite, *, apart):
    """The text of the page, and its text with the current output of the selected blocks."""
    if page.name in CLONED:
        subprocess.run(["git", "clone", "--quiet", ROOT, tmp_path / "checkout"], check=True)
        player = Player(tmp_path / "checkout", tmp_path / "checkout")
    else:
        player = Player(tmp_path)
        for name in ("tests", "spec"):
            (tmp_path / name).symlink_to(ROOT / name)

    def play(found):
        block = block_of(found, page)
        if not block.is_played or ("apart" in block.marks and not apart):
            return found[0]
        comments, indent, language, _ = found.groups()
        return f"{comments}{indent}```{language}\n{player.play(block)}{indent}```"

    text = page.read_text(encoding="utf-8")
    now = FENCE.sub(play, text)
    if rewrite:
        page.write_text(now, encoding="utf-8")
    return page.read_text(encoding="utf-8"), now


def with_blocks(*, apart):
    """Pages with blocks that are executed; `apart`: only pages with blocks of this mark."""
    chosen = []
    for page in PAGES:
        kinds = {"apart" in block.marks for block in blocks_of(page) if block.is_played}
        if (apart and True in kinds) or (not apart and False in kinds):
            chosen.append(page)
    return chosen


@pytest.mark.parametrize("page", with_blocks(apart=False), ids=lambda page: page.name)
def test_a_page_shows_the_output_of_its_commands(page, tmp_path, pytestconfig):
    stands, now = played(page, tmp_path, pytestconfig.getoption("--rewrite"), apart=False)

    assert stands == now


@pytest.mark.docs
@pytest.mark.parametrize("page", with_blocks(apart=True), ids=lambda page: page.name)
def test_a_page_shows_the_output_of_its_expensive_commands(page, tmp_path, pytestconfig):
    stands, now = played(page, tmp_path, pytestconfig.getoption("--rewrite"), apart=True)

    assert stands == now


def test_the_tutorial_finds_its_bug_and_repairs_it():
    names = ("verify-your-implementation", "an-adapter-in-java")
    page = "".join((ROOT / f"docs/verify/{name}.md").read_text(encoding="utf-8") for name in names)

    assert "DIVERGES  ALIGN-12" in page
    assert "CONFORMS   within this bound: gate" in page
    assert "also fired at this step: SUB-08" in page
    assert "CONFORMS   within this bound: store" in page
