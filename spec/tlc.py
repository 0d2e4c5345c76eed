"""The models of the specification, and TLC, which checks them.

`manifest.toml` lists every model with what must come out: success with a pinned number of states and a
pinned depth, or the violation of one named definition. TLC runs as a process of its own, with all its
files in a temporary folder; which Java and which jar, `java` tells.
"""

import re
import shutil
import subprocess
import tempfile
import time
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple

from spec.counterexample import Trace, render
from spec.java import class_archive, find_jar, find_java
from spec.tool_output import Location, Outcome, SomeTemporalProperty, TlcError, read_outcome

TIMEOUT = 300.0
"""Seconds that one run of TLC may take."""
DUMP = "graph.dot"
LARGE = 10_000
"""States from which on the thorough compiler of the JVM pays off."""

_DEFINITION = re.compile(r"^(\w+)(?:\([^)]*\))?\s*==", re.MULTILINE)
_SECTION = re.compile(r"^(INVARIANTS?|PROPERT(?:Y|IES)|CONSTANTS?|SPECIFICATION)\b", re.MULTILINE)
_OVERRIDE = re.compile(r"^\s*(\w+)\s*<-\s*(\w+)\s*$", re.MULTILINE)


class TlcTimeoutError(TlcError):
    """TLC took longer than it may."""


class ManifestError(ValueError):
    """The manifest of models is malformed."""


class Model(NamedTuple):
    """One model of the manifest: a module, its constants, and what must come out."""

    name: str
    module: str
    cfg: str
    """The file of constants, in the folder of the module."""
    shows: str
    """One sentence: what it shows."""
    violates: str | None
    """The definition that must be violated; None if everything must hold."""
    states: int
    """Pinned number of distinct states; of a violation, as many as one worker meets."""
    depth: int
    """Pinned number of states on the longest shortest run, or on the counterexample."""
    rules: tuple[str, ...]
    """IDs of the rules that it checks."""
    triangle: bool
    """Its state graph is compared with that of the Python reference model."""
    lesson: bool
    """A broken model that every verification runs; the others are run as mutants."""
    thorough: bool = False
    """A model that takes so long that only a thorough verification runs it."""
    compares_long: bool = False
    """A graph so large that only a thorough verification compares it."""

    def is_compared(self, *, thorough: bool) -> bool:
        """Whether a verification compares its state graph."""
        return self.triangle and (thorough or not (self.thorough or self.compares_long))


class Result(NamedTuple):
    """What TLC found in one model."""

    model: Model
    states: int
    depth: int
    seconds: float
    violated: str | None
    """The name of the violated definition."""
    trace: Trace
    """The counterexample, empty if everything holds."""

    @property
    def differences(self) -> tuple[str, ...]:
        """How the result differs from the manifest, one sentence each; empty if it is as pinned."""
        compared: tuple[tuple[str, object, object], ...] = (
            ("violated definition", self.model.violates or "none", self.violated or "none"),
            ("distinct states", self.model.states, self.states),
            ("depth", self.model.depth, self.depth),
        )
        return tuple(
            f"{self.model.name}: {what}: expected {expected}, got {got}"
            for what, expected, got in compared
            if expected != got
        )

    @property
    def story(self) -> str:
        """The counterexample, one line a step."""
        return render(self.trace)


def load_manifest() -> dict[str, Model]:
    """Every model by its name, in the order of the manifest.

    Raises:
        ManifestError: an entry lacks a field or a name occurs twice.
    """
    return parse_manifest((resources.files("spec") / "manifest.toml").read_text("utf-8"))


def parse_manifest(text: str) -> dict[str, Model]:
    """The models of a manifest given as TOML."""
    try:
        entries = tomllib.loads(text).get("model", [])
    except tomllib.TOMLDecodeError as error:
        raise ManifestError(f"expected TOML, got: {error}; mend the manifest") from error
    models: dict[str, Model] = {}
    for entry in entries:
        model = _model(entry)
        if model.name in models:
            raise ManifestError(f"expected each model once, got {model.name} twice; rename one")
        models[model.name] = model
    return models


def _model(entry: dict[str, Any]) -> Model:
    try:
        expect = entry["expect"]
        return Model(
            name=entry["name"],
            module=entry["module"],
            cfg=entry["cfg"],
            shows=entry["shows"],
            violates=None if expect == "success" else expect["violates"],
            states=entry["states"],
            depth=entry["depth"],
            rules=tuple(entry["rules"]),
            triangle=bool(entry.get("triangle", False)),
            lesson=entry.get("lesson", False),
            thorough=entry.get("thorough", False),
            compares_long=entry.get("triangle") == "thorough",
        )
    except (KeyError, TypeError) as error:
        named = entry.get("name", "without a name")
        raise ManifestError(
            f"expected all fields in model {named}, got none or a wrong {error}; add it"
        ) from error


def check(model: Model, timeout: float = TIMEOUT, dump: Path | None = None) -> Result:
    """Run TLC on a model; `timeout` in seconds.

    The result is what TLC found, whatever the manifest expects: see `Result.differences`. `dump`: where the
    state graph of a model that holds is to be left, for `spec.stategraph`; a violation cuts a graph short.

    Raises:
        TlcError: no Java, no jar, a time-out, an error in the model, or an exit code that does not fit
            what TLC printed.
    """
    with specification() as folder:
        begun = time.monotonic()
        outcome = run(model, folder, dumping(folder) if dump else (), timeout)
        seconds = time.monotonic() - begun
        violated = _name(outcome, folder, model)
        if dump is not None and violated is None:
            dump.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(folder / DUMP, dump.with_suffix(".part"))
            dump.with_suffix(".part").replace(dump)
    return Result(model, outcome.states, outcome.depth, seconds, violated, outcome.trace)


