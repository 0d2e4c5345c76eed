"""A failure without a sequence of events is saved, replayed, and listed as known."""

import shlex
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from conformance.commands.implementations import conform
from conformance.drive.known_divergences import read
from conformance.verdict import Exit

ADAPTERS = Path(__file__).parents[2] / "adapters"
NO_POSITION = shlex.join([sys.executable, str(ADAPTERS / "wrong_in_one_word.py"), "no-position"])
GATE = """
from time import sleep
from model.components import COMPONENTS

class Gate:
    modes, profiles, capabilities = ["exactly-once"], ["flink-1.14"], ["handler"]
    def __init__(self, config):
        {new}
        self.state = COMPONENTS["gate"].new(config)
    def apply(self, event):
        if 900 < event.get("checkpoint", 0) < 2_000:
            {late}
        self.state, effects, _ = COMPONENTS["gate"].apply(self.state, event)
        return list(effects)
    def observe(self):
        return COMPONENTS["gate"].observe(self.state)

components = {{"gate": Gate}}
"""


def run(*words):
    return CliRunner().invoke(conform.command, [*map(str, words)], standalone_mode=False)


def examined(folder, *words, limit="60"):
    quick = ("--config", "channels=2", "--no-suites", "--examples", "1", "--out", folder, "--limit", limit)
    return run(*quick, *words)


@pytest.mark.parametrize(
    ("new", "late", "says", "code", "limit"),
    [
        ("pass", "return []", "in a life of 1,000 checkpoints, after", Exit.DIVERGES, "60"),
        ("pass", "sleep(9)", "events: hung: no answer", Exit.UNDETERMINED, "0.5"),
        ("sleep(9)", "pass", "hung: no answer within 0.5 s", Exit.UNDETERMINED, "0.5"),
    ],
)
def test_a_failure_without_a_sequence_of_events_is_saved_and_replayed(
    user_folder, new, late, says, code, limit
):
    name = f"gate_{abs(hash((new, late)))}"
    (user_folder / f"{name}.py").write_text(GATE.format(new=new, late=late))
    adapter = ("--adapter", f"{name}:components")
    first = examined(user_folder / "out", *adapter, "--life", "1000", limit=limit)
    (file,) = (user_folder / "out").glob("*.json")
    again = run("--replay", file, "--limit", limit)

    assert (first.return_value, again.return_value) == (code, code), first.output
    assert says in again.output
    assert "--replay" in first.output
    assert file.stat().st_size < 2_000


def test_a_failure_in_batches_is_saved_replayed_listed_and_then_tolerated(tmp_path):
    file, out = tmp_path / "known.json", tmp_path / "out"
    command = ("--adapter", NO_POSITION, "--life", "0", "--known-divergences", file)
    assert examined(out, *command[:-2]).return_value == Exit.DIVERGES
    (saved,) = out.glob("*.json")
    replayed = run("--replay", saved)
    assert replayed.return_value == Exit.DIVERGES
    assert 'expected "at": 0, got no position' in replayed.output
    assert run("--replay", saved, "--adapter", "model").return_value == Exit.CONFORMS

    assert examined(out, *command, "--fix").return_value == Exit.CONFORMS
    assert [entry.check for entry in read(file)] == ["batch"]
    assert examined(out, *command).return_value == Exit.CONFORMS
    right = ("--adapter", NO_POSITION.replace("no-position", "right"), *command[2:])
    assert "passes  gate, check batch" in examined(out, *right).output
