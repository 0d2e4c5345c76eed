"""The evidence of a failed run is the simplest case, also of a hang and of a flaky answer."""

import shlex
import sys
from pathlib import Path

import pytest

from conformance import cli
from conformance.adapters.in_process import InProcess, ModelInstance
from conformance.adapters.process import ProcessAdapter
from conformance.divergence import Answer, Divergence
from conformance.drive.bounds.lives import play_lives
from conformance.drive.lockstep import Played, replay
from conformance.drive.oracle import Oracle
from conformance.drive.plan import Plan
from conformance.drive.saved import save
from conformance.drive.shrinking.evidence import HANGS as MOST_HANGS
from conformance.drive.shrinking.evidence import evidence
from conformance.report.divergence.description import FoundDivergence
from conformance.verdict import Exit, Verdict
from model.components import COMPONENTS, WireError

GATE = {
    "channels": 4,
    "mode": "exactly-once",
    "level": "polled",
    "checkpoints_after_tasks_finish": False,
    "profile": "flink-1.14",
}
ADAPTERS = Path(__file__).parents[2] / "adapters"
OFFERED = {"mode": ("exactly-once",), "profile": ("flink-1.14",)}


class Silent(ModelInstance):
    """The model without its effects at the events for which `forgets` is true."""

    def __init__(self, component, config, forgets):
        super().__init__(component, config)
        self.forgets, self.config, self.last = forgets, config, None

    def apply(self, event):
        last, self.last = self.last, event
        effects = super().apply(event)
        return [] if self.forgets(self.config, last, event) else effects


def adapter_of(component, forgets):
    make = lambda config: Silent(COMPONENTS[component], config, forgets)  # noqa: E731
    return InProcess("silent", {component: make}, (WireError,))


def found(component, config, events, forgets, fixed=OFFERED) -> Divergence:
    adapter = adapter_of(component, forgets)
    return evidence(replay(Oracle(component, config), adapter, events), adapter, fixed)


def barrier(channel, checkpoint, **options):
    return {"kind": "barrier", "channel": channel, "checkpoint": checkpoint, **options}


def cancel(channel, checkpoint):
    return {"kind": "cancel", "channel": channel, "checkpoint": checkpoint}


RUN = [
    {"kind": "record", "channel": 1, "value": "a"},
    barrier(3, 7),
    barrier(0, 7),
    cancel(2, 9),
    barrier(2, 12),
    barrier(3, 40),
]


def test_the_simplest_case_has_the_fewest_channels_the_simplest_level_defaults_and_low_ids():
    smallest = found("gate", GATE, RUN, lambda config, last, event: event.get("checkpoint") == 40)

    assert smallest.rule == "ALIGN-03"
    assert smallest.events == (barrier(0, 1), barrier(0, 40))  # the defect depends on the id 40
    assert smallest.config == {
        **GATE,
        "channels": 2,
        "level": "handler",
        "checkpoints_after_tasks_finish": True,
    }


@pytest.mark.parametrize(("channel", "checkpoint"), [(64, 2**31), (33, 2**53 + 1)])
def test_relevant_numbers_are_the_lowest_that_show_the_defect(channel, checkpoint):
    def forgets(config, last, event):
        return event["channel"] >= channel and event.get("checkpoint", 0) >= checkpoint

    events = [barrier(0, 3), barrier(100, 2**60)]
    smallest = found("gate", {**GATE, "channels": 129}, events, forgets)

    assert smallest.events == (barrier(0, 1), barrier(channel, checkpoint))  # two barriers, for ALIGN-03
    assert smallest.config["channels"] == channel + 1


def test_options_that_a_user_chose_or_that_are_not_offered_stay():
    fixed = {**OFFERED, "channels": 4, "level": ("polled",)}
    smallest = found("gate", GATE, RUN, lambda config, last, event: "checkpoint" in event, fixed)

    assert smallest.config == {**GATE, "checkpoints_after_tasks_finish": True}


def test_a_job_has_the_fewest_tasks_and_plain_options():
    tasks = [{"id": f"t{number}", "source": True} for number in range(3)]
    config = {"tasks": tasks, "profile": "2.3", "retain": 3, "max_concurrent": 2, "timeout_ms": 50}
    events = [
        {"kind": "task_status", "task": "t1", "status": "RUNNING"},
        {"kind": "trigger", "type": "savepoint", "forced": True},
    ]
    smallest = found(
        "coordinator", config, events, lambda config, last, event: event["kind"] == "trigger", {}
    )

    assert (len(smallest.events), len(smallest.config["tasks"])) == (1, 1)
    assert {name: smallest.config[name] for name in ("retain", "max_concurrent", "timeout_ms")} == {
        "retain": 1,
        "max_concurrent": 1,
        "timeout_ms": 600_000,
    }
    assert "forced" not in smallest.event


