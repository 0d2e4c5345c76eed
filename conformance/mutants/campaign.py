"""Runs every mutant of the catalogue in a new process. The rule in its entry must kill it."""

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


class MutantFailure(RuntimeError):  # noqa: N818 - the campaign has failed, not the mutant
    """A mutant could not be run: its process failed, or the manifest has no model for it."""


class MutantResult(NamedTuple):
    """The result of one mutant."""

    mutant: Mutant
    rules: tuple[str, ...]
    """The rules charged at the first step that fails; empty if the mutant survived."""
    length: int
    """The number of events up to the first step that fails."""
    where: str
    """Where the step fails: the TLC model, the closed model, or the source of the case."""
    size: str = ""
    """The number of channels or tasks of the failing run, as `2 channels`; empty if it has neither."""

    @property
    def killed(self) -> bool:
        """Whether the rule in the mutant's entry was charged."""
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
    """Yield the results in the order of `chosen`. `at_once` mutants run at the same time.

    Raises the errors of `judge`.
    """
    mutants = [mutant for mutant in load_catalogue() if chosen(mutant)]
    with ThreadPoolExecutor(at_once) as pool:
        try:
            yield from pool.map(judge, mutants)
        finally:
            pool.shutdown(cancel_futures=True)  # a caller that stops early does not wait for the others


def judge(mutant: Mutant) -> MutantResult:
    """The result of one mutant.

    Raises MutantFailure if it could not be run, TlcError if TLC fails, subprocess.TimeoutExpired after
    TIMEOUT.
    """
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
