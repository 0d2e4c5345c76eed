"""A divergence as a module of TLA+ that TLC replays: it extends the component's own, with what was recorded.

Up to the last event the trace takes the steps of the specification; there it answers as the implementation
did. TLC then shows the whole run, and the rule of the specification that this step violates, or `AsProtocol`
where only the comparison tells. An event that the protocol does not allow violates `Allows`, before it.
"""

import re
from typing import NamedTuple

from conformance.drive.lockstep import Answer, Divergence
from conformance.drive.oracle import canonical
from conformance.vectors.tla_seats import SEATS, Seat, effect_of, event_of, value
from spec import tlc
from spec.tool_output import Location, Outcome


class NotInTlaError(ValueError):
    """The divergence cannot be said in TLA+; the message says what can."""


class Module(NamedTuple):
    """Two files of one name."""

    name: str
    tla: str
    cfg: str


def module_of(divergence: Divergence, name: str, implementation: str) -> Module:
    """The module and its configuration. Raises NotInTlaError."""
    seat = _seat(divergence)
    events = [event_of(divergence.component, event) for event in divergence.events]
    unknown = sorted({event[0] for event in events} - set(seat.takes))
    if unknown:
        known = ", ".join(seat.takes)
        raise NotInTlaError(f"{seat.module} has no event {', '.join(unknown)}; it has {known}")
    cases = "\n      [] ".join(f'event[1] = "{kind}" -> {step}' for kind, step in seat.takes.items())
    recorded = ",\n    ".join(value(event) for event in events)
    said, after = _came(seat, divergence)
    text = f"""{_ruled(name)}
(* The answer to the last event is that of {implementation}, all others are the
   protocol's. TLC replays it: `barrierspec conform --replay {name}.tla`. *)
EXTENDS {seat.module}

VARIABLE step       \\* how many of the recorded events were taken

Recorded == <<
    {recorded}>>

Answered == {said}

Expected(event) ==
    CASE {cases}

Taken(event) ==
    IF step + 1 < Len(Recorded) THEN Expected(event)
    ELSE [{seat.state} |-> {after},
          out |-> Answered]

IsAllowed(event) == {seat.allows}

TraceInit == Init /\\ step = 0

TraceNext ==
    /\\ step < Len(Recorded)
    /\\ IsAllowed(Recorded[step + 1])
    /\\ {seat.state}' = Taken(Recorded[step + 1]).{seat.state}
    /\\ out' = <<Recorded[step + 1]>> \\o Taken(Recorded[step + 1]).out
    /\\ step' = step + 1
    /\\ {seat.others}

TraceSpec == TraceInit /\\ [][TraceNext]_<<vars, step>>

(* Every recorded event is one that the protocol allows where it comes. *)
Allows == step < Len(Recorded) => IsAllowed(Recorded[step + 1])

(* Every answer is the protocol's. *)
AsProtocol == [][
    LET event == Recorded[step'] IN
    {seat.state}' = Expected(event).{seat.state} /\\ Tail(out') = Expected(event).out]_<<vars, step>>
{"=" * 78}
"""
    return Module(name, text, _cfg(seat, divergence))


def replay(module: Module) -> tuple[Outcome, str | None]:
    """TLC's replay: what it found, and the name of what is violated. Raises TlcError."""
    with tlc.specification() as folder:
        (folder / "models" / f"{module.name}.tla").write_text(module.tla, "utf-8")
        (folder / "models" / f"{module.name}.cfg").write_text(module.cfg, "utf-8")
        model = tlc.Model(
            name=module.name,
            module=module.name,
            cfg=f"{module.name}.cfg",
            shows="",
            violates=None,
            states=0,
            depth=0,
            rules=(),
            triangle=False,
            lesson=False,
        )
        outcome = tlc.run(model, folder)
        violated = outcome.violated
        if isinstance(violated, Location):
            text = next(folder.rglob(f"{violated.module}.tla")).read_text("utf-8")
            begins = {line: name for name, line in tlc.definitions(text).items() if line <= violated.line}
            return outcome, begins[max(begins)]
        return outcome, None if violated is None else str(violated)


def _seat(divergence: Divergence) -> Seat:
    config = divergence.config
    component = divergence.component
    if component == "gate" and (config.get("mode", "exactly-once"), config.get("level")) != (
        "exactly-once",
        "handler",
    ):
        component = "gate in this mode or at this level"
    if component not in SEATS:
        raise NotInTlaError(
            f"no module for a {component}; there are those of {', '.join(SEATS)} (exactly-once, handler)"
        )
    return SEATS[component]


def _came(seat: Seat, divergence: Divergence) -> tuple[str, str]:
    """What was said to the last event, and the state afterwards, in TLA+."""
    got = divergence.got
    step = f"Expected(event).{seat.state}"
    if not isinstance(got, Answer):
        return f"<<<<{value(type(got).__name__.lower())}>>>>", seat.state
    said = value([effect_of(effect) for effect in got.effects])
    if canonical(got.state) == canonical(divergence.expected.state):
        return said, step
    fields = seat.fields(divergence, got.state)
    if "" in fields:
        return said, fields[""]
    return said, f"[{step} EXCEPT {', '.join(f'!.{field} = {told}' for field, told in fields.items())}]"


def _cfg(seat: Seat, divergence: Divergence) -> str:
    text = tlc.module_text(seat.module)
    rules = tlc.checked(tlc.load_manifest()[seat.model]) if isinstance(divergence.got, Answer) else ()
    checked = [name for name in rules if name != "TypeOK"]
    steps = [name for name in checked if re.search(rf"^{name} ==\s*\[\]\[", text, re.MULTILINE)]
    states = [name for name in checked if name not in steps]
    constants = [
        f"    {name} {'<-' if str(chosen).startswith(('Flink_', 'Coordinator_')) else '='} {chosen}"
        for name, chosen in seat.constants(divergence).items()
    ]
    lines = ["SPECIFICATION TraceSpec", "CONSTANTS", *constants, "INVARIANTS", "    Allows"]
    lines += [*(f"    {name}" for name in states), "PROPERTIES", *(f"    {name}" for name in steps)]
    return "\n".join([*lines, "    AsProtocol"]) + "\n"


def _ruled(name: str) -> str:
    title = f" MODULE {name} "
    return title.center(78, "-")
