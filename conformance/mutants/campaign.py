"""Runs every mutant of the catalogue in a new process. The rule that a mutant names must kill it."""

import json
import subprocess
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from conformance.mutants.catalogue import Mutant, counted, load_catalogue
from conformance.own_process import own_process
from spec import tlc
from spec.manifest import Model, load_manifest

SECONDS = 300
"""Time limit in seconds for the process of a mutant of the model or the implementation."""


class MutantFailure(RuntimeError):  # noqa: N818 - a failure of the machinery, not of the mutant
    """A mutant could not be tried, because its process failed, or the manifest has no model for it."""


class MutantResult(NamedTuple):
    """The result of one mutant."""

    mutant: Mutant
    rules: tuple[str, ...]
    """Charged at the first step that fails; empty if it survived."""
    length: int
    """The number of events up to the step that fails."""
    where: str
    """The model of TLC, the closed model, or the source of the case in which the step fails."""
    size: str = ""
    """The number of channels or tasks of the failing run, `2 channels`; empty if it has neither."""

    @property
    def killed(self) -> bool:
        """Whether its own rule was charged."""
        return self.mutant.rule in self.rules

    @property
    def outcome(self) -> str:
        """`killed`, `wrong killer` or `survived`."""
        if self.killed:
            return "killed"
        return "wrong killer" if self.rules else "survived"


def run_campaign(
    chosen: Callable[[Mutant], bool] = lambda _: True, *, at_once: int = 2
) -> Iterator[MutantResult]:
    """Yield the verdicts in the order of the catalogue; `at_once` mutants are tried at the same time.

    Raises as `judge`.
    """
    mutants = [mutant for mutant in load_catalogue() if chosen(mutant)]
    with ThreadPoolExecutor(at_once) as pool:
        try:
            yield from pool.map(judge, mutants)
        finally:
            pool.shutdown(cancel_futures=True)  # a caller that stops early does not wait for the others


def judge(mutant: Mutant) -> MutantResult:
    """The verdict about one mutant. Raises MutantFailure, TlcError or subprocess.TimeoutExpired."""
    return _judge_spec(mutant) if mutant.layer == "spec" else _judge_python(mutant)


def _judge_spec(mutant: Mutant) -> MutantResult:
    models = load_manifest()
    if mutant.model not in models:
        raise MutantFailure(f"{mutant.id}: the manifest has no model {mutant.model!r}")
    result = tlc.check(models[mutant.model])
    violated = (result.violated or "").replace("_", "-")
    length = max(0, len(result.trace) - 1)
    rules = (violated,) if violated else ()
    return MutantResult(mutant, rules, length, f"TLC, {mutant.model}", _size_of(models[mutant.model]))


def _size_of(model: Model) -> str:
    constants = dict(model.configuration.constants)
    channels, tasks = constants.get("N"), constants.get("Tasks")
    if isinstance(tasks, tuple):
        return counted(len(tasks), "task")
    return counted(channels, "channel") if isinstance(channels, int) else ""


def _judge_python(mutant: Mutant) -> MutantResult:
    done = subprocess.run(
        own_process("conformance.mutants.fresh_process", mutant.id),
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    if done.returncode != 0:
        tail = "\n".join(done.stderr.splitlines()[-5:])
        raise MutantFailure(f"{mutant.id}: its process ended with {done.returncode}:\n{tail}")
    found = json.loads(done.stdout)
    return MutantResult(mutant, tuple(found["rules"]), len(found["events"]), found["where"], found["size"])
