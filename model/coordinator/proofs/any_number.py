"""The cases of the coordinator with any number of tasks. `BOUNDS` states all other bounds.

A field with one value for each task becomes a rope of three parts: the tasks before the task of the event,
that task, and the tasks after it. Some functions of the model and its properties loop over tasks or effects,
which is not possible with a rope. `HELPERS` replaces them by equivalent functions over ropes. The module's
parameter `reread` holds the model's modules, compiled again so that tuples can be ropes.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from typing import Any, NamedTuple

import z3

from model.checker.any_number.cases import RopeCase, is_impossible, start_case, step_by
from model.checker.any_number.component_parts import OWN, Axis
from model.checker.any_number.frames import is_permitted
from model.checker.any_number.members import Many
from model.checker.any_number.recompiled_model import Helpers, Reread
from model.checker.any_number.rope import SomeOf, cells_of, is_present, joined
from model.checker.any_number.sequence_functions import any_, type_
from model.checker.symbolic import (
    SymbolicBool,
    SymbolicInt,
    SymbolicUseError,
    any_word,
    bool_term,
    int_term,
    symbolic_like,
)
from model.coordinator.events import (
    AcknowledgeMessage,
    CoordinatorRestart,
    DeclineMessage,
    FailTasks,
    IoFails,
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
from model.coordinator.proofs import any_listener
from model.coordinator.proofs.closed import ENDS, INTERVAL, OWN_REASONS, Numbers, is_word
from model.events import BEFORE, ID, MAYBE, METADATA, NONE, Advance, Effects
from model.registry import Property
from model.store.store import CHECKPOINT, STOP

TASKS = Axis("tasks")
SIZES = (*TASKS.sizes, TASKS.all.size >= 1)
"""The number of tasks in each group of a rope: at least 0, and at least 1 in all groups together."""
BOUNDS = (
    "1 retained checkpoint, at most 1 stored; at most 1 pending checkpoint or 1 waiting request; in 2.3 also "
    "2 pending, or 1 pending with 1 waiting, 1 operator coordinator, 1 hook, 1 counted failure (also 1.11) "
    "or 1 durable checkpoint of a failed addition; a minimum pause only with nothing stored and no periodic "
    "savepoint: alone in 2.3, with a scheduler in 1.11, 1.17, 1.20 and 2.3; requests of the scheduler every "
    "10 ms after a first delay above 0, and at most one interval in one step of time; no shared files"
)
_ALONE = tuple(Numbers(*some, stored, 0, 0) for some in ((0, 0), (1, 0), (0, 1)) for stored in (0, 1))
_TOGETHER = tuple(Numbers(*some, stored, 0, 0) for some in ((2, 0), (1, 1)) for stored in (0, 1))
_WITHOUT_STORE = tuple(Numbers(*some, 0, 0, 0) for some in ((0, 0), (1, 0), (0, 1)))
_AFTER_FAILURES = (Numbers(1, 0, 1, 0, 1), Numbers(1, 0, 1, 1, 0))


class Setting(NamedTuple):
    """The concrete values of a configuration. All other values are symbols."""

    profile: str = "2.3"
    coordinators: int = 0
    hooks: int = 0
    pause: int = 0
    """1: the job has a minimum pause, of any length above 0. 0: it has none."""
    scheduler: int = 0
    """1: the job has periodic requests, every `INTERVAL` ms after any delay above 0. 0: it has none."""


class Above(SymbolicInt):
    """A symbol that is assumed to be above 0."""

    __slots__ = ()

    def __bool__(self) -> bool:
        return True


OLDER = tuple(name for name in COORDINATOR_PROFILES if name not in ("1.18", "1.19", "2.3"))
"""The generations before 2.3, without 1.18 and 1.19. These behave as 1.20 if deletions end at once."""
WITH_SCHEDULER = ("2.3", "1.11", "1.17", "1.20")
"""The generations whose cases include a scheduler together with a pause."""
BEYOND = frozenset(("COORD-29", "COORD-33", "SUB-10", "SUB-12"))
"""The rules that need states outside `BOUNDS`, and SUB-10, which the proofs of the store cover."""


VARIANTS = frozenset(
    f"model-{name}"
    for name in (
        "coordinator-never-expires",
        "coordinator-repeats-ids",
        "coordinator-no-limit",
        "coordinator-triggers-operators",
        "coordinator-late-state-kept",
        "coordinator-one-is-enough",
        "coordinator-wrong-reason",
        "coordinator-leaves-waiting",
        "coordinator-forgets-older",
        "coordinator-ends-newer",
        "coordinator-savepoint-not-notified",
        "coordinator-notifies-1-9",
        "coordinator-pause-for-savepoints",
        "coordinator-wrong-first-delay",
        "failures-successes-in-order",
    )
)
"""The mutants of the catalogue that a proof within `BOUNDS` must kill, one for each of fifteen rules."""


def beginning_with(effects: Effects, kinds: tuple[type, ...]) -> Effects:
    """`model.coordinator.properties.terms.beginning_with` for a rope of effects."""
    cells = cells_of(effects)
    for place, cell in enumerate(cells):
        types = cell.types() if isinstance(cell, Many) else {type_(cell)}
        if types & set(kinds):
            if not types <= set(kinds):
                raise SymbolicUseError(f"effects of several kinds: {cell!r}")
            return joined(cells[place:])
    return ()


def answers(effects: Effects, last: Any) -> Effects:  # noqa: ANN401 - an int or a symbol
    """`model.coordinator.properties.terms.answers` for a rope. One trigger represents those of a group."""
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
    "model.event_frames": {"is_permitted": is_permitted},
    "model.coordinator.job_status_listener": {"ListenerSteps.report": any_listener.report},
    "model.coordinator.properties.terms": {"beginning_with": beginning_with, "answers": answers},
}


def is_usual(request: Any) -> Any:  # noqa: ANN401 - a request or its event
    """Whether the environment may send the request in a job with a pause: no savepoint is periodic.

    A periodic savepoint that is too early would delay a forced request behind it.
    """
    return SymbolicBool(z3.Implies(bool_term(request.periodic), int_term(request.type) == CHECKPOINT))


def coord_13_usual(coordinator: Any) -> bool:  # noqa: ANN401 - a Coordinator as read again
    """If there is a pause, no waiting request is a periodic savepoint."""
    return not coordinator.plan.min_pause or all(bool(is_usual(one)) for one in coordinator.queue)


def coord_26_delay(coordinator: Any) -> bool:  # noqa: ANN401
    """The stored delay is the delay of the scheduler's first start, or that of its later starts."""
    plan, delay = coordinator.plan, coordinator.scheduler.delay
    later = plan.min_pause if plan.profile.restarts_after_pause else plan.initial_delay
    return bool(delay == plan.initial_delay) or bool(delay == later)


