"""Runs other model checkers and our engines on the closed gate. All visit the same states.

TLC reads `AlignedModel.tla`, SPIN the same model in Promela (`gate.pml`), minicheck our step functions.
No property is checked. A state has the gate, the ids that each channel has delivered, and the last event with
its effects. Equal counts of states show that the work is the same.
"""

import importlib.util
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from string import Template
from tempfile import TemporaryDirectory
from typing import NamedTuple

from conformance.bench.benchmark import MeasurementError
from conformance.bench.runtime.measured_program import Watched, watch
from conformance.own_process import own_process
from model.checker.compiled.kernels import CACHE

WORKERS = 2
"""The number of TLC's workers."""


class Gate(NamedTuple):
    """A closed gate in which every event is possible at each step. An ended channel counts as aligned."""

    channels: int
    ids: int

    @property
    def name(self) -> str:
        """The name of the model in reports."""
        return f"gate of {self.channels} channels, ids to {self.ids}"


class Composition(NamedTuple):
    """A composed dataflow of spec/manifests, in which each source has `records` records."""

    model: str
    records: int

    @property
    def name(self) -> str:
        """The name of the model in reports."""
        return f"{self.model} with {self.records} record{'s' * (self.records > 1)} of each source"


class Explored(NamedTuple):
    """The result of one search."""

    states: int
    seconds: float
    """The seconds of the search, from the first state on."""
    start: float
    """The seconds outside the search: start, parsing, compilation, and the model's answers."""
    peak: int
    """The peak memory of all its processes in bytes; 0 if it was not measured."""
    transitions: int = 0
    """The number of transitions; 0 if the checker does not report it."""
    answers: int = 0
    """The number of answers that the Python model computed for a composed dataflow; else 0."""
    answering: float = 0.0
    """The seconds of these answers. They are also counted in `start`."""


def tlc(gate: Gate) -> Explored:
    """Run TLC on the gate without properties, with WORKERS workers."""
    constants = f"N = {gate.channels}\n M = {gate.ids}\n AfterFinish = TRUE\n Polled = FALSE\n"
    return _tlc("AlignedModel", f"SPECIFICATION Spec\nCONSTANTS\n {constants}")


def tlc_on(name: str, records: int | None = None) -> Explored:
    """Run TLC on a model of spec/manifests without its properties, with WORKERS workers.

    `records`: the number of records of each source, as in `Composition`; None: as in the manifest.
    """
    from spec.manifest import load_manifest

    model = load_manifest()[name]
    configuration = model.configuration.unchecked()
    if records is not None:
        constants = {**dict(configuration.constants), "MaxRecords": records}
        configuration = configuration._replace(constants=tuple(constants.items()))
    return _tlc(model.module, configuration.text())


def _tlc(module: str, configuration: str) -> Explored:
    from spec.java import find_jar, find_java
    from spec.tlc import specification

    with specification() as folder:
        (folder / "bench.cfg").write_text(configuration)
        command = [
            *(find_java(), "-XX:+UseParallelGC", f"-Djava.io.tmpdir={folder}"),
            *("-cp", str(find_jar()), "tlc2.TLC", "-deadlock", "-workers", str(WORKERS)),
            *("-metadir", str(folder / "found"), "-config", "bench.cfg", f"{module}.tla"),
        ]
        done = watch(command, folder)
    counted = r"^(\d+) states generated, (\d+) distinct states found, 0 states left"
    begun = done.second_of("Computing initial states")
    seconds = done.second_of("Finished in") - begun
    return Explored(_number(done, counted, 2), seconds, begun, done.peak, _number(done, counted) - 1)


@contextmanager
def spin(gate: Gate) -> Iterator["Spin"]:
    """Yield SPIN's verifier of the gate. Raises NotInstalledError."""
    for program, package in (("spin", "spin"), ("gcc", "gcc")):
        if shutil.which(program) is None:
            raise NotInstalledError(f"no `{program}`: install it with `apt install {package}`")
    with TemporaryDirectory(prefix="barrierspec-spin-") as name:
        yield Spin(gate, Path(name))


def gate_text(channels: int, ids: int) -> str:
    """The gate in Promela. `words`: an event has at most its kind, an abort, a block, a trigger, and twice
    each channel."""
    options = []
    for channel in range(channels):
        for checkpoint in range(1, ids + 1):
            guard = f"!closed[{channel}] && last[{channel}] <= {checkpoint}"
            options += [
                f"    :: d_step {{ {guard} -> {word}({channel}, {checkpoint}) }}"
                for word in ("barrier", "cancel")
            ]
        options.append(f"    :: d_step {{ !closed[{channel}] -> end_of_partition({channel}) }}")
    text = Template(Path(__file__).parents[1].joinpath("gate.pml").read_text(encoding="utf-8"))
    words = 1 + 3 + 2 * channels
    return text.substitute(channels=channels, ids=ids, words=words, options="\n".join(options))


