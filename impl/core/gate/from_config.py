"""The component `gate` of the wire: a configuration selects the mode, the generation and the level."""

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from impl.core.component import Component, only_keys, positive_int, supported
from impl.core.errors import ConfigError, UnsupportedError
from impl.core.gate.aligned import AlignedGate
from impl.core.gate.alternating import AlternatingGate
from impl.core.gate.first_decides import FirstDecidesGate
from impl.core.gate.polled_gate import PolledGate
from impl.core.gate.polled_unaligned_gate import PolledTwoThreadsGate, PolledUnalignedGate
from impl.core.gate.profiles import NEWEST, PROFILES, Profile
from impl.core.gate.tracking import BarrierTracker, PolledTracker
from impl.core.gate.two_threads import TwoThreadsGate
from impl.core.gate.type_decides import TypeDecidesGate
from impl.core.gate.unaligned import UnalignedGate
from impl.core.gate.unaligned_events import GateEffect


class GateConfig(NamedTuple):
    """The options of a gate that every mode has."""

    channels: int
    profile: Profile
    after_finish: bool
    polled: bool
    """Whether the level is `polled`; else it is `handler`."""
    options: Mapping[str, object]
    """The whole configuration, for the options of a single mode."""


def _aligned(config: GateConfig) -> Component[Any, GateEffect]:
    gate = AlignedGate(config.channels, config.profile, config.after_finish)
    limit = _alignment_limit(config)
    return PolledGate(gate, limit) if config.polled else gate


def _alignment_limit(config: GateConfig) -> int | None:
    """The bytes that the gate may store; None for no limit. Raises ConfigError for any other value."""
    limit = config.options.get("alignment_limit_bytes", -1)
    if type(limit) is not int or limit < -1 or limit == 0:
        raise ConfigError(f"alignment_limit_bytes must be -1 or an int from 1 on, got {limit!r}; correct it")
    if limit == -1:
        return None
    if not config.profile.stores_blocked:
        raise ConfigError("alignment_limit_bytes belongs to gates that store, up to flink-1.9; leave it out")
    return limit


def _tracked(config: GateConfig) -> Component[Any, GateEffect]:
    tracker = PolledTracker if config.polled else BarrierTracker
    return tracker(config.channels, config.profile, config.after_finish)


def _unaligned(config: GateConfig) -> Component[Any, GateEffect]:
    _alignment_timeout(config)  # accepted, and without effect in this mode
    gate = config.channels, config.profile, config.after_finish
    if config.profile.network_starts:
        two_threads = TwoThreadsGate(*gate)
        return PolledTwoThreadsGate(two_threads) if config.polled else two_threads
    if config.profile.first_decides:
        return _at_level(config, FirstDecidesGate(*gate, alternating=False))
    return _at_level(config, UnalignedGate(*gate))


def _alternating(config: GateConfig) -> Component[Any, GateEffect]:
    timeout_ms = _alignment_timeout(config)
    gate = config.channels, config.profile, config.after_finish
    if config.profile.first_decides:
        made = TypeDecidesGate if config.profile.type_decides else FirstDecidesGate
        return _at_level(config, made(*gate, alternating=True))
    return _at_level(config, AlternatingGate(*gate, timeout_ms))


def _at_level(config: GateConfig, gate: UnalignedGate) -> Component[Any, GateEffect]:
    return PolledUnalignedGate(gate) if config.polled else gate


def _alignment_timeout(config: GateConfig) -> int:
    """The time-out of an alignment in milliseconds, 0 for none.

    Raises UnsupportedError if the generation has no unaligned checkpoints, ConfigError for a wrong value.
    """
    if not config.profile.has_unaligned:
        raise UnsupportedError(
            "unaligned checkpoints exist from flink-1.11 on; choose that or a newer profile"
        )
    value = config.options.get("alignment_timeout_ms", 0)
    if type(value) is not int or value < 0:
        raise ConfigError(
            f"alignment_timeout_ms must be an int from 0 on, got {value!r}; correct the configuration"
        )
    return value


MODES: Final[Mapping[str, Callable[[GateConfig], Component[Any, GateEffect]]]] = {
    "exactly-once": _aligned,
    "at-least-once": _tracked,
    "unaligned": _unaligned,
    "alternating": _alternating,
}
_KEYS: Final = ("channels", "mode", "profile", "checkpoints_after_tasks_finish", "level")
_KEYS_OF_MODE: Final[Mapping[str, tuple[str, ...]]] = {
    "exactly-once": ("alignment_limit_bytes",),
    "unaligned": ("alignment_timeout_ms",),
    "alternating": ("alignment_timeout_ms",),
}
"""The keys that only some modes have, in addition to `_KEYS`."""


def gate_from_config(config: Mapping[str, object]) -> Component[Any, GateEffect]:
    """A new gate with the options of a configuration of the wire.

    Raises ConfigError for an unknown key or a wrong value, UnsupportedError for a combination that the
    generation does not have.
    """
    mode = supported(config, "mode", tuple(MODES), "exactly-once")
    only_keys(config, (*_KEYS, *_KEYS_OF_MODE.get(mode, ())))
    profile = PROFILES[supported(config, "profile", tuple(PROFILES), NEWEST)]
    level = supported(config, "level", ("polled", "handler"), "polled")
    after_finish = config.get("checkpoints_after_tasks_finish", profile.ends_count)
    if not isinstance(after_finish, bool):
        raise ConfigError(
            f"checkpoints_after_tasks_finish must be true or false, got {after_finish!r}; correct it"
        )
    channels = positive_int(config, "channels")
    return MODES[mode](GateConfig(channels, profile, after_finish, level == "polled", config))
