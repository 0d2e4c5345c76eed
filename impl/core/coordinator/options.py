"""The options of a coordinator, their bounds, and their reading from the wire."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Final

from impl.core.component import only_keys, positive_int, supported
from impl.core.coordinator.failures import UNLIMITED
from impl.core.coordinator.job import Task
from impl.core.coordinator.profiles import (
    COORDINATOR_PROFILES,
    NEWEST_COORDINATOR,
    NEWEST_NAME,
    CoordinatorProfile,
)
from impl.core.errors import ConfigError, UnsupportedError

DEFAULT_TIMEOUT_MS: Final = 600_000
DELETE: Final = "delete"
RETAIN: Final = "retain"


@dataclass(frozen=True, slots=True)
class CoordinatorOptions:
    """The options of a coordinator; docs/vocabulary.md describes each. Times are virtual milliseconds.

    `interval_ms` None: checkpoints start only on request. `initial_delay_ms` None: the interval.
    `finished_tasks` None: the default of the generation. `keep_when_cancelled`: completed checkpoints stay
    when the job is cancelled or fails. Raises ConfigError for a value outside its bounds, UnsupportedError
    for an option that the generation does not have.
    """

    tasks: Sequence[Task]
    profile: CoordinatorProfile = field(default=NEWEST_COORDINATOR)
    timeout_ms: int = DEFAULT_TIMEOUT_MS
    max_concurrent: int = 1
    retain: int = 1
    interval_ms: int | None = None
    initial_delay_ms: int | None = None
    min_pause_ms: int = 0
    tolerable_failures: int = UNLIMITED
    unaligned: bool = False
    finished_tasks: bool | None = None
    keep_when_cancelled: bool = False
    operator_coordinators: Sequence[str] = ()
    hooks: Sequence[str] = ()

    def __post_init__(self) -> None:
        least = {
            "timeout_ms": (self.timeout_ms, 1),
            "max_concurrent": (self.max_concurrent, 1),
            "retain": (self.retain, 1),
            "interval_ms": (self.interval_ms, 1),
            "initial_delay_ms": (self.initial_delay_ms, 0),
            "min_pause_ms": (self.min_pause_ms, 0),
            "tolerable_failures": (self.tolerable_failures, UNLIMITED),
        }
        for name, (value, bound) in least.items():
            if value is not None and value < bound:
                raise ConfigError(f"{name} must be at least {bound}, got {value}; correct it")
        for name, names in (("operator_coordinators", self.operator_coordinators), ("hooks", self.hooks)):
            if len(set(names)) < len(names):
                raise ConfigError(f"{name} have to have different names, got {list(names)}; correct them")
            if names and not self.profile.coordinators_and_hooks:
                raise UnsupportedError(f"{name} are offered from profile 1.11 on; leave them out")
        if self.unaligned and self.max_concurrent > 1:
            raise ConfigError(
                "unaligned checkpoints come one at a time, "
                f"got max_concurrent {self.max_concurrent}; set it to 1"
            )
        if self.finished_tasks and not self.profile.after_finish_configurable:
            raise UnsupportedError("finished_tasks is offered from profile 1.14 on; leave it out")

    @property
    def continues_after_tasks_finish(self) -> bool:
        """Whether checkpoints continue after tasks have finished."""
        if self.finished_tasks is None:
            return self.profile.after_finish_by_default
        return self.finished_tasks


_NAMES: Final = {"keep_when_cancelled": "externalized"}
_KEYS: Final = tuple(_NAMES.get(one.name, one.name) for one in fields(CoordinatorOptions))


def options_from_config(config: Mapping[str, object]) -> CoordinatorOptions:
    """The options of a configuration of the wire.

    Raises ConfigError for an unknown key or a wrong value, UnsupportedError for an option or a profile that
    is not offered.
    """
    only_keys(config, (*_KEYS, "first_id"))
    profile = supported(config, "profile", COORDINATOR_PROFILES, NEWEST_NAME)
    kept = supported(config, "externalized", (DELETE, RETAIN), DELETE)
    return CoordinatorOptions(
        [_task(one) for one in _listed(config.get("tasks"))],
        COORDINATOR_PROFILES[profile],
        timeout_ms=positive_int(config, "timeout_ms", DEFAULT_TIMEOUT_MS),
        max_concurrent=positive_int(config, "max_concurrent", 1),
        retain=positive_int(config, "retain", 1),
        interval_ms=_int_or_none(config, "interval_ms"),
        initial_delay_ms=_int_or_none(config, "initial_delay_ms"),
        min_pause_ms=_int_or_none(config, "min_pause_ms") or 0,
        tolerable_failures=_number(config, "tolerable_failures", UNLIMITED),
        unaligned=_bool_or_none(config, "unaligned") or False,
        finished_tasks=_bool_or_none(config, "finished_tasks"),
        keep_when_cancelled=kept == RETAIN,
        operator_coordinators=_names(config, "operator_coordinators"),
        hooks=_names(config, "hooks"),
    )


def _number(config: Mapping[str, object], key: str, default: int) -> int:
    value = config.get(key, default)
    if type(value) is not int:
        raise ConfigError(f"{key} must be an int, got {value!r}; correct the configuration")
    return value


def _int_or_none(config: Mapping[str, object], key: str) -> int | None:
    return None if config.get(key) is None else _number(config, key, 0)


def _bool_or_none(config: Mapping[str, object], key: str) -> bool | None:
    value = config.get(key)
    if value is None or isinstance(value, bool):
        return value
    raise ConfigError(f"{key} must be true or false, got {value!r}; correct the configuration")


def _names(config: Mapping[str, object], key: str) -> tuple[str, ...]:
    names = config.get(key, ())
    if isinstance(names, list | tuple) and all(isinstance(name, str) for name in names):
        return tuple(str(name) for name in names)
    raise ConfigError(f"{key} must be a list of names, got {names!r}; correct the configuration")


def _listed(tasks: object) -> list[object]:
    if not isinstance(tasks, list | tuple):
        raise ConfigError(f'tasks must be a list of {{"id": ..., "source": ...}}, got {tasks!r}; correct it')
    return list(tasks)


def _task(entry: object) -> Task:
    if isinstance(entry, Mapping) and set(entry) <= {"id", "source", "external"}:
        name, flags = entry.get("id"), [entry.get(key, False) for key in ("source", "external")]
        if isinstance(name, str) and all(isinstance(flag, bool) for flag in flags):
            return Task(name, *flags)
    raise ConfigError(f'a task must be {{"id": "src-0", "source": true}}, got {entry!r}; correct it')
