"""A sink or a store is killed and started again on its folder. A reader then checks what is visible."""

from collections import Counter
from random import Random

import pytest

from conformance.adapters.choose import ours
from conformance.capabilities import with_capabilities
from conformance.drive.examine import examine
from conformance.drive.plan import Plan
from conformance.durable.examine import REPEATS, examine_durable
from conformance.durable.expected import ExpectedSink, ExpectedStore
from conformance.durable.move_sequences import draw

EXAMPLES = 15


@pytest.fixture
def examined(start):
    def examine(wrong, component):
        adapter = start("durable", wrong)
        offer = adapter.hello().components[component]
        return examine_durable(component, adapter, offer, EXAMPLES, 1, lambda: True)

    return examine


@pytest.mark.parametrize("component", ["sink", "store"])
def test_an_implementation_that_keeps_its_data_is_killed_and_conforms(examined, component):
    kept = examined("right", component)

    assert (kept.wrong, kept.undetermined, kept.not_killed) == ("", "", "")
    assert kept.sequences == EXAMPLES * 0.2 * 3
    assert kept.during > 3
    assert kept.observations > 40


@pytest.mark.parametrize(
    ("wrong", "component", "rule"),
    [
        ("forgets-at-restore", "sink", "of a committed transaction not visible"),
        ("keeps-in-memory", "sink", "SINK-06: 1 of a committed transaction not visible"),
        ("shows-uncommitted", "sink", "SINK-03: 1 visible, but not committed"),
        ("never-drops", "store", "SUB-07: "),
    ],
)
def test_lost_or_early_visible_data_is_refused_with_a_short_sequence(examined, wrong, component, rule):
    kept = examined(wrong, component)

    assert rule in kept.wrong
    assert "(seen in 0 of" not in kept.wrong
    if wrong != "forgets-at-restore" or f"(seen in {REPEATS} of" in kept.wrong:
        # shrinking may stop early if a kill shows the defect only in some plays
        assert kept.wrong.count("\n") <= 4


def test_a_commit_in_parts_that_are_microseconds_apart_is_refused(examined):
    kept = examined("commits-in-parts", "sink")

    assert "SINK-03: a part of a transaction visible" in kept.wrong


def test_large_sequences_that_are_not_supported_are_counted_and_leave_a_verdict(examined):
    kept = examined("few-transactions", "sink")

    assert (kept.wrong, kept.undetermined, kept.unsupported) == ("", "", 3)
    assert kept.describe().endswith("observations, 3 large sequences not supported")


def test_our_sink_and_store_are_read_without_a_kill_in_this_process():
    adapter = ours("impl")
    offers = adapter.hello().components
    kept = [
        examine_durable(name, adapter, offers[name], 5, 0, lambda: True) for name in ("sink", "store", "gate")
    ]

    assert [one and one.wrong for one in kept] == ["", "", None]
    assert kept[0].not_killed == "no kill, as the implementation is in this process"


def test_an_offered_capability_that_cannot_be_tested_is_undetermined(start):
    adapter = start("durable", "right")
    offer = adapter.hello().components["sink"]
    alone = examine_durable("sink", adapter, offer._replace(capabilities=("restart",)), 5, 0, lambda: True)
    nowhere = examine_durable("sink", ours("model"), offer, 5, 0, lambda: True)

    assert alone.undetermined.endswith("offer both")
    assert nowhere.undetermined.endswith("start the implementation as a process")
    assert (alone.sequences, nowhere.sequences) == (0, 0)


def test_a_chosen_configuration_names_the_capabilities_that_it_leaves_out():
    done = examine("sink", ours("impl"), Plan(seed=0, examples=1, checkpoints=0))
    offer = ours("impl").hello().components["sink"]
    chosen = Plan(seed=0, examples=1, chosen={"profile": "1.14"})

    left = with_capabilities(done, ours("impl"), offer, chosen).not_tested
    assert "capability observe, restart (left out with --rule and --config)" in left


def test_drawn_sequences_of_a_sink_commit_often_and_several_transactions_at_once():
    commits = Counter()
    for seed in range(20):
        expected = ExpectedSink()
        for move in draw("sink", Random(seed), kills=False):
            effects = expected.take(*move.events)
            commits[sum(effect["kind"] == "commit" for effect in effects)] += 1

    assert commits[1] > 40
    assert commits[2] > 5


# ---------------------------------------------------------------- what may be visible


def sink(*events):
    expected = ExpectedSink()
    for kind, value in events:
        expected.take({"kind": kind, "value" if kind == "write" else "checkpoint": value})
    return expected


WRITTEN = (("write", 1), ("write", 2), ("snapshot", 1))
COMMIT = {"kind": "notify_complete", "checkpoint": 1}


@pytest.mark.parametrize(
    ("visible", "during", "what"),
    [
        ([], None, None),
        ([1, 2], None, "1, 2 visible, but not committed"),
        ([], COMMIT, None),
        ([2, 1], COMMIT, None),
        ([2], COMMIT, "a part of a transaction visible: 2, not 1"),
        ([1, 2, 1], COMMIT, "1 visible more than once"),
        ([3], COMMIT, "3 visible, but never written"),
    ],
)
def test_a_commit_that_is_cut_short_shows_all_or_nothing(visible, during, what):
    wrong = sink(*WRITTEN).wrong(visible, during)
    assert (wrong and wrong.what) == what


def test_data_seen_as_committed_stays_visible_after_the_next_kill():
    expected = sink(*WRITTEN)
    expected.restart([1, 2], COMMIT)

    assert expected.wrong([1, 2]) is None
    assert expected.wrong([]).what == "1, 2 of a committed transaction not visible"


@pytest.mark.parametrize(
    ("visible", "what"),
    [
        ([1, 2], None),
        ([1, 2, 3], None),
        ([2, 3], None),
        ([2], "1 retained, but not visible"),
        ([1, 3], "2 retained, but not visible"),
        ([1, 2, 4], "4 visible, but not retained"),
    ],
)
def test_an_addition_that_is_cut_short_drops_nothing_before_the_new_one_is_there(visible, what):
    expected = ExpectedStore(retain=2)
    for checkpoint in (1, 2):
        expected.take({"kind": "add", "checkpoint": checkpoint, "type": "checkpoint"})
    wrong = expected.wrong(visible, {"kind": "add", "checkpoint": 3, "type": "checkpoint"})

    assert (wrong and wrong.what) == what