def coord_26_timer(coordinator: Any) -> bool:  # noqa: ANN401
    """A running scheduler has a due or a postponed request. After the end of the job no request is due."""
    scheduler = coordinator.scheduler
    if not coordinator.open:
        return bool(scheduler.due == NONE)
    return not scheduler.runs or bool(scheduler.due != NONE) or bool(scheduler.postponed)


KEPT = (
    Property("COORD-13", "coordinator", False, coord_13_usual),
    Property("COORD-26", "coordinator", False, coord_26_delay),
    Property("COORD-26", "coordinator", False, coord_26_timer),
)
"""Additional state properties, which only these proofs need for the induction."""

REGISTRIES = (
    ("coordinator", "COORDINATOR"),
    ("requests", "COORDINATOR_REQUESTS"),
    ("failures", "COORDINATOR_FAILURES"),
    ("store", "COORDINATOR_FAILING_STORE"),
    ("frames", "COORDINATOR_FRAMES"),
    ("checkpoint_end", "COORDINATOR_ENDS"),
    ("checkpoint_start", "COORDINATOR_BEGINS"),
    ("scheduler", "COORDINATOR_SCHEDULER"),
    ("job", "COORDINATOR_LIFE"),
    ("store", "COORDINATOR_STORE"),
    ("requests", "COORDINATOR_TURNS"),
    ("store", "SUBSUMPTION"),
)


def properties_of(reread: Reread) -> tuple[Property, ...]:
    """The properties of the coordinator from the modules of `reread`, followed by `KEPT`."""
    known = tuple(
        found
        for module, name in REGISTRIES
        for found in getattr(reread.module(f"model.coordinator.properties.{module}"), name).properties
    )
    return (*known, *KEPT)


