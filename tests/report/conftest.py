"""Verifications of fake parts, and one verification with fixed values, whose text is always the same."""

from collections.abc import Callable
from pathlib import Path

import pytest

from conformance.machine import Machine
from conformance.parts.result import Finding, PartResult
from conformance.parts.verify import Part, Verification, Watch, fresh_context, verify
from conformance.verdict import Verdict

NAMES = (
    "passes",
    "reads",
    "diverges",
    "crashes",
    "doubts",
    "boundless",
    "denies",
    "mute",
    "absent",
    "dies",
    "lacks",
)
FAKES = {name: Part(f"fake_parts.{name}", "fake") for name in NAMES}


@pytest.fixture
def verified(tmp_path: Path) -> Callable[..., Verification]:
    """Runs the fake parts with these names."""

    def run(
        *names: str, watch: Watch | None = None, only: tuple[str, ...] = (), paced: tuple[str, ...] = ()
    ) -> Verification:
        context = fresh_context(5, tmp_path / "build", quick=False, processes=1)
        parts = {name: FAKES[name]._replace(paced=name in paced) for name in names}
        return verify(only, context=context, watch=watch, parts=parts)

    return run


@pytest.fixture
def by_hand() -> Callable[..., Verification]:
    """A verification of these parts with fixed facts of the machine."""

    def make(*parts: PartResult, not_run: tuple[str, ...] = (), quick: bool = False) -> Verification:
        machine = Machine(2, "3.11.7", "17.0.15", "Linux x86_64")
        return Verification(parts, not_run, 7, quick, "8c1f2aa", machine, "2026-11-21T10:00:00+00:00")

    return make


@pytest.fixture
def proofs() -> PartResult:
    """A part that passes."""
    bound = "46 rules for every checkpoint id, 1 to 4 channels, 1,311 paths"
    return PartResult(
        "proofs", Verdict.CONFORMS, bound, {"rules": 46}, ("ALIGN-01",), seconds=9.4, engine="z3"
    )


@pytest.fixture
def lockstep() -> PartResult:
    """A part that diverges."""
    late = Finding(
        "ALIGN-04", "gate diverges at step 2, {'kind': 'barrier'}", "THE STORY\n  step 2  <- here\n"
    )
    return PartResult(
        "lock-step",
        Verdict.DIVERGES,
        "2 steps",
        findings=(late,),
        again="barrierspec x",
        seconds=0.6,
        engine="Python",
    )
