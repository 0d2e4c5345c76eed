"""The names that the answer to `hello` may use: components, and their modes, profiles and capabilities.

An unknown name is an error, because the suite would not test the part with this name. The message suggests
the most similar known name.
"""

from collections.abc import Sequence
from difflib import get_close_matches

from conformance.adapters.in_process import offer_of
from conformance.adapters.protocol import LIMITS, Hello, Offer
from conformance.errors import InputError
from model.components import COMPONENTS
from spec.vocabulary import limited, vocabulary


def unknown_names(hello: Hello) -> list[str]:
    """A message for each name in `hello` that the protocol does not have, with the most similar known one."""
    found: list[str] = []
    for name, offer in hello.components.items():
        if name not in COMPONENTS:
            found.append(f"component {name!r}: {_expected(name, list(COMPONENTS))}")
        else:
            found += _of_component(name, offer, known_of(name))
    return found


def require_known_names(hello: Hello) -> None:
    """Raise InputError if `hello` has a name that the protocol does not have."""
    unknown = unknown_names(hello)
    if unknown:
        raise InputError(f"hello has names that the protocol does not have: {'; '.join(unknown)}")


def known_of(component: str) -> Offer:
    """The names that the protocol has for a component."""
    known = offer_of(component)
    return known._replace(capabilities=(*known.capabilities, *vocabulary()[component].capabilities))


def nearest(name: str, known: Sequence[str]) -> str | None:
    """The known name that is spelt most like this one; None if none is similar."""
    close = get_close_matches(name.lower(), known, n=1, cutoff=0.5)
    return close[0] if close else None


def _of_component(name: str, offer: Offer, known: Offer) -> list[str]:
    kinds = (
        ("mode", offer.modes, known.modes),
        ("profile", offer.profiles, known.profiles),
        ("capability", offer.capabilities, known.capabilities),
        ("limit", tuple(offer.limits), _limits(name)),
    )
    small = (
        f"{name}, limit {used!r}: expected at least {LIMITS[used]:,}, got {value:,}"
        for used, value in offer.limits.items()
        if value < LIMITS.get(used, value)
    )
    unknown = (
        f"{name}, {kind} {used!r}: {_expected(used, names)}"
        for kind, offered, names in kinds
        for used in offered
        if used not in names
    )
    return [*unknown, *small]


def _limits(component: str) -> list[str]:
    """The names of the limits that apply to the options and events of a component, sorted."""
    words = vocabulary()[component]
    fields = (*words.config, *(field for event in words.events for field in event.fields))
    return sorted({limited()[field.type] for field in fields if field.type in limited()})


def _expected(name: str, known: Sequence[str]) -> str:
    if not known:
        return "expected none, because the component has no such names; remove it"
    close = nearest(name, known)
    expected = f"expected one of {', '.join(known)}"
    return f"did you mean {close!r}? {expected}" if close is not None else expected
