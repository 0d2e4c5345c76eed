"""Proves the rules of the coordinator for any number of tasks; `BOUNDS` states what is still bounded.

A field with one value for each task becomes a rope of three cells: the tasks before the task of the event,
that task, and the tasks behind it. Two functions of the properties loop over effects, which a rope does not
allow; `HELPERS` has their equivalents for ropes.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from typing import Any, NamedTuple

import z3

from model.checker.any_number.axis import OWN, Axis
from model.checker.any_number.cases import Case, is_impossible, start_case, step_by
from model.checker.any_number.frames import is_permitted
from model.checker.any_number.members import Many
from model.checker.any_number.reread import Helpers, Reread
from model.checker.any_number.rope import SomeOf, cells_of, is_present, joined
from model.checker.any_number.walks import any_, type_
from model.checker.symbolic import SymbolicUseError, any_word, bool_term, int_term, symbolic_like
from model.coordinator.events import (
    AcknowledgeMessage,
    CoordinatorRestart,
    DeclineMessage,
    FailTasks,
    JobEnd,
    JobStatus,
    Rejected,
    RestoreRequest,
    StoreFails,
    TaskStatus,
    TriggerFails,
    TriggerRequest,
    TriggerTask,
)
from model.coordinator.failures import Failures
from model.coordinator.profiles import COORDINATOR_PROFILES
from model.coordinator.proofs.closed import ENDS, OWN_REASONS, Numbers, is_word
from model.events import BEFORE, MAYBE, NONE, Advance, Effects
from model.registry import Property
from model.store.store import CHECKPOINT, STOP

TASKS = Axis("tasks")
SIZES = (*TASKS.sizes, TASKS.all.size >= 1)
"""The number of tasks in each group of a rope: at least 0, and at least 1 in all."""
BOUNDS = (
    "1 retained checkpoint, and at most 1 stored; at most 1 pending checkpoint, in 2.3 also 2, or 1 and 1 "
    "waiting request (but not at an acknowledgement), or 1 with 1 operator coordinator, hook, counted "
    "failure, or durable checkpoint of a failed addition; no scheduler, pause, shared files"
)
_ALONE = tuple(Numbers(*some, stored, 0, 0) for some in ((0, 0), (1, 0), (0, 1)) for stored in (0, 1))
_TOGETHER = tuple(Numbers(*some, stored, 0, 0) for some in ((2, 0), (1, 1)) for stored in (0, 1))
_AFTER_FAILURES = (Numbers(1, 0, 1, 0, 1), Numbers(1, 0, 1, 1, 0))


class Setting(NamedTuple):
    """The part of a configuration that is no symbol."""

    profile: str = "2.3"
    coordinators: int = 0
    hooks: int = 0


OLDER = ("1.9", "1.11", "1.12", "1.13", "1.14.0", "1.14", "1.15.0", "1.15", "1.16.0", "1.17", "1.20")
"""Every generation before 2.3: 1.18 and 1.19 have the switches of 1.20."""
BEYOND = frozenset(
    (
        *(f"COORD-{number}" for number in (14, 18, 26, 29)),
        *(f"SUB-{number:02}" for number in (10, 12)),
    )
)
"""Rules of what `BOUNDS` excludes, and SUB-10, a rule of the store."""


VARIANTS = frozenset(
    f"model-coordinator-{name}"
    for name in (
        "never-expires",
        "repeats-ids",
        "no-limit",
        "triggers-operators",
        "late-state-kept",
        "one-is-enough",
        "wrong-reason",
        "leaves-waiting",
        "forgets-older",
        "ends-newer",
        "keeps-savepoints-quiet",
        "notifies-1-9",
    )
)
"""Mutants of the catalogue that a proof within `BOUNDS` must kill, one for each of twelve rules."""


def beginning_with(effects: Effects, kinds: tuple[type, ...]) -> Effects:
    """`model.coordinator.properties.terms.beginning_with`: the cells from the first of `kinds` on."""
    cells = cells_of(effects)
    for place, cell in enumerate(cells):
        types = cell.types() if isinstance(cell, Many) else {type_(cell)}
        if types & set(kinds):
            if not types <= set(kinds):
                raise SymbolicUseError(f"effects of several kinds: {cell!r}")
            return joined(cells[place:])
    return ()


def answers(effects: Effects, last: Any) -> Effects:  # noqa: ANN401 - an int or a symbol
    """`model.coordinator.properties.terms.answers` on a rope: one trigger of a cell stands for all."""
    found: Effects = ()
    for cell in cells_of(effects):
        if isinstance(cell, Many):
            if TriggerTask not in cell.types() or not is_present(cell):
                continue
            effect: Any = SomeOf(cell)
        else:
            effect = cell
        if type_(effect) is Rejected:
            found = (*found, effect)
        elif type_(effect).__name__ in ("TriggerMaster", "TriggerTask") and effect.checkpoint > last:
            found, last = (*found, effect), effect.checkpoint
    return found


HELPERS: Mapping[str, Helpers] = {
    "model.frames": {"is_permitted": is_permitted},
    "model.coordinator.properties.terms": {"beginning_with": beginning_with, "answers": answers},
}

REGISTRIES = (
    ("coordinator", "COORDINATOR"),
    ("generations", "COORDINATOR_GENERATIONS"),
    ("frames", "COORDINATOR_FRAMES"),
    ("ends", "COORDINATOR_ENDS"),
    ("begins", "COORDINATOR_BEGINS"),
    ("scheduler", "COORDINATOR_SCHEDULER"),
    ("job", "COORDINATOR_LIFE"),
    ("store", "COORDINATOR_STORE"),
    ("requests", "COORDINATOR_TURNS"),
    ("subsumption", "SUBSUMPTION"),
)


def properties_of(reread: Reread) -> tuple[Property, ...]:
    """The properties of the coordinator, as compiled by `reread`."""
    return tuple(
        found
        for module, name in REGISTRIES
        for found in getattr(reread.module(f"model.coordinator.properties.{module}"), name).properties
    )


def any_plan(states: Any, setting: Setting, *, own: bool) -> Any:  # noqa: ANN401
    """A symbolic plan: any configuration in this setting."""
    plan = symbolic_like(states.Plan((), 0, 0), "plan")
    switches = COORDINATOR_PROFILES[setting.profile]
    return plan._replace(
        finished_tasks=plan.finished_tasks if switches.after_finish_configurable else False,
        sources=TASKS.symbols("is a source", own=own),
        profile=switches,
        interval=0,
        initial_delay=0,
        min_pause=0,
        coordinators=setting.coordinators,
        hooks=setting.hooks,
    )


def any_coordinator(reread: Reread, plan: Any, numbers: Numbers, *, own: bool) -> Any:  # noqa: ANN401
    """A symbolic coordinator with these numbers of parts."""
    states = reread.module("model.coordinator.state")
    stores = reread.module("model.store.store")

    def flags(what: str) -> Any:  # noqa: ANN401
        return TASKS.symbols(what, own=own)

    new = states.new_coordinator(plan, 1)
    new_pending = reread.module("model.coordinator.pending").new_pending
    begun = tuple(
        symbolic_like(
            new_pending(0, 0, 0, (), coordinators=plan.coordinators, hooks=plan.hooks), name
        )._replace(
            tasks=flags(f"takes part in {name}"),
            acknowledged=flags(f"{name} acknowledged"),
            states=TASKS.symbols(f"handle of {name}", own=own, is_bool=False),
            shared=TASKS.constant((), own=own),
        )
        for name in ("older", "newer")[: numbers.pending]
    )
    request = symbolic_like(
        reread.module("model.coordinator.requests").Request(0, False, False, False), "request"
    )
    entry, unseen = (symbolic_like(stores.Entry(0, 0), name) for name in ("entry", "unseen entry"))
    counted = tuple(symbolic_like(0, f"counted {place}") for place in range(numbers.counted))
    return new._replace(
        status=any_word("status"),
        tasks_run=flags("runs"),
        tasks_finished=flags("finished"),
        tasks_reached=flags("reached"),
        now=symbolic_like(0, "now"),
        next_id=symbolic_like(0, "next id"),
        pending=begun,
        master=symbolic_like(0, "master") if plan.coordinators or plan.hooks else NONE,
        queue=(request,) * numbers.waiting,
        failures=Failures(counted, symbolic_like(0, "highest success")),
        store=new.store._replace(entries=(entry,) * numbers.stored),
        unseen=(unseen,) * numbers.unseen,
        fault=symbolic_like(0, "fault"),
        shared=new.shared._replace(unclaimed=symbolic_like(0, "unclaimed")),
        open=symbolic_like(False, "open"),
    )


Promised = tuple[Any, bool, tuple[z3.BoolRef, ...]]
"""An event, whether it belongs to one task, and what the environment guarantees about its fields."""


def events(reread: Reread, setting: Setting) -> Iterator[Promised]:
    """Yield a symbolic event of each class; those with the most paths last."""
    task, checkpoint, handle = (
        symbolic_like(0, f"event.{name}") for name in ("task", "checkpoint", "handle")
    )
    status, reason = any_word("event.status"), any_word("event.reason")
    time, fault = symbolic_like(Advance(0), "event"), symbolic_like(StoreFails(0), "event")
    request = symbolic_like(TriggerRequest(CHECKPOINT), "event")
    by_task = tuple(z3.Not(is_word(reason, own)) for own in OWN_REASONS)
    is_stored = int_term(handle) >= 0
    yield fault, False, (int_term(fault.when) >= BEFORE, int_term(fault.when) <= MAYBE)
    yield CoordinatorRestart(), False, ()
    yield JobEnd(status), False, (z3.Or(*(is_word(status, end) for end in ENDS)),)
    yield JobStatus(status), False, ()
    yield TaskStatus(OWN, status), True, ()
    yield FailTasks(TASKS.symbols("fails", own=False)), False, ()
    yield RestoreRequest(()), False, ()
    yield RestoreRequest(TASKS.symbols("restored", own=False)), False, ()
    yield AcknowledgeMessage(task, checkpoint, handle), False, (is_stored, int_term(task) >= TASKS.all.size)
    yield DeclineMessage(task, checkpoint, reason), False, by_task
    yield time, False, (int_term(time.ms) >= 0,)
    yield request, False, (int_term(request.type) >= CHECKPOINT, int_term(request.type) <= STOP)
    answer = reread.module("model.coordinator.trigger").MasterAnswer
    for is_hook in (False, True):
        for place in range(setting.hooks if is_hook else setting.coordinators):
            fails = symbolic_like(False, "event.fails")
            yield answer(place, checkpoint, is_hook, fails), False, ()
    yield TriggerFails(OWN, checkpoint), True, ()
    yield AcknowledgeMessage(OWN, checkpoint, handle), True, (is_stored,)


def coordinator_cases(
    reread: Reread, setting: Setting, numbers: Iterable[Numbers] = _ALONE
) -> Iterator[Case]:
    """Yield a new coordinator, and each event in each state with these numbers of parts."""
    step = step_by(reread.module("model.coordinator.generations").coordinator_steps)
    properties = properties_of(reread)
    states = reread.module("model.coordinator.state")
    plans = {own: any_plan(states, setting, own=own) for own in (False, True)}
    plan = plans[False]
    configured = (
        int_term(plan.timeout) >= 1,
        int_term(plan.max_concurrent) >= 1,
        int_term(plan.tolerable_failures) >= -1,
    )
    yield start_case("coordinator", states.new_coordinator(plan, 1), properties, (*SIZES, *configured))
    for (event, own, promised), many in product(tuple(events(reread, setting)), numbers):
        if own and many.pending and many.waiting and type(event) is AcknowledgeMessage:
            continue  # thousands of paths: not ended after 80 s of processor time
        state = any_coordinator(reread, plans[own], many, own=own)
        has_source = () if plan.profile.every_task_must_run else (bool_term(any_(plans[own].sources)),)
        label = f"{words_of(setting, many)}, {event[-1]}"
        case = Case("coordinator", label, state, event, step, properties, (*SIZES, *promised, *has_source))
        if many.pending or not many.waiting or not is_impossible(case):
            yield case


def words_of(setting: Setting, numbers: Numbers) -> str:
    """The setting and the numbers of a coordinator's parts that are not 0."""
    many = {**setting._asdict(), **numbers._asdict(), "profile": 0}
    return ", ".join((setting.profile, *(f"{number} {what}" for what, number in many.items() if number)))


def all_coordinator_cases(reread: Reread) -> Iterator[Case]:
    """Yield the cases of every generation; those with the most paths last."""
    for profile in ("2.3", *OLDER):
        yield from coordinator_cases(reread, Setting(profile))
    for setting in (Setting(coordinators=1), Setting(hooks=1)):
        yield from coordinator_cases(reread, setting)
    yield from coordinator_cases(reread, Setting(), (*_AFTER_FAILURES, *_TOGETHER))