def dumping(folder: Path) -> tuple[str, ...]:
    """The options that leave the state graph in a folder, as DUMP."""
    return ("-dump", "dot,actionlabels", str(folder / DUMP))


def run(model: Model, folder: Path, options: tuple[str, ...] = (), timeout: float = TIMEOUT) -> Outcome:
    """TLC on a model in a folder given by `specification`, with further options."""
    java, jar = find_java(), find_jar()
    archive = class_archive(java, jar)
    models = folder / "models"
    command = [
        *(
            java,
            *_jvm_flags(model),
            *archive.flags(folder),
            "-Xss16m",
            f"-Djava.io.tmpdir={folder}",  # it unpacks its modules there, and two runs must not share them
            f"-DTLA-Library={folder}",
            "-cp",
            str(jar),
            "tlc2.TLC",
        ),
        *("-tool", "-deadlock", "-workers", "1", "-metadir", str(folder / "states")),
        # in between it would depend on the time how many states are met, and with fingerprints that are
        # chosen anew for each run, which of several endless counterexamples is found
        *("-lncheck", "final", "-fp", "0"),
        *(*options, "-config", model.cfg, f"{model.module}.tla"),
    ]
    try:
        finished = subprocess.run(
            command, cwd=models, capture_output=True, text=True, timeout=timeout, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise TlcTimeoutError(
            f"expected TLC to finish {model.name} within {timeout:.0f} s, got nothing; "
            "give it longer or make the model smaller"
        ) from error
    archive.keep(folder)
    try:
        return read_outcome(finished.stdout, finished.returncode)
    except TlcError as error:
        raise type(error)(f"{model.name}: {error} {finished.stderr[-400:]}".rstrip()) from error


def _jvm_flags(model: Model) -> tuple[str, ...]:
    """A small model is over before the thorough compiler pays off."""
    quick = ("-XX:TieredStopAtLevel=1",) if model.states < LARGE else ()
    return ("-XX:+UseSerialGC", *quick)


@contextmanager
def specification() -> Iterator[Path]:
    """A temporary folder with every module and configuration: nothing is left where we are installed."""
    with tempfile.TemporaryDirectory(prefix="barrierspec-tlc-") as name:
        folder = Path(name)
        (folder / "models").mkdir()
        package = resources.files("spec")
        for source, target in ((package, folder), (package / "models", folder / "models")):
            for entry in source.iterdir():
                if entry.name.endswith((".tla", ".cfg")):
                    (target / entry.name).write_text(entry.read_text("utf-8"), "utf-8")
        yield folder


def definitions(text: str) -> dict[str, int]:
    """The top-level definitions of a module: by name, the line on which each begins."""
    return {found[1]: text.count("\n", 0, found.start()) + 1 for found in _DEFINITION.finditer(text)}


def module_text(module: str) -> str:
    """The text of a module of the specification.

    Raises:
        FileNotFoundError: there is no such module.
    """
    package = resources.files("spec")
    for place in (package / f"{module}.tla", package / "models" / f"{module}.tla"):
        if place.is_file():
            return place.read_text("utf-8")
    raise FileNotFoundError(
        f"expected a module of the specification, got {module}; see spec/ for their names"
    )


def checked(model: Model) -> tuple[str, ...]:
    """The invariants and properties that a model's configuration lists, in their order."""
    return _listed_under(model, "INV", "PROP")


def _listed_under(model: Model, *headings: str) -> tuple[str, ...]:
    text = (resources.files("spec") / "models" / model.cfg).read_text("utf-8")
    parts = _SECTION.split(text)
    named: list[str] = []
    for heading, body in zip(parts[1::2], parts[2::2], strict=True):
        if heading.startswith(headings):
            named.extend(body.split())
    return tuple(named)


def replaced(model: Model) -> tuple[tuple[str, str], ...]:
    """The operators that a model's configuration replaces: (operator, replacement)."""
    text = (resources.files("spec") / "models" / model.cfg).read_text("utf-8")
    return tuple((found[1], found[2]) for found in _OVERRIDE.finditer(text))


def _name(outcome: Outcome, folder: Path, model: Model) -> str | None:
    """The name of what is violated: TLC gives the place only if the formula stands behind a name."""
    if isinstance(outcome.violated, SomeTemporalProperty):
        return _temporal(model)
    if not isinstance(outcome.violated, Location):
        return outcome.violated
    place = outcome.violated
    for path in (folder / f"{place.module}.tla", folder / "models" / f"{place.module}.tla"):
        if path.is_file():
            lines = definitions(path.read_text("utf-8"))
            before = {line: name for name, line in lines.items() if line <= place.line}
            if before:
                return _listed(before[max(before)], place.module, model)
    raise TlcError(f"expected a definition at line {place.line} of {place.module}, got none; run TLC by hand")


def _temporal(model: Model) -> str:
    """TLC does not tell which temporal property is violated: it is the one that the configuration lists."""
    text = module_text(model.module)
    over_steps = re.compile(r"^(\w+) == \[\]\[", re.MULTILINE)  # TLC names these
    return " or ".join(name for name in _listed_under(model, "PROP") if name not in over_steps.findall(text))


def _listed(name: str, module: str, model: Model) -> str:
    """A definition that the configuration does not list is reached through an instance that it does."""
    listed = checked(model)
    if name in listed:
        return name
    text = module_text(model.module)
    for candidate in listed:
        if re.search(rf"^{candidate} == \w+!{name}\b", text, re.MULTILINE):
            return candidate
    return f"{module}!{name}"
