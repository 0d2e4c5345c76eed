"""The manifest: every model of the specification, its configuration for TLC, and the expected result.

`manifests/` has one or more files for each component. A table `[module.NAME]` states the definitions that TLC
checks in all models of a module: `invariants`, `properties` and, unless it is `Spec`, the `specification`. If
`invariants` and `properties` contain no rule, TLC checks every rule that the module defines. `terminates`
names an invariant that states in which states a behaviour may stop. Without `terminates`, a state without a
successor is a deadlock, also in a broken model. A table `[model.NAME]` is one model:

    module          the module
    base            the model from which this one takes the fields that it does not state
    shows           one sentence that states the purpose of the model
    constants       values of constants; they override those of the base
    replaces        definitions that replace operators; they override those of the base
    checks          TLC checks only these invariants and properties of the module
    without         TLC checks all invariants and properties of the module except these
    expect          `states` and `depth`; `violates` if a definition must be violated, or "Deadlock"
    unexercised     rules that do not count as checked, because the steps that they constrain do not occur
    triangle        true: the suite compares the state graph with the Python model's; "thorough": only a
                    thorough verification does
    lesson          true: every verification runs this broken model; other broken models run as mutants
    thorough        true: only a thorough verification runs the model, because it takes minutes

A table `[generation.NAME]` has the definitions in which an older generation differs from the newest one:
`replaces`, and `base`, the generation from which it inherits further definitions. If a model replaces an
operator by NAME, it also gets these definitions, as far as its module defines them.

A model inherits from its base only `module`, `constants`, `replaces`, and `checks` or `without`. Its rules
are the rules whose definitions it checks. The rule of a broken model is the one that it violates.
"""

import re
import tomllib
from collections.abc import Collection, Iterable, Mapping
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import Any, NamedTuple

from spec.configuration import Configuration, Constant
from spec.modules import module_text, names_of

_RULE = re.compile(r"[A-Z]+_\d\d")
_STATED = re.compile(r"^([A-Z]+_\d\d) ==(\s*\[\]\[)?", re.MULTILINE)
_OF_MODULE = ("specification", "invariants", "properties", "terminates")
_INHERITED = ("module", "constants", "replaces", "checks", "without")
_OF_MODEL = (*_INHERITED, "base", "shows", "expect", "unexercised", "triangle", "lesson", "thorough")
_EXPECTED = ("states", "depth", "violates")
_OF_GENERATION = ("base", "replaces")

_Table = Mapping[str, Any]


class ManifestError(ValueError):
    """The manifest of models is malformed. The message states how to correct it."""


class BaseError(ManifestError):
    """The base of a model does not exist, or is directly or indirectly the model itself."""


class UndefinedNameError(ManifestError):
    """The module does not declare or define a name of the manifest, or a constant has no value."""


class Model(NamedTuple):
    """One model of the manifest: a module, its configuration, and the expected result."""

    name: str
    module: str
    configuration: Configuration
    shows: str
    """One sentence that states the purpose of the model."""
    violates: str | None
    """The definition that must be violated, or "Deadlock". None if everything must hold."""
    states: int
    """Pinned number of distinct states. In a broken model: the number that one worker finds."""
    depth: int
    """Pinned depth of the state graph in states. In a broken model: states of the counterexample."""
    rules: tuple[str, ...]
    """The IDs of the rules that the model checks."""
    triangle: bool
    """The suite compares the state graph with that of the Python reference model."""
    lesson: bool
    """Every verification runs this broken model. Other broken models run as mutants."""
    thorough: bool = False
    """Only a thorough verification runs the model, because it takes minutes."""
    may_stop: bool = False
    """A state without a successor is no error. An invariant states in which states a behaviour may stop."""
    compares_long: bool = False
    """Only a thorough verification compares the state graph, because it is large."""

    def is_compared(self, *, thorough: bool) -> bool:
        """Whether a verification compares the state graph. `thorough`: it is a thorough verification."""
        return self.triangle and (thorough or not (self.thorough or self.compares_long))

    def configuration_text(self) -> str:
        """The text of the configuration file, with `shows` as a comment."""
        return self.configuration.text(self.shows)


@cache
def load_manifest() -> Mapping[str, Model]:
    """Maps the name of each model to the model, ordered by file name and by position in the file.

    Raises ManifestError if an entry is malformed, or contains a name that does not exist.
    """
    return MappingProxyType(parse_manifest(*_texts()))


@cache
def generation_replaces(generation: str, module: str) -> Mapping[str, str]:
    """Maps each operator of a module that a generation replaces to the replacing definition.

    Empty if the manifest does not have the generation.
    """
    return _generation(generation, module, _tables(*_texts())["generation"])


