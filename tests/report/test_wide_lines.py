"""Lines are as wide as the terminal, at least 80 columns. A broken command line can still be pasted."""

import shlex

import pytest

from conformance.report.formats.columns import columns, command, deeper, wrapped


@pytest.mark.parametrize(("said", "wide"), [("20", 80), ("80", 80), ("90", 90), ("400", 100)])
def test_a_line_is_never_narrower_nor_endless(monkeypatch, said, wide):
    monkeypatch.setenv("COLUMNS", said)
    assert columns() == wide
    assert max(map(len, wrapped("many words " * 50, 4).splitlines())) <= wide


def test_continued_lines_are_indented_below_the_first(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    first, second = deeper("    " + "many words " * 9).splitlines()
    assert (len(first) - len(first.lstrip()), len(second) - len(second.lstrip())) == (4, 6)


def test_a_command_that_is_cut_is_the_same_when_it_is_pasted(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    line = f"barrierspec conform --adapter 'python {'long ' * 4}name.py' --component gate --seed 0"
    shown = command("  again   ", line)
    first, second = shown.splitlines()
    assert first.endswith(" \\")
    assert second.startswith("            ")
    assert max(map(len, shown.splitlines())) <= 80
    pasted = shown.removeprefix("  again   ").replace("\\\n", "")
    assert shlex.split(pasted) == shlex.split(line)
    assert command("  again   ", "barrierspec smoke") == "  again   barrierspec smoke"
