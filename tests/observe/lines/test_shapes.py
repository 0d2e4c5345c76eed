"""Shapes of lines: a line that is read by its shape has the same content as after parsing."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from component_steps import CONFIGS, comparable, drawn, plain_words, started
from simulated_run import SimulatedRun

from conformance.observe import EventLogError, TraceResult, validate
from conformance.observe.eventlog import LogFile, find
from conformance.observe.lines import shape
from conformance.observe.lines.line import Line, ShapedLine
from conformance.observe.memo import replayed
from conformance.observe.record import Record
from conformance.observe.replay import Rejected, Replayed, ReplayedCoordinator
from model.components import COMPONENTS, WireError

IDS = frozenset({"checkpoint", "transaction"})
NUMBER = re.compile(rb"(?<![\w.-])-?\d+")


@pytest.fixture(scope="module", params=["spaces", "compact"])
def log(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log as the tests write it, and one as the runtime writes it, in which states are objects."""
    folder = tmp_path_factory.mktemp("shapes")
    run = SimulatedRun(folder, seed=3, fail_at=(200,), max_concurrent=2, checkpoint_every=12)
    run.execute()
    for file in folder.glob("*.jsonl") if request.param == "compact" else ():
        lines = [json.loads(line) for line in file.read_text().splitlines()]
        for line in lines:
            if "state" in line.get("event", ()):
                line["event"]["state"] = {
                    "task": line["event"]["task"], "checkpoint": line["event"]["checkpoint"],
                    "attempt": line["attempt"], "offset": None, "shared": [], "content": "QlNP",
                }  # fmt: skip
        compact = (json.dumps(line, separators=(",", ":")) for line in lines)
        file.write_text("".join(f"{line}\n" for line in compact))
    return folder


def files(folder: Path) -> list[LogFile]:
    found = find(folder)
    return [found.coordinator, *found.tasks]


def content(line: Line) -> object:
    """The fields of a line that the replay reads."""
    base = line.base
    return (
        line.number,
        line.attempt,
        line.component,
        line.kind,
        line.checkpoint,
        line.completed,
        [
            (kind, named if relative is None else base + relative)
            for kind, relative, named, _ in line.known_effects
        ],
        list(line.kinds),
        [line.given.get(name) for name in ("channel", "task", "reason", "status", "type", "ms")],
        [
            [effect.get(name) for name in ("task", "reason", "type", "unaligned")]
            for *_, effect in line.known_effects
        ],
        [line.further.get(name) for name in ("records", "sent", "offset", "rows", "received")],
        line.event,
        line.effects,
        line.fields,
        line.state if isinstance(line, ShapedLine) else line.event.get("state"),
    )


def test_a_line_with_a_shape_has_the_content_of_the_parsed_one(log: Path) -> None:
    shaped = 0
    for file in files(log):
        for quick, parsed in zip(file.lines(shaped=True), file.lines(), strict=True):
            if parsed.component is not None:
                assert content(quick) == content(parsed)
            shaped += isinstance(quick, ShapedLine)
    assert shaped > 300


def altered(text: bytes) -> Iterator[bytes]:
    """The line with each of its numbers altered in several ways, and with other small faults."""
    for found in NUMBER.finditer(text):
        for other in (
            b"%d" % (int(found[0]) + 1),
            b"0" + found[0],
            found[0] + b".0",
            found[0] + b".5",
            found[0] + b"e1",
            found[0] + b', "seq": 7',
            b"-7",
            b"null",
            b"9" * 18,
        ):
            yield text[: found.start()] + other + text[found.end() :]
    yield text.replace(b"checkpoint", b"checkpoint2", 1)
    yield text.replace(b'"effects"', b'"effects":[],"effects"', 1)
    yield text[:-1] + b',"event":{"kind":"cancel"}}'
    yield text[:-1] + b',"attempt":7}'
    yield text + b" "
    yield text[:-1]
    yield text[:-1] + b",}"
    yield re.sub(rb'("component": ?)"\w+"', rb"\1{}", text)
    yield re.sub(rb'("state": ?)', rb'"state":"x",\1', text, count=1)
    yield re.sub(rb'("checkpoint": ?)(\d+)', rb"\g<1>" + b"\0" + rb"0\0", text)


