"""Repeats a check that has failed, from its evidence."""

from conformance.adapters.protocol import FAILURES, Adapter, Unsupported
from conformance.drive.bounds import errors_and_failures, lives
from conformance.drive.bounds.failed_check import BATCH, FAILURE, LIFE, FailedCheck
from conformance.drive.oracle import Oracle


def again(evidence: FailedCheck, adapter: Adapter) -> FailedCheck | None:
    """The evidence if the check fails again, or None if it does not fail any more.

    Raises WireError or KeyError if the configuration is outside the protocol.
    """
    oracle = Oracle(evidence.component, evidence.config)
    if evidence.check == LIFE:
        return lives.again(evidence, adapter)
    if evidence.check == BATCH:
        return errors_and_failures.behind_an_error(oracle, adapter, evidence.events)
    if evidence.check == FAILURE:
        return errors_and_failures.behind_a_failure(oracle, adapter, evidence.events, evidence.before)
    made = adapter.new(evidence.component, evidence.config)
    if isinstance(made, FAILURES) and not isinstance(made, Unsupported):
        return evidence._replace(what=made.describe())
    return None
