"""Generates the model's classes of events and effects from the vocabulary, as the text of Python modules.

`model/<component>/events.py` has a class for each event and effect of the component, and `EVENTS`, the tuple
of its classes of events. If several components have the same class, it is in `model/shared_events.py`.
`pytest tests/spec/test_model_classes.py --rewrite` writes the files.
"""

from collections.abc import Iterable, Iterator, Mapping
from textwrap import wrap
from typing import NamedTuple

from spec.vocabulary import Component, Field, Kind, VocabularyError, in_model, types, vocabulary

_FIRST = "# Made from spec/vocabulary by `pytest tests/spec/test_model_classes.py --rewrite`; do not edit.\n"
_WIDTH = 110
SHARED = "model/shared_events.py"


class Member(NamedTuple):
    """A field of a class. `default` is empty if the field has no default."""

    name: str
    annotation: str
    default: str


class ModelClass(NamedTuple):
    """A class of events or effects.

    If several components have classes with equal `name`, `kind` and `is_event`, they share one class.
    """

    name: str
    kind: str
    is_event: bool
    members: tuple[Member, ...]
    description: tuple[str, ...]
    """Paragraphs of the docstring."""


def modules() -> Mapping[str, str]:
    """Maps the path of each module in the project to its text. Raises VocabularyError."""
    found: dict[tuple[str, str, bool], list[tuple[str, ModelClass]]] = {}
    for component in vocabulary().values():
        for made in classes_of(component):
            found.setdefault(made[:3], []).append((component.name, made))
    shared = {key: _merged(many) for key, many in found.items() if len(many) > 1}
    title = "Events and effects that several components have."
    texts = {SHARED: _module(title, (), sorted(shared.values()), ())}
    for component in vocabulary().values():
        own = list(classes_of(component))
        title = f"Events and effects of the component `{component.name}`. {component.title}."
        texts[f"model/{component.name}/events.py"] = _module(
            title,
            sorted({one.name for one in own if one[:3] in shared}),
            [one for one in own if one[:3] not in shared],
            [one.name for one in own if one.is_event],
        )
    return texts


def classes_of(component: Component) -> tuple[ModelClass, ...]:
    """The classes of one component, events first, in the order of the vocabulary."""
    kinds = [(True, kind) for kind in component.events] + [(False, kind) for kind in component.effects]
    return tuple(made for is_event, kind in kinds for made in _classes(kind, is_event))


def _classes(kind: Kind, is_event: bool) -> Iterator[ModelClass]:
    sentences = " ".join(part for part in (kind.description, kind.note) if part)
    fields = [field for field in kind.fields if field.model]
    for place, name in enumerate(kind.model):
        further = [field for field in fields if field.where or not (field.required or field.defaults)]
        if len(kind.model) == 1:
            taken, more = fields, ""
        elif place == 0:
            taken, more = [field for field in fields if field not in further], ""
        else:
            taken, more = fields, f" With {', '.join(f'`{field.name}`' for field in further)}."
        yield ModelClass(name, kind.kind, is_event, _members(taken), (sentences + more,))


def _members(fields: Iterable[Field]) -> tuple[Member, ...]:
    """The fields of a class. As Python requires, a field has a default only if every later field has one."""
    members: list[Member] = []
    for field in reversed(tuple(fields)):
        name, _, annotation = field.model.partition(": ")
        annotation = annotation or _annotation(field.type)
        default = _default(field, annotation)
        if members and not members[-1].default:
            default = ""
        members.append(Member(name, annotation, default))
    return tuple(reversed(members))


def _annotation(name: str) -> str:
    given = in_model().get(name)
    if given is not None:
        return given if isinstance(given, str) else "int"
    schema = types()[name]
    kind = schema.get("type", "string" if "enum" in schema else "boolean")
    kind = kind[0] if isinstance(kind, list) else kind
    if kind not in (python := {"integer": "int", "string": "str", "boolean": "bool"}):
        raise VocabularyError(f"types.toml: {name} is used in an event or effect; add its type as `model`")
    return python[kind]


def _default(field: Field, annotation: str) -> str:
    schema, first = types()[field.type], in_model().get(field.type)
    if not field.defaults:
        return str(schema["const"]) if "const" in schema else "()" if annotation.startswith("tuple") else ""
    (default,) = field.defaults
    if annotation == "bool" and "enum" in schema:
        return str(default == schema["enum"][0])
    if isinstance(first, int):
        return str(schema["enum"].index(default) + first)
    if isinstance(default, list):
        return repr(tuple(default))
    return f'"{default}"' if isinstance(default, str) else repr(default)


def _merged(many: Iterable[tuple[str, ModelClass]]) -> ModelClass:
    """One class for several components. A field that some of them lack has the default -1."""
    components, classes = zip(*many, strict=True)
    common = [one for one in classes[0].members if all(one in other.members for other in classes)]
    further = {one.name: one for other in classes for one in other.members if one not in common}
    by_sentence: dict[str, list[str]] = {}
    for component, one in zip(components, classes, strict=True):
        by_sentence.setdefault(one.description[0], []).append(f"`{component}`")
    sentences = [f"{', '.join(names)}: {sentence}" for sentence, names in by_sentence.items()]
    made: ModelClass = classes[0]._replace(
        members=(*common, *(one._replace(default="-1") for one in further.values())),
        description=tuple(sentences) if len(sentences) > 1 else tuple(by_sentence),
    )
    return made


def _module(title: str, imported: Iterable[str], classes: Iterable[ModelClass], events: Iterable[str]) -> str:
    imported, classes, events = tuple(imported), tuple(classes), tuple(events)
    lines = [_FIRST + _docstring((title,), ""), "", "from typing import NamedTuple", ""]
    if imported:
        names = sorted({*imported, *(one.name for one in classes)})
        exported = ["EVENTS", *names] if events else names
        lines += [_from("model.shared_events", imported), "", *_tuple("__all__ = [", exported, "]", '"'), ""]
    for one in classes:
        lines += ["", *_class(one), ""]
    if events:
        lines += ["", *_tuple("EVENTS: tuple[type, ...] = (", events, ")")]
    return "\n".join(lines).rstrip("\n") + "\n"


def _class(one: ModelClass) -> Iterator[str]:
    yield f"class {one.name}(NamedTuple):"
    yield _docstring(one.description, "    ")
    yield ""
    for member in one.members:
        yield f"    {member.name}: {member.annotation}" + (f" = {member.default}" if member.default else "")
    yield f'    kind: str = "{one.kind}"'


def _docstring(paragraphs: Iterable[str], indent: str) -> str:
    paragraphs = tuple(paragraphs)
    whole = f'{indent}"""{paragraphs[0]}"""'
    if len(paragraphs) == 1 and len(whole) <= _WIDTH:
        return whole
    wrapped = "\n\n".join(
        "\n".join(wrap(part, _WIDTH - len(indent) - 3, break_on_hyphens=False)) for part in paragraphs
    )
    lines = f'"""{wrapped}\n"""'.split("\n")
    return "\n".join(indent + line if line else "" for line in lines)


def _from(module: str, names: Iterable[str]) -> str:
    line = f"from {module} import {', '.join(names)}"
    return line if len(line) <= _WIDTH else "\n".join(_tuple(f"from {module} import (", names, ")"))


def _tuple(head: str, items: Iterable[str], tail: str, quote: str = "") -> list[str]:
    return [head, *(f"    {quote}{item}{quote}," for item in items), tail]
