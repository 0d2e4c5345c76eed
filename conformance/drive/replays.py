"""Writes a divergence as a module that TLC replays, and as a trace in the Informal Trace Format.

Both are in a folder with the name of the divergence, and `barrierspec conform --replay` takes each of them.
"""

from pathlib import Path

import orjson

from conformance import escape
from conformance.adapters.protocol import FIRST_ID
from conformance.divergence import Divergence
from conformance.drive.bounds.ids import highest_id
from conformance.vectors.itf import divergence_to_itf
from conformance.vectors.tla import module as tla
from conformance.vectors.tla.text import NotInTlaError
from conformance.verdict import Verdict
from spec.counterexample import Trace, changes, plain, render
from spec.values import State, format_value

ITF = ".itf.json"
TLA = ".tla"
HIGHEST_ID = 1_000
"""The highest id of a module; TLC's own numbers end at 2^31 - 1."""


def write(
    divergence: Divergence,
    name: str,
    implementation: str,
    adapter: str,
    folder: Path,
    seed: int | None = None,
) -> tuple[Path, Path | NotInTlaError]:
    """Write the trace and the module; return their paths, or the reason why there is no module."""
    folder.mkdir(parents=True, exist_ok=True)
    itf = folder / f"{name}{ITF}"
    trace = escape.json(divergence_to_itf(divergence, adapter, seed))
    itf.write_bytes(orjson.dumps(trace, option=orjson.OPT_INDENT_2))
    try:
        _refuse_large_ids(divergence)
        module = tla.module_of(divergence, f"Divergence_{name}", implementation)
    except NotInTlaError as why:
        return itf, why
    file = folder / f"{module.name}{TLA}"
    file.write_text(module.tla, encoding="utf-8")
    file.with_suffix(".cfg").write_text(module.cfg, encoding="utf-8")
    return itf, file


def _refuse_large_ids(divergence: Divergence) -> None:
    """Raise NotInTlaError if the first id is not 1, or if the highest id is above HIGHEST_ID."""
    if divergence.config.get(FIRST_ID, 1) != 1:
        raise NotInTlaError(f"the modules draw ids from 1 on, not from {divergence.config[FIRST_ID]:,}")
    highest = highest_id(divergence.component, divergence.events)
    if highest > HIGHEST_ID:
        raise NotInTlaError(
            f"the modules have all ids from 1 on, at most to {HIGHEST_ID:,}; here is {highest:,}"
        )


_WHY = {
    "Allows": "the protocol does not allow the next event",
    "AsProtocol": "the last answer is not the protocol's",
}


def by_tlc(file: Path) -> tuple[Verdict, str]:
    """Replays a module with TLC; its configuration is in the same folder. Returns the verdict and TLC's text.

    Raises TlcError, and OSError if a file is missing.
    """
    module = tla.Module(
        file.stem, file.read_text(encoding="utf-8"), file.with_suffix(".cfg").read_text("utf-8")
    )
    found = tla.replay(module)
    outcome, violated = found.outcome, found.violated
    unchecked = _unchecked(found.unchecked)
    if violated is None and unchecked:
        return Verdict.UNDETERMINED, f"UNDETERMINED  TLC finds no violation in the evaluated rules{unchecked}"
    if violated is None:
        return Verdict.CONFORMS, f"CONFORMS   TLC: the recorded answers are the protocol's; {file}"
    run = render(_named(outcome.trace))
    if violated == "AsModel":
        text = "UNDETERMINED  AsModel: the module's answer differs from the reference model's here"
        return Verdict.UNDETERMINED, f"{text}{unchecked}\n\n{run}"
    why = _WHY.get(violated, "the last answer violates this rule")
    text = f"DIVERGES  {violated.replace('_', '-')}: {why}{unchecked}\n\n{run}"
    if violated == "Allows":
        return Verdict.DIVERGES, text
    return Verdict.DIVERGES, f"{text}\n     where the specification {_due(outcome.trace[-1].state)}"


def _unchecked(rules: tuple[str, ...]) -> str:
    named = ", ".join(rule.replace("_", "-") for rule in rules)
    return f"\n  not checked, because TLC cannot evaluate it on this answer: {named}" if rules else ""


def _due(last: State) -> str:
    """The step that the specification takes instead of the last: effects, and the differing variables."""
    due = last["due"]
    effects = "; ".join(" ".join(map(plain, effect)) for effect in due["out"]) or "nothing"
    leads = {name: value for name, value in due.items() if name in last and name != "out"}
    elsewhere = changes({name: last[name] for name in leads}, leads)
    changed = [f"{name} = {format_value(value)}" for name, value in elsewhere.items()]
    return f"says {effects}" + "".join(f", {one}" for one in changed)


def _named(trace: Trace) -> Trace:
    """Each step by its event, without the module's auxiliary variables."""
    return tuple(
        step._replace(
            action=str(step.state["out"][0][0]) if step.action else "",
            state={name: value for name, value in step.state.items() if name not in ("replayed", "due")},
        )
        for step in trace
    )
