"""The proofs: z3 proves every rule of the model's components, for every checkpoint id.

Several processes share the cases. For a rule that does not hold, z3 finds a state and an event. The explorer
then searches for the shortest run of a closed model that breaks the same rule.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache

from conformance.parts.result import Context, Finding, PartResult, verdict_of
from model.checker.induction import Size, gaps_of
from model.checker.prove import Assumed, Case, Refutation, Report, pattern_of
from model.checker.vacuity import Key, key_of
from model.generations import CLAIMS
from model.properties import PROPERTIES
from model.registry import Property, Start
from model.sizes import SIZES
from model.steps import HANDLERS

SHARES_PER_PROCESS = 12
_SIZES = re.compile(r" \([^()]*\)")
EXPLORED = ("ONCE", "LIVE")
"""The families of rules of the dataflow and of liveness. Exploration and TLC check these rules."""
PROVED_HERE = frozenset(
    found.rule for found in PROPERTIES if found.component in SIZES and not found.rule.startswith(EXPLORED)
)
"""The rules that this part must prove: those of components that have cases for z3.

Exploration and TLC check the others within their bounds.
"""


def run(context: Context) -> PartResult:
    """Prove the cases, and describe each refuted one."""
    shares = context.processes * SHARES_PER_PROCESS
    channels = 2 if context.quick else 4
    context.progress("proving the rules for every checkpoint id")
    known = _cases(channels, context.thorough)  # before the pool: its processes inherit them
    with ProcessPoolExecutor(context.processes) as pool:
        every = ([shares] * shares, [channels] * shares, [context.thorough] * shares)
        reports = list(pool.map(_share, reversed(range(shares)), *every))  # the longest shares first
        claims = list(pool.map(_claim, range(len(CLAIMS))))
    refutations = [refutation for report in reports for refutation in report.refutations]
    failed = {refutation.rule for refutation in refutations}
    vacuous = vacuous_in(known, reports)
    proved = frozenset().union(*(report.proved for report in reports)) - failed
    proved -= {found.rule for found in vacuous}
    unchecked = sorted(PROVED_HERE - proved - failed - {found.rule for found in vacuous})
    findings = tuple(_findings(refutations))
    findings += tuple(
        Finding(None, f"{found.rule}: {found.name} of {found.component} rejects no wrong result of any case")
        for found in vacuous
    )
    if unchecked:
        findings += (Finding(None, f"no case checks {', '.join(unchecked)}; add one to model/*/proofs"),)
    findings += tuple(finding for finding in claims if finding is not None)
    induction, gaps = induction_of(known, reports)
    findings += tuple(Finding(None, gap) for gap in gaps)
    alike = claims.count(None)
    paths = sum(report.paths for report in reports)
    cases = sum(report.cases for report in reports)
    thorough = " in every generation" if context.thorough else ""
    bound = (
        f"{len(proved)} rules for every checkpoint id{thorough}, {paths:,} paths; {induction}; "
        f"{alike} pairs of generations alike"
    )
    return PartResult(
        name="proofs",
        verdict=verdict_of(findings),
        bound=bound,
        brief=f"{_SIZES.sub('', bound)}; the report has the sizes",
        numbers={
            "rules": len(proved),
            "alike": alike,
            "paths": paths,
            "cases": cases,
            "checks": sum(r.checks for r in reports),
        },
        rules=tuple(sorted(proved)),
        findings=findings,
    )


def vacuous_in(cases: Sequence[Case], reports: Sequence[Report]) -> list[Property]:
    """The properties that reject no wrong result of any case.

    Of a component without cases for steps, only the properties of its initial states count.
    """
    from model.properties import PROPERTIES

    components = {case.component for case in cases}
    stepped = {case.component for case in cases if type(case.event) is not Start}
    mattered = frozenset().union(*(report.mattered for report in reports))
    return [
        found
        for found in PROPERTIES
        if found.component in (components if found.over_starts else stepped) and key_of(found) not in mattered
    ]


def induction_of(
    cases: Sequence[Case],
    reports: Sequence[Report],
    sizes: Mapping[str, Size] | None = None,
    kinds: Mapping[str, Iterable[type]] = HANDLERS,
) -> tuple[str, list[str]]:
    """Two texts: the components with a complete induction and those proved for one step; the missing cases.

    `kinds`: the classes of events of each component. The second text is empty if the induction of each
    component is complete.
    """
    starts = frozenset().union(*(report.starts for report in reports))
    afters = frozenset().union(*(report.afters for report in reports))
    complete: list[str] = []
    single: list[str] = []
    lacking: list[str] = []
    for name, size in (SIZES if sizes is None else sizes).items():
        own = [case for case in cases if case.component == name and type(case.event) is not Start]
        stepped = {pattern_of(case.state): case.state for case in own}
        known = [state for shape, state in stepped.items() if (name, shape) in starts]
        states = [state for state in known if size.holds(state)]
        if states:
            ends = frozenset(after for after in afters if after[0] == name)
            gap = next(gaps_of(own, starts, ends, size, kinds.get(name, ())), None)
            lacking += [] if gap is None else [f"{name} is not proved inductive: {gap}"]
            (complete if gap is None else single).append(f"{name} ({size.text(states)})")
        beyond = [state for state in known if not size.holds(state)]
        if beyond and size.beyond:
            single.append(f"{name} ({size.span(beyond)})")
    text = f"inductive: {', '.join(complete) or 'no component'}"
    return text + (f"; one step, at sizes: {', '.join(single)}" if single else ""), lacking


def _share(number: int, of: int, channels: int, thorough: bool) -> Report:
    """Check one of `of` blocks of cases with every property. Neighbouring cases share results of z3."""
    from model.checker.prove import prove
    from model.properties import PROPERTIES

    cases = _cases(channels, thorough)
    return prove(
        cases[len(cases) * number // of : len(cases) * (number + 1) // of],
        PROPERTIES,
        assumed=_assumed,
        within={name: size.holds for name, size in SIZES.items()},
        mattered=_mattered,
    )


@cache
def _cases(channels: int, thorough: bool) -> Sequence[Case]:
    """All cases, made once in each process."""
    from model.proofs import all_cases, thorough_cases

    return (*all_cases(channels=channels), *(thorough_cases() if thorough else ()))


_assumed = Assumed()
_mattered: set[Key] = set()
"""Like `_assumed`, shared by all blocks of cases that a process checks."""


@cache
def _claim(number: int) -> Finding | None:
    """A finding if z3 refutes the claim that two generations behave alike, else None."""
    claim = CLAIMS[number]
    found = claim.prove().difference
    if found is None:
        return None
    story = f"in  {found.state}\nevent  {found.run[-1]}"
    answers = f"{claim.left}  {found.left}\n{claim.right}  {found.right}"
    return Finding(None, f"refuted: {claim.describe()}", f"{story}\n{answers}")


def _findings(refutations: list[Refutation]) -> Iterator[Finding]:
    """One finding for each refuted rule: the refutation, and the shortest run that breaks the rule."""
    charged: set[str] = set()
    for refutation in refutations:
        if refutation.rule in charged:
            continue
        charged.add(refutation.rule)
        lines = [
            f"{refutation.property} fails: {refutation.label}",
            f"  in     {refutation.state}",
            f"  event  {refutation.event}",
            f"  after  {refutation.after}",
            *_shortest_run(refutation.rule),
        ]
        yield Finding(
            refutation.rule, f"{refutation.rule} is refuted by {refutation.event}", "\n".join(lines)
        )


def _shortest_run(rule: str) -> list[str]:
    """The events from the start of a closed model to the first step that breaks the rule."""
    from model.checker.explore import explore
    from model.closed_models import closed_models
    from model.properties import PROPERTIES

    stated = tuple(known for known in PROPERTIES if known.rule == rule)
    for closed_model in closed_models():
        if any(known.component == closed_model.component for known in stated):
            here = tuple(known for known in stated if known.component == closed_model.component)
            violation = explore(closed_model, here, keep_transitions=False).violation
            if violation is not None:
                steps = [f"    {number} {event}" for number, event in enumerate(violation.run, start=1)]
                return [f"  as a run of the {closed_model.name}:", *steps]
    return ["  no run of a closed model shows it: the invariants are too weak, or the bounds too small"]
