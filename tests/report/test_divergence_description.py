"""A failure fits two screens of 80 columns, for any length of its sequence and its texts."""

import sys
from pathlib import Path
from random import Random

import pytest

from conformance import cli
from conformance.adapters.protocol import Crashed, Malformed
from conformance.divergence import Answer, Divergence
from conformance.drive.lockstep import answer_of, drawn
from conformance.drive.oracle import Oracle
from conformance.generators import generate
from conformance.report.divergence import description
from conformance.report.divergence.description import LINES, FoundDivergence, SavedFiles
from conformance.report.formats.columns import NARROW

FOLDER = Path("build/divergences")
SAVED = SavedFiles(
    FOLDER / "0123abcd.json", FOLDER / "test_0123abcd.py", FOLDER / "0123abcd/Divergence_0123abcd.tla"
)
ADAPTERS = Path(__file__).parents[1] / "adapters"


def described(component, config, events, got, rules=("ALIGN-04",)):
    *before, expected = map(answer_of, Oracle(component, config).transcript(events))
    divergence = Divergence(component, config, tuple(events), expected, got, rules, tuple(before))
    return description.describe(
        FoundDivergence(divergence, "my-engine 0.3.1", "./my-engine", 12_345), SAVED
    ).splitlines()


def fits(lines):
    assert len(lines) <= LINES
    assert [line for line in lines if len(line) > NARROW] == []


@pytest.mark.parametrize("component", generate.COMPONENTS)
def test_a_long_sequence_is_shown_by_its_ends(component):
    config = generate.configs(component)[0]
    events, _ = drawn(Oracle(component, config), generate.chooser(component, config, Random(1)), 60)
    lines = described(component, config, events, Answer([{"kind": "fail", "error": "E"}] * 20, {}))

    fits(lines)
    assert any(line.startswith(f"->{len(events):>4}") for line in lines)
    assert any(line.startswith("     1") for line in lines)
    assert any("steps left out, answered as expected" in line for line in lines) or len(events) < 15


def test_a_short_sequence_is_shown_completely():
    barrier = {"kind": "barrier", "channel": 0, "checkpoint": 1}
    config = {"channels": 2, "mode": "exactly-once", "level": "handler"}
    lines = described("gate", config, [barrier] * 5, Answer([], {"blocked": []}))

    assert [line[:6] for line in lines if line[:6].strip().lstrip("->").isdigit() or "->" in line[:2]] == [
        "     1", "     2", "     3", "     4", "->   5",
    ]  # fmt: skip
    assert not any("left out, answered" in line for line in lines)


@pytest.mark.parametrize("failure", [Crashed, Malformed])
def test_last_text_of_an_implementation_is_cut(failure):
    chatter = "no word that ends the chatter " * 400
    config = {"channels": 2, "mode": "exactly-once", "level": "handler"}
    event = {"kind": "barrier", "channel": 0, "checkpoint": 1}
    lines = described("gate", config, [event], failure(chatter, f"{chatter}\n" * 99))

    fits(lines)
    assert any(line.startswith("    no word that ends") for line in lines)


@pytest.mark.parametrize(
    "script",
    ["gate_forgets_subsumption", "gate_unblocks_on_late_barrier", "misbehaving crash", "misbehaving noisy"],
)
def test_the_fakes_fit_on_a_terminal_and_in_a_pipe(script, tmp_path, capsys):
    name, *how = script.split()
    adapter = " ".join([sys.executable, str(ADAPTERS / f"{name}.py"), *how])
    cli.run(["conform", "--adapter", adapter, "--examples", "2", "--out", str(tmp_path)])
    output = capsys.readouterr().out
    lines = output[output.index("\nDIVERGES  ") + 1 :].splitlines()

    assert "\x1b" not in output  # without colours nothing is missing
    assert len(lines) <= LINES + 2  # the verdict comes below the steps
    commands = [line for line in lines if str(tmp_path) in line or "--adapter" in line]
    assert [line for line in lines if len(line) > NARROW and line not in commands] == []
