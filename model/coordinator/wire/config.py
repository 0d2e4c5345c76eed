"""The coordinator's configuration on the wire: reads and checks it, and makes a plan of the model."""

from typing import NamedTuple

from model import fields
from model.coordinator.profiles import COORDINATOR_PROFILES, NEWEST_COORDINATOR, CoordinatorProfile
from model.coordinator.state import UNLIMITED, Plan
from model.fields import Wire, WireError

DEFAULT_TIMEOUT_MS = 600_000

FIELDS = (
    "tasks",
    "profile",
    "timeout_ms",
    "max_concurrent",
    "retain",
    "interval_ms",
    "initial_delay_ms",
    "min_pause_ms",
    "tolerable_failures",
    "unaligned",
    "finished_tasks",
    "externalized",
    "operator_coordinators",
    "hooks",
)
TASK_FIELDS = ("id", "source", "external")


class Planned(NamedTuple):
    """A plan, and the names of its tasks, operator coordinators and hooks."""

    plan: Plan
    tasks: tuple[str, ...]
    coordinators: tuple[str, ...]
    hooks: tuple[str, ...]


def new_plan(config: Wire) -> Planned:
    """The plan of a configuration, with all fields but `retain`. Raises WireError if a field is not valid."""
    fields.only(config, FIELDS, "config")
    named = fields.choice(config, "profile", tuple(COORDINATOR_PROFILES), default=NEWEST_COORDINATOR.name)
    profile = COORDINATOR_PROFILES[named]
    tasks = fields.field(config, "tasks")
    if not isinstance(tasks, list) or not tasks:
        raise WireError(f"tasks: expected a list with at least one task, got {tasks!r}")
    tasks = [fields.only(task, TASK_FIELDS, "task") for task in tasks]
    names = tuple(fields.text(task, "id") for task in tasks)
    if len(set(names)) != len(names):
        raise WireError(f"tasks: expected different ids, got {names}")
    for task in tasks:
        fields.boolean(task, "external", default=False)  # COORD-04: triggered as any other (TASK-21)
    coordinators, hooks = _masters(config, "operator_coordinators"), _masters(config, "hooks")
    if (coordinators or hooks) and not profile.queues:
        raise WireError(
            f"profile {profile.name} knows neither operator coordinators nor hooks; leave them out"
        )
    concurrent = fields.integer(config, "max_concurrent", at_least=1, default=1)
    if fields.boolean(config, "unaligned", default=False) and concurrent > 1:
        raise WireError(
            f"max_concurrent: unaligned checkpoints come one at a time, expected 1, got {concurrent}"
        )
    min_pause = fields.integer(config, "min_pause_ms", at_least=0, default=0)
    interval = 0
    if config.get("interval_ms") is not None:
        interval = max(fields.integer(config, "interval_ms", at_least=1), min_pause)
    plan = Plan(
        sources=tuple(fields.boolean(task, "source", default=False) for task in tasks),
        timeout=fields.integer(config, "timeout_ms", at_least=1, default=DEFAULT_TIMEOUT_MS),
        max_concurrent=concurrent,
        profile=profile,
        interval=interval,
        initial_delay=fields.integer(config, "initial_delay_ms", at_least=0, default=interval),
        min_pause=min_pause,
        tolerable_failures=fields.integer(
            config, "tolerable_failures", at_least=UNLIMITED, default=UNLIMITED
        ),
        unaligned=fields.boolean(config, "unaligned", default=False),
        finished_tasks=_finished_tasks(config, profile),
        retains_on_cancellation=_retains(config),
        coordinators=len(coordinators),
        hooks=len(hooks),
    )
    return Planned(plan, names, coordinators, hooks)


def retained(config: Wire) -> int:
    """Number of completed checkpoints to keep."""
    return fields.integer(config, "retain", at_least=1, default=1)


def _finished_tasks(config: Wire, profile: CoordinatorProfile) -> bool:
    enabled = fields.boolean(config, "finished_tasks", default=profile.goes_on_after_finished_tasks)
    if enabled and not profile.after_finish_configurable:
        raise WireError(f"finished_tasks: profile {profile.name} has no checkpoints after tasks finish")
    return enabled


def _retains(config: Wire) -> bool:
    return fields.choice(config, "externalized", ("delete", "retain"), default="delete") == "retain"


def _masters(config: Wire, field: str) -> tuple[str, ...]:
    names = fields.texts(config, field)
    if len(set(names)) != len(names):
        raise WireError(f"{field}: expected different names, got {names}")
    return names
