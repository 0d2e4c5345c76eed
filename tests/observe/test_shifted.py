"""Remembered steps: the same verdict as the model's own, and the shift of ids that they rest on."""

from pathlib import Path
from random import Random

import pytest
from event_logs import read, write

from conformance.observe import validate
from conformance.observe.memo import shifted
from conformance.observe.record import Record
from model.components import COMPONENTS, WireError

CONFIGS = {
    "gate": {"channels": 3, "level": "handler"},
    "subtask": {"max_concurrent": 2},
}


def events(component: str, random: Random, checkpoint: int) -> dict[str, object]:
    if component == "gate":
        kind = random.choice(["barrier"] * 6 + ["cancel", "end_of_partition"])
        event = {"kind": kind, "channel": random.randrange(3)}
        return event if kind == "end_of_partition" else {**event, "checkpoint": checkpoint}
    kind = random.choice(
        ["checkpoint", "async_done", "complete_notification", "abort_notification", "abort_on_barrier"]
    )
    event = {"kind": kind, "checkpoint": checkpoint}
    if kind == "abort_notification":
        event["completed"] = -1
    if kind == "abort_on_barrier":
        event["reason"] = "CHECKPOINT_DECLINED"
    return event


def moved(value: object, by: int) -> object:
    """A wire value with its checkpoint ids greater by `by`."""
    if isinstance(value, dict):
        return {
            name: one + by if name == "checkpoint" and isinstance(one, int) and one >= 0 else moved(one, by)
            for name, one in value.items()
        }
    return [moved(one, by) for one in value] if isinstance(value, list) else value


@pytest.mark.parametrize("component", CONFIGS)
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


def test_a_run_gives_the_same_with_and_without(recorded: Path) -> None:
    remembered, plain = validate(recorded), validate(recorded, remember=False)
    assert remembered == plain


@pytest.mark.parametrize("seed", range(12))
def test_an_altered_effect_is_rejected_as_without(seed: int, recorded: Path, tmp_path: Path) -> None:
    validate(recorded)  # every step is remembered
    random, log = Random(seed), read(recorded)
    name = random.choice([name for name in log if name != "coordinator"])
    lines = [line for line in log[name] if line.get("component") in {"gate", "subtask"} and line["effects"]]
    effects = random.choice(lines)["effects"]
    effect = random.choice(effects)
    field = random.choice([one for one in ("checkpoint", "channel") if one in effect])
    effect[field] = random.choice([effect[field] + 1, float(effect[field])])
    write(log, tmp_path)
    remembered, plain = validate(tmp_path, required=()), validate(tmp_path, required=(), record=Record())
    assert plain.rejection is not None
    assert remembered == plain


def test_full_tables_change_nothing(recorded: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = validate(recorded)
    monkeypatch.setattr(shifted, "MOST_STEPS", 0)
    monkeypatch.setattr(shifted, "_TABLES", {name: shifted._Table() for name in CONFIGS})
    assert validate(recorded) == expected
