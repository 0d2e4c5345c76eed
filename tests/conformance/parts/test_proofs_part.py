"""The proofs part fails for what it must prove and did not, and no published case is vacuous by accident."""

from conformance.parts import proofs
from conformance.parts.result import Context
from conformance.verdict import Verdict
from model.channel.channel import CHANNEL_PROFILES
from model.channel.proofs import channel_cases
from model.checker.prove import Report, open_components, prove
from model.coordinator.proofs.coordinator import coordinator_cases
from model.gate.profiles import PROFILES
from model.gate.proofs.aligned import gate_cases
from model.gate.proofs.modes import mode_cases
from model.initial_states import INITIAL_STATES
from model.offsets.proofs import all_offsets_cases
from model.proofs import start_cases
from model.properties import PROPERTIES
from model.sizes import SIZES
from model.store.proofs import store_cases


def test_a_case_that_the_invariants_exclude_proves_nothing():
    report = prove(store_cases(1, 3), PROPERTIES)  # a store that retains 1 never holds 3

    assert report == Report(frozenset(), frozenset(), (), 0, 0, 0)


def test_rules_that_nobody_asked_for_are_a_finding(monkeypatch, tmp_path):
    monkeypatch.setattr(proofs, "ProcessPoolExecutor", InThisProcess)
    monkeypatch.setattr(proofs, "_claim", lambda _: None)  # tests/model/test_generations.py proves them
    monkeypatch.setattr(proofs, "_share", lambda *_: reported({"ALIGN-01"}, {"ALIGN-01"}))
    result = proofs.run(Context(0, tmp_path))

    assert result.verdict is Verdict.UNDETERMINED
    assert "ALIGN-02" in result.findings[0].line


def test_what_no_case_reaches_is_not_proved(monkeypatch, tmp_path):
    every = proofs.PROVED_HERE | {"ONCE-01"}
    monkeypatch.setattr(proofs, "ProcessPoolExecutor", InThisProcess)
    monkeypatch.setattr(proofs, "_claim", lambda _: None)  # tests/model/test_generations.py proves them
    monkeypatch.setattr(proofs, "_share", lambda *_: reported(every, every - {"ONCE-01", "ALIGN-03"}))
    result = proofs.run(Context(0, tmp_path))

    assert set(result.rules) == every - {"ONCE-01", "ALIGN-03"}
    assert [finding.line for finding in result.findings] == [
        "no case checks ALIGN-03; add one to model/*/proofs"
    ]


def test_an_empty_coordinator_names_no_rule_of_its_masters():
    report = prove(coordinator_cases(2, 0, 0, 0, 1), PROPERTIES)

    assert "COORD-23" in report.proved
    assert "COORD-23" not in report.fired


def test_the_bound_names_what_is_closed_and_what_is_one_step():
    closed = prove(all_offsets_cases(), PROPERTIES)
    single = prove(coordinator_cases(2, 0, 0, 0, 1), PROPERTIES)
    assert open_components(closed.starts, closed.afters) == {}
    assert set(open_components(single.starts, single.afters)) == {"coordinator"}
    assert proofs.closure_of([closed, single]) == (
        f"closed under steps: {closed_name(closed)}; one step from the shapes given for the others "
        f"(coordinator {len(single.starts)})"
    )


def test_a_failed_gate_takes_no_further_step():
    report = prove(gate_cases(2, PROFILES["flink-1.12"]), PROPERTIES)
    assert open_components(report.starts, report.afters) == {}


def test_a_channel_is_closed_within_its_size():
    cases = [case for items in (0, 1) for case in channel_cases(items, CHANNEL_PROFILES["flink-1.12"])]
    report = prove(cases, PROPERTIES, within={"channel": SIZES["channel"].holds})
    assert report.refutations == ()
    assert open_components(report.starts, report.afters) == {}


def test_a_start_without_a_shape_that_a_step_reaches_is_not_closed():
    report = prove(gate_cases(2), PROPERTIES)
    fewer = frozenset(start for start in report.starts if start not in report.afters)
    assert open_components(fewer, report.afters)


def test_an_initial_state_that_breaks_an_invariant_is_refuted(monkeypatch):
    """The base of the induction: proved for the sizes of each case, whatever is explored."""
    cases = [*gate_cases(3), *mode_cases(1)]
    assert prove(start_cases(cases), PROPERTIES).refutations == ()

    pending = {**INITIAL_STATES, "gate": lambda gate: INITIAL_STATES["gate"](gate)._replace(pending=True)}
    monkeypatch.setattr("model.proofs.INITIAL_STATES", pending)
    monkeypatch.setattr("model.proofs.PERMITTED", {})
    refuted = prove(start_cases(cases), PROPERTIES).refutations
    assert {(one.rule, one.label) for one in refuted} == {
        ("ALIGN-19", "new gate"),
        ("UNAL-26", "new unaligned"),
    }


def closed_name(report):
    (name,) = {component for component, _ in report.starts}
    return name


def reported(proved, fired):
    return Report(frozenset(proved), frozenset(fired), (), 1, 1, 1)


class InThisProcess:
    """A pool of processes that has none."""

    def __init__(self, processes):
        self.processes = processes

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None

    map = staticmethod(map)
