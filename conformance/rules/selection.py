"""The rules that `conform --rule` chooses, and the components at which they can fire."""

from collections.abc import Collection, Sequence

from conformance.errors import InputError
from conformance.generators import generate
from conformance.rules.coverage import rules_that_fire
from conformance.rules.index import rule


class SelectionError(InputError):
    """A rule that cannot be chosen; the message states why, and what to do."""


def selected_rules(rules: Sequence[str], components: Sequence[str]) -> frozenset[str]:
    """The IDs of the chosen rules. Each must be able to fire at one of `components` (empty: at any).

    Raises UnknownRuleError for an unknown ID, and SelectionError for a rule that can fire at none of the
    components or a component that can fire none of the rules.
    """
    selected = frozenset(rule(name).id for name in rules)
    for name in sorted(selected):
        _fires_somewhere(name, components or generate.COMPONENTS)
    idle = [one for one in components if selected and not selected.intersection(rules_that_fire(one))]
    if idle:
        raise SelectionError(
            f"none of {', '.join(sorted(selected))} fires at {', '.join(idle)}; leave it out"
        )
    return selected


def components_of(selected: Collection[str], components: Sequence[str]) -> list[str]:
    """Those of `components` at which one of the selected rules can fire; all if no rule is selected."""
    return [one for one in components if not selected or set(selected).intersection(rules_that_fire(one))]


def _fires_somewhere(name: str, components: Sequence[str]) -> None:
    if any(name in rules_that_fire(one) for one in components):
        return
    able = [one for one in generate.COMPONENTS if name in rules_that_fire(one)]
    if able:
        raise SelectionError(f"{name} fires at {', '.join(able)}, not at {', '.join(components)}")
    raise SelectionError(
        f"{name} is about many steps and fires at none: TLC and the explorer check it; see `explain {name}`"
    )
