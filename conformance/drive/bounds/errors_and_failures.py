"""Two checks that every component must pass: a batch with a refused event, and a new instance after a `fail`.

The implementation applies the events before the refused event of a batch, and no other event of it; `at` is
the position of the refused event. A `fail` ends one instance only: it has no influence on the next instance.
"""

from collections.abc import Iterator, Sequence

from conformance.adapters.protocol import Adapter, Applied, Errored, Hung, Unsupported, Wire, canonical
from conformance.cases.rule_cases import rule_cases
from conformance.drive.answers import STRAY, allowed_run, fresh, one_by_one
from conformance.drive.bounds.failed_check import BATCH, FAILURE, FailedCheck
from conformance.drive.bounds.tested_scope import OPTIONS
from conformance.drive.lockstep import replay
from conformance.drive.oracle import GOES_ON, Oracle, Oracles
from conformance.drive.plan import Plan
from conformance.generators import generate

LENGTH = 24
"""The maximum number of events in a run that the protocol allows."""
CUTS = (0, 1, 3, 7, 12)
"""The number of events before the refused event, in each batch that has one."""


def broken(component: str, adapter: Adapter, plan: Plan) -> tuple[FailedCheck, ...]:
    """The failed checks that are not known, of the first configuration in which such a check fails."""
    oracles = Oracles(component)
    found: list[FailedCheck] = []
    for config in one_of_each(component, plan):
        if found or not plan.may_go_on():
            break
        oracle = oracles.of(config)
        run = allowed_run(oracle, f"{plan.seed}/{component}/conduct", LENGTH, injects=plan.injects)
        if len(run) < 2:
            continue
        failing = _failing(oracle, plan) if component not in GOES_ON else None
        wrong = behind_an_error(oracle, adapter, run), behind_a_failure(oracle, adapter, run, failing or ())
        found += (one for one in wrong if one is not None and not plan.is_known_check(one))
    return tuple(found)


def one_of_each(component: str, plan: Plan) -> Iterator[Wire]:
    """One configuration for each mode, profile and level."""
    seen: set[tuple[object, ...]] = set()
    for config in generate.fitting(component, plan.pinned):
        kind = tuple(config.get(option) for option in OPTIONS)
        if kind not in seen:
            seen.add(kind)
            yield config


def _evidence(check: str, oracle: Oracle, run: Sequence[Wire], what: str) -> FailedCheck:
    config = oracle.config
    shown = ", ".join(f"{key}={value}" for key, value in config.items() if not isinstance(value, list))
    return FailedCheck(check, oracle.component, config, tuple(run), what=f"{what} ({shown})")


def behind_an_error(oracle: Oracle, adapter: Adapter, run: Sequence[Wire]) -> FailedCheck | None:
    """Send batches with an event to be refused. Exactly the events before it must be applied.

    Returns the evidence of the first batch for which this does not hold, or None.
    """
    alone = fresh(adapter, oracle, [[event] for event in run])
    if not isinstance(alone, list):
        return None  # no answer: the cases of other sources report this
    wrong = (_wrong_after_batch(oracle, adapter, run, cut, alone) for cut in CUTS if cut < len(run))
    what = next((one for one in wrong if one is not None), None)
    return None if what is None else _evidence(BATCH, oracle, run, what)


def _wrong_after_batch(
    oracle: Oracle, adapter: Adapter, run: Sequence[Wire], cut: int, alone: Sequence[Applied]
) -> str | None:
    answer = fresh(adapter, oracle, [[*run[:cut], STRAY, run[cut]]])
    sent = f"a batch whose event {cut + 1} of {cut + 2} is {dict(STRAY)}"
    if isinstance(answer, Hung | Unsupported):
        return None
    if not isinstance(answer, Errored):
        received = "effects" if isinstance(answer, list) else answer.describe()
        return f'{sent}: expected `error` with "at": {cut}, got {received}'
    if answer.at != cut:
        received = "no position" if answer.at is None else f'"at": {answer.at}'
        return f'{sent}: expected "at": {cut}, got {received}'
    after = one_by_one(adapter, run[cut:])
    if isinstance(after, list) and list(map(_spelled, after)) == list(map(_spelled, alone[cut:])):
        return None
    return (
        f"after {sent} it continues differently than after its first {cut} events; exactly the events before "
        "the refused one must have been applied"
    )


def _spelled(answer: Applied) -> bytes:
    """The effects and the state as canonical JSON, so that answers can be compared as bytes."""
    return canonical([answer.effects, answer.state])


def behind_a_failure(
    oracle: Oracle, adapter: Adapter, run: Sequence[Wire], failing: Sequence[Wire]
) -> FailedCheck | None:
    """The evidence if a new instance answers `run` differently after another one has failed, else None.

    `failing`: a run whose last event fails the task; if it is empty, nothing is checked.
    """
    if not failing or replay(oracle, adapter, run).divergence is not None:
        return None
    if replay(oracle, adapter, failing).divergence is not None:
        return None  # the cases of other sources report this divergence
    again = replay(oracle, adapter, run).divergence
    if again is None:
        return None
    what = (
        f"after a `fail` a new instance answers differently than before it: {dict(again.event)}; "
        "`new` must create an independent instance"
    )
    return _evidence(FAILURE, oracle, run, what)._replace(before=tuple(failing))


def _failing(oracle: Oracle, plan: Plan) -> Sequence[Wire] | None:
    """The first rule case at whose last event the task fails; None if the component has none."""
    for case in rule_cases():
        if case.component != oracle.component:
            continue
        if not plan.injects and any(event["kind"] == "inject" for event in case.events):
            continue
        *before, last = oracle.transcript(case.events)
        if last.fails and not any(edge.fails or edge.refused is not None for edge in before):
            return case.events
    return None
