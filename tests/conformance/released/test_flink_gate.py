"""The gate of the newest listed Flink: its answers through our adapter, and lock-step with the model."""

import pytest

from conformance.adapters.flink.adapter import SECONDS, command
from conformance.adapters.flink.releases import FlinkError, newest
from conformance.adapters.process import ProcessAdapter
from conformance.adapters.protocol import Applied, Errored, Hello, Made, Unsupported
from conformance.adapters.validation import complaints
from conformance.parts.released import target
from conformance.released.comparison import conform
from conformance.released.gate import GateSearch
from conformance.verdict import Verdict

EXACT = {"mode": "exactly-once", "profile": newest().profile}


@pytest.fixture(scope="module")
def flink():
    """The adapter of the newest Flink. The jar comes from the cache or is fetched."""
    try:
        adapter = ProcessAdapter(command(newest()), SECONDS)
    except FlinkError as cannot:
        pytest.skip(f"Flink {newest().version} is not driven here: {cannot}")
    with adapter:
        yield adapter


def barrier(channel, checkpoint):
    return {"kind": "barrier", "channel": channel, "checkpoint": checkpoint}


def made(flink, channels=2, **options):
    assert flink.new("gate", {**EXACT, "channels": channels, **options}) == Made()


def test_hello_states_name_and_version(flink):
    hello = flink.hello()
    assert isinstance(hello, Hello)
    assert (hello.implementation, hello.version, hello.language) == ("apache-flink", newest().version, "java")
    assert hello.components["gate"].profiles == (newest().profile,)
    assert "exactly-once" in hello.components["gate"].modes


@pytest.mark.rule("ALIGN-05")
@pytest.mark.rule("ALIGN-16")
def test_an_alignment_with_a_repeated_barrier(flink):
    made(flink, level="handler")
    came = flink.apply([barrier(0, 5), barrier(0, 5), barrier(1, 5)])
    block = {"kind": "block", "channel": 0}
    assert came.effects == [
        [block],
        [block],
        [
            {"kind": "block", "channel": 1},
            {"kind": "trigger", "checkpoint": 5},
            {"kind": "resume", "channel": 0},
            {"kind": "resume", "channel": 1},
        ],
    ]
    assert came.state == {"current": 5, "pending": False, "blocked": [], "closed": []}


@pytest.mark.rule("ALIGN-17")
def test_items_waiting_on_a_blocked_channel_follow_the_trigger(flink):
    made(flink, level="polled")
    odd = {"b": [1, None, True], "a": 'x"\\\n\u00e9\u2028\U0001f600'}
    assert flink.apply([barrier(0, 1)]).state["blocked"] == [0]
    waiting = [{"kind": "record", "channel": 0, "value": odd}, {"kind": "end_of_partition", "channel": 0}]
    came = flink.apply([*waiting, {"kind": "record", "channel": 1, "value": 1.5}])
    assert came.effects == [[], [], [{"kind": "process", "channel": 1, "value": 1.5}]]
    assert came.state["closed"] == []
    came = flink.apply([barrier(1, 1)])
    assert came.effects[0][-1] == {"kind": "process", "channel": 0, "value": odd}
    assert came.state == {"current": 1, "pending": False, "blocked": [], "closed": [0]}


def test_answers_are_valid_and_spelled_as_the_suite_spells_them(flink):
    made(flink, level="handler")
    number = flink.next_number
    event = b'{"kind":"barrier","channel":0,"checkpoint":3}'
    flink.send(b'{"op":"apply","seq":%d,"events":[%b]}\n' % (number, event), 1)
    line = flink.receive()
    assert line == (
        b'{"effects":[[{"channel":0,"kind":"block"}]],"seq":%d,'
        b'"state":{"blocked":[0],"closed":[],"current":3,"pending":true}}' % number
    )
    came = flink.apply([barrier(1, 4), {"kind": "cancel", "channel": 0, "checkpoint": 4}])
    assert not [
        shown for effects in came.effects for one in effects for shown in complaints("gate", "effect", one)
    ]
    assert not list(complaints("gate", "state", came.state))


