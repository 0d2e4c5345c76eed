"""Tests all mutants of a folder's TLA+ modules in one run of TLC for each model, then each survivor alone.

A definition with mutants becomes `IF mutant = 1 THEN ... ELSE IF mutant = 2 THEN ... ELSE` the original.
`mutant` is a variable whose value the initial state chooses. A generated module, the *schema*, evaluates each
rule at every state or step. A violation is printed, and ends the behaviours of this mutant only. If a mutant
has many more or much deeper states than the model, the search of this mutant in this model ends; the mutant
counts as too long, unless another model kills it.

Some checks do not work in a schema. TLC checks models whose specification is not `Spec`, such as models with
temporal properties, for each survivor alone. The schema has no mutants of recursive constants: TLC checks
each of them alone in all models. Usually TLC computes a constant once. If the constant reads `mutant`, TLC
computes it again for each state, which takes minutes.
"""

import re
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from conformance.mutants.automatic.complaints import UNPARSED, Judged, crash, too_long
from conformance.mutants.automatic.modules import modules
from conformance.mutants.automatic.operators import Edit
from conformance.mutants.automatic.tla_judge import models_of, read_by, tlc
from spec.java import class_archive, find_jar, find_java
from spec.manifest import Model
from spec.modules import module_text
from spec.tlc import specification
from spec.tool_output import UNPARSED as UNPARSED_CODE
from spec.tool_output import TlcError

SECONDS = 3000
"""Time limit of TLC for one model with all its mutants, in seconds."""
QUICK = 100_000
"""Up to this product of states and mutants, TLC runs without the optimizing compiler of the JVM.

In such a short run the compiler takes more time than it saves.
"""
MOST, MORE = 4, 2000
"""A mutant may have MOST times the states of the model, plus MORE.

A mutant with an infinite state space soon exceeds this.
"""
_DEFINED = re.compile(r"^(\w+)(\(.*?\))? ==(?= |$)")
_IN_FULL = re.compile(r"\[\]\[(?=(?:(?!\]_vars|\[\]\[).|\n)*\]_vars)")
_ASSUMED = re.compile(r"^ASSUME\b[^\n]*(\n[ \t]+[^\n]*)*", re.MULTILINE)
"""An ASSUME. It may read no variable, but a constant definition with mutants reads the variable `mutant`."""
_CHOSEN = re.compile(r"mutant = (\d+) THEN")
_TOO_LONG = "too long"
_SCHEMA = """---- MODULE Schema ----
EXTENDS {module}, Mutation, TLC
SchemaMutants == {{{mutants}}}
ASSUME TLCSet(0, 0)
ASSUME \\A schemaMutant \\in SchemaMutants : TLCSet(schemaMutant, "") /\\ TLCSet({counters} + schemaMutant, 0)
SchemaCheck(schemaRule, schemaOk) ==
    schemaOk \\/ (TLCSet(mutant, schemaRule) /\\ PrintT(<<"KILLED", mutant, schemaRule>>) /\\ FALSE)
SchemaNames == IF TLCGet(0) = mutant THEN TRUE ELSE TLCSet(0, mutant) /\\ PrintT(<<"AT", mutant>>)
SchemaInit == mutant \\in SchemaMutants /\\ Init
SchemaNext == TLCGet(mutant) = "" /\\ SchemaNames /\\ Next /\\ mutant' = mutant
SchemaSpec == SchemaInit /\\ [][SchemaNext]_<<vars, mutant>>
SchemaOverSteps == TLCGet(mutant) = "" /\\ (UNCHANGED vars \\/ ({steps}))
SchemaCounted ==
    TLCSet({counters} + mutant, TLCGet({counters} + mutant) + 1)
    /\\ SchemaCheck("{too_long}", TLCGet({counters} + mutant) =< {most})
SchemaOverStates ==
    (SchemaNames /\\ FALSE) \\/ TLCGet(mutant) # "" \\/ (({states}) /\\ SchemaCounted) \\/ TRUE
SchemaBounded == SchemaCheck("{too_long}", TLCGet("level") < {deepest})
====
"""


