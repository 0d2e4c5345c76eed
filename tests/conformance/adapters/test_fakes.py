"""Each small fake adapter gets the right verdict, with a message that states the defect."""

import pytest

from conformance import cli
from conformance.verdict import Exit

FAKES = {
    ("fake_gates", "right"): (Exit.CONFORMS, "CONFORMS   within this bound: gate"),
    ("fake_gates", "slow"): (Exit.CONFORMS, "CONFORMS   within this bound: gate"),
    ("fake_gates", "never-blocks"): (Exit.DIVERGES, "DIVERGES  ALIGN-01"),
    ("fake_gates", "claims-older"): (Exit.DIVERGES, "profile flink-1.12"),
    ("fake_gates", "claims-polled"): (
        Exit.UNDETERMINED,
        "at handler level; offer less in hello",
    ),
    ("gate_forgets_subsumption",): (Exit.DIVERGES, "DIVERGES  ALIGN-03"),
    ("gate_unblocks_on_late_barrier",): (Exit.DIVERGES, "DIVERGES  ALIGN-04"),
    ("misbehaving", "crash"): (Exit.DIVERGES, "the engine has run hot"),
    ("misbehaving", "noisy"): (Exit.DIVERGES, "the last word"),
    ("misbehaving", "hang"): (
        Exit.UNDETERMINED,
        "UNDETERMINED  hung: no answer within 1 s",
    ),
    ("misbehaving", "deaf"): (Exit.UNDETERMINED, "no answer to hello"),
    ("misbehaving", "wrong-seq"): (Exit.DIVERGES, "seq: expected"),
    ("misbehaving", "swapped"): (Exit.DIVERGES, "seq: expected"),
    ("misbehaving", "malformed"): (Exit.DIVERGES, "expected one JSON object a line"),
    ("misbehaving", "short"): (Exit.DIVERGES, "effects: expected a list of 1 lists"),
    ("misbehaving", "chatty"): (Exit.DIVERGES, "expected one JSON object a line"),
    ("misbehaving", "unsupported"): (Exit.UNDETERMINED, "no instance of anything"),
}


def test_a_gate_is_compared_with_the_requested_generation(little_adapter, tmp_path, capsys):
    command = ["conform", "--adapter", little_adapter("fake_gates", "right"), "--examples", "4"]
    older = ["--config", "profile=flink-1.12", "--out", str(tmp_path)]

    assert cli.run([*command, *older]) == Exit.DIVERGES
    assert "profile flink-1.12" in capsys.readouterr().out


@pytest.mark.parametrize("fake", FAKES, ids="-".join)
def test_each_fake_gets_its_verdict_and_a_message_with_the_defect(fake, little_adapter, tmp_path, capsys):
    verdict, says = FAKES[fake]
    command = ["conform", "--adapter", little_adapter(*fake), "--examples", "2", "--no-suites"]

    limit = "1" if fake[-1] in ("hang", "deaf") else "10"
    assert cli.run([*command, "--out", str(tmp_path), "--limit", limit]) == verdict
    output = capsys.readouterr().out
    assert says in output
