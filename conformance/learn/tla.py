"""Writes a learned gate as a TLA+ module, on which TLC checks the rules of spec/gate/AlignedModel.tla.

The module has the steps and the answers of the learned machine. AlignedModel has the rules, which are about
single steps. Only gates of the newest generation, in mode exactly-once and at level `handler`, are
translated.
"""

import re
from collections.abc import Hashable, Iterable
from typing import Any, NamedTuple

import orjson

from conformance.drive.oracle import Oracle
from conformance.suites.alphabet import REFUSED, Alphabet, newest_id
from conformance.suites.machine import END, Machine
from conformance.vectors.tla.binding import rules_of
from conformance.vectors.tla.module import Module, replay
from conformance.vectors.tla.text import NotInTlaError
from model.gate.profiles import NEWEST
from spec.manifest import load_manifest

NAME = "LearnedGate"
IDS = 6
"""The highest id. TLC checks with ids from 1 to this one."""
FIRST = 3
"""The newest id in the initial state."""
FIELDS = ("current", "pending", "blocked", "closed")
WIDTH = 78


class Step(NamedTuple):
    """One transition. Its ids are distances from the newest id before the transition."""

    source: int
    target: int
    moved: int
    """The number by which the transition raises the newest id."""
    event: str
    effects: str
    gate: str


def module_of(alphabet: Alphabet, learned: Machine, implementation: str) -> Module:
    """The module and its configuration. Raises NotInTlaError if the machine cannot be translated."""
    config = alphabet.config
    if (
        alphabet.component != "gate"
        or config.get("mode", "exactly-once") != "exactly-once"
        or config.get("level", "polled") != "handler"
        or config.get("profile", NEWEST.name) != NEWEST.name
    ):
        raise NotInTlaError(
            f"only a gate of mode exactly-once, level handler and profile {NEWEST.name} can be translated to "
            "TLA+, so no rule was checked on the learned machine"
        )
    steps = _steps(alphabet, learned)
    cases = "\n".join(
        f"    \\/ Step({one.source}, {one.target}, {one.moved}, {one.event},\n"
        f"            {one.effects}, {one.gate})"
        for one in steps
    )
    text = f"""{f" MODULE {NAME} ".center(WIDTH, "-")}
(* The machine that was learned of {implementation.replace("*", "")}. TLC checks the rules of one
   step that AlignedModel states. Ids are relative to the newest one. *)
EXTENDS AlignedModel

VARIABLES
    learned,    \\* the state of the learned machine, with the model state from which its ids are counted
    newest      \\* the newest id

Gate(current, pending, blocked, closed) ==
    [current |-> current, pending |-> pending, blocked |-> blocked, closed |-> closed,
     repeats |-> 0, failed |-> FALSE]

Step(from, to, moved, event, effects, after) ==
    /\\ learned = from
    /\\ newest + moved \\in 2 .. M - 1
    /\\ learned' = to
    /\\ newest' = newest + moved
    /\\ out' = <<event>> \\o effects
    /\\ gate' = after
    /\\ last' = last

LearnedInit == Init /\\ learned = 0 /\\ newest = {FIRST}

LearnedNext ==
{cases}

LearnedSpec == LearnedInit /\\ [][LearnedNext]_<<vars, learned, newest>>
{"=" * WIDTH}
"""
    return Module(NAME, text, _cfg(alphabet))


class Checked(NamedTuple):
    """The result of TLC for one module."""

    broken: tuple[str, ...]
    """The rules that the machine breaks."""
    unchecked: tuple[str, ...]
    """The rules that TLC could not evaluate on some answer, so that the result is open."""
    kept: tuple[str, ...]
    """The rules that hold in every reachable step."""


def checked(module: Module) -> Checked:
    """Check each rule.

    After a broken rule, TLC runs again without this rule. Raises TlcError if TLC fails.
    """
    rules = [line.strip() for line in module.cfg.splitlines() if _RULE.fullmatch(line)]
    broken: list[str] = []
    while True:
        found = replay(module)
        if found.violated is None or f"    {found.violated}\n" not in module.cfg:
            left = [rule for rule in rules if rule not in (*broken, *found.unchecked)]
            return Checked(_named(broken), _named(found.unchecked), _named(left))
        broken.append(found.violated)
        module = module._replace(cfg=module.cfg.replace(f"    {found.violated}\n", ""))