def test_an_altered_line_is_read_as_if_it_were_parsed(log: Path) -> None:
    """All shapes are known before. Whatever shape a line matches, its content must be that of its text."""
    for file in files(log):
        list(file.lines(shaped=True))
    compared = 0
    for file in files(log):
        texts = file.path.read_bytes().splitlines()
        for number in range(2, min(len(texts), 60)):
            for other in altered(texts[number - 1]):
                path = log / "altered" / file.name
                path.parent.mkdir(exist_ok=True)
                path.write_bytes(b"\n".join([*texts[number - 2 : number - 1], other]) + b"\n")
                if other == texts[number - 1]:
                    continue
                reader = shape.Shapes(has_states=file.name == "coordinator.jsonl")
                before = file._parsed(number - 1, texts[number - 2])
                reader.follow(texts[number - 2], before.attempt, file.task)
                quick = None if shape.MARK in other else reader.read(number, other)
                if quick is not None:
                    assert content(quick) == content(file._parsed(number, other)), other
                    compared += 1
    assert compared > 300


def seen(folder: Path, **options: object) -> TraceResult | str:
    """The result, or the error."""
    try:
        return validate(folder, required=(), **options)
    except EventLogError as unreadable:
        return str(unreadable)


@pytest.mark.parametrize("seed", range(60))
def test_an_altered_number_has_the_same_verdict_as_without_shapes(
    seed: int, log: Path, tmp_path: Path
) -> None:
    validate(log, required=())  # every step and every shape is known
    random = Random(seed)
    changed = random.choice(files(log))
    texts = changed.path.read_bytes().splitlines()
    place = random.randrange(1, len(texts))
    texts[place] = random.choice(list(altered(texts[place])))
    for file in files(log):
        (tmp_path / file.name).write_bytes(file.path.read_bytes())
    (tmp_path / changed.name).write_bytes(b"\n".join(texts) + b"\n")
    assert seen(tmp_path) == seen(tmp_path, record=Record())