class Spin:
    """SPIN's exact search (no hash compaction), with or without its compression of states."""

    def __init__(self, gate: Gate, folder: Path) -> None:
        self._gate = gate
        self._folder = folder
        (folder / "gate.pml").write_text(gate_text(gate.channels, gate.ids))
        # -o2: variables that are written and never read belong to the state, so SPIN must keep them
        self._made = watch(["spin", "-a", "-o2", "gate.pml"], folder).seconds
        self._compiled: dict[bool, float] = {}

    def search(self, *, collapse: bool) -> Explored:
        """Visit every state, depth first. Raises MeasurementError if SPIN has not visited all."""
        name = "collapsing" if collapse else "plain"
        if collapse not in self._compiled:
            flags = ["-O2", "-DSAFETY", "-w", *(["-DCOLLAPSE"] if collapse else [])]
            done = watch(["gcc", *flags, "-o", name, "pan.c"], self._folder)
            self._compiled[collapse] = done.seconds
        done = watch([f"./{name}", "-n", "-m200000"], self._folder)
        if "errors: 0" not in done.text or "max search depth too small" in done.text:
            raise MeasurementError(
                f"SPIN did not see every state of the {self._gate.name}: {done.text[-500:]}"
            )
        return Explored(
            _number(done, r"^\s*([\d.e+]+) states, stored"),
            _seconds(done) or done.seconds,
            self._made + self._compiled[collapse],
            done.peak,
            _number(done, r"^\s*([\d.e+]+) transitions"),
        )


def minicheck(gate: Gate) -> Explored:
    """Run minicheck on our step functions. Raises NotInstalledError."""
    if importlib.util.find_spec("minicheck") is None:
        raise NotInstalledError("no minicheck: install it with `pip install minicheck==0.4.0`")
    return ours("minicheck", gate)


def ours(engine: str, gate: Gate, *more: str, kernels: str | None = None) -> Explored:
    """Run a search of `conformance.bench.engines.search` in a separate process.

    `more`: further arguments. `kernels`: the cache folder of compiled kernels; None: the usual one.
    """
    return _ours(engine, str(gate.channels), str(gate.ids), *more, kernels=kernels)


def ours_on(name: str) -> Explored:
    """Run the explorer on a model of spec/manifests."""
    return _ours("manifest", name)


def ours_composed(composition: Composition, cores: int, *, kernels: str | None = None) -> Explored:
    """Search a composed dataflow, memoising by the read sets of its moves."""
    return _ours("memoised", composition.model, str(composition.records), str(cores), kernels=kernels)


def _ours(*order: str, kernels: str | None = None) -> Explored:
    command = own_process("conformance.bench.engines.search", *order)
    with TemporaryDirectory(prefix="barrierspec-exploring-") as folder:
        done = watch(command, Path(folder), {CACHE: kernels} if kernels else {})
    counts = re.search(r"^states (\d+) transitions (\d+) seconds ([\d.]+)$", done.text, re.MULTILINE)
    if counts is None:
        raise MeasurementError(f"{order[0]}: expected its counts, got {done.text[-500:]!r}")
    seconds = float(counts[3])
    answered = re.search(r"^answers (\d+) seconds ([\d.]+)$", done.text, re.MULTILINE)
    answers = (0, 0.0) if answered is None else (int(answered[1]), float(answered[2]))
    return Explored(int(counts[1]), seconds, done.seconds - seconds, done.peak, int(counts[2]), *answers)


class NotInstalledError(RuntimeError):
    """A model checker is not installed. The message states what to install."""


def _number(done: Watched, pattern: str, group: int = 1) -> int:
    found = re.search(pattern, done.text, re.MULTILINE)
    if found is None:
        raise MeasurementError(f"expected {pattern!r} in its output, got {done.text[-500:]!r}")
    return int(float(found[group]))  # SPIN writes numbers from 10^8 on with an exponent


def _seconds(done: Watched) -> float:
    """The seconds that SPIN reports, in hundredths; 0 for a shorter search."""
    found = re.search(r"elapsed time ([\d.]+) seconds", done.text)
    return 0.0 if found is None else float(found[1])