class Sometimes:
    """Forgets the effects of the cancellation in every third play."""

    def __init__(self):
        self.plays = 0

    def __call__(self, config, last, event):
        self.plays += event["kind"] == "cancel"
        return event["kind"] == "cancel" and self.plays % 3 == 0


def test_a_flaky_answer_is_shrunk_and_counted_and_no_divergence():
    adapter = adapter_of("gate", Sometimes())
    oracle = Oracle("gate", GATE)
    flaky = next(one for one in (replay(oracle, adapter, RUN).divergence for _ in range(9)) if one)
    smallest = evidence(Played(unrepeatable=flaky), adapter, OFFERED)

    assert smallest.event["kind"] == "cancel"
    assert smallest.step < len(RUN) - 2
    assert smallest.verdict is Verdict.UNDETERMINED
    differed, plays = smallest.repeats
    assert 0 < differed < plays


HANGS = """
import sys
sys.path.insert(0, {adapters!r})
import gate_forgets_subsumption as gate

class Hangs(gate.Gate):
    cancelled = 0

    def cancel(self, channel, checkpoint):
        self.cancelled += 1
        if self.cancelled == 2:
            print("the head", *["chatter"] * 50, "the end", sep="\\n", file=sys.stderr, flush=True)
            sys.stdin.read()
        return super().cancel(channel, checkpoint)

gate.Gate = Hangs
gate.main()
"""
SENT = [barrier(0, 5), cancel(1, 6), barrier(1, 7), cancel(0, 8), barrier(1, 9)]


@pytest.fixture
def command(tmp_path):
    """The command of a gate that does not answer the second cancellation marker."""
    script = tmp_path / "hangs.py"
    script.write_text(HANGS.format(adapters=str(ADAPTERS)), encoding="utf-8")
    return shlex.join([sys.executable, str(script)])


def test_answers_that_are_too_slow_for_a_part_of_the_limit_are_no_hangs(command, monkeypatch):
    monkeypatch.setattr("conformance.drive.shrinking.evidence.HANG_SHARES", (10**9, 4))
    config = {**GATE, "level": "handler"}
    with ProcessAdapter(command, 1.0) as adapter:
        played = replay(Oracle("gate", config), adapter, SENT, batch=100)
        hung = evidence(played, adapter, OFFERED)

    assert hung.events == (cancel(0, 1), cancel(0, 1))


def test_a_hang_is_shrunk_saved_and_replayed_with_both_ends_of_stderr(tmp_path, capsys, command):
    config = {**GATE, "level": "handler"}
    case = Divergence("gate", config, tuple(SENT), Answer([], {}), Answer([], {}), ())
    found_divergence = FoundDivergence(case, "x", command, 0)
    files = save(found_divergence, 0, tmp_path / "out")
    words = ["conform", "--adapter", command, "--out", str(tmp_path / "out"), "--limit", "1"]

    with ProcessAdapter(command, 1.0) as adapter:
        played = replay(Oracle("gate", config), adapter, SENT, batch=100)
        hung = evidence(played, adapter, OFFERED)
        assert adapter.starts <= 3 + MOST_HANGS

    assert hung.events == (cancel(0, 1), cancel(0, 1))
    assert (hung.lost, hung.config["channels"], hung.verdict) == ("hung", 1, Verdict.UNDETERMINED)
    assert cli.run(words) == Exit.UNDETERMINED  # the saved case is played first
    output = capsys.readouterr().out
    assert "UNDETERMINED  hung: no answer within 1 s" in output
    assert "    the head\n    chatter\n" in output
    assert "    chatter\n    the end\n" in output
    assert "--limit 1\n" in output
    assert cli.run(["conform", "--replay", str(files.replay), "--limit", "1"]) == Exit.UNDETERMINED


def test_a_divergence_that_does_not_come_again_is_flaky():
    adapter = adapter_of("gate", Sometimes())
    oracle = Oracle("gate", GATE)
    flaky = next(one for one in (replay(oracle, adapter, RUN).divergence for _ in range(9)) if one)

    assert evidence(Played(divergence=flaky), adapter, OFFERED).verdict is Verdict.UNDETERMINED


class Once:
    """Forgets the effects of one event, with the given number among all events."""

    def __init__(self, number):
        self.left = number

    def __call__(self, config, last, event):
        self.left -= 1
        return self.left == 0


def test_a_wrong_answer_in_a_long_life_that_does_not_come_again_is_flaky():
    total = Played()
    plan = Plan(1, 1, pinned=OFFERED | {"channels": 2, "level": "handler"}, checkpoints=60)
    assert play_lives("gate", adapter_of("gate", Once(9)), plan, total) == ()

    assert total.divergence is None
    assert total.unrepeatable.step >= 9
    total = Played()
    known = plan._replace(is_known=lambda divergence: True)
    play_lives(
        "gate", adapter_of("gate", lambda config, last, event: event["kind"] == "cancel"), known, total
    )
    assert total.is_sound
    assert total.known == 1
