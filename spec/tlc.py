"""TLC, which checks the models of the manifest.

TLC runs as a process of its own, with all its files in a temporary folder: the modules, and the
configuration that is made from the manifest. `spec.java` finds Java and the jar.
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
"""Seconds that one run of TLC may take."""
DUMP = "graph.dot"
LARGE = 20_000
"""States from which on the thorough compiler of the JVM pays off, for the models of one component."""
LARGE_DATAFLOW = 10_000
"""The same for the models of whole dataflows, whose states cost several times as much."""


class TlcTimeoutError(TlcError):
    """TLC took longer than it may."""


class Job(NamedTuple):
    """The settings of a run of TLC."""

    name: str
    """The name of the configuration file, also in errors."""
    module: str
    configuration: str
    """The text of the configuration file."""
    large: bool = False
    """Whether the model is so large that the optimising compiler of the JVM is worth its time."""
    may_stop: bool = True
    """A state without a next one is no error."""


def job_of(model: Model, configuration: Configuration | None = None) -> Job:
    """TLC's job for a model; `configuration`: one in the place of its own."""
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
    """The name of the violated definition."""
    trace: Trace
    """The counterexample, empty if everything holds."""

    @property
    def differences(self) -> tuple[str, ...]:
        """The differences of the result from the manifest, one sentence each; empty if there are none."""
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
        outcome = run(job_of(model), folder, dumping(folder) if dump else (), timeout)
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


def run(job: Job, folder: Path, options: tuple[str, ...] = (), timeout: float = TIMEOUT) -> Outcome:
    """TLC on a job in a folder given by `specification`, with further options."""
    java, jar = find_java(), find_jar()
    archive = class_archive(java, jar)
    (folder / f"{job.name}.cfg").write_text(job.configuration, "utf-8")
    states = tempfile.mkdtemp(prefix="states-", dir=folder)  # TLC names its own by the second, once
    command = [
        *(
            java,
            *_jvm_flags(job),
            *archive.flags(folder),
            "-Xss16m",
            f"-Djava.io.tmpdir={folder}",  # it unpacks its modules there, and two runs must not share them
            "-cp",
            str(jar),
            "tlc2.TLC",
        ),
        *(("-deadlock",) if job.may_stop else ()),
        *("-tool", "-workers", "1", "-metadir", states),
        # in between it would depend on the time how many states are met, and with fingerprints that are
        # chosen anew for each run, which of several endless counterexamples is found
        *("-lncheck", "final", "-fp", "0"),
        *(*options, "-config", f"{job.name}.cfg", f"{job.module}.tla"),
    ]
    try:
        finished = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, timeout=timeout, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise TlcTimeoutError(
            f"expected TLC to finish {job.name} within {timeout:.0f} s, got nothing; "
            "give it longer or make the model smaller"
        ) from error
    archive.keep(folder)
    try:
        return read_outcome(finished.stdout, finished.returncode)
    except TlcError as error:
        raise type(error)(f"{job.name}: {error} {finished.stderr[-400:]}".rstrip()) from error


def _jvm_flags(job: Job) -> tuple[str, ...]:
    """A small model is over before the thorough compiler pays off."""
    quick = () if job.large else ("-XX:TieredStopAtLevel=1",)
    return ("-XX:+UseSerialGC", *quick)


@contextmanager
def specification() -> Iterator[Path]:
    """A temporary folder that holds every module beside the others: TLC writes into it."""
    with tempfile.TemporaryDirectory(prefix="barrierspec-tlc-") as name:
        folder = Path(name)
        for file in module_files().values():
            (folder / file.name).write_bytes(file.read_bytes())
        yield folder


def _name(outcome: Outcome, folder: Path, model: Model) -> str | None:
    """The name of what is violated: TLC gives the place only if the formula stands behind a name."""
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
    """TLC does not tell which temporal property is violated: it is the one that the configuration lists."""
    text = module_text(model.module)
    over_steps = re.compile(r"^(\w+) == \[\]\[", re.MULTILINE)  # TLC names these
    named = over_steps.findall(text)
    return " or ".join(name for name in model.configuration.properties if name not in named)


def _listed(name: str, module: str, model: Model) -> str:
    """A definition that the configuration does not list is reached through an instance that it does."""
    listed = model.configuration.checked
    if name in listed:
        return name
    text = module_text(model.module)
    for candidate in listed:
        if re.search(rf"^{candidate} == \w+!{name}\b", text, re.MULTILINE):
            return candidate
    return f"{module}!{name}"
