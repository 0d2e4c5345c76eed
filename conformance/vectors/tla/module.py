"""The module of one divergence, and TLC's replay of it.

Before the last event the trace takes the steps of the specification; at the last event it has the answer of
the implementation. TLC then shows the whole run, and the rule of the specification that this step violates,
or `AsProtocol` if the answer violates no rule, but is not the protocol's. `due` is the step of the
specification for the last event. If the protocol does not allow this event, the state before it violates
`Allows`.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from conformance import escape
from conformance.components.registry import COMPONENTS
from conformance.divergence import Answer, Divergence
from conformance.drive.oracle import Edge, Oracle
from conformance.vectors.tla.answers import came, due, fits
from conformance.vectors.tla.binding import Binding
from conformance.vectors.tla.text import NotInTlaError, Raw, Word, set_of, value
from spec import tlc
from spec.manifest import generation_replaces
from spec.modules import definitions, module_text
from spec.tool_output import Location, Outcome, TlcError

WIDTH = 78


class Module(NamedTuple):
    """A module of TLA+ and its configuration, as the texts of two files with the same name."""

    name: str
    tla: str
    cfg: str


def module_of(divergence: Divergence, name: str, implementation: str) -> Module:
    """The module and its configuration. Raises NotInTlaError."""
    divergence, edges = _without_refused(divergence)
    if edges[-1].refused is not None and not fits(divergence.component, "event", divergence.event):
        raise NotInTlaError(f"the last event is not an event of the protocol: {edges[-1].refused}")
    try:
        binding = _with_zero(binding_of(divergence, edges), divergence)
        recorded = [
            binding.event_word(event, edge) for event, edge in zip(divergence.events, edges, strict=True)
        ]
    except KeyError as unknown:
        if edges[-1].refused is None:
            raise
        raise NotInTlaError(
            f"the last event names {unknown}, which the configuration does not have: {edges[-1].refused}"
        ) from None
    answer = came(binding, divergence, edges[-1])
    text = _text(binding, name, implementation, recorded, (answer.out, answer.state, due(binding, edges[-1])))
    return Module(name, text, _cfg(binding, divergence))


def binding_of(divergence: Divergence, edges: Sequence[Edge]) -> Binding:
    """The binding of a divergence. Raises NotInTlaError if no module describes its options and events."""
    component = divergence.component
    if component not in COMPONENTS:
        known = ", ".join(COMPONENTS)
        raise NotInTlaError(f"no module describes a {component} alone; there are those of {known}")
    binding = COMPONENTS[component].bind(divergence, edges)
    sent = {
        binding.event_word(event, edge)[0]
        for event, edge in zip(divergence.events, edges, strict=True)
        if edge.refused is None
    }
    unknown = sorted(sent - set(binding.steps))
    if unknown:
        known = ", ".join(binding.steps)
        raise NotInTlaError(f"{binding.module} has no event {', '.join(unknown)}; it has {known}")
    return binding


def _without_refused(divergence: Divergence) -> tuple[Divergence, list[Edge]]:
    """The events that were not refused, each with its expected answer. A refused event changes nothing."""
    edges = Oracle(divergence.component, divergence.config).transcript(divergence.events)
    last = len(edges) - 1
    kept = [number for number, edge in enumerate(edges) if edge.refused is None or number == last]
    events = tuple(divergence.events[number] for number in kept)
    return replace(divergence, events=events), [edges[number] for number in kept]


def _with_zero(binding: Binding, divergence: Divergence) -> Binding:
    """The binding with ids from 0 on if a rule is checked and the run has id 0; the modules begin with 1."""
    if not binding.rules or all(event.get("checkpoint") != 0 for event in divergence.events):
        return binding
    from_zero = {**binding.constants, "Ids": Raw("IdsFromZero")}
    return binding._replace(constants=from_zero, prelude=f"{binding.prelude}\nIdsFromZero == 0 .. M\n")


def _text(
    binding: Binding, name: str, implementation: str, recorded: list[Word], last_step: tuple[str, str, str]
) -> str:
    answered, after, expected = last_step
    whose = escape.tla_comment(escape.short(implementation))
    cases = "\n      [] ".join(f'event[1] = "{kind}" -> {step}' for kind, step in binding.steps.items())
    names = (binding.state, *binding.extra_variables)
    last = f"[{binding.state} |-> {after}, out |-> Answered" + "".join(
        f", {one} |-> Expected(event).{one}" for one in binding.extra_variables
    )
    follow = "\n    ".join(f"/\\ {one}' = Followed(Recorded[replayed + 1]).{one}" for one in names)
    agrees = " /\\ ".join(f"{one}' = Expected(event).{one}" for one in names)
    begun = "".join(f" /\\ {one} = {first}" for one, first in binding.extra_variables.items())
    events = ",\n    ".join(value(event) for event in recorded)
    modules = ", ".join(one for one in (binding.module, binding.extends) if one)
    variables = ["    replayed,       \\* how many of the recorded events were taken"]
    variables += [f"    {one}," for one in binding.extra_variables]
    declared = "\n".join(
        [*variables, "    due             \\* the specification's step in the place of the last one"]
    )
    return f"""{f" MODULE {name} ".center(WIDTH, "-")}
