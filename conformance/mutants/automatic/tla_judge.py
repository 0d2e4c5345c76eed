"""TLC as the judge of a mutant of the specification, by its rules, without the pinned numbers of states."""

import re
from collections.abc import Collection
from functools import cache

from conformance.mutants.automatic.complaints import UNPARSED, crash, too_long
from spec.manifest import Model, load_manifest
from spec.modules import STANDARD, module_text
from spec.tlc import TlcTimeoutError, job_of, run, specification
from spec.tool_output import Location, TlcError, UnparsedError

SMALL = 26_000
"""Of the thorough models, only those with at most this number of states check mutants."""
SECONDS = 300
"""Time limit of TLC for one model."""


def models_of(modules: Collection[str]) -> list[Model]:
    """The models without an expected violation that read one of these modules, smallest first; see SMALL."""
    models = (
        one
        for one in load_manifest().values()
        if one.violates is None and (not one.thorough or one.states <= SMALL)
    )
    return sorted((one for one in models if read_by(one.module) & {*modules}), key=lambda one: one.states)


def tlc(module: str, text: str, names: Collection[str] | None = None) -> str:
    """The complaint of TLC about this text of a module: the first violated definition; empty for none.

    `names`: the models to check; None: all that read the module.
    """
    with specification() as folder:
        (folder / f"{module}.tla").write_text(text, "utf-8")
        for model in models_of({module}):
            if names is None or model.name in names:
                try:
                    found = run(job_of(model), folder, timeout=SECONDS).violated
                except TlcTimeoutError:
                    return too_long(model.name)
                except UnparsedError:
                    return UNPARSED
                except TlcError:
                    return crash(model.name)
                if found is not None:
                    return (
                        f"line {found.line} of {found.module}" if isinstance(found, Location) else str(found)
                    )
    return ""


@cache
def read_by(module: str) -> frozenset[str]:
    """The modules that TLC reads for one: itself, and what it extends or instantiates."""
    text = module_text(module)
    lines = re.findall(r"^EXTENDS (.*)|INSTANCE (\w+)", text, re.MULTILINE)
    named = {name for line in lines for name in re.findall(r"\w+", " ".join(line))} - {*STANDARD}
    return frozenset({module}).union(*map(read_by, named))
