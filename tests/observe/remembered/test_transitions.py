"""Remembered transitions of readers give every finding that the model gives line by line."""

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest
from event_logs import read, write
from simulated_run import SimulatedRun

from conformance.observe import EventLogError, TraceResult, validate
from conformance.observe.lines.line import Line
from conformance.observe.memo import transitions
from conformance.observe.memo.coordinator import ShiftedCoordinator
from conformance.observe.memo.gate import ShiftedGate
from conformance.observe.memo.shifted import Table
from conformance.observe.memo.sink import ShiftedSink
from conformance.observe.memo.subtask import ShiftedSubtask
from conformance.observe.task import TaskReader

Lines = list[dict[str, Any]]
LOGS = 30
"""Altered logs that one test compares."""


@pytest.fixture(scope="module", params=[1, 2])
def healthy(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log of two attempts, with one or two checkpoints at once."""
    folder = tmp_path_factory.mktemp("healthy")
    run = SimulatedRun(
        folder, seed=request.param, fail_at=(220,), max_concurrent=request.param, checkpoint_every=12
    )
    return run.execute()


def drop(lines: Lines, place: int, random: Random) -> None:
    del lines[place]


def repeat(lines: Lines, place: int, random: Random) -> None:
    lines.insert(place, json.loads(json.dumps(lines[place])))


def move(lines: Lines, place: int, random: Random) -> None:
    lines.insert(max(1, place + random.choice([-6, -2, -1, 1, 2, 6])), lines.pop(place))


def end_early(lines: Lines, place: int, random: Random) -> None:
    del lines[place:]


def alter_number(lines: Lines, place: int, random: Random) -> None:
    """Alters an id, a channel, a number of records, or an offset."""
    line = lines[place]
    fields = [
        (of, name)
        for of in (line, line.get("event", {}), line.get("sent", {}), *line.get("effects", ()))
        for name, value in of.items()
        if type(value) is int and name != "seq"
    ]
    of, name = random.choice(fields)
    of[name] += random.choice([-2, -1, 1, 2])


def alter_effects(lines: Lines, place: int, random: Random) -> None:
    effects = lines[place].get("effects")
    if effects:
        one = random.randrange(len(effects))
        random.choice([effects.pop, lambda at: effects.insert(0, dict(effects[at]))])(one)
        random.shuffle(effects)


def alter_word(lines: Lines, place: int, random: Random) -> None:
    """Replaces the kind of the event, or another word in it, with one that occurs elsewhere in the file."""
    event, other = (lines[at].get("event") for at in (place, random.randrange(len(lines))))
    if event and other:
        name = random.choice([*other])
        if type(other[name]) is str:
            event[name] = other[name]


ALTERATIONS: tuple[Callable[[Lines, int, Random], None], ...] = (
    drop, repeat, move, end_early, *[alter_number] * 3, *[alter_effects] * 2, alter_word,
)  # fmt: skip


def altered(log: Path, folder: Path, random: Random) -> Path:
    """The log with one or two alterations."""
    found = read(log)
    for _ in range(random.choice([1, 1, 2])):
        lines = found[random.choice(list(found))]
        if len(lines) > 2:
            random.choice(ALTERATIONS)(lines, random.randrange(1, len(lines)), random)
    folder.mkdir()
    return write(found, folder)


def finding(log: Path, *, remember: bool) -> TraceResult | str:
    """The whole result, or the reason why the log cannot be read."""
    try:
        return validate(log, required=(), remember=remember)
    except EventLogError as unreadable:
        return str(unreadable)


@pytest.mark.parametrize("seed", range(10))
def test_an_altered_log_has_the_same_findings_as_without(seed: int, healthy: Path, tmp_path: Path) -> None:
    """The transitions of the healthy log are remembered before, and those of the altered logs so far."""
    expected = validate(healthy, required=(), remember=False)
    assert validate(healthy, required=()) == validate(healthy, required=()) == expected
    random, rules = Random(seed), Counter[str]()
    for number in range(LOGS):
        log = altered(healthy, tmp_path / str(number), random)
        plain = finding(log, remember=False)
        assert finding(log, remember=True) == plain, log
        assert finding(log, remember=True) == plain, log
        if isinstance(plain, TraceResult) and plain.rejection is not None:
            rules[plain.rejection.rules[0]] += 1
    assert rules.total() > LOGS / 3
    assert len(rules) > 3


def test_a_second_validation_of_a_log_computes_few_transitions(
    healthy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    validate(healthy, required=())
    anew, take = Counter[str | None](), TaskReader.take

    def counted(reader: TaskReader, line: Line) -> object:
        anew[line.component] += 1
        return take(reader, line)

    monkeypatch.setattr(TaskReader, "take", counted)
    events = validate(healthy, required=()).events
    assert anew["gate"] + anew["subtask"] + anew["sink"] < events / 10
    anew.clear()
    validate(healthy, required=(), remember=False)
    assert anew["gate"] + anew["subtask"] + anew["sink"] > events / 2


@pytest.mark.parametrize("most", [0, 1, 40])
def test_the_memory_is_bounded(most: int, healthy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When the memory is full, the model takes further lines, with the same result."""
    expected = validate(healthy, required=(), remember=False)
    monkeypatch.setattr(transitions, "MOST_TRANSITIONS", most)
    monkeypatch.setattr(transitions, "memory", memory := transitions.Memory())
    for _ in range(3):
        assert validate(healthy, required=()) == expected
        kept = sum(1 + len(state.transitions) for state in memory.states.values())
        assert kept == memory.size == most


def test_a_longer_run_of_the_same_kind_needs_no_more_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ids are relative: transitions of the first checkpoints also serve for all later ones."""
    monkeypatch.setattr(transitions, "memory", memory := transitions.Memory())
    sizes = []
    for checkpoints in (200, 400, 800):
        run = SimulatedRun(
            tmp_path / str(checkpoints), records=0, checkpoint_every=0, checkpoints=checkpoints
        )
        validate(run.execute(), required=())
        sizes.append(memory.size)
    assert sizes[2] - sizes[1] < sizes[1] / 10


def test_the_first_validation_of_an_irregular_log_asks_the_model_for_few_steps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Deadlines, names of states and the outcome of old transactions do not distinguish states."""
    monkeypatch.setattr(transitions, "memory", transitions.Memory())
    for component in (ShiftedCoordinator, ShiftedGate, ShiftedSink, ShiftedSubtask):
        monkeypatch.setattr(component, "table", Table())
    run = SimulatedRun(
        tmp_path, seed=3, records=600, fail_at=(1_000,), max_concurrent=2, checkpoint_every=12,
        checkpoints=250,
    )  # fmt: skip
    events = validate(run.execute(), required=()).events
    assert events > 7_000
    steps = {one.__name__: len(one.table.edges) for one in (ShiftedCoordinator, ShiftedSink, ShiftedSubtask)}
    assert sum(steps.values()) < events / 5, steps
