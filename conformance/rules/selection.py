"""Which rules a run of `conform` is asked for, and at which components they can fire."""

from collections.abc import Collection, Sequence

from conformance.generators import generate
from conformance.rules.coverage import rules_that_fire
from conformance.rules.index import UnknownRuleError, rule


class AskedError(ValueError):
    """A rule that cannot be asked for; the message says why, and what can be done."""


def asked_for(rules: Sequence[str], components: Sequence[str]) -> frozenset[str]:
    """The IDs of the rules, which have to fire at one of the components (none named: any).

    Raises AskedError for an unknown rule, for one that fires nowhere, and for a component that fires none.
    """
    try:
        asked = frozenset(rule(name).id for name in rules)
    except UnknownRuleError as unknown:
        raise AskedError(str(unknown)) from unknown
    for name in sorted(asked):
        _fires_somewhere(name, components or generate.COMPONENTS)
    idle = [one for one in components if asked and not asked.intersection(rules_that_fire(one))]
    if idle:
        raise AskedError(f"none of {', '.join(sorted(asked))} fires at {', '.join(idle)}; leave it out")
    return asked


def components_of(asked: Collection[str], components: Sequence[str]) -> list[str]:
    """Those of the components at which one of the rules fires; with no rules all."""
    return [one for one in components if not asked or set(asked).intersection(rules_that_fire(one))]


def _fires_somewhere(name: str, components: Sequence[str]) -> None:
    if any(name in rules_that_fire(one) for one in components):
        return
    able = [one for one in generate.COMPONENTS if name in rules_that_fire(one)]
    if able:
        raise AskedError(f"{name} fires at {', '.join(able)}, not at {', '.join(components)}")
    raise AskedError(
        f"{name} is about many steps and fires at none: TLC and the explorer check it; see `explain {name}`"
    )
