"""With selected rules, `conform` plays only cases that exercise them, and the verdict states the rest."""

from itertools import islice

import pytest

from conformance import cli
from conformance.adapters.choose import ours
from conformance.cases.hypothesis_machines import Source, run_machine
from conformance.cases.walks import LENGTH, WalkOptions, walks
from conformance.drive.examine import examine
from conformance.drive.loop import drive
from conformance.drive.oracle import Oracle
from conformance.drive.plan import Plan
from conformance.errors import InputError
from conformance.rules.coverage import coverage
from conformance.rules.selection import components_of, selected_rules
from conformance.verdict import Exit, Verdict

PINNED = {"mode": "exactly-once", "level": "handler", "channels": 2, "profile": "flink-1.14"}


class Listening:
    """The bundled implementation. It records the events of each case."""

    def __init__(self):
        self._ours = ours("impl")
        self.hello, self.bye = self._ours.hello, self._ours.bye
        self.cases = []

    def new(self, component, config):
        self.cases.append((component, config, []))
        return self._ours.new(component, config)

    def apply(self, events):
        self.cases[-1][2].extend(events)
        return self._ours.apply(events)


def fired(case):
    component, config, events = case
    return {rule for edge in Oracle(component, config).transcript(events) for rule in edge.rules}


def walked(component, adapter, seed, count, *, length=LENGTH, **chosen):
    return drive(islice(walks(component, seed, WalkOptions(**chosen), length=length), count), adapter)


def run(component, adapter, seed, count, *, selected=frozenset(), **chosen):
    source = Source(seed, count, steps=6, selected=frozenset(selected), **chosen)
    return run_machine(component, adapter, source)


@pytest.mark.parametrize("played", [walked, run], ids=["walks", "machine"])
def test_every_case_exercises_a_selected_rule(played):
    listening, whole = Listening(), Listening()
    played("gate", listening, 1, 20, pinned=PINNED, selected={"ALIGN-16", "ALIGN-11"})
    played("gate", whole, 1, 20, pinned=PINNED)

    assert listening.cases
    assert all(fired(case) & {"ALIGN-16", "ALIGN-11"} for case in listening.cases)
    assert any(not fired(case) & {"ALIGN-16", "ALIGN-11"} for case in whole.cases)


def test_the_cases_are_those_of_the_whole_run():
    listening, whole = Listening(), Listening()
    walked("store", listening, 5, 60, selected={"SUB-10"})
    walked("store", whole, 5, 60)

    expected = [case for case in whole.cases if "SUB-10" in fired(case)]
    assert listening.cases == expected != whole.cases


@pytest.mark.rule("ALIGN-04")
@pytest.mark.parametrize("played", [walked, run], ids=["walks", "machine"])
def test_a_rule_that_is_broken_is_found(start, played):
    adapter = start("gate_unblocks_on_late_barrier")
    broken = played("gate", adapter, 3, 100, pinned=PINNED, selected={"ALIGN-04"})

    assert broken.divergence.rule == "ALIGN-04"


@pytest.mark.rule("ALIGN-12")
def test_a_violation_of_a_rule_that_is_not_selected_is_not_found(start):
    adapter = start("gate_unblocks_on_late_barrier")
    kept = walked("gate", adapter, 1, 20, length=4, pinned=PINNED, selected={"ALIGN-12"})

    assert kept.cases > 0
    assert kept.divergence is None


def test_coverage_counts_the_rules_that_were_not_selected():
    told = coverage("store", {"SUB-09"}, selected={"SUB-09", "SUB-10"})

    assert told.missing == ("SUB-10",)
    assert told.not_tested == tuple(
        rule for rule in coverage("store", ()).missing if rule not in {"SUB-09", "SUB-10"}
    )
    assert told.describe() == f"1 of 2 rules, not SUB-10; not tested: {len(told.not_tested)} others"


@pytest.mark.rule("ALIGN-17")
def test_a_rule_that_cannot_fire_here_is_undetermined():
    plan = Plan(1, 3, pinned={"level": "handler"}, selected=frozenset({"ALIGN-17"}))
    done = examine("gate", ours("impl"), plan)

    assert done.verdict is Verdict.UNDETERMINED
    assert done.undetermined == ("cannot fire in these configurations: ALIGN-17",)


