"""A campaign, tested without Spark: the seed determines its rounds, and the report has its results."""

from collections import Counter
from contextlib import nullcontext

import pytest

from conformance import cli
from conformance.observe.guarantees.guarantee import Account, Row, Sent, classify
from conformance.torture import campaign as campaigns
from conformance.torture.campaign import Campaign
from conformance.torture.judge import Outcome, tally
from conformance.torture.kinds import KAFKA, STORE
from conformance.torture.report import report
from conformance.torture.rounds import (
    ALL_MODES,
    FAULTS_A_ROUND,
    KILLS_A_ROUND,
    MODES,
    Round,
    UnknownRoundError,
    all_marks,
    all_streaming_marks,
    marks_of,
    pairs_in_process,
    round_named,
    streaming_round,
)
from conformance.torture.servers.postgres_server import ServerNotFoundError
from conformance.verdict import Exit, Verdict
from impl.faults import POINTS, Action


def test_a_round_is_the_same_whenever_it_is_drawn():
    assert round_named("round-7", 1) == round_named("round-7", 1)
    assert round_named("round-7", 1) != round_named("round-7", 2)
    assert Round.from_json(round_named("driver-1", 1).to_json()) == round_named("driver-1", 1)


@pytest.mark.parametrize(
    "name", ["7", "round-", "round-x", "disk-1", "round-\N{SUPERSCRIPT TWO}", "frozen-" + "9" * 5_000]
)
def test_an_unknown_round_is_an_error(name):
    with pytest.raises(
        UnknownRoundError, match="round-N, driver-N, executor-N, server-N, frozen-N, clock-N, standalone-N"
    ):
        round_named(name, 1)


def test_every_pair_of_a_point_and_an_action_comes_once_before_any_comes_again():
    pairs = pairs_in_process()
    rounds = len(pairs) // FAULTS_A_ROUND["round"]
    drawn = Counter(
        (one.point, one.action) for k in range(rounds) for one in round_named(f"round-{k}", 5).faults
    )
    assert set(drawn.values()) == {1}
    assert {point for point, _ in pairs} == set(POINTS)
    assert len(pairs) - len(drawn) < FAULTS_A_ROUND["round"]


def test_modes_come_in_turn_unless_one_is_given():
    assert {round_named(f"round-{k}", 1).mode for k in range(3)} == set(MODES)
    assert round_named("round-1", 1, "at-least-once").mode == "at-least-once"
    for mode in ALL_MODES:
        assert round_named("round-1", 1, mode).checkpoints().gate_mode == mode


@pytest.mark.parametrize(
    ("kind", "kill"),
    [("driver", Action.KILL_DRIVER), ("executor", Action.KILL_EXECUTOR), ("server", Action.KILL_SERVER)],
)
def test_rounds_with_a_name_kill_the_process_that_it_names(kind, kill):
    for k in range(5):
        assert [one.action for one in round_named(f"{kind}-{k}", 1).faults].count(kill) == KILLS_A_ROUND


def test_rounds_on_a_standalone_cluster_kill_a_host_an_executor_and_a_driver():
    kills = (Action.KILL_HOST, Action.KILL_EXECUTOR, Action.KILL_DRIVER)
    for k in range(5):
        actions = [one.action for one in round_named(f"standalone-{k}", 1).faults]
        assert [actions.count(kill) for kill in kills] == [1, 1, 1]
        assert len(actions) == FAULTS_A_ROUND["standalone"]
    checkpoints = round_named("standalone-0", 1).checkpoints()
    assert checkpoints.data_inline_threshold_bytes == 0  # so every task writes an object


def test_the_reachable_faults_are_those_that_rounds_draw():
    rounds = [round_named(f"{kind}-{k}", 1) for kind in FAULTS_A_ROUND for k in range(800)]
    drawn = [marks_of(one, one.faults) for one in rounds]
    for kind, possible in all_marks().items():
        found = set().union(*(one[kind] for one in drawn))
        assert found <= possible
        assert found == possible or (kind == "phases" and len(found) > 0.9 * len(possible))  # rare phases
    drawn = [marks_of(one, one.faults) for one in (streaming_round(k, 1) for k in range(20))]
    for kind, possible in all_streaming_marks("idempotent").items():
        assert set().union(*(one[kind] for one in drawn)) == possible


def play(tmp_path, monkeypatch, faults, injected=lambda one: True, only=(), programs=list, **options):
    """A campaign whose rounds do not run, but report the planned faults for which `injected` is true."""

    def run(planned, *_, **__):
        return Outcome(planned, [one for one in planned.faults if injected(one)])

    for name in ("run_local", "run_with_separate_driver", "run_frozen"):
        monkeypatch.setattr(campaigns, name, run)
    for name in ("spark_session", "KeptServer", "SparkCluster"):
        monkeypatch.setattr(campaigns, name, lambda *_: nullcontext())
    monkeypatch.setattr(campaigns, "programs", programs)
    played = Campaign(1, None, faults, 60, tmp_path, only=only, **options)
    campaigns.run_campaign(played, lambda *_: None, only)
    return played


