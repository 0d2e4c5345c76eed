"""The part of an examination that reads what is durable, and kills the process."""

from dataclasses import replace

from conformance.adapters.protocol import Adapter, Offer
from conformance.drive.examine import Examination
from conformance.drive.plan import Plan
from conformance.durable.examine import examine_durable
from conformance.verdict import Verdict


def with_durability(done: Examination, adapter: Adapter, offer: Offer, plan: Plan) -> Examination:
    """The examination with what a sink or a store keeps, unless it diverged or only some cases are chosen."""
    if done.verdict is Verdict.DIVERGES or plan.selected or plan.chosen:
        return done
    kept = examine_durable(done.component, adapter, offer, plan.examples, plan.seed, plan.may_go_on)
    if kept is None:
        return done
    done = replace(done, durable=kept.describe())
    if kept.wrong:
        return replace(done, verdict=Verdict.DIVERGES, broken=(*done.broken, kept.wrong))
    if kept.doubt:
        return replace(done, verdict=Verdict.UNDETERMINED, doubts=(*done.doubts, kept.doubt))
    return done
