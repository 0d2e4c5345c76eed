"""Distributes the tests among processes: the slowest files first, and the tests of a file together.

The tests of a file share fixtures and caches, hence one process runs them. Long tests that share nothing are
distributed one by one. The folders with tests on Spark are one unit, so that one process starts one session.
"""

from xdist.scheduler import LoadScopeScheduling

ON_SPARK = ("tests/runtime/faults_on_spark", "tests/runtime/on_spark")
ONE_BY_ONE = (
    "tests/docs/test_blocks.py",
    "tests/fuzz/test_fuzz.py",
)
SLOWEST = (
    ON_SPARK[0],
    *ONE_BY_ONE,
    "tests/runtime/drivers/test_supervised_processes.py",
    "tests/model/theorem/test_theorem.py",
    "tests/conformance/parts/test_lockstep.py",
    "tests/conformance/change/test_change.py",
    "tests/conformance/divergences/test_replay_types.py",
    "tests/model/checker/test_any_number.py",
    "tests/docs/test_site_in_browser.py",
    "tests/spec/test_tlc_runner.py",
    "tests/conformance/divergences/test_replays.py",
    "tests/conformance/shrinking/test_evidence.py",
    "tests/conformance/test_closed_output.py",
    "tests/observe/test_flink_corruptions.py",
    "tests/model/test_memoised.py",
    "tests/conformance/test_bounds.py",
    "tests/conformance/parts/test_triangle.py",
    "tests/conformance/released/test_flink_gate.py",
    "tests/report/test_escape.py",
    "tests/conformance/test_known_divergences.py",
    "tests/conformance/mutants/test_automatic_mutants.py",
    "tests/test_mutants.py",
    "tests/model/test_compiled.py",
    "tests/conformance/durable/test_killed_processes.py",
    "tests/conformance/learn/test_learned.py",
    "tests/observe/test_flink_logs.py",
    "tests/observe/test_flink_more_logs.py",
    "tests/conformance/suites/test_played_suites.py",
    "tests/model/theorem/test_refinement_of_the_theorem.py",
    "tests/model/test_proofs_of_the_coordinator.py",
    "tests/conformance/cases/test_draws.py",
    "tests/conformance/test_value_maps.py",
)
"""Units that need more than five seconds of a processor, slowest first; the others follow as collected."""


def unit_of(test: str) -> str:
    """The unit of a test: its file, the unit of all tests on Spark, or the test itself."""
    file = test.partition("::")[0]
    folder = file.rpartition("/")[0]
    if folder in ON_SPARK:
        return ON_SPARK[0]
    return test if file in ONE_BY_ONE else file


def rank_of(unit: str) -> int:
    """The position of a unit in SLOWEST; units that are not listed come after all listed ones."""
    name = unit.partition("::")[0]
    return SLOWEST.index(name) if name in SLOWEST else len(SLOWEST)


class SlowestFirst(LoadScopeScheduling):
    """The scheduler of pytest-xdist that hands out whole units, in the order of SLOWEST."""

    def _split_scope(self, nodeid: str) -> str:
        return unit_of(nodeid)

    def _assign_work_unit(self, node) -> None:
        self.workqueue.move_to_end(min(self.workqueue, key=rank_of), last=False)
        super()._assign_work_unit(node)