def test_a_campaign_prefers_rounds_that_reach_what_no_fault_has_reached(tmp_path, monkeypatch):
    guided = play(tmp_path, monkeypatch, 300)
    assert [one.round for one in guided.outcomes] == [
        round_named(one.round.name, 1) for one in guided.outcomes
    ]
    monkeypatch.setattr(campaigns, "ALTERNATIVES", 1)
    plain = play(tmp_path, monkeypatch, 300)
    assert plain.injected == guided.injected
    more, fewer = guided.reached.values(), plain.reached.values()
    assert more["faults"] >= fewer["faults"]
    assert more["modes"] > fewer["modes"] * 1.1
    assert more["phases"] > fewer["phases"] * 1.1


@pytest.mark.parametrize("kinds", [("server",), ("frozen",), ("driver", "round"), ("executor", "frozen")])
def test_a_campaign_of_some_kinds_injects_all_faults_in_them_in_equal_shares(tmp_path, monkeypatch, kinds):
    played = play(tmp_path, monkeypatch, 60, kinds=kinds)
    by_kind = Counter()
    for one in played.outcomes:
        by_kind[one.round.kind] += len(one.injected)
    assert set(by_kind) == set(kinds)
    assert all(abs(faults - 60 / len(kinds)) <= 4 for faults in by_kind.values())
    assert played.verdict is Verdict.CONFORMS
    assert "".join(f" --kind {one}" for one in kinds) + " --faults 60" in played.again()


def test_a_campaign_of_servers_that_cannot_start_is_no_pass_and_ends(tmp_path, monkeypatch):
    def missing():
        raise ServerNotFoundError("no PostgreSQL to start")

    played = play(tmp_path, monkeypatch, 30, programs=missing, kinds=("server", "frozen"))
    assert {one.round.kind for one in played.outcomes} == {"frozen"}
    assert {one.round.sink for one in played.outcomes} == {"parquet", "sqlite"}
    assert played.verdict is Verdict.UNDETERMINED


@pytest.mark.parametrize(
    ("options", "kinds", "sinks"),
    [
        ({"storage": STORE}, {"frozen", "round", "driver", "standalone"}, {"parquet"}),
        ({"source": KAFKA}, {"round", "driver"}, {"parquet", "sqlite", "postgres"}),
        ({"source": KAFKA, "storage": STORE}, {"round", "driver"}, {"parquet"}),
    ],
)
def test_a_campaign_of_some_kinds_leaves_out_what_a_store_or_a_broker_cannot_have(
    tmp_path, monkeypatch, options, kinds, sinks
):
    for name in ("KeptStore", "FaultyBroker"):
        monkeypatch.setattr(campaigns, name, lambda *_: nullcontext())
    played = play(
        tmp_path, monkeypatch, 60, kinds=("server", "frozen", "round", "driver", "standalone"), **options
    )
    assert {one.round.kind for one in played.outcomes} == kinds
    assert {one.round.sink for one in played.outcomes} <= sinks


@pytest.mark.parametrize("odd", [["--only", "round-0"], ["--implementation", "spark"]])
def test_kinds_are_for_the_bundled_runtime_and_not_for_named_rounds(odd, capsys):
    assert cli.run(["torture", "--kind", "round", *odd]) == Exit.USAGE
    assert "--kind is for the bundled runtime" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        (["--kind", "standalone"], "share nothing but an object store; add --storage s3"),
        (["--only", "standalone-0"], "share nothing but an object store; add --storage s3"),
        (["--kind", "standalone", "--storage", "s3", "--source", "kafka"], "--source kafka is for"),
    ],
)
def test_rounds_on_a_standalone_cluster_need_an_object_store_and_generate_their_rows(words, answer, capsys):
    assert cli.run(["torture", *words]) == Exit.USAGE
    assert answer in capsys.readouterr().err


def test_a_campaign_that_names_no_kinds_starts_no_standalone_cluster(tmp_path, monkeypatch):
    monkeypatch.setattr(campaigns, "KeptStore", lambda *_: nullcontext())
    played = play(tmp_path, monkeypatch, 300, storage=STORE)
    assert {one.round.kind for one in played.outcomes} == {"frozen", "round", "driver", "executor"}


def test_a_fault_that_was_planned_and_not_injected_comes_again_before_others(tmp_path, monkeypatch):
    planned = Counter()

    def injected(one):  # no fault is injected the first time
        planned[one.point, one.action] += 1
        return planned[one.point, one.action] > 1

    guided = play(tmp_path, monkeypatch, 100, injected)
    assert len(tally(guided.outcomes)) > 85  # it would be 80 if planned faults counted as reached


def test_the_report_states_reached_faults_of_all_reachable_ones(tmp_path, monkeypatch):
    played = play(tmp_path, monkeypatch, 1, only=("round-7",))
    assert [one.round for one in played.outcomes] == [round_named("round-7", 1)]
    pairs, modes, phases = (len(marks) for marks in all_marks().values())
    text = report(played)
    assert f"reached     4 of {pairs} pairs of a point and a kind of fault, 4 of {modes} with" in text
    assert f"4 of {phases} with the operator" in text
    assert played.to_json()["reached"]["faults"] == {"reached": 4, "of": pairs}
    assert len(played.to_json()["unreached"]) == pairs - 4


