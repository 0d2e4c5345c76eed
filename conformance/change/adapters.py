"""Compares the answers of two versions of one implementation with each other.

The model makes the runs, which the protocol permits, in configurations that both versions offer. A report of
a difference also has the answer of the model and the rules that fire at this event. State fields that one
version leaves out, and the texts of failures, are not compared. A crash is an answer. If a version hangs, or
if a difference does not occur again in a second run, the comparison is undetermined.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice
from math import inf

from conformance.adapters.hello_names import require_known_names
from conformance.adapters.in_process import INJECT, offer_of
from conformance.adapters.protocol import (
    Adapter,
    Applied,
    Crashed,
    Failure,
    Hello,
    Hung,
    Made,
    Malformed,
    Offer,
    Wire,
    canonical,
)
from conformance.cases.rule_cases import chosen_cases
from conformance.cases.walks import LENGTH
from conformance.change.behaviour import Change, Kind, difference, ways_to_differ
from conformance.change.compare_revisions import Compared
from conformance.divergence import Answer, Divergence
from conformance.drive.bounds import lives, wide_gates
from conformance.drive.bounds.ids import mapped, maps_within
from conformance.drive.examine import short_runs
from conformance.drive.lockstep import answer_of, drawn
from conformance.drive.oracle import GOES_ON, Oracle, Oracles
from conformance.drive.plan import WALKS_PER_EXAMPLE, Plan, for_offer
from conformance.generators import generate
from conformance.suites.play import Guarantee, machine_of, planned, suite_of
from conformance.suites.sequences import SuitePlay
from conformance.vectors.vector import Expected, Vector

LOST = frozenset({"fail", "crashed", "malformed"})
"""Kinds of effects of which only the kind is compared. The last two replace a missing answer."""


class UncomparedError(Exception):
    """Two implementations cannot be compared. The message states the reason."""


def compare_adapters(old: Adapter, new: Adapter, components: Sequence[str], plan: Plan) -> Compared:
    """Compare the two sides in all configurations that both offer of these components (empty: of all).

    `plan`: a plan of `conform`. Raises UncomparedError if a side does not answer, or if both offer no common
    configuration.
    """
    offers = [_offers(side) for side in (old, new)]
    found: list[Change] = []
    shared: list[tuple[str, Plan]] = []
    for component in components or generate.COMPONENTS:
        before, after = (offer.get(component) for offer in offers)
        found += _of_offers(component, before, after)
        if before is not None and after is not None:
            common = _common(before, after)
            of_both = for_offer(plan, component, common)
            if (
                of_both.offered.keys() >= generate.offered(component, before).keys()
            ):  # both offer a common value of each option
                shared.append((component, of_both))
    played = _Runs(shared)
    found += map(_judged, ways_to_differ(partial(_apart, old, new), played))
    if not played.runs:
        raise UncomparedError("there is no configuration that both offer")
    return Compared(tuple(found), f"{played.bound}; seed {plan.seed}")


def _offers(adapter: Adapter) -> dict[str, Offer]:
    """By component: the offer. All names of the protocol replace an empty list."""
    hello = adapter.hello()
    if not isinstance(hello, Hello):
        raise UncomparedError(f"hello: {hello.describe()}")
    require_known_names(hello)
    return {component: _whole(offer, offer_of(component)) for component, offer in hello.components.items()}


def _whole(offer: Offer, known: Offer) -> Offer:
    levels = tuple(word for word in known.capabilities if word != INJECT)
    has_level = any(word in levels for word in offer.capabilities)
    capabilities = offer.capabilities if has_level else (*levels, *offer.capabilities)
    return Offer(offer.modes or known.modes, offer.profiles or known.profiles, capabilities, offer.limits)


def _of_offers(component: str, old: Offer | None, new: Offer | None) -> Iterator[Change]:
    """Yields the differences of two offers: components and values of options that only one side offers."""
    if old is None or new is None:
        words = [] if old is new else [("component", component, old is not None)]
    else:
        words = [
            (option, word, word in before)
            for option, before, after in zip(("mode", "profile", "capability"), old, new, strict=False)
            for word in dict.fromkeys((*before, *after))
            if (word in before) != (word in after)
        ]
        for limit in dict.fromkeys((*old.limits, *new.limits)):
            was, is_now = (offer.limits.get(limit, inf) for offer in (old, new))
            words += [(f"{limit} above", f"{min(was, is_now):,}", is_now < was)] if was != is_now else []
    offered, missing = Answer([{"kind": "offered"}], {}), Answer([], {}, "not offered")
    for option, word, is_old in words:
        kind, answers = (Kind.LOST, (offered, missing)) if is_old else (Kind.GAINED, (missing, offered))
        yield Change(kind, component, {option: word}, (), *answers, 0)


def _common(old: Offer, new: Offer) -> Offer:
    """The modes, profiles and capabilities in both offers, with the smaller one of each limit."""
    modes, profiles, capabilities = (
        tuple(word for word in before if word in after)
        for before, after in zip(old[:3], new[:3], strict=True)
    )
    kinds = dict.fromkeys((*old.limits, *new.limits))
    limits = {kind: min(one.limits[kind] for one in (old, new) if kind in one.limits) for kind in kinds}
    return Offer(modes, profiles, capabilities, limits)


class _Runs:
    """The runs of all components, and their numbers. The model makes each run when it is needed."""

    def __init__(self, shared: Sequence[tuple[str, Plan]]) -> None:
        self._shared = shared
        self.runs: Counter[str] = Counter()
        """The number of runs by source."""
        self._steps = 0
        self._suites: list[Guarantee] = []

    def __iter__(self) -> Iterator[Vector]:
        for component, plan in self._shared:
            oracles = Oracles(component)
            for origin, config, events in self._of(component, plan, oracles):
                edges = oracles.of(config).transcript(events)
                self.runs[origin] += 1
                self._steps += len(edges)
                steps = (
                    Expected(event, edge.effects, edge.after.observed, edge.rules, edge.refused is not None)
                    for event, edge in zip(events, edges, strict=True)
                )
                yield Vector("", origin, component, config, tuple(steps))

    @property
    def bound(self) -> str:
        """The bound of the comparison, as text: the runs that were played."""
        names = ", ".join(component for component, _ in self._shared)
        sources = ", ".join(f"{number:,} of {origin}" for origin, number in self.runs.items())
        text = f"{self.runs.total():,} runs of {names} ({sources}), {self._steps:,} steps"
        extra = [one.extra for one in self._suites if one.extra is not None]
        if not extra:
            return f"{text}; complete suites: not played"
        left = len(self._suites) - len(extra)
        of_k = f"{min(extra)} to {max(extra)}" if min(extra) < max(extra) else str(extra[0])
        return f"{text}; {len(extra)} complete suites, k={of_k}" + (f", {left} not played" if left else "")

    def _of(self, component: str, plan: Plan, oracles: Oracles) -> Iterator[tuple[str, Wire, Sequence[Wire]]]:
        """The source, the configuration and the events of each run of a component."""
        maps = maps_within(plan.greatest.get("ids"))
        for _, oracle, events in chosen_cases(component, oracles, plan.pinned, injects=plan.injects):
            for sent in (events, *(mapped(component, events, ids) for ids in maps)):
                yield "rules", oracle.config, sent
        cases = islice(generate.cases(component, plan.seed, plan.pinned), plan.examples * WALKS_PER_EXAMPLE)
        for number, (config, rng) in enumerate(cases):
            choose = generate.chooser(component, config, rng, injects=plan.injects)
            walk, _ = drawn(oracles.of(config), choose, LENGTH)
            place, has_small_ids = divmod(number, WALKS_PER_EXAMPLE)
            sent = walk if has_small_ids or not maps else mapped(component, walk, maps[place % len(maps)])
            yield "walks", config, sent
        for case in short_runs(component, plan):
            yield "short runs", case.oracle.config, list(iter(partial(case.choose, {}), None))
        if component == "gate" and "channels" not in plan.pinned:
            yield from (("wide gates", config, events) for config, events in wide_gates.runs(plan))
        for alphabet, guarantee in planned(component, plan) if plan.extra_states is not None else ():
            self._suites.append(guarantee)
            if alphabet is not None and guarantee.extra is not None:
                suite = SuitePlay(alphabet, suite_of(machine_of(alphabet), guarantee.extra), plan, set())
                for _, path, _ in suite.paths():
                    yield "suites", alphabet.config, [step.event for step in path]
        yield from (("lives", config, events) for config, events in lives.runs(component, plan))


def _apart(
    old: Adapter, new: Adapter, component: str, config: Wire, events: Sequence[Wire]
) -> Divergence | None:
    """The first difference of two implementations (a function of the type `behaviour.Apart`).

    Raises UncomparedError if a side hangs, or if a difference does not occur again in a second run.
    """
    found = _first_difference(old, new, component, config, events)
    if found is not None:
        again = _first_difference(old, new, component, config, found.events)
        if again is None or again.rules != found.rules:
            raise UncomparedError(f"{component}: differed once, but not when the same events were sent again")
    return found


def _first_difference(
    old: Adapter, new: Adapter, component: str, config: Wire, events: Sequence[Wire]
) -> Divergence | None:
    before, after = (_answer(side.new(component, config)) for side in (old, new))
    for number in range(len(events) + 1):
        if not _same(before, after):
            return difference(component, config, tuple(events[:number]), before, after)
        if number == len(events) or _is_over(before, component, number):
            return None
        before, after = (_answer(side.apply([events[number]])) for side in (old, new))
    return None


def _answer(came: Applied | Made | Failure) -> Answer:
    if isinstance(came, Applied):
        return Answer(came.effects[0], came.state)
    if isinstance(came, Hung):
        raise UncomparedError(came.describe())
    if isinstance(came, Crashed | Malformed):
        word, _, reason = came.describe().partition(": ")
        return Answer([{"kind": word, "reason": reason}], {})
    return Answer([], {}, None if isinstance(came, Made) else came.describe())


def _same(one: Answer, other: Answer) -> bool:
    """Whether both refuse, or both have the same effects (without texts of failures) and the same state.

    The state is compared in the fields that both show. It is not compared after a failure.
    """
    if (one.refused is None) != (other.refused is None):
        return False
    effects = [[_wordless(effect) for effect in answer.effects] for answer in (one, other)]
    shared = [name for name in one.state if name in other.state]
    states = [canonical([answer.state[name] for name in shared]) for answer in (one, other)]
    return effects[0] == effects[1] and (_fails(one) or states[0] == states[1])


def _wordless(effect: Wire) -> bytes:
    return canonical({"kind": effect["kind"]} if effect["kind"] in LOST else effect)


def _fails(answer: Answer) -> bool:
    return any(effect["kind"] in LOST for effect in answer.effects)


def _is_over(answer: Answer, component: str, number: int) -> bool:
    """Whether the run has ended: there is no instance, or the instance may not be used again."""
    if answer.refused is not None:
        return number == 0 or answer.refused.startswith("unsupported")
    return _fails(answer) and component not in GOES_ON


def _judged(change: Change) -> Change:
    """The change with the model's answer to the last event, and with the rules that fire at this event."""
    if not change.events:
        return change
    edge = Oracle(change.component, change.config).transcript(change.events)[-1]
    model = answer_of(edge)
    right = [word for word, side in (("old", change.old), ("new", change.new)) if _same(side, model)]
    return change._replace(model=model, rules=edge.rules, right=" and ".join(right) or "neither")
