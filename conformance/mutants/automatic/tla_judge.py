"""TLC as the judge of mutants of the specification.

Only broken rules count, not the pinned numbers of states.
"""

import re
from collections.abc import Collection
from functools import cache

from conformance.mutants.automatic.complaints import UNPARSED, crash, too_long
from spec.manifest import Model, load_manifest
from spec.modules import STANDARD, module_text
from spec.tlc import TlcTimeoutError, job_of, run, specification
from spec.tool_output import Location, TlcError, UnparsedError

SMALL = 26_000
"""Models that only a thorough run checks are used if they have at most this number of states."""
SECONDS = 300
"""Time limit of TLC for one model, in seconds."""


def models_of(modules: Collection[str]) -> list[Model]:
    """The models that read one of these modules, smallest first.

    Models with an expected violation, and large ones (SMALL), are left out.
    """
    models = (
        one
        for one in load_manifest().values()
        if one.violates is None and (not one.thorough or one.states <= SMALL)
    )
    return sorted((one for one in models if read_by(one.module) & {*modules}), key=lambda one: one.states)


def tlc(module: str, text: str, names: Collection[str] | None = None) -> str:
    """TLC's complaint about a module with this text: the first violated definition. Empty: no complaint.

    `names`: the models to check. None: all models that read the module.
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
    """The modules that TLC reads for this module: itself, and all that it extends or instantiates."""
    text = module_text(module)
    lines = re.findall(r"^EXTENDS (.*)|INSTANCE (\w+)", text, re.MULTILINE)
    named = {name for line in lines for name in re.findall(r"\w+", " ".join(line))} - {*STANDARD}
    return frozenset({module}).union(*map(read_by, named))
