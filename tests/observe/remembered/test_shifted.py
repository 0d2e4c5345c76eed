"""Remembered steps give the verdict of the model, as steps do not change with shifted ids."""

from pathlib import Path
from random import Random

import pytest
from component_steps import (
    CONFIGS,
    TASKS,
    comparable,
    drawn,
    events,
    moved,
    plain_words,
    play,
    started,
)
from event_logs import read, write

from conformance.observe import validate
from conformance.observe.lines.line import Line
from conformance.observe.memo import replayed, shifted, transitions
from conformance.observe.memo.coordinator import ShiftedCoordinator
from conformance.observe.memo.gate import ShiftedGate
from conformance.observe.memo.shifted import Shifted, Table
from conformance.observe.memo.sink import ShiftedSink
from conformance.observe.memo.subtask import ShiftedSubtask
from conformance.observe.record import Record
from conformance.observe.replay import Rejected, Replayed, ReplayedCoordinator
from conformance.observe.sink import _restored
from model.components import COMPONENTS, WireError

SHIFTED: tuple[type[Shifted], ...] = (ShiftedGate, ShiftedSubtask, ShiftedCoordinator, ShiftedSink)


@pytest.mark.parametrize("component", ["gate", "subtask"])
@pytest.mark.parametrize("by", [1, 7, 1000])
def test_a_step_is_the_same_when_all_ids_are_greater(component: str, by: int) -> None:
    model, random = COMPONENTS[component], Random(by)
    for _ in range(60):
        low, high = model.new(CONFIGS[component]), model.new(CONFIGS[component])
        for step in range(20):
            event = events(component, random, max(0, step // 4 + random.randrange(-1, 3)))
            try:
                low, effects, rules = model.apply(low, event)
            except WireError:
                with pytest.raises(WireError):
                    model.apply(high, moved(event, by))
                continue
            high, later, fired = model.apply(high, moved(event, by))
            assert (later, fired) == (moved(effects, by), rules)


def own_options(component: str, number: int) -> dict[str, object]:
    """The options in which runs differ: one with an id, and the interval of a coordinator."""
    match component:
        case "coordinator":
            return {"first_id": number} | ({"interval_ms": 25} if number % 2 else {})
        case "subtask":
            return {"restored": number}
    return {}


def altered(random: Random, effects: list[dict[str, object]]) -> list[dict[str, object]]:
    """The effects with one of them altered, or no effects."""
    if random.random() < 0.2:
        return []
    wrong = [dict(effect) for effect in effects]
    effect = random.choice(wrong)
    field = random.choice([*effect, *[one for one in effect if one in {"checkpoint", "transaction"}] * 3])
    value = effect[field]
    others = [None, 0, 1, "x", "same", value, [1], 1.0]
    if isinstance(value, int):
        others += [value + by for by in (-3, -2, -1, 1)] * 2
    effect[field] = "x" if field == "kind" else random.choice(others)
    return wrong


@pytest.mark.parametrize("component", CONFIGS)
def test_remembered_steps_lead_to_the_states_of_the_model(component: str) -> None:
    random, remembered, altered_steps = Random(component), 0, 0
    for life in range(300):
        config = CONFIGS[component] | own_options(component, 1 + life % 4)
        plain = (ReplayedCoordinator if component == "coordinator" else Replayed)(component, config)
        quick = (
            ShiftedCoordinator(component, config)
            if component == "coordinator"
            else replayed(component, config)
        )
        assert isinstance(quick, Shifted)
        started(component, plain)
        started(component, quick)
        for step in range(40):
            event = drawn(plain, random, step)
            event |= {"odd": 1} if random.random() < 0.05 else {}
            try:
                effects = COMPONENTS[component].apply(plain.state, event)[1]
            except WireError:
                assert plain_words(play(quick, event, [])) == plain_words(play(plain, event, []))
                continue
            if effects and random.random() < 0.2:
                wrong = altered(random, effects)
                found, expected = play(quick, event, wrong), play(plain, event, wrong)
                assert plain_words(found) == plain_words(expected), (event, wrong)
                altered_steps += 1
                if comparable(quick.state) != comparable(plain.state):
                    raise AssertionError((event, wrong))
                continue
            known = len(quick.table.edges)
            assert play(quick, event, effects) == play(plain, event, effects)
            remembered += len(quick.table.edges) == known
            if component == "sink" and step % 5 == 0:  # as a replay does
                plain.state = quick.state = comparable(plain.state)
            if random.random() < 0.3:
                assert comparable(quick.state) == comparable(plain.state)
        assert comparable(quick.state) == comparable(plain.state)
    assert remembered > 1_000
    assert altered_steps > 100


def answer(model: Replayed, event: dict[str, object]) -> object:
    """The effects and rules, or the refusal."""
    try:
        return model.answer(dict(event))
    except WireError as refused:
        return str(refused)


@pytest.mark.parametrize("component", ["gate", "subtask", "coordinator"])
def test_remembered_answers_are_those_of_the_model(component: str, monkeypatch: pytest.MonkeyPatch) -> None:
    random, remembered = Random(component), 0
    quick_class = {"gate": ShiftedGate, "subtask": ShiftedSubtask, "coordinator": ShiftedCoordinator}[
        component
    ]
    monkeypatch.setattr(quick_class, "table", Table())
    for life in range(300):
        first = 1 + life % 4
        config = CONFIGS[component] | own_options(component, first)
        plain, quick = Replayed(component, config), quick_class(component, config)
        marks = [(quick.bookmark(), plain.state)]
        if component == "coordinator":
            for task in TASKS:
                for model in (plain, quick):
                    model.answer({"kind": "task_status", "task": task, "status": "RUNNING"})
            for model in (plain, quick):
                model.answer({"kind": "job_status", "status": "RUNNING"})
        for step in range(40):
            event = drawn(plain, random, step, first)
            if random.random() < (0.98 if life % 3 else 0.3):  # most runs have no handle
                event.pop("state", None)
            event |= {"odd": random.choice([1, "x", None])} if random.random() < 0.03 else {}
            event |= {"checkpoint": "7"} if "checkpoint" in event and random.random() < 0.01 else {}
            known = len(quick.table.answers)
            assert answer(quick, event) == answer(plain, event), event
            remembered += len(quick.table.answers) == known
            if random.random() < 0.2:
                marks.append((quick.bookmark(), plain.state))
        assert comparable(quick.state) == comparable(plain.state)
        for mark, state in marks:
            shown, whole = quick.observe(quick.state_at(mark)), plain.observe(state)
            assert shown == {name: value for name, value in whole.items() if name in shown}
    assert remembered > 5_000


def complete(model: Replayed, checkpoint: int, *, shared: bool = False) -> None:
    """Starts a checkpoint, acknowledges it for all tasks, and so completes it."""
    play(model, {"kind": "trigger", "type": "savepoint" if shared else "checkpoint"})
    for task in TASKS:
        files = {"shared": ["file"]} if shared and task == TASKS[0] else {}
        play(model, acknowledgement(task, checkpoint) | files)


def acknowledgement(task: str, checkpoint: int) -> dict[str, object]:
    """The acknowledgement of a task. Its state is a file with the task's name."""
    return {"kind": "acknowledge", "task": task, "checkpoint": checkpoint, "state": task}


def test_a_run_with_greater_ids_and_later_times_has_the_same_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ShiftedCoordinator, "table", Table())
    known = []
    for first in (1, 2, 50):
        config = CONFIGS["coordinator"] | {"first_id": first}
        model, plain = ShiftedCoordinator("coordinator", config), ReplayedCoordinator("coordinator", config)
        for one in (model, plain):
            started("coordinator", one)
        for checkpoint in range(first, first + 5):
            for one in (model, plain):
                complete(one, checkpoint)
                play(one, {"kind": "advance", "ms": 12})
            assert comparable(model.state) == comparable(plain.state)
        known.append(len(model.table.edges))
    assert known == known[:1] * 3


def test_an_expiry_is_demanded_where_the_same_step_had_none_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """A relative state has no deadlines: the same step may be far from a deadline or reach it."""
    monkeypatch.setattr(ShiftedCoordinator, "table", Table())
    model = ShiftedCoordinator("coordinator", CONFIGS["coordinator"])
    started("coordinator", model)
    play(model, {"kind": "trigger", "type": "checkpoint"})
    for _ in range(3):
        assert play(model, {"kind": "advance", "ms": 12}, []) == ("COORD-10",)
    wrong = play(model, {"kind": "advance", "ms": 12}, [])
    assert isinstance(wrong, tuple)
    assert "expected abort" in wrong[1]


def test_a_wrong_subsumed_id_is_rejected_where_the_right_one_is_accepted() -> None:
    model = ShiftedCoordinator("coordinator", CONFIGS["coordinator"])
    started("coordinator", model)
    for checkpoint in range(1, 8):
        complete(model, checkpoint)
    play(model, {"kind": "trigger", "type": "checkpoint"})
    for task in TASKS[:-1]:
        play(model, acknowledgement(task, 8))
    last = acknowledgement(TASKS[-1], 8)
    effects = COMPONENTS["coordinator"].apply(model.state, last)[1]
    wrong = [one | {"checkpoint": 5} if one["kind"] == "notify_subsumed" else one for one in effects]
    assert wrong != effects
    assert isinstance(play(model, last, wrong)[0], tuple)
    assert isinstance(play(model, last, effects)[0], str)


def test_the_state_after_a_completion_with_shared_files_is_that_of_the_model() -> None:
    for first in (1, 2, 3, 4):
        config = CONFIGS["coordinator"] | {"first_id": first, "profile": "1.13"}
        model, plain = ShiftedCoordinator("coordinator", config), ReplayedCoordinator("coordinator", config)
        for one in (model, plain):
            started("coordinator", one)
            complete(one, first, shared=True)
        assert plain.state.coordinator.shared.completed
        assert comparable(model.state) == comparable(plain.state)


def test_the_state_after_shared_files_are_subsumed_is_that_of_the_model() -> None:
    for first in (1, 2, 3, 4):
        config = CONFIGS["coordinator"] | {"first_id": first}
        model, plain = ShiftedCoordinator("coordinator", config), ReplayedCoordinator("coordinator", config)
        for one in (model, plain):
            started("coordinator", one)
            play(one, {"kind": "trigger", "type": "checkpoint"})
            for task in TASKS:
                play(one, acknowledgement(task, first) | {"shared": ["file"]})
            complete(one, first + 1)
            if first % 2:
                play(one, {"kind": "trigger", "type": "checkpoint"})
                play(one, {"kind": "decline", "task": TASKS[0], "checkpoint": first + 2, "reason": "x"})
            assert one.state.coordinator.shared.completed
            complete(one, first + 2 + first % 2)
            assert not one.state.coordinator.shared.completed
        assert comparable(model.state) == comparable(plain.state)


@pytest.mark.parametrize(("component", "event"), [("gate", "end_of_partition"), ("coordinator", "trigger")])
def test_an_event_that_is_nested_too_deeply_for_a_key_is_refused_by_the_model(
    component: str, event: str
) -> None:
    nested: object = 1
    for _ in range(300):
        nested = [nested]
    wire = {"kind": event, "channel": 0} if component == "gate" else {"kind": event, "type": "checkpoint"}
    plain = Replayed(component, CONFIGS[component])
    quick = {"gate": ShiftedGate, "coordinator": ShiftedCoordinator}[component](component, CONFIGS[component])
    line = Line(1, 1, component, wire | {"odd": nested}, [], {})
    refusals = []
    for model in (plain, quick):
        with pytest.raises(Rejected) as refused:
            model.step(line)
        refusals.append((refused.value.rules, refused.value.why))
    assert refusals[0] == refusals[1]


def test_a_restore_that_names_no_number_of_a_transaction_is_rejected() -> None:
    with pytest.raises(Rejected, match="expected numbers of transactions, got \\['x'\\]"):
        _restored(5, [{"kind": "commit", "transaction": "x"}])


def test_a_run_has_the_same_result_with_and_without_remembered_steps(recorded: Path) -> None:
    remembered, plain = validate(recorded), validate(recorded, remember=False)
    assert remembered == plain


@pytest.mark.parametrize("seed", range(16))
def test_an_altered_effect_is_rejected_alike_with_and_without_remembered_steps(
    seed: int, recorded: Path, tmp_path: Path
) -> None:
    validate(recorded)  # all are remembered
    random, log = Random(seed), read(recorded)
    name = random.choice(list(log))
    lines = [
        line
        for line in log[name]
        if line.get("effects") and any("checkpoint" in one or "channel" in one for one in line["effects"])
    ]
    effects = random.choice(lines)["effects"]
    effect = random.choice([one for one in effects if "checkpoint" in one or "channel" in one])
    field = random.choice([one for one in ("checkpoint", "channel") if one in effect])
    effect[field] = random.choice([effect[field] + 1, float(effect[field])])
    write(log, tmp_path)
    remembered, plain = validate(tmp_path, required=()), validate(tmp_path, required=(), record=Record())
    assert plain.rejection is not None
    assert remembered == plain


def test_full_tables_change_nothing(recorded: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = validate(recorded)
    monkeypatch.setattr(transitions, "memory", transitions.Memory())  # states have its numbers
    monkeypatch.setattr(shifted, "MOST_STEPS", 0)
    for component in SHIFTED:
        monkeypatch.setattr(component, "table", Table())
    assert validate(recorded) == expected
    assert all(component.table.edges == {} for component in SHIFTED)