def test_rules_choose_the_components():
    selected = selected_rules(["sub-01", "SINK-03"], [])

    assert components_of(selected, ["gate", "store", "coordinator", "sink"]) == [
        "gate",
        "coordinator",
        "sink",
    ]


@pytest.mark.parametrize(
    ("rules", "components", "complaint"),
    [
        (["ALIGN-3"], [], "no rule has the ID"),
        (["ONCE-01"], [], "is about many steps and fires at none"),
        (["ALIGN-04"], ["sink"], "ALIGN-04 fires at gate, not at sink"),
        (["ALIGN-04"], ["gate", "sink"], "none of ALIGN-04 fires at sink; leave it out"),
    ],
)
def test_a_rule_that_cannot_be_selected_is_refused(rules, components, complaint):
    with pytest.raises(InputError, match=complaint):
        selected_rules(rules, components)


def test_the_command_names_the_selected_rules(capsys):
    selected = ["--rule", "SUB-09", "--rule", "SUB-10", "--component", "store"]
    assert cli.run(["conform", "--adapter", "impl", *selected, "--examples", "4", "--seed", "3"]) == 0
    output = capsys.readouterr().out

    assert output.startswith("barrierspec conform   barrierspec-impl ")
    assert "seed 3, only SUB-09, SUB-10\n" in output
    assert "2 of 2 rules; not tested: 3 others" in output
    again = "barrierspec conform --adapter impl --component store --rule SUB-09 --rule SUB-10 --seed 3"
    assert f"  again   {again} --examples 4" in output.replace(" \\\n           ", "")


def test_a_saved_divergence_of_another_rule_is_not_played(little_adapter, tmp_path, capsys):
    command = ["conform", "--adapter", little_adapter("gate_unblocks_on_late_barrier"), "--examples", "2"]
    assert cli.run([*command, "--out", str(tmp_path)]) == Exit.DIVERGES
    played_first = " 2 steps in 1 cases"
    assert cli.run([*command, "--out", str(tmp_path), "--rule", "ALIGN-06"]) == Exit.DIVERGES
    assert played_first not in capsys.readouterr().out.partition("only ALIGN-06")[2]
    assert cli.run([*command, "--out", str(tmp_path), "--rule", "ALIGN-04"]) == Exit.DIVERGES
    assert played_first in capsys.readouterr().out


def test_fail_fast_ends_at_the_first_component_that_diverges(little_adapter, tmp_path, capsys):
    chosen = ["--component", "store", "--component", "sink"]
    command = ["conform", "--adapter", little_adapter("misbehaving", "crash"), "--out", str(tmp_path)]
    assert cli.run([*command, *chosen, "--examples", "1", "--fail-fast"]) == Exit.DIVERGES
    output = capsys.readouterr().out
    assert output.rstrip().endswith("not examined, because of --fail-fast: sink")
    assert "  sink " not in output
    assert cli.run([*command, *chosen, "--examples", "1"]) == Exit.DIVERGES
    assert "  sink         UNDETERMINED" in capsys.readouterr().out


def test_the_run_continues_to_the_requested_number_of_steps(capsys):
    selected = ["--component", "store", "--component", "offsets", "--examples", "1", "--steps", "3000"]
    assert cli.run(["conform", "--adapter", "impl", "--no-suites", *selected]) == 0
    output = capsys.readouterr().out

    (told,) = [line for line in output.splitlines() if line.startswith("  steps   ")]
    assert 3000 <= int(told.split()[1].replace(",", "")) < 3600
    assert output.rstrip().endswith("--examples 1 --no-suites --steps 3000")


def test_a_rule_about_an_event_that_is_not_offered_is_undetermined():
    done = examine("gate", ours("model"), Plan(0, 1, selected=frozenset({"ALIGN-24"})))

    assert done.verdict is Verdict.UNDETERMINED
    assert done.undetermined == ("cannot fire in these configurations: ALIGN-24",)
