"""The output of a campaign: a line while it runs, and a table and a verdict at its end."""

from collections import Counter
from collections.abc import Iterator, Sequence

from conformance.observe.guarantees.anomalies import Guarantee
from conformance.torture.brokers.faulty_broker import BrokerFault
from conformance.torture.campaign import Campaign
from conformance.torture.judge import Outcome, tally
from conformance.torture.rounds import FROZEN
from conformance.torture.streaming_query import POINTS as STREAMING_POINTS
from impl.faults import ACTIONS, POINTS

_SHOWN = 3


def progress(campaign: Campaign, name: str) -> str:
    """The line while round `name` runs."""
    wrong = f", {len(campaign.failed)} rounds failed" if campaign.failed else ""
    return (
        f"{name}: {campaign.injected} of {campaign.faults} faults, {len(campaign.outcomes)} rounds"
        f"{wrong}, {campaign.seconds:.0f} s"
    )


def report(campaign: Campaign) -> str:
    """The injected faults, the checks, the findings, and the command that repeats the campaign."""
    lines = [*_injected(campaign.outcomes), "", *_checked(campaign), *_found(campaign)]
    lines += ["", f"{campaign.verdict.value}   {_bound(campaign)}", f"  again   {campaign.again()}"]
    return "\n".join(lines) + "\n"


def _injected(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """Yield the table of injected faults: a row for each point, a column for each action."""
    times = tally(outcomes)
    actions = [one for one in ACTIONS if any(action == one for _, action in times)]
    wide = max(map(len, POINTS))
    points = [*POINTS, *STREAMING_POINTS]
    letters = {action: f"{number}" for number, action in enumerate(actions, start=1)}
    yield f"  {'injected at':<{wide}}  " + " ".join(f"{letters[one]:>4}" for one in actions) + "   all"
    for point in points:
        row = [times[point, action] for action in actions]
        if any(row):
            cells = " ".join(f"{one or '·':>4}" for one in row)
            yield f"  {point:<{wide}}  {cells}  {sum(row):>4}"
    below = Counter(action for (_, action), count in times.items() for _ in range(count))
    yield (
        f"  {'all':<{wide}}  "
        + " ".join(f"{below[one]:>4}" for one in actions)
        + f"  {sum(below.values()):>4}"
    )
    for action in actions:
        yield f"  {letters[action]:>4}  {action}: {ACTIONS[action]}"


def _checked(campaign: Campaign) -> Iterator[str]:
    outcomes = campaign.outcomes
    modes = Counter(one.round.mode for one in outcomes)
    yield f"  reached     {_reached(campaign)}"
    recoveries = sorted(seconds for one in outcomes for seconds in one.recoveries)
    yield f"  rounds      {len(outcomes)}: " + ", ".join(f"{count} {mode}" for mode, count in modes.items())
    yield (
        f"  compared    {sum(one.rows for one in outcomes):,} committed rows and the final state of every "
        "key with the batch answer"
    )
    if any(one.events for one in outcomes):
        yield f"  replayed    {sum(one.events for one in outcomes):,} protocol events through the model"
    yield (
        f"  restored    {sum(one.attempts - 1 for one in outcomes if one.attempts):,} times, "
        f"{sum(one.refused for one in outcomes)} damaged checkpoints refused, "
        f"{sum(one.drivers - 1 for one in outcomes)} drivers replaced"
    )
    wrong = Counter[str]()
    for one in outcomes:
        wrong.update(one.store)
    of_broker = Counter({kind: count for kind, count in wrong.items() if kind in list(BrokerFault)})
    of_store = wrong - of_broker
    if of_store:
        yield f"  store       {of_store.total():,} requests went wrong: {_kinds(of_store)}"
    if of_broker:
        yield f"  broker      {of_broker.total():,} faults: {_kinds(of_broker)}"
    if campaign.skipped is not None:
        yield f"  not run     {campaign.skipped}"
    if recoveries:
        middle = recoveries[len(recoveries) // 2]
        yield f"  recovered   in {middle:.2f} s until all tasks ran again (median of {len(recoveries)})"
    frozen = any(one.round.name.startswith(FROZEN) for one in outcomes)
    left = "see below" if _left(outcomes) else "no file, thread, socket or process"
    yield f"  left        {left}{'; frozen rounds are searched for processes only' if frozen else ''}"


def _kinds(counted: Counter[str]) -> str:
    return ", ".join(f"{count:,} {kind}" for kind, count in sorted(counted.items()))


def _reached(campaign: Campaign) -> str:
    reached = campaign.reached.values()
    pairs, modes, phases = (
        f"{reached[kind]} of {len(campaign.reachable[kind])}" for kind in ("faults", "modes", "phases")
    )
    return (
        f"{pairs} pairs of a point and a kind of fault, {modes} with the mode,\n"
        f"{'':14}{phases} with the operator and its first or a later passage"
    )


def _left(outcomes: Sequence[Outcome]) -> bool:
    return any(finding.startswith("left behind") for one in outcomes for finding in one.findings)


def _found(campaign: Campaign) -> Iterator[str]:
    found = campaign.anomalies()
    if found:
        yield ""
    for anomaly, (rounds, first) in found.items():
        assert first.classification is not None
        evidence = next(one for one in first.classification.findings if one.anomaly is anomaly)
        yield f"  {anomaly.title}, in {rounds} of {len(campaign.outcomes)} rounds: {anomaly.explain()}"
        yield f"    {first.round.name}: {evidence.first[0].describe()}"
        yield f"    again   {campaign.again(first.round.name)}"
    for outcome in campaign.failed[:_SHOWN]:
        yield ""
        yield f"  {outcome.round.name}, {outcome.round.mode}, failed:"
        yield from (f"    {line}" for finding in outcome.findings[:_SHOWN] for line in finding.splitlines())
        yield from (
            f"    injected at {one.point} of {one.task or 'any'}: {one.action}" for one in outcome.injected
        )
        yield f"    again   {campaign.again(outcome.round.name)}"
    if len(campaign.failed) > _SHOWN:
        yield f"  and {len(campaign.failed) - _SHOWN} more rounds"


def _bound(campaign: Campaign) -> str:
    took = f"{campaign.injected} faults in {campaign.seconds:.0f} s, seed {campaign.seed}"
    if campaign.failed:
        return f"{len(campaign.failed)} of {len(campaign.outcomes)} rounds failed; {took}"
    if campaign.anomalies():
        weakest = max((one.guarantee for one in campaign.outcomes), key=list(Guarantee).index)
        return f"not exactly-once, {weakest.value} is not refuted; {took}"
    if campaign.skipped is not None:
        return f"nothing was lost or doubled, but not every kind of round could run; {took}"
    if campaign.injected < campaign.faults:
        return f"nothing was lost or doubled, but fewer faults than {campaign.faults} were injected; {took}"
    if campaign.missed:
        named = ", ".join(sorted(campaign.missed))
        return f"nothing was lost or doubled, but no fault was injected in {named}; {took}"
    return f"nothing was lost, doubled or reordered; {took}"
