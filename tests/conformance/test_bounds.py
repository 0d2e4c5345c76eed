"""The verdict states its bound: large ids, many channels, tested features, and untested ones with reasons."""

from xml.etree import ElementTree

import orjson
import pytest

from conformance import cli
from conformance.adapters.choose import ours
from conformance.adapters.hello_names import unknown_names
from conformance.adapters.protocol import FAILURES, Hello, Offer
from conformance.drive.bounds.ids import BOUNDS, INT64, MAPS, highest_id, mapped
from conformance.drive.bounds.tested_scope import TestedScope, ranges
from conformance.drive.bounds.wide_gate_cases import SIZES, widened
from conformance.drive.oracle import Oracle
from conformance.generators import generate
from conformance.verdict import Exit

COUNTED = ("gate", "store", "sink", "offsets", "subtask", "source", "channel")
"""Components that get their ids from events."""


@pytest.fixture
def conform(little_adapter, tmp_path, capsys):
    """A function that runs `conform` with few examples. Returns the exit code and the output."""

    def run(*fake, words=()):
        command = ["conform", "--adapter", little_adapter(*fake), "--out", str(tmp_path / "out")]
        code = cli.run([*command, "--no-suites", "--examples", "3", *words])
        output = capsys.readouterr()
        return code, " ".join((output.out + output.err).split())

    return run


@pytest.mark.parametrize("how", ["int32", "double"])
@pytest.mark.parametrize("component", COUNTED)
def test_ids_that_do_not_fit_are_refused(conform, component, how):
    code, said = conform("narrow_numbers", component, how)

    assert code == Exit.DIVERGES, said


def test_a_coordinator_that_accepts_a_far_id_as_its_own_is_refused(conform):
    assert conform("narrow_numbers", "coordinator", "int32")[0] == Exit.DIVERGES


@pytest.mark.parametrize("bits", [32, 64, 128])
def test_a_gate_that_holds_its_channels_in_bits_is_refused(conform, bits):
    code, said = conform("narrow_numbers", "gate", f"mask-{bits}")

    assert code == Exit.DIVERGES
    assert f"{bits + 1} channels" in said


def test_a_life_fills_the_memory_of_cancelled_ids(conform):
    words = ("--life", "700", "--examples", "1", "--config", "channels=2")
    code, printed = conform("narrow_numbers", "gate", "cancelled-100", words=words)

    assert code == Exit.DIVERGES
    assert "in a life of 700 checkpoints" in printed


def test_declining_large_ids_is_a_smaller_bound_and_the_verdict_states_it(conform):
    code, said = conform("narrow_numbers", "store", "declines")

    assert code == Exit.CONFORMS
    assert "around 2^31, around 2^32" in said
    assert "around 2^53" not in said.partition("not tested")[0]
    assert "ids around 2^53 and beyond (unsupported: ids above 2^53 - 1 are not exact)" in said


def test_every_format_states_how_far_the_verdict_reaches(conform, tmp_path):
    files = {name: tmp_path / f"found.{name}" for name in ("json", "junit", "sarif")}
    words = [word for name, file in files.items() for word in (f"--{name}", str(file))]
    conform("fake_gates", "right", words=words)

    part = orjson.loads(files["json"].read_bytes())["parts"][0]
    tried = part["tried"]
    assert (tried["modes"], tried["profiles"]) == (["exactly-once"], ["flink-1.14"])
    assert tried["levels"] == ["handler"]
    assert tried["channels"] == [1, 2, 3, 4, *SIZES]
    assert tried["id_bounds"] == list(BOUNDS.values())
    assert tried["longest_life"] > SIZES[-1]
    assert tried["lives"] == {"count": 1, "checkpoints": 60, "measured": [], "grows": []}
    assert tried["not_tested"] == ["event inject (not among the capabilities)"]
    suite = ElementTree.parse(files["junit"]).getroot()
    sarif = orjson.loads(files["sarif"].read_bytes())["runs"][0]["properties"]["parts"][0]
    for bound in (part["bound"], suite.find(".//system-out").text, sarif["bound"]):
        assert "channels: 1 to 9, 31 to 33, 63 to 65, 127 to 129; ids: to " in bound
        assert "lives: 60 checkpoints" in bound
        assert "around 2^63 - 1" in bound
        assert "not tested: event inject" in bound


@pytest.mark.parametrize(
    ("offer", "says"),
    [
        ({"gaet": Offer((), (), ())}, "component 'gaet': did you mean 'gate'?"),
        (
            {"gate": Offer(("exactly_once",), (), ())},
            "gate, mode 'exactly_once': did you mean 'exactly-once'?",
        ),
        ({"gate": Offer((), ("flink-1.41",), ())}, "gate, profile 'flink-1.41': did you mean 'flink-1."),
        ({"gate": Offer((), (), ("pooled",))}, "gate, capability 'pooled': did you mean 'polled'?"),
        ({"store": Offer(("exactly-once",), (), ())}, "store, mode 'exactly-once': expected none"),
    ],
)
def test_an_unknown_word_of_hello_names_the_nearest_right_one(offer, says):
    (found,) = unknown_names(Hello("it", "1", "python", offer))

    assert found.startswith(says)


