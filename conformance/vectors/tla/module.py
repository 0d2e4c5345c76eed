"""The module of one divergence, and TLC's replay of it.

Up to the last event the trace takes the steps of the specification; there it answers as the implementation
did. TLC then shows the whole run, and the rule of the specification that this step violates, or `AsProtocol`
where only the comparison tells; `due` is the specification's own step there. An event that the protocol
does not allow violates `Allows`, before it.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from conformance.adapters.protocol import Wire
from conformance.drive.lockstep import Answer, Divergence
from conformance.drive.oracle import Edge, Oracle, canonical
from conformance.vectors.tla.seat import NotInTlaError, Raw, Seat, Told, set_of, value
from conformance.vectors.tla.seats import seat_of
from spec import tlc
from spec.modules import definitions, module_text
from spec.tool_output import Location, Outcome, TlcError

WIDTH = 78


class Module(NamedTuple):
    """Two files of one name."""

    name: str
    tla: str
    cfg: str


def module_of(divergence: Divergence, name: str, implementation: str) -> Module:
    """The module and its configuration. Raises NotInTlaError."""
    divergence, edges = _without_refused(divergence)
    try:
        seat = _with_zero(seat_of(divergence, edges), divergence)
        recorded = [seat.event(event, edge) for event, edge in zip(divergence.events, edges, strict=True)]
    except KeyError as strange:
        if edges[-1].refused is None:
            raise
        raise NotInTlaError(
            f"the last event names what there is not, {strange}: {edges[-1].refused}"
        ) from None
    said, after = _came(seat, divergence, edges[-1])
    due = value([_told(seat, effect) for effect in edges[-1].effects])
    text = _text(seat, name, implementation, recorded, (said, after, due))
    return Module(name, text, _cfg(seat, divergence))


def _without_refused(divergence: Divergence) -> tuple[Divergence, list[Edge]]:
    """Without the events that were refused on the way, which change nothing, and what is expected of each."""
    edges = Oracle(divergence.component, divergence.config).transcript(divergence.events)
    last = len(edges) - 1
    kept = [number for number, edge in enumerate(edges) if edge.refused is None or number == last]
    events = tuple(divergence.events[number] for number in kept)
    return replace(divergence, events=events), [edges[number] for number in kept]


def _with_zero(seat: Seat, divergence: Divergence) -> Seat:
    """The modules begin with id 1, an implementation may with 0."""
    if not seat.rules or all(event.get("checkpoint") != 0 for event in divergence.events):
        return seat
    from_zero = {**seat.constants, "Ids": Raw("IdsFromZero")}
    return seat._replace(constants=from_zero, prelude=f"{seat.prelude}\nIdsFromZero == 0 .. M\n")


def _text(
    seat: Seat, name: str, implementation: str, recorded: list[Told], last_step: tuple[str, str, str]
) -> str:
    said, after, due = last_step
    cases = "\n      [] ".join(f'event[1] = "{kind}" -> {step}' for kind, step in seat.takes.items())
    names = (seat.state, *seat.carried)
    last = f"[{seat.state} |-> {after}, out |-> Answered" + "".join(
        f", {one} |-> Expected(event).{one}" for one in seat.carried
    )
    follow = "\n    ".join(f"/\\ {one}' = Followed(Recorded[replayed + 1]).{one}" for one in names)
    agrees = " /\\ ".join(f"{one}' = Expected(event).{one}" for one in names)
    begun = "".join(f" /\\ {one} = {first}" for one, first in seat.carried.items())
    events = ",\n    ".join(value(event) for event in recorded)
    modules = ", ".join(one for one in (seat.module, seat.extends) if one)
    variables = ["    replayed,       \\* how many of the recorded events were taken"]
    variables += [f"    {one}," for one in seat.carried]
    declared = "\n".join(
        [*variables, "    due             \\* the specification's step in the place of the last one"]
    )
    return f"""{f" MODULE {name} ".center(WIDTH, "-")}
(* The answer to the last event is that of {implementation}, all others are the
   protocol's. TLC replays it: `barrierspec conform --replay {name}.tla`. *)
EXTENDS {modules}

VARIABLES
{declared}

Recorded == <<
    {events}>>

Answered == {said}

(* What the reference model says there. *)
ModelSays == {due}
{seat.prelude}
Expected(event) ==
    CASE {cases}

IsLastRecorded == replayed + 1 = Len(Recorded)

Followed(event) ==
    IF ~IsLastRecorded THEN Expected(event)
    ELSE {last}]

RecordedKinds == {set_of(list(seat.takes))}

IsAllowed(event) == event[1] \\in RecordedKinds /\\ ({seat.allows})

TraceInit == {seat.begins} /\\ replayed = 0 /\\ due = <<>>{begun}

