"""The component that two names are generations of."""

from collections.abc import Sequence

from conformance.adapters.in_process import offer_of

GENERATIONS = ("gate", "channel", "coordinator", "store", "subtask", "sink")
"""The components that have generations to compare; some have names in common, and the first one counts."""


def component_of(old: str, new: str, selected: Sequence[str]) -> str | None:
    """The first of the selected components (empty: of all) that has both; None if none has."""
    for component in GENERATIONS:
        if (component in selected or not selected) and {old, new} <= set(offer_of(component).profiles):
            return component
    return None
