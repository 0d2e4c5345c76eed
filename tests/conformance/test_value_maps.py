"""Cases with mapped ids and times: the model answers alike, and no value is above a configured limit."""

import pytest

from conformance.adapters.choose import ours
from conformance.adapters.hello_names import unknown_names
from conformance.adapters.in_process import ModelAdapter, offer_of
from conformance.adapters.protocol import Hello, Offer, Unsupported
from conformance.cases.rule_cases import chosen_cases
from conformance.cases.walks import WalkOptions, walks
from conformance.drive.bounds import ids as of_ids
from conformance.drive.bounds import times as of_times
from conformance.drive.bounds.ids import INT64
from conformance.drive.bounds.mapped_cases import play_mapped_rules, run_machines
from conformance.drive.bounds.values import ALL, ValueMap, combined
from conformance.drive.bounds.wide_gates import play_wide_gates
from conformance.drive.lockstep import Played
from conformance.drive.loop import Limits, drive
from conformance.drive.oracle import Oracle, Oracles
from conformance.drive.plan import Plan, for_offer
from conformance.generators import generate
from model.components import COMPONENTS
from spec.vocabulary import limited

COUNTS_DISTANCES = frozenset({"subtask"})
"""Components whose answers depend on the distance of two ids. They need maps that keep every distance."""


def answers(oracle, events):
    return [[edge.effects, edge.after.observed, edge.refused is None] for edge in oracle.transcript(events)]


def undone(part, before):
    """A copy of `part` in which each mapped number is replaced by the original one (`before`)."""
    if type(part) is int:
        return before.get(part, part)
    if isinstance(part, dict):
        pairs = (
            (str(undone(int(key), before)) if key.isdecimal() else key, one) for key, one in part.items()
        )
        return {key: undone(one, before) for key, one in pairs}
    return [undone(one, before) for one in part] if isinstance(part, list | tuple) else part


def maps_for(component):
    """The maps of ids near a bound, and the maps of times. Where distances count, these keep them."""
    even = component in COUNTS_DISTANCES | of_ids.COUNTED
    kept = [ids for ids in of_ids.MAPS if ids.bound and (ids.can_be_drawn or not even)]
    return [*(ValueMap(ids, None) for ids in kept), *(ValueMap(None, times) for times in of_times.MAPS)]


@pytest.mark.parametrize("component", generate.COMPONENTS)
def test_the_model_answers_alike_with_mapped_values(component):
    for rule, oracle, events in chosen_cases(component, Oracles(component), {}, injects=True):
        highest = (
            of_ids.ASSUMED_HIGHEST if component in of_ids.COUNTED else of_ids.highest_id(component, events)
        )
        expected = answers(oracle, events)
        for values in maps_for(component):
            ids = values.ids
            before = {} if ids is None else {ids.of(one, highest): one for one in range(highest + 1)}
            far = Oracle(component, values.config(component, oracle.config))
            sent = values.events(component, oracle.config, events)
            came = answers(far, sent)[len(sent) - len(events) :]
            assert undone(came, before) == undone(expected, {}), (rule, values)


class Greatest(ModelAdapter):
    """The model. It records the greatest values that it gets, and declines values above `declines`."""

    def __init__(self, declines=None):
        super().__init__(COMPONENTS)
        self.got = dict.fromkeys(("ids", "channels", "milliseconds"), 0)
        self.declines = declines

    def new(self, component, config):
        self.component = component
        self.got["channels"] = max(self.got["channels"], config.get("channels", 0))
        return super().new(component, config)

    def apply(self, events):
        for limit in ("ids", "milliseconds"):
            fields = of_ids.fields_of(self.component, limit)
            found = [event[name] for event in events for name in fields if type(event.get(name)) is int]
            if self.declines is not None and max(found, default=0) > self.declines:
                return Unsupported("too large")
            self.got[limit] = max([self.got[limit], *found])
        return super().apply(events)


def played(adapter, component, offer):
    """Plays a few cases of every source of mapped cases."""
    plan, total = for_offer(Plan(0, 3, 100), component, offer), Played()
    maps = play_mapped_rules(component, adapter, plan, total)
    drive(walks(component, 0, WalkOptions(plan.pinned), maps=maps), adapter, Limits(cases=40), total)
    run_machines(component, adapter, plan, maps, total)
    if component == "gate":
        play_wide_gates(adapter, plan, total)
    return total


@pytest.mark.parametrize("component", ["gate", "coordinator", "offsets"])
def test_values_up_to_the_limits_are_sent_and_none_above(component):
    greatest = {"ids": 2**53 - 1, "milliseconds": 2**53 - 1, "channels": 64}
    known = {name: limit for name, limit in greatest.items() if name != "channels" or component == "gate"}
    offer = offer_of(component)._replace(modes=("alternating",) if component == "gate" else (), limits=known)
    adapter = Greatest()

    assert played(adapter, component, offer).is_sound
    assert adapter.got["ids"] == 2**53 - 1
    assert adapter.got["channels"] == (64 if component == "gate" else 0)
    assert adapter.got["milliseconds"] < 2**53
    assert adapter.got["milliseconds"] > 2**40 or component == "offsets"


def test_without_limits_values_of_64_bits_are_sent():
    adapter = Greatest()

    total = played(adapter, "gate", offer_of("gate")._replace(modes=("alternating",)))
    assert (total.is_sound, total.skipped, total.tried.declined) == (True, [], {})
    assert adapter.got["ids"] == INT64
    assert 2**62 <= adapter.got["milliseconds"] < 2**63
    assert adapter.got["channels"] == 129
    assert "times around 2^31, around 2^41, around 2^53, around 2^62" in total.tried.lines()["ids"]