@pytest.mark.parametrize("command", ["conform", "classify"])
def test_an_unknown_word_of_hello_is_a_usage_error(little_adapter, command, capsys):
    code = cli.run([command, "--adapter", little_adapter("fake_gates", "misspells-mode")])

    assert code == Exit.USAGE
    assert "did you mean 'exactly-once'?" in capsys.readouterr().err


def test_smoke_reports_it_too(little_adapter, capsys):
    assert cli.run(["smoke", "--adapter", little_adapter("fake_gates", "misspells-mode")]) == Exit.DIVERGES
    assert "did you mean" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("offered", [ours("model").hello(), ours("impl").hello()])
def test_the_words_in_our_hello_are_known(offered):
    assert unknown_names(offered) == []


@pytest.mark.parametrize("ids", MAPS, ids=lambda ids: ids.name)
def test_a_map_keeps_the_order_of_ids_and_ends_at_its_bound(ids):
    events = [{"kind": "barrier", "channel": 0, "checkpoint": one} for one in (0, 1, 2, 3, 46)]
    after = [event["checkpoint"] for event in mapped("gate", events, ids)]

    assert after == sorted(set(after))
    assert after[-1] >= ids.bound
    assert after[-1] <= INT64
    assert mapped("gate", [{"kind": "barrier", "checkpoint": -1}], ids)[0]["checkpoint"] == -1


def test_a_mapped_case_expects_the_models_answer_with_mapped_ids():
    config = {"channels": 2, "mode": "exactly-once", "level": "handler"}
    events = [{"kind": "barrier", "channel": at, "checkpoint": 1 + at} for at in (0, 1)]
    for ids in MAPS:
        large = mapped("gate", events, ids)
        small = Oracle("gate", config).transcript(events)
        for mine, far in zip(small, Oracle("gate", config).transcript(large), strict=True):
            highest = highest_id("gate", events)
            assert [effect["kind"] for effect in mine.effects] == [effect["kind"] for effect in far.effects]
            assert far.after.observed["current"] == ids.of(mine.after.observed["current"], highest)


@pytest.mark.parametrize("first", [True, False])
def test_a_widened_case_completes_where_the_small_one_does(first):
    events = [{"kind": "barrier", "channel": channel, "checkpoint": 1} for channel in (1, 0)]
    config = {"channels": 65, "mode": "exactly-once", "level": "handler"}
    wide = widened(events, 2, 65, first=first)

    assert sorted(event["channel"] for event in wide) == list(range(65))
    last = Oracle("gate", config).transcript(wide)[-1]
    assert "trigger" in [effect["kind"] for effect in last.effects]


@pytest.mark.parametrize(
    ("component", "config", "says"),
    [
        ("gate", {"profile": "flink-1.7"}, "profiles flink-1.7"),
        ("gate", {"profile": "flink-1.14"}, None),
        ("subtask", {"profile": "1.9"}, None),
        ("subtask", {}, None),
        ("offsets", {}, "this component"),
    ],
)
def test_a_profile_that_no_jar_was_compared_with_is_marked(component, config, says):
    tried = TestedScope()
    tried.take(component, config, ())

    lines = tried.lines()
    assert lines.get("from sources") == (says and f"no released jar was compared with {says}")
    assert bool(tried.values()["without_jar"]) is (says is not None)


def test_numbers_are_written_as_ranges():
    assert ranges([1, 2, 3, 4, 33, 65, 66]) == "1 to 4, 33, 65, 66"


@pytest.mark.parametrize("pinned", ["channels=8", "channels=1", "channels=40", "retain=7"])
def test_any_value_that_the_protocol_allows_can_be_chosen(conform, pinned):
    component = "store" if pinned.startswith("retain") else "gate"
    code, said = conform("narrow_numbers", component, "exact", words=["--config", pinned])

    assert code == Exit.CONFORMS, said
    assert "give more" not in said


def test_a_value_that_the_protocol_does_not_allow_is_named(conform):
    code, said = conform("narrow_numbers", "gate", "exact", words=["--config", "channels=0"])

    assert code == Exit.USAGE
    assert "channels: expected an int of at least 1, got 0" in said
    assert "offer less in hello" not in said


@pytest.mark.parametrize("component", generate.COMPONENTS)
@pytest.mark.parametrize(
    "pinned", [{"no_such_option": 1}, {"channels": "x"}, {"channels": True}, {"alignment_limit_bytes": "x"}]
)
def test_no_configuration_has_options_that_the_protocol_does_not_have(component, pinned):
    assert generate.fitting(component, pinned) == []
    assert generate.why_not(component, pinned) != "no configuration of the suite has these values together"


@pytest.mark.parametrize(
    ("option", "modes"),
    [("alignment_timeout_ms", {"unaligned", "alternating"}), ("alignment_limit_bytes", {"exactly-once"})],
)
def test_an_option_of_some_modes_is_adapted_in_no_other(option, modes):
    found = generate.fitting("gate", {option: 77})

    assert {config["mode"] for config in found} == modes
    for config in found:
        assert not isinstance(ours("impl").new("gate", config), FAILURES)


@pytest.mark.parametrize("component", generate.COMPONENTS)
def test_configurations_that_the_suite_has_are_not_adapted(component):
    assert generate.fitting(component, {}) == generate.configs(component)
