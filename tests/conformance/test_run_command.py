"""`barrierspec run` empties only folders that a run has made."""

import click
import pytest

from conformance.commands.run import MARK, emptied


def test_a_folder_of_somebody_else_is_left_alone(tmp_path):
    (tmp_path / "thesis.txt").write_text("mine")

    with pytest.raises(click.UsageError, match="give a new folder"):
        emptied(tmp_path)
    assert (tmp_path / "thesis.txt").read_text() == "mine"


def test_a_folder_of_an_earlier_run_is_emptied(tmp_path):
    out = tmp_path / "run"
    emptied(out)
    (out / "old").touch()
    emptied(out)

    assert [path.name for path in out.iterdir()] == [MARK]
