"""The options of a coordinator, their bounds, and the functions that read them from the wire."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Final

from impl.core.component import only_keys, supported
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
IMMEDIATE: Final = "immediate"
SLOW: Final = "slow"
NONE: Final = "none"
INJECTED: Final = "injected"
CLAIM: Final = "CLAIM"
NO_CLAIM: Final = "NO_CLAIM"
LEGACY: Final = "LEGACY"
CLAIM_MODES: Final = (CLAIM, NO_CLAIM, LEGACY)


@dataclass(frozen=True, slots=True)
class CoordinatorOptions:
    """The options of a coordinator; docs/vocabulary.md describes each. Times are virtual milliseconds.

    `interval_ms` None: checkpoints start only on request. `initial_delay_ms` None: the interval.
    `finished_tasks` None: the default of the generation. `keep_when_cancelled`: completed checkpoints stay
    when the job is cancelled or fails. `slow_cleaning`: a deletion ends at the event `deleted`; else at once.
    `injects_io_failures`: the event `io_fails` may come. `restored_savepoint`: id of the savepoint or
    retained checkpoint from which the job starts; None: none. `claim_mode` decides whether the job owns this
    savepoint; None: the default of the generation.
    Raises ConfigError for a value outside its bounds, UnsupportedError for an option that the generation does
    not have.
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
    slow_cleaning: bool = False
    injects_io_failures: bool = False
    restored_savepoint: int | None = None
    claim_mode: str | None = None

    def __post_init__(self) -> None:
        least = {
            "timeout_ms": (self.timeout_ms, 1),
            "max_concurrent": (self.max_concurrent, 1),
            "retain": (self.retain, 1),
            "interval_ms": (self.interval_ms, 1),
            "initial_delay_ms": (self.initial_delay_ms, 0),
            "min_pause_ms": (self.min_pause_ms, 0),
            "tolerable_failures": (self.tolerable_failures, UNLIMITED),
            "restored_savepoint": (self.restored_savepoint, 1),
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
        if self.slow_cleaning and not self.profile.limits_deletions:
            raise UnsupportedError("cleaning slow is offered from profile 1.12 on; leave it out")
        if self.restored_savepoint is not None and not self.profile.restores_savepoints:
            raise UnsupportedError("restored_savepoint is offered from profile 1.13 on; leave it out")
        if self.restored_savepoint is not None and self.slow_cleaning:
            raise ConfigError("cleaning slow is not offered with restored_savepoint; leave one of them out")
        if self.claim_mode is not None and self.restored_savepoint is None:
            raise ConfigError("claim_mode comes with restored_savepoint; give both, or leave claim_mode out")
        if self.claim_mode is not None and not self.profile.has_claim_modes:
            raise UnsupportedError("claim_mode is offered from profile 1.15 on; leave it out")

    @property
    def claims(self) -> bool:
        """Whether the job owns the restored savepoint (SUB-13)."""
        return self.claim_mode == CLAIM

    @property
    def is_unclaimed(self) -> bool:
        """Whether the job starts in mode NO_CLAIM, so that its first checkpoint must be full (COORD-38)."""
        default = NO_CLAIM if self.profile.has_claim_modes else LEGACY
        return self.restored_savepoint is not None and (self.claim_mode or default) == NO_CLAIM

    @property
    def continues_after_tasks_finish(self) -> bool:
        """Whether checkpoints continue after tasks have finished."""
        if self.finished_tasks is None:
            return self.profile.after_finish_by_default
        return self.finished_tasks


_NAMES: Final = {
    "keep_when_cancelled": "externalized",
    "slow_cleaning": "cleaning",
    "injects_io_failures": "io_failures",
}
_KEYS: Final = tuple(_NAMES.get(one.name, one.name) for one in fields(CoordinatorOptions))


def options_from_config(config: Mapping[str, object]) -> CoordinatorOptions:
    """The options of a configuration of the wire.

    Raises ConfigError for an unknown key or a wrong value, UnsupportedError for an option or a profile that
    is not offered.
    """
    only_keys(config, (*_KEYS, "first_id"))
    profile = supported(config, "profile", COORDINATOR_PROFILES, NEWEST_NAME)
    kept = supported(config, "externalized", (DELETE, RETAIN), DELETE)
    cleaning = supported(config, "cleaning", (IMMEDIATE, SLOW), IMMEDIATE)
    io_failures = supported(config, "io_failures", (NONE, INJECTED), NONE)
    claim_mode = supported(config, "claim_mode", CLAIM_MODES, NO_CLAIM) if "claim_mode" in config else None
    given = {key: read(config, key) for key, read in _READ.items() if key in config}
    return CoordinatorOptions(
        [_task(one) for one in _listed(config.get("tasks"))],
        COORDINATOR_PROFILES[profile],
        keep_when_cancelled=kept == RETAIN,
        slow_cleaning=cleaning == SLOW,
        injects_io_failures=io_failures == INJECTED,
        claim_mode=claim_mode,
        **given,
    )


def number(config: Mapping[str, object], key: str) -> int:
    """The int under `key`, which must exist; the caller checks its bounds.

    Raises ConfigError if the value is not an int.
    """
    value = config[key]
    if type(value) is not int:
        raise ConfigError(f"{key} must be an int, got {value!r}; correct the configuration")
    return value


def _int_or_none(config: Mapping[str, object], key: str) -> int | None:
    return None if config[key] is None else number(config, key)


def _flag(config: Mapping[str, object], key: str) -> bool:
    value = config[key]
    if isinstance(value, bool):
        return value
    raise ConfigError(f"{key} must be true or false, got {value!r}; correct the configuration")


def _names(config: Mapping[str, object], key: str) -> tuple[str, ...]:
    names = config[key]
    if isinstance(names, list | tuple) and all(isinstance(name, str) for name in names):
        return tuple(str(name) for name in names)
    raise ConfigError(f"{key} must be a list of names, got {names!r}; correct the configuration")


_READ: Final[Mapping[str, Callable[[Mapping[str, object], str], Any]]] = {
    "timeout_ms": number,
    "max_concurrent": number,
    "retain": number,
    "interval_ms": _int_or_none,
    "initial_delay_ms": _int_or_none,
    "min_pause_ms": number,
    "tolerable_failures": number,
    "restored_savepoint": number,
    "unaligned": _flag,
    "finished_tasks": _flag,
    "operator_coordinators": _names,
    "hooks": _names,
}
"""Maps an option to the function that reads it. A missing option has the default of `CoordinatorOptions`."""


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
