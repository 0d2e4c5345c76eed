"""One divergence in other words: a module that TLC replays, and a trace in the Informal Trace Format.

They stand in a folder of the divergence's name, and `barrierspec conform --replay` takes each of them.
"""

from pathlib import Path

import orjson

from conformance.drive.lockstep import Divergence
from conformance.vectors import tla
from conformance.vectors.itf import divergence_to_itf
from conformance.vectors.tla import Module, NotInTlaError
from conformance.verdict import Verdict
from spec.counterexample import render

ITF = ".itf.json"
TLA = ".tla"


def write(divergence: Divergence, name: str, implementation: str, adapter: str, folder: Path) -> list[Path]:
    """Write those that there are; the paths of what is to be replayed."""
    folder.mkdir(parents=True, exist_ok=True)
    itf = folder / f"{name}{ITF}"
    itf.write_bytes(orjson.dumps(divergence_to_itf(divergence, adapter), option=orjson.OPT_INDENT_2))
    try:
        module = tla.module_of(divergence, f"Divergence_{name}", implementation)
    except NotInTlaError:
        return [itf]
    file = folder / f"{module.name}{TLA}"
    file.write_text(module.tla, encoding="utf-8")
    file.with_suffix(".cfg").write_text(module.cfg, encoding="utf-8")
    return [itf, file]


def by_tlc(file: Path) -> tuple[Verdict, str]:
    """TLC's replay of a module with its configuration beside it: the verdict, and what TLC shows.

    Raises TlcError, and OSError if a file is missing.
    """
    module = Module(file.stem, file.read_text(encoding="utf-8"), file.with_suffix(".cfg").read_text("utf-8"))
    outcome, violated = tla.replay(module)
    if violated is None:
        return Verdict.CONFORMS, f"CONFORMS   TLC: the recorded answers are the protocol's; {file}"
    why = {
        "Allows": "the protocol does not allow the next event",
        "AsProtocol": "the last answer is not the protocol's",
    }.get(violated, "the last answer violates this rule")
    return Verdict.DIVERGES, f"DIVERGES  {violated.replace('_', '-')}: {why}\n\n{render(outcome.trace)}"