def parse_manifest(*texts: str) -> dict[str, Model]:
    """Parses the TOML texts of a manifest, and returns its models by name. Raises ManifestError."""
    tables = _tables(*texts)
    for name, entry in tables["generation"].items():
        _confirm_fields(f"generation {name}", entry, _OF_GENERATION)
    for name, entry in tables["module"].items():
        _confirm_fields(f"module {name}", entry, _OF_MODULE)
    for name, entry in tables["model"].items():
        _confirm_fields(f"model {name}", entry, _OF_MODEL)
    return {name: _model(name, tables) for name in tables["model"]}


def _texts() -> Iterable[str]:
    folder = resources.files("spec") / "manifests"
    files = {entry.name: entry for entry in folder.iterdir() if entry.name.endswith(".toml")}
    return (files[name].read_text("utf-8") for name in sorted(files))


def _tables(*texts: str) -> dict[str, dict[str, _Table]]:
    """Maps each kind of table to the tables by name. Raises ManifestError if a name occurs twice."""
    found: dict[str, dict[str, _Table]] = {"generation": {}, "module": {}, "model": {}}
    for text in texts:
        try:
            tables = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise ManifestError(f"expected TOML, got: {error}; correct the manifest") from error
        _confirm_fields("the manifest", tables, found)
        for kind, known in found.items():
            for name, entry in tables.get(kind, {}).items():
                if name in known:
                    raise ManifestError(f"expected each {kind} once, got {name} twice; rename one")
                known[name] = entry
    return found


def _generation(name: str, module: str, generations: Mapping[str, _Table]) -> dict[str, str]:
    """As `generation_replaces`, from the tables of generations."""
    if name not in generations:
        return {}
    table = generations[name]
    inherited = _generation(table.get("base", ""), module, generations)
    defined = names_of(module).definitions
    own = {operator: to for operator, to in table.get("replaces", {}).items() if {operator, to} <= defined}
    return {**inherited, **own}


def _confirm_fields(where: str, table: _Table, known: Collection[str]) -> None:
    unknown = sorted(set(table) - set(known))
    if unknown:
        raise ManifestError(
            f"{where}: expected fields among {', '.join(known)}, got {', '.join(unknown)}; "
            "correct the name or remove it"
        )


