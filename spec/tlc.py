"""Runs TLC on the models of the manifest.

TLC runs in a separate process. A temporary folder holds all its files: the modules, and the configuration,
which is made from the manifest. `spec.java` finds Java and the jar.
"""

import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from spec.configuration import Configuration
from spec.counterexample import Trace, render
from spec.java import class_archive, find_jar, find_java
from spec.manifest import Model
from spec.modules import definitions, module_files, module_path, module_text
from spec.tool_output import Location, Outcome, SomeTemporalProperty, TlcError, read_outcome

TIMEOUT = 300.0
"""Maximum duration of one run of TLC, in seconds."""
DUMP = "graph.dot"
LARGE = 20_000
"""Number of states from which the optimising compiler (C2) of the JVM makes a run faster."""
LARGE_DATAFLOW = 10_000
"""The same for models of a whole dataflow, whose states cost several times as much."""


class TlcTimeoutError(TlcError):
    """TLC did not finish within the time-out."""


class Job(NamedTuple):
    """The settings of a run of TLC."""

    name: str
    """The name of the configuration file without its suffix. Error messages use it too."""
    module: str
    configuration: str
    """The text of the configuration file."""
    large: bool = False
    """The model has at least `LARGE` states, so the JVM uses its optimising compiler."""
    may_stop: bool = True
    """A state without a successor is no error: TLC does not check for deadlocks."""


def job_of(model: Model, configuration: Configuration | None = None) -> Job:
    """The settings for a run of TLC on a model. `configuration` replaces the model's configuration."""
    text = model.configuration_text() if configuration is None else configuration.text(model.shows)
    may_stop = model.may_stop or configuration is not None
    is_dataflow = module_path(model.module).startswith("spec/dataflow/")
    is_large = model.states >= (LARGE_DATAFLOW if is_dataflow else LARGE)
    return Job(model.name, model.module, text, is_large, may_stop)


class Result(NamedTuple):
    """The result of TLC for one model."""

    model: Model
    states: int
    depth: int
    seconds: float
    violated: str | None
    """The name of the violated definition. None if everything holds."""
    trace: Trace
    """The counterexample. Empty if everything holds."""

    @property
    def differences(self) -> tuple[str, ...]:
        """The differences between the result and the manifest, as one line of text each."""
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
        """The counterexample as text, with one line for each step."""
        return render(self.trace)


def check(model: Model, timeout: float = TIMEOUT, dump: Path | None = None) -> Result:
    """Runs TLC on a model. `timeout`: in seconds.

    The function does not compare the result with the manifest; `Result.differences` does. `dump`: the file to
    which the state graph is written, for `spec.stategraph`. If the model violates a definition, no file is
    written, because TLC stops at the violation and its graph is incomplete.

    Raises:
        TlcError: no Java, no jar, a time-out, an error in the model, or an exit code that contradicts the
            output of TLC.
    """
    with specification() as folder:
        begun = time.monotonic()
        outcome = run(job_of(model), folder, dumping(folder) if dump else (), timeout)
        seconds = time.monotonic() - begun
        violated = _name(outcome, folder, model)
        if dump is not None and violated is None:
            dump.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(folder / DUMP, dump.with_suffix(".part"))
            dump.with_suffix(".part").replace(dump)
    return Result(model, outcome.states, outcome.depth, seconds, violated, outcome.trace)


def dumping(folder: Path) -> tuple[str, ...]:
    """The options with which TLC writes the state graph to the file `DUMP` of a folder."""
    return ("-dump", "dot,actionlabels", str(folder / DUMP))


def run(job: Job, folder: Path, options: tuple[str, ...] = (), timeout: float = TIMEOUT) -> Outcome:
    """Runs TLC with the settings `job`, and returns its outcome.

    `folder`: a folder of `specification`. `options`: further options of TLC. `timeout`: in seconds.
    """
    java, jar = find_java(), find_jar()
    archive = class_archive(java, jar)
    (folder / f"{job.name}.cfg").write_text(job.configuration, "utf-8")
    states = tempfile.mkdtemp(prefix="states-", dir=folder)  # the default name has the time in seconds only
    command = [
        *(
            java,
            *_jvm_flags(job),
            *archive.flags(folder),
            "-Xss16m",
            f"-Djava.io.tmpdir={folder}",  # TLC unpacks its modules there, and two runs must not share them
            "-cp",
            str(jar),
            "tlc2.TLC",
        ),
        *(("-deadlock",) if job.may_stop else ()),
        *("-tool", "-workers", "1", "-metadir", states),
        # Checks liveness only at the end: a check in between would find a number of states that depends on
        # the time. Fixes the fingerprint function: with a random one, TLC would report any of several
        # infinite counterexamples.
        *("-lncheck", "final", "-fp", "0"),
        *(*options, "-config", f"{job.name}.cfg", f"{job.module}.tla"),
    ]
    try:
        finished = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, timeout=timeout, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise TlcTimeoutError(
            f"expected TLC to finish {job.name} within {timeout:.0f} s, got no result; "
            "raise the time-out or make the model smaller"
        ) from error
    archive.keep(folder)
    try:
        return read_outcome(finished.stdout, finished.returncode)
    except TlcError as error:
        raise type(error)(f"{job.name}: {error} {finished.stderr[-400:]}".rstrip()) from error


def _jvm_flags(job: Job) -> tuple[str, ...]:
    """Options of the JVM. For a small model they exclude the optimising compiler, which costs more time."""
    quick = () if job.large else ("-XX:TieredStopAtLevel=1",)
    return ("-XX:+UseSerialGC", *quick)


@contextmanager
def specification() -> Iterator[Path]:
    """A temporary folder with a copy of every module. TLC also writes its files to it."""
    with tempfile.TemporaryDirectory(prefix="barrierspec-tlc-") as name:
        folder = Path(name)
        for file in module_files().values():
            (folder / file.name).write_bytes(file.read_bytes())
        yield folder


def _name(outcome: Outcome, folder: Path, model: Model) -> str | None:
    """The name of the violated definition. If TLC reports only a line, the definition at this line."""
    if isinstance(outcome.violated, SomeTemporalProperty):
        return _temporal(model)
    if not isinstance(outcome.violated, Location):
        return outcome.violated
    place = outcome.violated
    path = folder / f"{place.module}.tla"
    lines = definitions(path.read_text("utf-8")) if path.is_file() else {}
    before = {line: name for name, line in lines.items() if line <= place.line}
    if before:
        return _listed(before[max(before)], place.module, model)
    raise TlcError(f"expected a definition at line {place.line} of {place.module}, got none; run TLC by hand")


def _temporal(model: Model) -> str:
    """The violated temporal property. TLC does not name it: it is the one that the configuration lists.

    If the configuration lists several, the result has all their names.
    """
    text = module_text(model.module)
    over_steps = re.compile(r"^(\w+) == \[\]\[", re.MULTILINE)  # TLC reports these by name
    named = over_steps.findall(text)
    return " or ".join(name for name in model.configuration.properties if name not in named)


def _listed(name: str, module: str, model: Model) -> str:
    """The listed definition that stands for `name`: `name` itself, or one equal to `<instance>!name`.

    If there is none, `module!name`.
    """
    listed = model.configuration.checked
    if name in listed:
        return name
    text = module_text(model.module)
    for candidate in listed:
        if re.search(rf"^{candidate} == \w+!{name}\b", text, re.MULTILINE):
            return candidate
    return f"{module}!{name}"
