"""The classifier on components that a test drives through failures, and on the account of a recorded run."""

import shlex
import sys
from pathlib import Path

import orjson
import pytest

from conformance import cli
from conformance.adapters.choose import ours
from conformance.observe.guarantees.anomalies import Anomaly, Guarantee, Subject
from conformance.observe.guarantees.driven import UndrivenError, worst_of_gate, worst_of_sink
from conformance.verdict import Exit

ADAPTERS = Path(__file__).parents[1] / "adapters"
HASTY = shlex.join([sys.executable, str(ADAPTERS / "sink_commits_early.py")])
FORGETFUL = shlex.join([sys.executable, str(ADAPTERS / "gate_forgets_subsumption.py")])


def gate(mode):
    return {"channels": 2, "mode": mode, "level": "polled"}


def names(found):
    return {finding.anomaly for finding in found.findings}


@pytest.mark.rule("ONCE-03")
@pytest.mark.parametrize("name", ["model", "impl"])
def test_an_aligned_gate_and_a_sink_of_two_phases_are_exactly_once(name):
    for found in (worst_of_gate(ours(name), gate("exactly-once"), 0), worst_of_sink(ours(name), {}, 0)):
        assert found.findings == ()
        assert found.guarantee is Guarantee.EXACTLY_ONCE


@pytest.mark.rule("TRACK-01")
@pytest.mark.parametrize("name", ["model", "impl"])
def test_a_tracking_gate_is_at_least_once(name):
    found = worst_of_gate(ours(name), gate("at-least-once"), 0)
    assert found.guarantee is Guarantee.AT_LEAST_ONCE
    assert names(found) == {
        Anomaly.DUPLICATED_RECORD,
        Anomaly.STATE_TOO_LARGE,
        Anomaly.STATE_AHEAD_OF_OFFSETS,
    }


def test_a_gate_that_cannot_be_driven_is_reported():
    with pytest.raises(UndrivenError, match="record: expected level polled, got handler"):
        worst_of_gate(ours("model"), {"channels": 2, "mode": "exactly-once", "level": "handler"}, 0)


@pytest.mark.rule("SINK-02")
def test_a_sink_that_commits_early_is_dirty_and_doubles(capsys):
    assert cli.run(["classify", "--adapter", HASTY]) == Exit.DIVERGES
    output = capsys.readouterr().out
    assert "uncommitted output visible" in output
    assert "duplicated record" in output
    assert "\nDIVERGES   exactly-once is refuted\n" in output
    assert cli.run(["classify", "--adapter", HASTY, "--keeps", "at-least-once"]) == Exit.CONFORMS


def test_a_component_that_is_not_offered_does_not_pass(capsys):
    assert cli.run(["classify", "--adapter", FORGETFUL]) == Exit.UNDETERMINED
    assert "only a gate at handler level" in capsys.readouterr().out
    assert cli.run(["classify", "--adapter", "./no-such-engine"]) == Exit.UNDETERMINED
    assert cli.run(["classify"]) == Exit.USAGE


ACCOUNT = {
    "sent": [{"record": n, "key": "a", "lane": "in-0", "position": n, "weight": n} for n in (0, 1)],
    "committed": [
        {"key": "a", "record": 0, "place": 1, "total": 0},
        {"key": "a", "record": 1, "place": 2, "total": 1},
    ],
    "state": [{"key": "a", "records": 2, "total": 1}],
    "cuts": [{"checkpoint": 1, "offsets": {"in-0": 1}, "state": [{"key": "a", "records": 1, "total": 0}]}],
}


def test_a_recorded_account_is_classified(tmp_path, capsys):
    file = tmp_path / "account.json"
    file.write_bytes(orjson.dumps(ACCOUNT))
    assert cli.run(["classify", str(file)]) == Exit.CONFORMS
    assert "exactly-once is not refuted by this run; no run proves it" in capsys.readouterr().out

    file.write_bytes(orjson.dumps({**ACCOUNT, "committed": ACCOUNT["committed"][:1]}))
    assert cli.run(["classify", str(file)]) == Exit.DIVERGES
    assert "key a, record 1: position 1 of in-0, never committed" in capsys.readouterr().out
    assert cli.run(["classify", str(file), "--keeps", "at-most-once"]) == Exit.CONFORMS

    file.write_bytes(b"{}")
    assert cli.run(["classify", str(file)]) == Exit.USAGE


def test_a_torn_cut_of_a_recorded_run_is_found(tmp_path, capsys):
    file = tmp_path / "account.json"
    torn = {**ACCOUNT["cuts"][0], "offsets": {"in-0": 2}}
    file.write_bytes(orjson.dumps({**ACCOUNT, "cuts": [torn]}))
    assert cli.run(["classify", str(file)]) == Exit.DIVERGES
    output = capsys.readouterr().out
    assert Anomaly.STATE_BEHIND_OFFSETS.title in output
    assert f"output {Guarantee.EXACTLY_ONCE.value}" in output
    assert Anomaly.STATE_BEHIND_OFFSETS.subject is Subject.STATE