def _model(name: str, tables: Mapping[str, Mapping[str, _Table]]) -> Model:
    entries, modules = tables["model"], tables["module"]
    entry, whole = entries[name], _with_base(name, entries)
    try:
        module, expect = whole["module"], entry["expect"]
        _confirm_fields(f"model {name}, expect", expect, _EXPECTED)
        if module not in modules:
            raise ManifestError(
                f"model {name}: expected a module that the manifest has, got {module}; "
                f"correct it or add a table [module.{module}]"
            )
        configuration = _configuration(name, whole, modules[module])
        terminates = modules[module].get("terminates")
        if terminates is not None and "violates" not in expect:
            configuration = configuration._replace(invariants=(*configuration.invariants, terminates))
        model = Model(
            name=name,
            module=module,
            configuration=configuration,
            shows=entry["shows"],
            violates=expect.get("violates"),
            states=expect["states"],
            depth=expect["depth"],
            rules=(),
            triangle=bool(entry.get("triangle", False)),
            lesson=entry.get("lesson", False),
            thorough=entry.get("thorough", False),
            may_stop=terminates is not None,
            compares_long=entry.get("triangle") == "thorough",
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise ManifestError(
            f"model {name}: expected all fields, got none or a wrong {error}; add it"
        ) from error
    _confirm_names(model)
    replaced = dict(configuration.replaced)
    for to in tuple(replaced.values()):
        replaced = {**_generation(to, module, tables["generation"]), **replaced}
    model = model._replace(configuration=configuration._replace(replaced=tuple(replaced.items())))
    _confirm_names(model)
    return model._replace(rules=_rules(model, entry.get("unexercised", [])))


def _with_base(name: str, entries: Mapping[str, _Table], derived: tuple[str, ...] = ()) -> dict[str, Any]:
    """The inherited fields of a model: those of its base, overridden by its own. Raises BaseError."""
    if name in derived:
        raise BaseError(
            f"model {name}: expected a base that does not lead back to the model, got "
            f"{' -> '.join((*derived, name))}; give one of them a module instead"
        )
    entry = entries[name]
    own = {field: entry[field] for field in _INHERITED if field in entry}
    base = entry.get("base")
    if base is None:
        return own
    if base not in entries:
        raise BaseError(
            f"model {name}: expected a model as its base, got {base!r}; correct the name or add that model"
        )
    whole = _with_base(base, entries, (*derived, name))
    if "checks" in own or "without" in own or own.get("module", whole.get("module")) != whole.get("module"):
        whole = {field: value for field, value in whole.items() if field not in ("checks", "without")}
    for field in ("constants", "replaces"):
        own[field] = {**whole.get(field, {}), **own.get(field, {})}
    return {**whole, **own}


def _configuration(name: str, whole: _Table, module: _Table) -> Configuration:
    invariants, properties = _checked(whole["module"], module)
    chosen, without = whole.get("checks"), whole.get("without", [])
    if chosen is not None and without:
        raise ManifestError(f"model {name}: expected checks or without, got both; remove one")
    listed = [*invariants, *properties]
    unlisted = [one for one in (*(chosen or ()), *without) if one not in listed]
    if unlisted:
        raise UndefinedNameError(
            f"model {name}: expected names that [module.{whole['module']}] lists, got {', '.join(unlisted)}; "
            "add them to its invariants or properties, or correct the names"
        )
    kept = [one for one in (listed if chosen is None else chosen) if one not in without]
    return Configuration(
        module.get("specification", "Spec"),
        tuple((constant, _value(name, constant, value)) for constant, value in whole["constants"].items()),
        tuple(whole.get("replaces", {}).items()),
        tuple(one for one in invariants if one in kept),
        tuple(one for one in properties if one in kept),
    )


def _checked(name: str, module: _Table) -> tuple[list[str], list[str]]:
    """The invariants and properties of a module: the listed ones and, if no rule is listed, all its rules.

    A rule is a definition whose name has the form of an ID. It is a property if it is a formula over steps.
    TLC reports the first property that a step violates. The rules come before other properties, so it
    reports a rule if one is violated.
    """
    invariants, properties = list(module.get("invariants", ())), list(module.get("properties", ()))
    rules: list[str] = []
    if not any(map(_RULE.fullmatch, (*invariants, *properties))):
        for rule, over_steps in _STATED.findall(module_text(name)):
            (rules if over_steps else invariants).append(rule)
    return invariants, [*rules, *properties]


def _value(name: str, constant: str, value: object) -> Constant:
    if isinstance(value, bool | int):
        return value
    if isinstance(value, list) and all(type(member) is int for member in value):
        return tuple(value)
    raise ManifestError(
        f"model {name}: expected a number, a truth value or a list of numbers as {constant}, got {value!r}; "
        "if it is a definition, put it under replaces"
    )


def _confirm_names(model: Model) -> None:
    """Checks that the module defines every name and every constant has a value. Raises UndefinedNameError."""
    configuration, module = model.configuration, model.module
    try:
        names = names_of(module)
    except FileNotFoundError as error:
        raise UndefinedNameError(f"model {model.name}: {error}") from error
    given = {name for name, _ in configuration.constants}
    replaced = {name for name, _ in configuration.replaced}
    used = {configuration.specification, *configuration.checked, *(to for _, to in configuration.replaced)}
    declare = f"declare it in {module}, or correct the manifest"
    define = f"define it in {module}, or correct the manifest"
    for wrong, what, mend in (
        (given - names.constants, "constants that the module declares", declare),
        (names.constants - given - replaced, "a value for every constant", "give it one under constants"),
        (replaced - names.constants - names.definitions, "operators that the module defines", define),
        (used - names.definitions, "definitions of the module", define),
    ):
        if wrong:
            got = f"{'none for ' if wrong <= names.constants else ''}{', '.join(sorted(wrong))}"
            raise UndefinedNameError(f"model {model.name}: expected {what}, got {got}; {mend}")


def _rules(model: Model, unexercised: Collection[str]) -> tuple[str, ...]:
    """The IDs of the rules that the model checks. In a broken model: the ID of the violated rule."""
    checked = model.configuration.checked
    if model.violates is not None:
        if model.violates not in (checked if model.may_stop else (*checked, "Deadlock")):
            raise UndefinedNameError(
                f"model {model.name}: expected to violate a property that it checks, got {model.violates}; "
                "add it to checks, or to the invariants or properties of the module"
            )
        checked = (model.violates,)
    rules = [name.replace("_", "-") for name in checked if _RULE.fullmatch(name)]
    strange = [rule for rule in unexercised if rule not in rules]
    if strange:
        raise UndefinedNameError(
            f"model {model.name}: expected unexercised rules among those that it checks, got "
            f"{', '.join(strange)}; remove them or correct the IDs"
        )
    return tuple(rule for rule in rules if rule not in unexercised)