(* The answer to the last event is that of {whose}, all others are the
   protocol's. TLC replays it: `barrierspec conform --replay {name}.tla`. *)
EXTENDS {modules}

VARIABLES
{declared}

Recorded == <<
    {events}>>

Answered == {answered}

(* What the reference model answers there. *)
ModelAnswers == {expected}
{binding.prelude}
Expected(event) ==
    CASE {cases}

IsLastRecorded == replayed + 1 = Len(Recorded)

Followed(event) ==
    IF ~IsLastRecorded THEN Expected(event)
    ELSE {last}]

RecordedKinds == {set_of(list(binding.steps))}

IsAllowed(event) == event[1] \\in RecordedKinds /\\ ({binding.guard})

TraceInit == {binding.initial} /\\ replayed = 0 /\\ due = <<>>{begun}

TraceNext ==
    /\\ replayed < Len(Recorded)
    /\\ IsAllowed(Recorded[replayed + 1]) = TRUE      \\* a value: TLC would try each way to be allowed
    {follow}
    /\\ out' = <<Recorded[replayed + 1]>> \\o Followed(Recorded[replayed + 1]).out
    /\\ due' = IF IsLastRecorded THEN Expected(Recorded[replayed + 1]) ELSE <<>>
    /\\ replayed' = replayed + 1
    /\\ {binding.environment}

TraceSpec == TraceInit /\\ [][TraceNext]_<<vars, {", ".join(["replayed", "due", *binding.extra_variables])}>>

(* Every recorded event is one that the protocol allows where it comes. *)
Allows == replayed < Len(Recorded) => IsAllowed(Recorded[replayed + 1])

(* The module describes this run as the reference model does. *)
AsModel == replayed = Len(Recorded) => due.out = ModelAnswers

(* Every answer is the one that the protocol requires. *)
AsProtocol == [][
    LET event == Recorded[replayed'] IN
    {agrees} /\\ Tail(out') = Expected(event).out]_<<vars, replayed>>
{"=" * WIDTH}
"""


def _cfg(binding: Binding, divergence: Divergence) -> str:
    text = module_text(binding.module)
    rules = binding.rules if isinstance(divergence.got, Answer) else ()
    steps = [name for name in rules if re.search(rf"^{name} ==\s*\[\]\[", text, re.MULTILINE)]
    states = [name for name in rules if name not in steps]
    constants = [
        f"    {name} {'<-' if isinstance(chosen, Raw) else '='} {_constant(chosen)}"
        for name, chosen in binding.constants.items()
    ]
    for chosen in binding.constants.values():
        older = generation_replaces(chosen, binding.module) if isinstance(chosen, Raw) else {}
        constants += [f"    {operator} <- {to}" for operator, to in older.items()]
    lines = ["SPECIFICATION TraceSpec", *(("CONSTANTS", *constants) if constants else ())]
    lines += ["INVARIANTS", "    Allows", "    AsModel", *(f"    {name}" for name in states)]
    return "\n".join([*lines, "PROPERTIES", *(f"    {name}" for name in steps), "    AsProtocol"]) + "\n"


def _constant(chosen: object) -> str:
    return set_of(sorted(chosen)) if isinstance(chosen, frozenset) else value(chosen)


class Replay(NamedTuple):
    """The result of TLC for one module."""

    outcome: Outcome
    violated: str | None
    """The name of the violated rule; None if no rule is violated."""
    unchecked: tuple[str, ...]
    """Rules that TLC could not evaluate on the answer, so that they are neither kept nor broken."""


def replay(module: Module) -> Replay:
    """TLC's replay. Raises TlcError."""
    if not _NAME.fullmatch(module.name):
        raise ModuleNameError(f"expected a file named like a module, got {module.name!r}; give it its name")
    with tlc.specification() as folder:
        if (folder / f"{module.name}.tla").exists():
            raise ModuleNameError(f"{module.name} is a module of the specification; give a divergence")
        (folder / f"{module.name}.tla").write_text(module.tla, "utf-8")
        outcome, unchecked = _run(tlc.Job(module.name, module.name, module.cfg), folder)
        violated = outcome.violated
        if isinstance(violated, Location):
            text = (folder / f"{violated.module}.tla").read_text("utf-8")
            begins = {line: name for name, line in definitions(text).items() if line <= violated.line}
            return Replay(outcome, begins[max(begins)], unchecked)
        return Replay(outcome, None if violated is None else str(violated), unchecked)


class ModuleNameError(TlcError):
    """TLC cannot run a module under the name of this file."""


_NAME = re.compile(r"[A-Za-z]\w*", re.ASCII)
_FAILED = re.compile(r"Evaluating (?:action property|invariant) (\w+) failed")


def _run(job: tlc.Job, folder: Path) -> tuple[Outcome, tuple[str, ...]]:
    """Run TLC without the rules that it cannot evaluate. Returns the outcome and the names of these rules."""
    unchecked: list[str] = []
    while True:
        try:
            return tlc.run(job, folder), tuple(unchecked)
        except TlcError as error:
            failed = _FAILED.search(str(error))
            if failed is None or f"    {failed[1]}\n" not in job.configuration:
                raise
            unchecked.append(failed[1])
            job = job._replace(configuration=job.configuration.replace(f"    {failed[1]}\n", ""))
