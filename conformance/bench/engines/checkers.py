"""Other model checkers on the closed gate: TLC, SPIN and minicheck, each on a text of the very same states.

TLC reads `AlignedModel.tla`, SPIN the same model in Promela (`gate.pml`), minicheck our step functions.
No property is checked. A state has the gate, what each channel has delivered, and the last event with its
effects; equal counts of states show that the work is the same.
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
"""The number of workers of TLC."""


class Gate(NamedTuple):
    """A closed gate in which every event is possible at each step; an ended channel counts as aligned."""

    channels: int
    ids: int

    @property
    def name(self) -> str:
        """As reports call it."""
        return f"gate of {self.channels} channels, ids to {self.ids}"


class Composition(NamedTuple):
    """A composed dataflow of spec/manifests, with another number of records of each source."""

    model: str
    records: int

    @property
    def name(self) -> str:
        """As reports call it."""
        return f"{self.model} with {self.records} record{'s' * (self.records > 1)} of each source"


class Explored(NamedTuple):
    """The result of one search."""

    states: int
    seconds: float
    """The time of the search, from the first state on."""
    start: float
    """The seconds outside the search: start, parsing, compilation, and the model's answers."""
    peak: int
    """Bytes in memory at most, of all its processes; 0 if that was not watched."""
    transitions: int = 0
    """The number of transitions; 0 if it is not reported."""
    answers: int = 0
    """Answers of our model during the search of a composed dataflow; 0 in any other search."""
    answering: float = 0.0
    """Seconds of these answers, which are among those of `start`."""


def tlc(gate: Gate) -> Explored:
    """TLC without properties, on two workers."""
    constants = f"N = {gate.channels}\n M = {gate.ids}\n AfterFinish = TRUE\n Polled = FALSE\n"
    return _tlc("AlignedModel", f"SPECIFICATION Spec\nCONSTANTS\n {constants}")


def tlc_on(name: str, records: int | None = None) -> Explored:
    """TLC on a model of spec/manifests, without its properties, on two workers; see `Composition`."""
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
    """SPIN's verifier of the gate, compiled."""
    for program, package in (("spin", "spin"), ("gcc", "gcc")):
        if shutil.which(program) is None:
            raise NotInstalledError(f"no `{program}`: install it with `apt install {package}`")
    with TemporaryDirectory(prefix="barrierspec-spin-") as name:
        yield Spin(gate, Path(name))


def gate_text(channels: int, ids: int) -> str:
    """The gate in Promela. An event has at most an abort, a block, a trigger and twice each channel."""
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
    """SPIN: an exact search (no hash compaction), with or without its compression of states."""

    def __init__(self, gate: Gate, folder: Path) -> None:
        self._gate = gate
        self._folder = folder
        (folder / "gate.pml").write_text(gate_text(gate.channels, gate.ids))
        # what is only written belongs to the state here: -o2
        self._made = watch(["spin", "-a", "-o2", "gate.pml"], folder).seconds
        self._compiled: dict[bool, float] = {}

    def search(self, *, collapse: bool) -> Explored:
        """Every state, depth first."""
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
    """minicheck on our own step functions."""
    if importlib.util.find_spec("minicheck") is None:
        raise NotInstalledError("no minicheck: install it with `pip install minicheck==0.4.0`")
    return ours("minicheck", gate)


def ours(engine: str, gate: Gate, *more: str, kernels: str | None = None) -> Explored:
    """A search in a Python process of its own (`conformance.bench.engines.search`).

    `kernels`: the folder of compiled kernels, if it is not the usual one.
    """
    return _ours(engine, str(gate.channels), str(gate.ids), *more, kernels=kernels)


def ours_on(name: str) -> Explored:
    """The explorer on a model of spec/manifests."""
    return _ours("manifest", name)


def ours_composed(composition: Composition, cores: int, *, kernels: str | None = None) -> Explored:
    """A composed dataflow, by the read sets of its moves."""
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
    """A competitor is not on this machine; the message says what to install."""


def _number(done: Watched, pattern: str, group: int = 1) -> int:
    found = re.search(pattern, done.text, re.MULTILINE)
    if found is None:
        raise MeasurementError(f"expected {pattern!r} in its output, got {done.text[-500:]!r}")
    return int(float(found[group]))  # from 10^8 on SPIN writes eight digits and an exponent


def _seconds(done: Watched) -> float:
    """As SPIN reports; it rounds to hundredths, and reports 0 below that."""
    found = re.search(r"elapsed time ([\d.]+) seconds", done.text)
    return 0.0 if found is None else float(found[1])