def judge_schema(edits: Sequence[Edit]) -> Iterator[Judged]:
    """Yield each mutant with TLC's complaint: a violated rule, an error, a time-out, or none."""
    texts = dict(modules("spec"))
    together = [edit for edit in edits if not _is_of_constants(_module(edit))]
    schema = _Schema(dict(enumerate(together, 1)))
    without_schema = []
    for model in models_of({_module(edit) for edit in together}):
        if model.configuration.specification == "Spec":
            schema.judge(model)
        else:
            without_schema.append(model.name)
    for number, edit in schema.chosen.items():
        complaint = schema.found.get(number)
        if complaint is None:
            complaint = tlc(_module(edit), edit.apply(texts[edit.module]), without_schema)
            complaint = complaint or schema.unbounded.get(number, "")
        yield Judged(edit, {"TLC": complaint})
    for edit in edits:
        if edit not in together:
            yield Judged(edit, {"TLC": tlc(_module(edit), edit.apply(texts[edit.module]))})


def _is_of_constants(module: str) -> bool:
    """Whether a module computes constants by recursion, and reads no variable."""
    read = map(module_text, read_by(module))
    return "RECURSIVE" in module_text(module) and not any("\nVARIABLE" in text for text in read)


class _Schema:
    """The mutants of one run, by the value of the variable `mutant`, and the complaints so far."""

    def __init__(self, chosen: Mapping[int, Edit]) -> None:
        self.chosen = chosen
        self.found: dict[int, str] = {}
        self.unbounded: dict[int, str] = {}
        """Mutants that had too many or too deep states in some model. Another model may still kill them."""

    def judge(self, model: Model) -> None:
        """Run TLC on a model until each mutant is killed, completely searched, or beyond its bound.

        If TLC cannot parse or evaluate the expression of a mutant, it stops. The run then starts again
        without this mutant.
        """
        read = read_by(model.module)
        ended: set[int] = set()
        while left := [
            number
            for number, edit in self.chosen.items()
            if number not in self.found and number not in ended and _module(edit) in read
        ]:
            with specification() as folder:
                self._write(model, left, folder)
                output, exit_code = _run(folder, is_quick=model.states * len(left) <= QUICK)
                for number, rule in re.findall(r'<<"KILLED", (\d+), "([^"]+)">>', output):
                    if rule == _TOO_LONG:
                        ended.add(int(number))
                        self.unbounded.setdefault(int(number), too_long(model.name))
                    else:
                        self.found[int(number)] = rule
                if exit_code == 0:
                    return
                if exit_code == UNPARSED_CODE:
                    self.found[_unparsed(output, folder)] = UNPARSED
                    continue
                if exit_code is None:
                    self.found |= dict.fromkeys(
                        (number for number in left if number not in self.found), too_long(model.name)
                    )
                    return
                at = re.findall(r'<<"AT", (\d+)>>', output)
                if not at:
                    raise TlcError(f"{model.name}: expected the number of a mutant, got {output[-2000:]}")
                self.found.setdefault(int(at[-1]), crash(model.name))

    def _write(self, model: Model, left: Sequence[int], folder: Path) -> None:
        """Write the modules with their mutants, and the schema, into the folder."""
        (folder / "Mutation.tla").write_text("---- MODULE Mutation ----\nVARIABLE mutant\n====\n", "utf-8")
        instantiate = {name for name in read_by(model.module) if "INSTANCE" in module_text(name)}
        for module in {_module(self.chosen[number]) for number in left} | instantiate:
            (folder / f"{module}.tla").write_text(self._module_text(module, left), "utf-8")
        file = folder / f"{model.module}.tla"
        rules = file.read_text("utf-8")
        file.write_text(_IN_FULL.sub("  (", rules).replace("]_vars", ")"), "utf-8")
        configuration = model.configuration
        steps = [
            f'SchemaCheck("{name}", {name})'
            for name in configuration.properties
            if re.search(rf"^{name} ==\s+\[\]\[", rules, re.MULTILINE)
        ]
        for name in configuration.properties:
            if (refined := re.search(rf"^{name} == (\w+)!Spec", rules, re.MULTILINE)) is not None:
                other = refined[1]
                steps.append(f'SchemaCheck("{name}", {other}!Next \\/ UNCHANGED <<{other}!vars>>)')
        states = [f'SchemaCheck("{name}", {name})' for name in configuration.invariants]
        if not model.may_stop:
            states.append('SchemaCheck("deadlock", ENABLED Next)')
        text = _SCHEMA.format(
            module=model.module,
            mutants=", ".join(map(str, left)),
            steps=" /\\ ".join(steps) or "TRUE",
            states=" /\\ ".join(states) or "TRUE",
            deepest=3 * model.depth + 5,
            most=MOST * model.states + MORE,
            counters=max(self.chosen),
            too_long=_TOO_LONG,
        )
        (folder / "Schema.tla").write_text(text, "utf-8")
        changed = configuration._replace(
            specification="SchemaSpec", invariants=("SchemaOverStates",), properties=()
        )
        extra = "ACTION_CONSTRAINT SchemaOverSteps\nCONSTRAINT SchemaBounded\n"
        (folder / "Schema.cfg").write_text(changed.text() + extra, "utf-8")

    def _module_text(self, module: str, left: Sequence[int]) -> str:
        """The text of a module in which each mutated definition is an IF over `mutant`."""
        source = module_text(module)
        lines = source.split("\n")
        found, position = [], 0
        for begin, end in _definitions(lines):
            found += lines[position:begin]
            position = end
            here = [
                number
                for number in left
                if _module(self.chosen[number]) == module and begin < self.chosen[number].line <= end
            ]
            if not here:
                found += lines[begin:end]
                continue
            head, original = _body(lines[begin:end])
            found.append(head)
            for number in here:
                mutated = self.chosen[number].apply(source).split("\n")
                _, body = _body(mutated[begin : end + len(mutated) - len(lines)])
                found += [f"  IF mutant = {number} THEN", *body, "  ELSE"]
            found += original
        text = _ASSUMED.sub("", "\n".join(found + lines[position:]))
        if re.search(r"^EXTENDS ", text, re.MULTILINE):
            return re.sub(r"^EXTENDS ", "EXTENDS Mutation, ", text, count=1, flags=re.MULTILINE)
        return re.sub(r"^(-+ MODULE \w+ -+\n(?:\(\*.*\*\)\n)*)", r"\1EXTENDS Mutation\n", text, count=1)