def test_declined_values_lower_the_bound_in_every_source():
    total = played(Greatest(declines=2**53), "offsets", offer_of("offsets"))

    assert (total.is_sound, total.skipped) == (True, [])
    assert total.tried.declined == {"ids around 2^53 and beyond": "too large"}


def test_a_gate_with_a_limit_of_one_channel_gets_no_wider_case():
    offer = offer_of("gate")._replace(modes=("exactly-once",), limits={"channels": 1})

    assert {config["channels"] for config in generate.fitting("gate", generate.offered("gate", offer))} == {1}


class Narrow(Greatest):
    """Keeps milliseconds in 31 bits."""

    def apply(self, events):
        fields = [
            name for name in ("ms", "timestamp") if name in of_ids.fields_of(self.component, "milliseconds")
        ]
        return super().apply(
            [
                {**event, **{one: event[one] % 2**31 for one in fields if event.get(one, -1) > 0}}
                for event in events
            ]
        )


@pytest.mark.parametrize("component", ["gate", "coordinator"])
def test_times_that_do_not_fit_are_refused(component):
    pinned = {"mode": "alternating"} if component == "gate" else {}

    ordinary, late = (
        drive(walks(component, 0, WalkOptions(pinned), maps=maps), Narrow(), Limits(cases=120))
        for maps in ((), [ValueMap(None, one) for one in of_times.MAPS])
    )
    assert ordinary.is_sound
    assert late.divergence is not None


class Counter(ModelAdapter):
    """The model's coordinator with a counter of ids of `bits` bits. It records the highest next id."""

    def __init__(self, bits):
        whole = COMPONENTS["coordinator"]
        new = lambda config: self.counted(whole.new(config))  # noqa: E731
        step = lambda session, event: self.stepped(whole.step(session, event))  # noqa: E731
        super().__init__({"coordinator": whole._replace(new=new, step=step)})
        self.mask, self.highest = 2**bits - 1, 0

    def stepped(self, step):
        return step._replace(state=self.counted(step.state))

    def counted(self, session):
        next_id = session.coordinator.next_id & self.mask
        self.highest = max(self.highest, next_id)
        return session._replace(coordinator=session.coordinator._replace(next_id=next_id))


@pytest.mark.parametrize("bits", [16, 32, 53])
def test_a_narrow_counter_of_ids_is_refused_if_it_can_be_set(bits):
    adapter = Counter(bits)
    offer = adapter.hello().components["coordinator"]

    def refused(offer):
        found = Played()
        play_mapped_rules("coordinator", adapter, for_offer(Plan(0, 1), "coordinator", offer), found)
        return found.divergence

    assert refused(offer).config["first_id"] > 2**bits - 9
    assert refused(offer._replace(capabilities=())) is None


class Forgetful(ModelAdapter):
    """The model, whose tasks forget the checkpoint of a restore. It records the options that it gets."""

    def __init__(self):
        super().__init__(COMPONENTS)
        self.got = []

    def new(self, component, config):
        self.got.append(config.get("restored"))
        return super().new(component, {name: value for name, value in config.items() if name != "restored"})


@pytest.mark.rule("TASK-06")
def test_the_restored_checkpoint_is_sent_only_with_its_capability():
    adapter = Forgetful()
    offer = adapter.hello().components["subtask"]

    assert played(adapter, "subtask", offer).divergence.config["restored"] >= 2
    adapter.got.clear()
    assert played(adapter, "subtask", offer._replace(capabilities=())).is_sound
    assert set(adapter.got) == {None}


def test_the_restored_id_is_mapped_with_the_ids_of_the_events():
    config, events = {"restored": 2}, [{"kind": "complete_notification", "checkpoint": one} for one in (2, 3)]
    for ids in of_ids.MAPS:
        values = ValueMap(ids, None)
        sent = [event["checkpoint"] for event in values.events("subtask", config, events)]
        assert sent[0] == values.config("subtask", config)["restored"] < sent[1]


def test_no_drawn_id_is_above_the_greatest():
    adapter = Counter(64)
    plan = Plan(0, 1, greatest={"ids": 2**53 - 1}, first_id=True)
    maps = play_mapped_rules("coordinator", adapter, plan, Played())

    assert drive(walks("coordinator", 0, maps=maps), adapter, Limits(cases=40)).is_sound
    assert 2**53 - of_ids.ASSUMED_HIGHEST < adapter.highest < 2**53 - 100


def test_a_limit_has_a_known_name_and_a_least_value():
    def wrong(limits):
        return unknown_names(Hello("it", "1", "js", {"store": Offer((), (), (), limits)}))

    assert wrong({"ids": 2**53 - 1}) == []
    assert wrong({"idz": 2**53 - 1}) == ["store, limit 'idz': did you mean 'ids'? expected one of ids"]
    assert wrong({"ids": 99}) == ["store, limit 'ids': expected at least 2,147,483,647, got 99"]


def test_every_map_is_combined_and_every_configuration_has_its_turn():
    assert {values.ids for values in ALL} == set(of_ids.MAPS)
    assert {values.times for values in ALL} == {None, *of_times.MAPS}
    assert combined((), of_times.MAPS)[0].ids is None
    turns = {}
    for case, _ in zip(walks("store", 0, maps=ALL), range(40), strict=False):
        turns.setdefault(repr(case.oracle.config), set()).add(bool(case.bound))
    assert set(map(frozenset, turns.values())) == {frozenset({True, False})}


def test_limits_are_of_types_of_the_vocabulary():
    assert set(limited().values()) == {"ids", "channels", "milliseconds"}
    assert of_ids.fields_of("offsets") == ("checkpoint", "offsets")
    assert of_ids.fields_of("gate", "milliseconds") == ("timestamp", "ms")
    assert ours("model").hello().components["gate"].limits == {}
