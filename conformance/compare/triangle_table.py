"""The table of compared models in docs/learn/reading-the-specification.md."""

import re
from itertools import groupby

from conformance.components.registry import projection_of
from spec.manifest import Model, load_manifest

_TABLE = re.compile(r"(<!-- triangles -->\n\n)(?:\|.*\n)*")


def with_table(page: str) -> str:
    """The text of a page with the current table after its mark `<!-- triangles -->`."""
    return _TABLE.sub(lambda found: found[1] + triangle_table(), page)


def triangle_table() -> str:
    """One row for each module that has a model which must hold."""
    models = [model for model in load_manifest().values() if model.violates is None]
    rows = [
        "| module | compared by `verify` | by `verify --thorough` too | not compared | fields left out |",
        "|---|---|---|---|---|",
    ]
    for module, many in groupby(sorted(models, key=lambda model: model.module), lambda model: model.module):
        listed = list(many)
        quick = [model for model in listed if model.is_compared(thorough=False)]
        long = [model for model in listed if model.is_compared(thorough=True) and model not in quick]
        rest = [model for model in listed if not model.triangle]
        forgets = projection_of((quick + long)[0]).closed_model.forgets if quick or long else ()
        cells = (
            f"`{module}`",
            _named(quick),
            _named(long),
            _named(rest),
            ", ".join(f"`{f}`" for f in forgets),
        )
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows) + "\n"


def _named(models: list[Model]) -> str:
    return ", ".join(f"{model.name} ({model.states:,})" for model in models)