def _run(folder: Path, *, is_quick: bool) -> tuple[str, int | None]:
    """The output of TLC for the schema, and its exit code; None if TLC takes too long."""
    java, jar = find_java(), find_jar()
    quick = ("-XX:TieredStopAtLevel=1",) if is_quick else ()
    command = [
        java, "-XX:+UseSerialGC", *quick, *class_archive(java, jar).flags(folder), "-Xss64m",
        f"-Djava.io.tmpdir={folder}", "-cp", str(jar), "tlc2.TLC", "-deadlock", "-tool", "-workers", "1",
        "-metadir", tempfile.mkdtemp(dir=folder), "-fp", "0", "-config", "Schema.cfg", "Schema.tla",
    ]  # fmt: skip
    try:
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, timeout=SECONDS, check=False
        )
    except subprocess.TimeoutExpired as late:
        return (late.stdout or b"").decode(), None
    return done.stdout, done.returncode


def _unparsed(output: str, folder: Path) -> int:
    """The mutant in whose text the parser finds an error. Raises TlcError if it is in none."""
    meant = re.search(r"line (\d+), col \d+ to line \d+, col \d+ of module (\w+)", output)
    if meant is not None:
        line, module = int(meant[1]), meant[2]
    else:
        parsed, at = re.search(r"In module (\w+)", output), re.search(r"line (\d+)", output)
        module, line = (parsed[1], int(at[1])) if parsed and at else ("Schema", 0)
    before = (folder / f"{module}.tla").read_text("utf-8").split("\n")[:line]
    numbers = _CHOSEN.findall("\n".join(before))
    if not numbers:
        raise TlcError(f"expected an error in a mutant, got {output[-2000:]}")
    return int(numbers[-1])


def _definitions(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """For each definition: the index of its first line, and of the line after its last."""
    for begin, line in enumerate(lines):
        if _DEFINED.match(line):
            end = begin + 1
            while end < len(lines) and lines[end][:1] in ("", " "):
                end += 1
            while not lines[end - 1].strip():
                end -= 1
            yield begin, end


def _body(lines: Sequence[str]) -> tuple[str, list[str]]:
    """Split a definition after `==`. The body keeps its columns, because TLA+ reads indentation."""
    named = _DEFINED.match(lines[0])
    head = lines[0][: named.end()] if named else ""
    rest = lines[0][len(head) :]
    is_value = rest.strip() and not rest.strip().startswith("\\*")
    return head, [" " * len(head) + rest, *lines[1:]] if is_value else list(lines[1:])


def _module(edit: Edit) -> str:
    return edit.module.split(".")[-1]
