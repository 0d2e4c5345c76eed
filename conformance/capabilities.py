"""The checks that optional capabilities add to an examination: durable state, and concurrent events."""

from dataclasses import replace

from conformance.adapters.protocol import (
    CLEANING,
    FIRST_ID,
    IO_FAILURES,
    RESTORED,
    RESTORED_SAVEPOINT,
    Adapter,
    Offer,
)
from conformance.concurrent.examine import examine_concurrent
from conformance.drive.bounds.examination import Examination
from conformance.drive.plan import Plan
from conformance.durable.examine import examine_durable
from conformance.verdict import Verdict
from spec.vocabulary import vocabulary

OPTIONS = (FIRST_ID, RESTORED, CLEANING, IO_FAILURES, RESTORED_SAVEPOINT)
"""Capabilities that permit an option of a configuration; no separate check tests them."""
CHECKS = (examine_durable, examine_concurrent)


def with_capabilities(done: Examination, adapter: Adapter, offer: Offer, plan: Plan) -> Examination:
    """The examination with the results for the capabilities, up to the first failure.

    If the plan chooses only some rules or configurations, no capability is tested, and `not_tested` names the
    offered ones.
    """
    if plan.selected or plan.chosen:
        known = vocabulary()[done.component].capabilities
        offered = [word for word in known if word in offer.capabilities and word not in OPTIONS]
        left = f"capability {', '.join(offered)} (left out with --rule and --config)"
        return replace(done, not_tested=(*done.not_tested, left)) if offered else done
    for check in CHECKS:
        if done.verdict is Verdict.DIVERGES:
            break
        found = check(done.component, adapter, offer, plan.examples, plan.seed, plan.may_go_on)
        if found is None:
            continue
        done = replace(done, capabilities=(*done.capabilities, found.describe()))
        if found.wrong:
            done = replace(done, verdict=Verdict.DIVERGES, broken=(*done.broken, found.wrong))
        elif found.undetermined:
            done = replace(
                done, verdict=Verdict.UNDETERMINED, undetermined=(*done.undetermined, found.undetermined)
            )
    return done