def test_a_file_with_too_many_shapes_is_parsed(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = validate(log, required=())
    monkeypatch.setattr(shape, "_shapes", {})
    monkeypatch.setattr(shape, "_expected", {})
    monkeypatch.setattr(shape, "_followers", {})
    monkeypatch.setattr(shape, "MOST_SHAPES", 3)
    assert validate(log, required=()) == expected
    assert len(shape._shapes) == 3


def test_a_line_that_begins_with_its_number_has_no_shape(log: Path) -> None:
    file = files(log)[1]
    for _ in file.lines(shaped=True):
        pass
    text = file.path.read_bytes().splitlines()[5]
    cut = text[re.search(rb'"seq": ?', text).end() :]
    assert shape.Shapes(has_states=False).read(6, cut) is None
    reader = shape.Shapes(has_states=False)
    reader.follow(b'{"task":"a","attempt":1,"seq":4}', 1, "a")
    assert reader.read(6, cut) is None


@pytest.mark.parametrize("wrong", [b'"attempt":7,"task":"a"', b'"attempt":1,"task":"b"'])
def test_lines_do_not_begin_like_one_that_names_its_attempt_or_task_twice(wrong: bytes) -> None:
    """In this line the last value counts. In the next line only the wrong value occurs."""
    begin, rest = b"{" + wrong + b',"seq":', b',"component":"gate","event":{"kind":"x"},"effects":[]}'
    reader = shape.Shapes(has_states=False)
    reader.follow(b'{"attempt":1,"task":"a","seq":0}', 1, "a")
    assert reader.read(2, b'{"attempt":1,"task":"a","seq":1' + rest) is not None
    reader.follow(begin + b'0,"attempt":1,"task":"a"}', 1, "a")
    assert reader.read(2, begin + b"1" + rest) is None


def as_read(reader: shape.Shapes, component: str, event: dict[str, object], effects: list[object]) -> Line:
    """The line of this event, by its shape if it has one."""
    head = b'{"attempt":1,"task":"a","seq":'
    reader.follow(head + b"0", 1, "a")
    fields = {"component": component, "event": event, "effects": effects}
    text = head + b"1," + json.dumps(fields).encode()[1:]
    return reader.read(2, text) or Line(2, 1, component, event, effects, {})


@pytest.mark.parametrize("component", CONFIGS)
def test_steps_remembered_by_shape_lead_to_the_states_of_the_model(component: str) -> None:
    """This also holds with effects that the model does not give, whatever a key of the table omits."""
    random, remembered, altered_steps = Random(component), 0, 0
    for life in range(400):
        reader = shape.Shapes(has_states=component == "coordinator")
        first = {"first_id": 1 + life % 4} if component == "coordinator" else {}
        config = CONFIGS[component] | first
        plain = (ReplayedCoordinator if component == "coordinator" else Replayed)(component, config)
        quick = replayed(component, config)
        started(component, plain)
        started(component, quick)
        for step in range(40):
            event = drawn(plain, random, step)
            try:
                effects = COMPONENTS[component].apply(plain.state, event)[1]
            except WireError:
                continue
            if effects and random.random() < 0.2:
                effects = [dict(effect) for effect in effects]
                effect = random.choice(effects)
                field = random.choice([*effect, *[one for one in effect if one in IDS] * 3])
                if isinstance(effect[field], int):
                    effect[field] += random.choice([-2, -1, 1])
                    altered_steps += 1
            line, outcomes = as_read(reader, component, event, effects), []
            for model in (plain, quick):
                try:
                    rules = model.known(line, event.get("state"))
                    remembered += rules is not None
                    outcomes.append(model.step(line) if rules is None else rules)
                except Rejected as rejected:
                    outcomes.append((rejected.rules, rejected.why))
            assert plain_words(outcomes[0]) == plain_words(outcomes[1]), (event, effects)
            if random.random() < 0.3:
                assert comparable(quick.state) == comparable(plain.state)
        assert comparable(quick.state) == comparable(plain.state)
    assert remembered > 500
    assert altered_steps > 50


def test_a_late_acknowledgement_discards_its_own_state() -> None:
    """The shape of the line does not contain the handle, but the text of the effect does."""
    tasks = [{"id": "a", "source": True}, {"id": "b", "source": False}]
    quick, reader = replayed("coordinator", {"tasks": tasks}), shape.Shapes(has_states=True)
    head = b'{"attempt":1,"task":"coordinator","seq":'
    reader.follow(head + b"0", 1, "coordinator")
    for task in "ab":
        quick.answer({"kind": "task_status", "task": task, "status": "RUNNING"})
    quick.answer({"kind": "job_status", "status": "RUNNING"})

    def late(checkpoint: int, discarded: int) -> None:
        quick.answer({"kind": "trigger", "type": "checkpoint"})
        quick.answer(
            {"kind": "acknowledge", "task": "a", "checkpoint": checkpoint, "state": f"a{checkpoint}"}
        )
        declined = {"kind": "decline", "task": "b", "checkpoint": checkpoint}
        quick.answer({**declined, "reason": "CHECKPOINT_DECLINED"})
        event = {"kind": "acknowledge", "task": "b", "checkpoint": checkpoint, "state": f"b{checkpoint}"}
        effects = [{"kind": "discard", "state": f"b{discarded}"}]
        fields = {"component": "coordinator", "event": event, "effects": effects}
        line = reader.read(2, head + b"1," + json.dumps(fields).encode()[1:])
        assert line is not None
        if quick.known(line, event["state"]) is None:
            quick.step(line)

    for checkpoint in range(1, 4):
        late(checkpoint, checkpoint)
    with pytest.raises(Rejected, match="expected discard state=b4, the log has discard state=b3"):
        late(4, 3)