def any_plan(states: Any, setting: Setting, *, own: bool) -> Any:  # noqa: ANN401
    """A symbolic plan: any configuration with the values of `setting`. `own`: the event has a task."""
    plan = symbolic_like(states.Plan((), 0, 0), "plan")
    switches = COORDINATOR_PROFILES[setting.profile]
    return plan._replace(
        finished_tasks=plan.finished_tasks if switches.after_finish_configurable else False,
        sources=TASKS.symbols("is a source", own=own),
        profile=switches,
        interval=INTERVAL if setting.scheduler else 0,
        initial_delay=plan.initial_delay if setting.scheduler else 0,
        min_pause=Above(plan.min_pause.term) if setting.pause else 0,
        coordinators=setting.coordinators,
        hooks=setting.hooks,
        slow_cleaning=False,
        io_failures=True,
    )


def any_coordinator(reread: Reread, plan: Any, numbers: Numbers, *, own: bool) -> Any:  # noqa: ANN401
    """A symbolic coordinator with these numbers of parts. `own`: the event has a task."""
    states = reread.module("model.coordinator.state")
    stores = reread.module("model.store.store")

    def flags(what: str) -> Any:  # noqa: ANN401
        return TASKS.symbols(what, own=own)

    new = states.new_coordinator(plan, 1)
    new_pending = reread.module("model.coordinator.pending").new_pending
    begun = tuple(
        symbolic_like(
            new_pending(0, 0, 0, (), forced=False, coordinators=plan.coordinators, hooks=plan.hooks), name
        )._replace(
            tasks=flags(f"takes part in {name}"),
            acknowledged=flags(f"{name} acknowledged"),
            states=TASKS.symbols(f"handle of {name}", own=own, is_bool=False),
            shared=TASKS.constant((), own=own),
        )
        for name in ("older", "newer")[: numbers.pending]
    )
    one = reread.module("model.coordinator.requests").Request(0, False, False, False)
    queue = tuple(symbolic_like(one, f"request {place}") for place in range(numbers.waiting))
    entry, unseen = (symbolic_like(stores.Entry(0, 0), name) for name in ("entry", "unseen entry"))
    counted = tuple(symbolic_like(0, f"counted {place}") for place in range(numbers.counted))
    scheduler, listens = new.scheduler, plan.interval and plan.profile.follows_tasks
    if plan.interval:
        scheduler = symbolic_like(scheduler._replace(awaited=(), unreported=()), "scheduler")._replace(
            postponed=symbolic_like(False, "postponed") if not plan.profile.queues_requests else False,
            awaited=flags("is awaited") if listens else new.scheduler.awaited,
            awaits_former=symbolic_like(False, "awaits former") if listens else False,
            unreported=flags("is unreported") if listens else new.scheduler.unreported,
        )
    return new._replace(
        status=any_word("status"),
        tasks_run=flags("runs"),
        tasks_finished=flags("finished"),
        tasks_reached=flags("reached"),
        now=symbolic_like(0, "now"),
        next_id=symbolic_like(0, "next id"),
        pending=begun,
        master=symbolic_like(0, "master") if plan.coordinators or plan.hooks else NONE,
        queue=queue,
        scheduler=scheduler,
        pause_ends=symbolic_like(0, "pause ends") if plan.min_pause else 0,
        failures=Failures(counted, symbolic_like(0, "highest success")),
        store=new.store._replace(entries=(entry,) * numbers.stored),
        unseen=(unseen,) * numbers.unseen,
        fault=symbolic_like(0, "fault"),
        io=symbolic_like(new.io, "io"),
        shared=new.shared._replace(unclaimed=symbolic_like(0, "unclaimed")),
        open=symbolic_like(False, "open"),
    )


Promised = tuple[Any, bool, tuple[z3.BoolRef, ...]]
"""An event, whether it belongs to one task, and the assumptions about its fields."""