RIGHT = (Row("a", 0, 1, 1),)


def outcome(name="round-0", rows=RIGHT, **more):
    planned = round_named(name, 1)
    classification = classify(Account({0: Sent("a", "in-0", 0)}, rows))
    return Outcome(planned, planned.faults, attempts=3, classification=classification, **more)


def campaign(tmp_path, wanted, *outcomes):
    return Campaign(1, None, wanted, 60, tmp_path, list(outcomes), 12.3)


def test_enough_faults_without_a_finding_pass(tmp_path):
    passed = campaign(tmp_path, 4, outcome())
    assert passed.verdict is Verdict.CONFORMS
    text = report(passed)
    assert "CONFORMS   nothing was lost, doubled or reordered; 4 faults in 12 s, seed 1" in text
    assert "again   barrierspec torture --seed 1 --faults 4" in text
    assert all(one.point in text and one.action in text for one in round_named("round-0", 1).faults)


def test_too_few_faults_do_not_pass(tmp_path):
    few = campaign(tmp_path, 5, outcome())
    assert few.verdict is Verdict.UNDETERMINED
    assert "fewer faults than 5" in report(few)


def test_a_named_round_without_a_fault_is_no_pass_and_is_run_again_by_its_name(tmp_path):
    both = campaign(tmp_path, 2, outcome())
    both.only = ("round-0", "frozen-1")
    assert both.verdict is Verdict.UNDETERMINED
    assert "but no fault was injected in frozen-1" in report(both)
    assert both.again() == "barrierspec torture --seed 1 --only round-0 --only frozen-1"


def test_rounds_that_cannot_run_are_reported_and_are_no_pass(tmp_path):
    skipped = campaign(tmp_path, 4, outcome())
    skipped.skipped = "rounds with a killed server: no PostgreSQL to start"
    assert skipped.verdict is Verdict.UNDETERMINED
    assert "not run     rounds with a killed server: no PostgreSQL to start" in report(skipped)


def test_a_record_that_is_doubled_is_named_with_its_place_and_its_round(tmp_path):
    doubled = campaign(tmp_path, 4, outcome(rows=(Row("a", 0, 1, 1), Row("a", 0, 2, 2))))
    assert doubled.verdict is Verdict.DIVERGES
    text = report(doubled)
    assert "duplicated record, in 1 of 1 rounds" in text
    assert "this rules out exactly-once, at-most-once output" in text
    assert "key a, record 0: committed 2 times, at places 1 and 2 of its key" in text
    assert "again   barrierspec torture --seed 1 --only round-0" in text


def test_files_or_processes_left_behind_fail_the_round(tmp_path):
    left = campaign(tmp_path, 4, outcome(findings=["left behind: process 7 is stopped"]))
    assert left.verdict is Verdict.DIVERGES
    assert "left behind: process 7 is stopped" in report(left)
    assert left.to_json()["rounds"][0]["findings"] == ["left behind: process 7 is stopped"]


def test_a_campaign_in_a_store_counts_its_requests_and_is_run_there_again(tmp_path):
    done = campaign(tmp_path, 4, outcome(store={"lost": 1_200, "slow": 3}))
    done.storage = STORE
    text = report(done)
    assert "store       1,203 requests went wrong: 1,200 lost, 3 slow" in text
    assert "again   barrierspec torture --seed 1 --storage s3 --faults 4" in text
    assert done.to_json()["rounds"][0]["store"] == {"lost": 1_200, "slow": 3}


def test_a_campaign_on_a_broker_counts_its_faults_and_is_run_there_again(tmp_path):
    done = campaign(tmp_path, 4, outcome(store={"frozen": 2, "killed": 1, "lost": 4}))
    done.source = KAFKA
    text = report(done)
    assert "broker      3 faults: 2 frozen, 1 killed" in text
    assert "store       4 requests went wrong: 4 lost" in text
    assert "again   barrierspec torture --seed 1 --source kafka --faults 4" in text
    assert done.to_json()["source"] == "kafka"


@pytest.mark.parametrize(
    "odd", [["--only", "server-0"], ["--only", "frozen-0"], ["--implementation", "spark"]]
)
def test_a_broker_is_for_the_bundled_runtime_and_rounds_with_its_sources(odd, capsys):
    assert cli.run(["torture", "--source", "kafka", *odd]) == Exit.USAGE
    assert "--source kafka is for the bundled runtime" in capsys.readouterr().err


@pytest.mark.parametrize("odd", [["--only", "server-0"], ["--implementation", "spark"]])
def test_a_store_is_for_the_bundled_runtime_and_its_own_sinks(odd, capsys):
    assert cli.run(["torture", "--storage", "s3", *odd]) == Exit.USAGE
    assert "--storage s3 is for the bundled runtime" in capsys.readouterr().err
