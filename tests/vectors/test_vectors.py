"""Test vectors: written, read back, and played by the model, by an implementation and by broken ones."""

from collections import Counter
from pathlib import Path

import orjson
import pytest
from click.testing import CliRunner

from conformance.adapters.choose import ours
from conformance.adapters.in_process import ModelAdapter
from conformance.adapters.protocol import Applied, Errored, Offer, Unsupported
from conformance.commands.implementations import vectors as command
from conformance.vectors import files
from conformance.vectors.check import Difference, check, is_offered
from conformance.vectors.itf import to_itf
from conformance.vectors.make import scenario_runs, vectors_of
from conformance.vectors.transcripts import TranscriptError, read_all
from conformance.vectors.vector import VectorError, decode, encode, identify, vector_of
from model.components import COMPONENTS
from model.gate.profiles import PROFILES

OVERTAKEN = (
    {"kind": "barrier", "channel": 0, "checkpoint": 1},
    {"kind": "barrier", "channel": 1, "checkpoint": 2},
    {"kind": "no_such_event"},
)
WRITTEN = Path(__file__).parents[1] / "transcripts"
GATE = {"channels": 2, "mode": "exactly-once", "level": "handler"}


@pytest.fixture(scope="module")
def store():
    return list(vectors_of("store", seed=0, walks=5))


def test_every_run_occurs_once_and_states_its_origin(store):
    assert len({vector.id for vector in store}) == len(store)
    origins = Counter(vector.origin for vector in store)
    assert origins["path"] >= 17
    assert origins["walk"] == 5
    assert origins["tour"] > 20


def test_golden_transcripts_become_vectors(tmp_path):
    transcripts = [*read_all(WRITTEN)]
    vectors = vectors_of("store", seed=0, walks=0, paths=False, transcripts=transcripts)
    written = [vector for vector in vectors if vector.origin == "transcript"]
    assert len(written) == len([*(WRITTEN / "store").glob("*.txt")])

    with pytest.raises(TranscriptError, match=r"expected transcripts, files \*.txt, got none"):
        [*read_all(tmp_path)]
    (tmp_path / "a.txt").write_text("store retain=x")
    with pytest.raises(TranscriptError, match=r"a\.txt: expected a transcript, got JSONDecodeError"):
        [*read_all(tmp_path)]


def test_named_scenarios_are_played_in_every_generation_that_has_them():
    gates = list(scenario_runs("gate"))
    assert {run.config["profile"] for run in gates} == set(PROFILES)
    assert all(vector_of("scenario", "gate", run.config, run.events).steps for run in gates)
    assert list(scenario_runs("sink")) == []


def test_a_vector_survives_writing_and_reading(store):
    for vector in store:
        assert encode(decode(encode(vector), "here")) == encode(vector)


def test_the_id_does_not_depend_on_the_expected_answers():
    before = vector_of("path", "gate", {**GATE, "profile": "flink-1.12"}, OVERTAKEN)
    assert before.id == identify("gate", {**GATE, "profile": "flink-1.12"}, OVERTAKEN)
    assert before.steps[2].refused
    assert before.steps[1].rules


@pytest.mark.parametrize("name", ["model", "impl"])
def test_a_right_implementation_passes_all_vectors(store, name):
    adapter = ours(name)
    assert [vector for vector in store if check(vector, adapter) is not None] == []


class Changed(ModelAdapter):
    """Gives one wrong answer."""

    def __init__(self, change):
        super().__init__(COMPONENTS)
        self.change = change

    def apply(self, events):
        return self.change(events[0], super().apply(events))


@pytest.mark.parametrize(
    ("change", "step", "came"),
    [
        (lambda event, answer: answer._replace(effects=[[]]) if event == OVERTAKEN[1] else answer, 2, "[]"),
        (
            lambda event, answer: answer._replace(state={"current": 9}) if event == OVERTAKEN[0] else answer,
            1,
            "{'current': 9}",
        ),
        (lambda event, answer: Errored("no") if event == OVERTAKEN[0] else answer, 1, "error: no"),
        (lambda event, answer: Applied([[]], {}) if event == OVERTAKEN[2] else answer, 3, "[]"),
    ],
    ids=["effects", "state", "refuses", "takes"],
)
def test_a_different_answer_is_shown_at_its_step(change, step, came):
    vector = vector_of("path", "gate", GATE, OVERTAKEN)
    difference = check(vector, Changed(change))
    assert isinstance(difference, Difference)
    assert difference.step == step
    assert difference.lines()[-1] == f"  + {came}"


@pytest.mark.parametrize(
    "index",
    [
        [],
        {"format": 2},
        {"format": 1},
        {"format": 1, "components": []},
        {"format": 1, "components": {"gate": {}}},
        {"format": 1, "components": {"../gate": {"sha256": ""}}},
    ],
)
def test_an_index_of_another_form_is_refused(index, tmp_path):
    (tmp_path / files.INDEX).write_bytes(orjson.dumps(index))
    with pytest.raises(VectorError, match="write the vectors again"):
        files.components_in(tmp_path)


def test_an_effect_of_a_wrong_type_is_shown():
    vector = vector_of("path", "gate", GATE, OVERTAKEN[:1])
    for wrong in ({}, {"kind": 7}, {"kind": "block", "channel": False}, {"kind": "block", "channel": 0.0}):
        difference = check(vector, Changed(lambda event, answer, one=wrong: answer._replace(effects=[[one]])))
        assert isinstance(difference, Difference)