def events(reread: Reread, setting: Setting) -> Iterator[Promised]:
    """Yields a symbolic event of each class. Classes whose steps have many paths come last."""
    task, checkpoint, handle = (
        symbolic_like(0, f"event.{name}") for name in ("task", "checkpoint", "handle")
    )
    status, reason = any_word("event.status"), any_word("event.reason")
    time, fault = symbolic_like(Advance(0), "event"), symbolic_like(StoreFails(0), "event")
    request = symbolic_like(TriggerRequest(CHECKPOINT), "event")
    by_task = tuple(z3.Not(is_word(reason, own)) for own in OWN_REASONS)
    is_stored = int_term(handle) >= 0
    yield fault, False, (int_term(fault.when) >= BEFORE, int_term(fault.when) <= MAYBE)
    io = symbolic_like(IoFails(0), "event")
    yield io, False, (int_term(io.what) >= METADATA, int_term(io.what) <= ID)
    yield CoordinatorRestart(), False, ()
    yield JobEnd(status), False, (z3.Or(*(is_word(status, end) for end in ENDS)),)
    yield JobStatus(status), False, ()
    yield TaskStatus(OWN, status), True, ()
    yield FailTasks(TASKS.symbols("fails", own=False)), False, ()
    yield RestoreRequest(()), False, ()
    yield RestoreRequest(TASKS.symbols("restored", own=False)), False, ()
    yield AcknowledgeMessage(task, checkpoint, handle), False, (is_stored, int_term(task) >= TASKS.all.size)
    yield DeclineMessage(task, checkpoint, reason), False, by_task
    most = (int_term(time.ms) <= INTERVAL,) if setting.scheduler else ()
    yield time, False, (int_term(time.ms) >= 0, *most)
    usual = (bool_term(is_usual(request)),) if setting.pause else ()
    yield request, False, (int_term(request.type) >= CHECKPOINT, int_term(request.type) <= STOP, *usual)
    answer = reread.module("model.coordinator.trigger").MasterAnswer
    for is_hook in (False, True):
        for place in range(setting.hooks if is_hook else setting.coordinators):
            fails = symbolic_like(False, "event.fails")
            yield answer(place, checkpoint, is_hook, fails), False, ()
    yield TriggerFails(OWN, checkpoint), True, ()
    yield AcknowledgeMessage(OWN, checkpoint, handle), True, (is_stored,)


def coordinator_cases(
    reread: Reread, setting: Setting, numbers: Iterable[Numbers] = _ALONE
) -> Iterator[RopeCase]:
    """Yields a new coordinator, and each event in each state with these numbers of parts."""
    step = step_by(reread.module("model.coordinator.generations").coordinator_steps)
    properties = properties_of(reread)
    states = reread.module("model.coordinator.state")
    plans = {own: any_plan(states, setting, own=own) for own in (False, True)}
    plan = plans[False]
    times = tuple(
        int_term(time) >= 1 for time in (plan.initial_delay, plan.min_pause) if type(time) is not int
    )
    configured = (
        int_term(plan.timeout) >= 1,
        int_term(plan.max_concurrent) >= 1,
        int_term(plan.tolerable_failures) >= -1,
    )
    yield start_case(
        "coordinator", states.new_coordinator(plan, 1), properties, (*SIZES, *configured, *times)
    )
    for (event, own, promised), many in product(tuple(events(reread, setting)), numbers):
        state = any_coordinator(reread, plans[own], many, own=own)
        has_source = () if plan.profile.every_task_must_run else (bool_term(any_(plans[own].sources)),)
        label = f"{words_of(setting, many)}, {event[-1]}"
        known = (*SIZES, *promised, *has_source, *times)
        case = RopeCase("coordinator", label, state, event, step, properties, known)
        if many.pending or not many.waiting or not is_impossible(case):
            yield case


def words_of(setting: Setting, numbers: Numbers) -> str:
    """The label of a case: the setting, and the numbers of parts that are not 0."""
    many = {**setting._asdict(), **numbers._asdict(), "profile": 0}
    return ", ".join((setting.profile, *(f"{number} {what}" for what, number in many.items() if number)))


def all_coordinator_cases(reread: Reread) -> Iterator[RopeCase]:
    """Yields the cases of every generation. Cases with many paths come last."""
    for profile in ("2.3", *OLDER):
        yield from coordinator_cases(reread, Setting(profile))
    for setting in (Setting(coordinators=1), Setting(hooks=1)):
        yield from coordinator_cases(reread, setting)
    yield from coordinator_cases(reread, Setting("1.11"), (Numbers(1, 0, 0, 0, 1),))
    yield from coordinator_cases(reread, Setting(pause=1), _WITHOUT_STORE)
    for profile in WITH_SCHEDULER:
        yield from coordinator_cases(reread, Setting(profile, pause=1, scheduler=1), _WITHOUT_STORE)
    yield from coordinator_cases(reread, Setting(), (*_AFTER_FAILURES, *_TOGETHER))