def _named(rules: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(rule.replace("_", "-") for rule in rules))


_NOT_OF_STEPS = ("ALIGN_08", "ALIGN_20", "ALIGN_21")
"""Rules that are not checked: they concern operators of the specification, or older generations."""
_RULE = re.compile(r"    [A-Z]+_\d+")


def _cfg(alphabet: Alphabet) -> str:
    injected = any(one.event["kind"] == "inject" for one in alphabet.letters)
    rules = rules_of("gate_injected_2", *_NOT_OF_STEPS, *(() if injected else ("ALIGN_24",)))
    properties = load_manifest()["gate_injected_2"].configuration.properties
    ends = alphabet.config.get("checkpoints_after_tasks_finish", True)
    lines = ["SPECIFICATION LearnedSpec", "CONSTANTS", f"    N = {alphabet.config['channels']}"]
    lines += [f"    M = {IDS}", f"    AfterFinish = {'TRUE' if ends else 'FALSE'}", "    Polled = FALSE"]
    lines += ["INVARIANTS", *(f"    {name}" for name in rules if name not in properties)]
    lines += ["PROPERTIES", *(f"    {name}" for name in rules if name in properties)]
    return "\n".join(lines) + "\n"


def _steps(alphabet: Alphabet, learned: Machine) -> list[Step]:
    """The transitions between pairs of a learned state and a state of the model. Refused events have none.

    The ids of the next events are distances from the newest id of the model's state.
    """
    oracle = Oracle(alphabet.component, alphabet.config)
    start = alphabet.start(oracle)
    numbers: dict[Hashable, int] = {(0, alphabet.identity(start)): 0}
    pairs = [(0, start)]
    steps: list[Step] = []
    for number, (state, node) in enumerate(pairs):
        for letter, step in learned.defined(state):
            taken = alphabet.take(oracle, node, letter)
            if taken is None or step.output == REFUSED or step.target == END:
                continue
            after = taken.edge.after
            key = (step.target, alphabet.identity(after))
            target = numbers.setdefault(key, len(pairs))
            if target == len(pairs):
                pairs.append((step.target, after))
            moved = newest_id(after.state) - newest_id(node.state)
            answer = orjson.loads(str(step.output))
            event = _word(
                taken.event, {"checkpoint": taken.event.get("checkpoint", 0) - newest_id(node.state)}
            )
            effects = ", ".join(_word(effect, {}, moved) for effect in answer["effects"])
            gate = _gate(answer["state"], moved)
            steps.append(Step(number, target, moved, event, f"<<{effects}>>", gate))
    return steps


def _word(fields: Any, ids: dict[str, int], moved: int = 0) -> str:  # noqa: ANN401 - an event or an effect
    named = [name for name in ("channel", "checkpoint", "reason") if name in fields]
    words = [_id(ids[name]) if name in ids else _value(fields[name], moved) for name in named]
    kind = f'"{fields["kind"]}"'
    return f"<<{', '.join([kind, *words])}>>"


def _gate(state: dict[str, Any], moved: int) -> str:
    missing = [name for name in FIELDS if name not in state]
    if missing:
        raise NotInTlaError(f"the implementation does not show {', '.join(missing)}")
    return f"Gate({', '.join(_value(state[name], moved) for name in FIELDS)})"


def _value(value: object, moved: int) -> str:
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, list):
        return f"{{{', '.join(_value(one, moved) for one in value)}}}"
    if isinstance(value, str) and value.startswith("newest"):
        return _id(int(value.removeprefix("newest") or 0) + moved)
    return f'"{value}"' if isinstance(value, str) else str(value)


def _id(distance: int) -> str:
    return f"newest + {distance}" if distance > 0 else f"newest - {-distance}" if distance else "newest"
