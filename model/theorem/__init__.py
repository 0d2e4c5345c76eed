"""The theorem: barrier snapshots give exactly-once for any dataflow, any number of tasks and checkpoints.

Read first `dataflow` (the state), `actions` (the actions), `invariant` (the facts from which the theorem
follows) and `exactly_once` (the theorem). Then read `failure_free` (a job that never fails can reach the
state of each completed checkpoint), `rescaling`, `at_least_once` and `regional` (proposed: checkpoints that
complete although tasks failed). `prove` proves each theory with z3, without a bound. `finite` evaluates the
theories on small dataflows: it searches for steps and runs that make a broken variant's clause false, and
compares the theorem with the executable model.
"""

from model.theorem.at_least_once import AT_LEAST_ONCE
from model.theorem.exactly_once import EXACTLY_ONCE
from model.theorem.failure_free import FAILURE_FREE
from model.theorem.rescaling import RESCALING

THEORIES = (EXACTLY_ONCE, FAILURE_FREE, RESCALING, AT_LEAST_ONCE)
"""The theories about released behaviour, in the order in which to read them."""