TraceNext ==
    /\\ replayed < Len(Recorded)
    /\\ IsAllowed(Recorded[replayed + 1]) = TRUE      \\* a value: TLC would try each way to be allowed
    {follow}
    /\\ out' = <<Recorded[replayed + 1]>> \\o Followed(Recorded[replayed + 1]).out
    /\\ due' = IF IsLastRecorded THEN Expected(Recorded[replayed + 1]) ELSE <<>>
    /\\ replayed' = replayed + 1
    /\\ {seat.others}

TraceSpec == TraceInit /\\ [][TraceNext]_<<vars, {", ".join(["replayed", "due", *seat.carried])}>>

(* Every recorded event is one that the protocol allows where it comes. *)
Allows == replayed < Len(Recorded) => IsAllowed(Recorded[replayed + 1])

(* The module describes this run as the reference model does. *)
AsModel == replayed = Len(Recorded) => due.out = ModelSays

(* Every answer is the protocol's. *)
AsProtocol == [][
    LET event == Recorded[replayed'] IN
    {agrees} /\\ Tail(out') = Expected(event).out]_<<vars, replayed>>
{"=" * WIDTH}
"""


def _came(seat: Seat, divergence: Divergence, edge: Edge) -> tuple[str, str]:
    """What was said to the last event, and the state afterwards, in TLA+."""
    got = divergence.got
    if not isinstance(got, Answer):
        return value([(type(got).__name__.lower(),)]), seat.state
    told = [_told(seat, effect) for effect in got.effects]
    expected = f"Expected(event).{seat.state}"
    if edge.fails or edge.refused is not None:
        return value(told), expected
    fields, unseen = _differing(seat, got.state, divergence.expected.state)
    told += [("shows", name, Raw(value(canonical(seen).decode()))) for name, seen in unseen.items()]
    if "" in fields:
        return value(told), fields[""]
    if not fields:
        return value(told), expected
    changes = ", ".join(f"!.{field} = {spelled}" for field, spelled in fields.items())
    return value(told), f"[{expected} EXCEPT {changes}]"


def _told(seat: Seat, effect: Wire) -> Told:
    return seat.failure if seat.failure and effect["kind"] == "fail" else seat.effect(effect)


def _differing(seat: Seat, seen: Wire, expected: Wire) -> tuple[Mapping[str, str], Wire]:
    """Observed fields that are not as expected: those of the module, and those that it has not."""
    others = {
        name: seen[name]
        for name in expected
        if name in seen and canonical(seen[name]) != canonical(expected[name])
    }
    fields: dict[str, str] = {}
    for name, found in others.items():
        fields.update(seat.shows[name](found) if name in seat.shows else {})
    return fields, {name: found for name, found in others.items() if name not in seat.shows}


def _cfg(seat: Seat, divergence: Divergence) -> str:
    text = module_text(seat.module)
    rules = seat.rules if isinstance(divergence.got, Answer) else ()
    steps = [name for name in rules if re.search(rf"^{name} ==\s*\[\]\[", text, re.MULTILINE)]
    states = [name for name in rules if name not in steps]
    constants = [
        f"    {name} {'<-' if isinstance(chosen, Raw) else '='} {_constant(chosen)}"
        for name, chosen in seat.constants.items()
    ]
    lines = ["SPECIFICATION TraceSpec", *(("CONSTANTS", *constants) if constants else ())]
    lines += ["INVARIANTS", "    Allows", "    AsModel", *(f"    {name}" for name in states)]
    return "\n".join([*lines, "PROPERTIES", *(f"    {name}" for name in steps), "    AsProtocol"]) + "\n"


def _constant(chosen: object) -> str:
    if isinstance(chosen, frozenset):
        return "{" + ", ".join(str(one) for one in sorted(chosen)) + "}"
    return value(chosen)


def replay(module: Module) -> tuple[Outcome, str | None]:
    """TLC's replay: what it found, and the name of what is violated. Raises TlcError."""
    with tlc.specification() as folder:
        (folder / "models" / f"{module.name}.tla").write_text(module.tla, "utf-8")
        outcome = _run(tlc.Job(module.name, module.name, module.cfg), folder)
        violated = outcome.violated
        if isinstance(violated, Location):
            text = next(folder.rglob(f"{violated.module}.tla")).read_text("utf-8")
            begins = {line: name for name, line in definitions(text).items() if line <= violated.line}
            return outcome, begins[max(begins)]
        return outcome, None if violated is None else str(violated)


_UNASKED = re.compile(r"Evaluating (?:action property|invariant) (\w+) failed")


def _run(job: tlc.Job, folder: Path) -> Outcome:
    """TLC's run; without those rules that cannot even be asked about what the implementation has said."""
    while True:
        try:
            return tlc.run(job, folder)
        except TlcError as error:
            unasked = _UNASKED.search(str(error))
            if unasked is None or f"    {unasked[1]}\n" not in job.configuration:
                raise
            job = job._replace(configuration=job.configuration.replace(f"    {unasked[1]}\n", ""))