def test_a_failure_that_does_not_end_the_instance_is_compared_with_its_error():
    config = {"tasks": [{"id": "a", "source": True}], "profile": "2.3"}
    events = ({"kind": "shutdown", "status": "FINISHED"}, {"kind": "restore"})
    vector = vector_of("path", "coordinator", config, events)
    assert [effect["kind"] for effect in vector.steps[-1].effects] == ["fail"]

    def other(event, answer):
        return answer if event != events[-1] else answer._replace(effects=[[{"kind": "fail", "error": "x"}]])

    difference = check(vector, Changed(other))
    assert isinstance(difference, Difference)
    assert difference.step == 2


def test_a_field_that_is_not_observable_is_not_compared_and_a_skip_is_no_pass():
    vector = vector_of("path", "gate", GATE, OVERTAKEN[:2])
    assert check(vector, Changed(lambda event, answer: answer._replace(state={}))) is None
    adapter = ModelAdapter({"store": COMPONENTS["store"]})
    assert isinstance(check(vector, adapter), Unsupported)


def test_the_trace_format_has_a_state_for_each_step():
    trace = to_itf(vector_of("path", "gate", GATE, OVERTAKEN))
    assert trace["vars"] == ["event", "effects", "state"]
    assert [state["#meta"]["index"] for state in trace["states"]] == [0, 1, 2]
    assert all(set(trace["vars"]) < set(state) for state in trace["states"])
    assert trace["states"][1]["effects"][1] == {"kind": "abort", "checkpoint": 1, "reason": "SUBSUMED"}


def invoke(*arguments):
    return CliRunner().invoke(command.command, [str(word) for word in arguments], standalone_mode=False)


def test_a_folder_is_written_verified_and_refused_once_it_is_altered(tmp_path):
    folder = tmp_path / "vectors"
    wrote = invoke("write", folder, "--component", "offsets", "--walks", "3", "--itf")
    assert "offsets" in wrote.output
    assert len(list((folder / "itf").iterdir())) == 26
    assert files.components_in(folder) == ["offsets"]
    assert invoke("verify", folder).return_value == 0
    assert invoke("verify", folder, "--adapter", "impl").output.startswith("CONFORMS   0 of ")

    lines = [orjson.loads(line) for line in (folder / "offsets.jsonl").read_bytes().splitlines()]
    lines[0]["steps"][0]["state"] = {"running": False}
    (folder / "offsets.jsonl").write_bytes(b"".join(orjson.dumps(line) + b"\n" for line in lines))
    assert "expected the checksum" in str(invoke("verify", folder).exception)
    (folder / "index.json").write_bytes(b'{"format": 9}')
    assert "expected format 1" in str(invoke("verify", folder).exception)
    (folder / "index.json").unlink()
    assert "give a folder" in str(invoke("verify", folder).exception)


def test_changes_of_the_model_are_shown(tmp_path, monkeypatch):
    folder = tmp_path / "vectors"
    invoke("write", folder, "--component", "offsets", "--walks", "0")
    monkeypatch.setattr("conformance.adapters.choose.open_adapter", lambda *_: Changed(_says_nothing))
    ran = invoke("verify", folder)
    assert ran.return_value == 1
    assert "DIVERGES   " in ran.output
    assert "  + []" in ran.output
    assert "of them not shown" in ran.output


def _says_nothing(event, answer):
    return answer._replace(effects=[[]]) if isinstance(answer, Applied) else answer


def test_only_capabilities_that_hello_offers_are_tested():
    offers = {"gate": Offer(("exactly-once",), ("flink-1.14",), ("handler",))}
    newest = vector_of("path", "gate", GATE, OVERTAKEN)

    assert is_offered(newest, offers)
    assert is_offered(newest, {"gate": Offer((), (), ())})
    assert not is_offered(newest, {})
    assert not is_offered(newest, {"gate": Offer((), ("flink-1.13",), ())})
    for other in ({"profile": "flink-1.12"}, {"mode": "unaligned"}, {"level": "polled"}):
        assert not is_offered(vector_of("path", "gate", {**GATE, **other}, OVERTAKEN), offers)
    polled = {name: value for name, value in GATE.items() if name != "level"}
    assert not is_offered(vector_of("path", "gate", polled, OVERTAKEN), offers)


def test_an_invalid_line_is_refused_with_its_place():
    with pytest.raises(VectorError, match="here:3: expected a line"):
        decode(b"{}", "here:3")
    changed = {**orjson.loads(encode(vector_of("path", "gate", GATE, OVERTAKEN))), "id": "0"}
    with pytest.raises(VectorError, match="changed by hand"):
        decode(orjson.dumps(changed), "here")
    with pytest.raises(VectorError, match="the model cannot play gate"):
        vector_of("path", "gate", {"channels": 0}, OVERTAKEN)


def test_the_page_shows_a_vector_as_it_is_written():
    page = (Path(__file__).parents[2] / "docs" / "verify" / "vectors.md").read_text(encoding="utf-8")
    shown = page.split("```json\n")[1].split("```")[0].encode()
    vector = decode(shown, "the page")
    assert encode(vector_of(vector.origin, vector.component, vector.config, vector.events)) == shown