def test_events_outside_the_protocol_are_refused_and_change_nothing(flink):
    made(flink, level="handler")
    end = {"kind": "end_of_partition", "channel": 1}
    for events, at, what in [
        ([barrier(2, 1)], 0, "expected one of 2 from 0, got 2"),
        ([{"kind": "no_such_event"}], 0, "expected an event of a gate"),
        ([{"kind": "record", "channel": 0, "value": 1}], 0, "takes no records"),
        ([{"kind": "barrier", "channel": 0, "checkpoint": "5"}], 0, "expected an int, got 5"),
        ([{"kind": "barrier", "channel": 0}], 0, "expected an int from 0 on, got null"),
        ([{"kind": "barrier", "channel": 0, "checkpoint": 1, "alignment": "odd"}], 0, "alignment: expected"),
        ([end, barrier(1, 1)], 1, "channel 1 has ended"),
    ]:
        came = flink.apply(events)
        assert isinstance(came, Errored)
        assert came.at == at
        assert what in came.what
    assert flink.apply([barrier(0, 1)]).effects == [
        [
            {"kind": "block", "channel": 0},
            {"kind": "trigger", "checkpoint": 1},
            {"kind": "resume", "channel": 0},
        ]
    ]


def test_a_feature_that_the_release_lacks_is_a_skip(flink):
    for component, config in [
        ("sink", {"profile": "1.9"}),
        ("source", {"profile": "1.10"}),
        ("gate", {**EXACT, "channels": 1, "profile": "flink-1.9"}),
        ("gate", {**EXACT, "channels": 1, "alignment_limit_bytes": 1}),
    ]:
        assert isinstance(flink.new(component, config), Unsupported)
    assert isinstance(flink.apply([barrier(0, 1)]), Errored)


def test_an_exception_of_flink_is_an_effect_and_ends_the_instance(flink):
    config = {"mode": "at-least-once", "profile": newest().profile, "channels": 2, "level": "handler"}
    assert flink.new("gate", config) == Made()
    end = {"kind": "end_of_partition", "channel": 0}
    came = flink.apply([barrier(0, 1), end, barrier(1, 2), barrier(1, 1)])
    assert isinstance(came, Applied)
    assert came.effects[-1] == [{"kind": "fail", "error": "IllegalStateException"}]
    assert came.state == {}
    assert "has failed" in flink.apply([barrier(1, 3)]).what


@pytest.mark.parametrize("level", ["handler", "polled"])
def test_it_conforms_to_its_profile(flink, level):
    done = conform(flink, target(newest(), "exactly-once", level), 200, tour_nodes=60, kind=GateSearch)
    assert done.verdict is Verdict.CONFORMS, done
    assert done.sequences > 200
    assert {"ALIGN-01", "ALIGN-03", "ALIGN-05", "ALIGN-09", "ALIGN-15"} <= done.rules
    assert done.fields == ("blocked", "closed", "current", "pending")


@pytest.mark.parametrize("mode", ["exactly-once", "alternating"])
@pytest.mark.parametrize("gates", [2, 3])
def test_a_task_with_several_gates_conforms_as_if_it_had_one(flink, mode, gates):
    with ProcessAdapter(command(newest(), gates=gates), SECONDS) as several:
        done = conform(several, target(newest(), mode, "polled"), 40, tour_nodes=15, kind=GateSearch)

    assert done.verdict is Verdict.CONFORMS, done
    assert done.sequences > 40
    assert {"ALIGN-03", "UNAL-10"} & done.rules


def test_before_1_12_a_task_with_several_gates_is_not_driven(flink):
    """The harness refuses it. Its command names the newest release as an older one."""
    older = [one if one != newest().version else "1.11.4" for one in command(newest(), gates=2)]
    with ProcessAdapter(older, SECONDS) as several:
        assert "from 1.12 on" in several.new("gate", {**EXACT, "channels": 2}).describe()


def test_a_sink_commits_what_its_snapshot_holds(flink):
    assert flink.new("sink", {}) == Made()
    came = flink.apply(
        [
            {"kind": "write", "value": "a"},
            {"kind": "snapshot", "checkpoint": 1},
            {"kind": "close"},
            {"kind": "restore", "checkpoint": 1, "fails": 1},
            {"kind": "restore", "checkpoint": 1},
        ]
    )
    assert came.effects == [
        [{"kind": "write", "transaction": 1, "value": "a"}],
        [{"kind": "pre_commit", "transaction": 1}, {"kind": "begin", "transaction": 2}],
        [{"kind": "abort_transaction", "transaction": 2}],
        [{"kind": "commit_failed", "transaction": 1}],
        [
            {"kind": "commit", "transaction": 1},
            {"kind": "abort_transaction", "transaction": 2},
            {"kind": "begin", "transaction": 3},
        ],
    ]
    assert came.state == {"committed": [1], "open": 3, "pending": [], "running": True}
    for wrong, what in [
        ({"kind": "restore", "checkpoint": 1}, "restores when it does not run"),
        ({"kind": "snapshot", "checkpoint": 1}, "expected an id above 1"),
        ({"kind": "notify_complete", "checkpoint": -1}, "expected an int from 0 on"),
        ({"kind": "barrier"}, "expected an event of a sink"),
    ]:
        assert what in flink.apply([wrong]).what
