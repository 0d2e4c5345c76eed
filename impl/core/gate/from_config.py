"""The component `gate` of the wire: the configuration picks the handler, the generation and the level."""

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from impl.core.component import Component, only_keys, positive_int, supported
from impl.core.errors import ConfigError, UnsupportedError
from impl.core.gate.aligned import InputGate
from impl.core.gate.alternating import AlternatingGate
from impl.core.gate.flink_1_11 import TypedGate
from impl.core.gate.flink_1_12 import DecidingGate
from impl.core.gate.polled_gate import PolledGate
from impl.core.gate.polled_unaligned_gate import PolledTwoThreadsGate, PolledUnalignedGate
from impl.core.gate.profiles import GENERATIONS, NEWEST, Generation, generation
from impl.core.gate.tracking import BarrierTracker, PolledTracker
from impl.core.gate.two_threads import TwoThreadsGate
from impl.core.gate.unaligned import UnalignedGate, milliseconds


class GateConfig(NamedTuple):
    """What every mode is made from."""

    channels: int
    generation: Generation
    after_finish: bool
    """Checkpoints after tasks finish are on."""
    polled: bool
    """What a task sees that polls its gate; else the handler alone."""
    options: Mapping[str, object]
    """The configuration as it came, for what only one mode reads."""


def _aligned(config: GateConfig) -> Component:
    gate = InputGate(
        config.channels,
        checkpoints_after_tasks_finish=config.after_finish,
        generation=config.generation,
    )
    limit = _alignment_limit(config)
    return PolledGate(gate, limit) if config.polled else gate


def _alignment_limit(config: GateConfig) -> int | None:
    """Bytes that the gate may store, None for no limit."""
    limit = config.options.get("alignment_limit_bytes", -1)
    if type(limit) is not int or limit < -1 or limit == 0:
        raise ConfigError(
            f"alignment_limit_bytes has to be -1 or an int from 1 on, came {limit!r}; correct it"
        )
    if limit == -1:
        return None
    if not config.generation.gate_stores:
        raise ConfigError("alignment_limit_bytes belongs to gates that store, up to flink-1.9; leave it out")
    return limit


def _overtaking(config: GateConfig) -> Component:
    _require_overtaking(config)
    milliseconds(config.options, "alignment_timeout_ms")  # read, and of no use without an alignment
    if config.generation.network_takes_part:
        shared = TwoThreadsGate(
            config.channels, after_finish=config.after_finish, generation=config.generation
        )
        return PolledTwoThreadsGate(shared) if config.polled else shared
    if config.generation.first_barrier_decides:
        return _polled_or_not(_deciding(config, alternating=False), config)
    gate = UnalignedGate(config.channels, after_finish=config.after_finish, generation=config.generation)
    return _polled_or_not(gate, config)


def _alternating(config: GateConfig) -> Component:
    _require_overtaking(config)
    patience = milliseconds(config.options, "alignment_timeout_ms")
    if config.generation.first_barrier_decides:
        return _polled_or_not(_deciding(config, alternating=True), config)
    gate = AlternatingGate(
        config.channels,
        after_finish=config.after_finish,
        generation=config.generation,
        patience=patience,
    )
    return _polled_or_not(gate, config)


def _deciding(config: GateConfig, *, alternating: bool) -> DecidingGate:
    made = TypedGate if config.generation.type_decides else DecidingGate
    return made(
        config.channels,
        after_finish=config.after_finish,
        generation=config.generation,
        alternating=alternating,
    )


def _polled_or_not(gate: UnalignedGate, config: GateConfig) -> Component:
    return PolledUnalignedGate(gate) if config.polled else gate


def _require_overtaking(config: GateConfig) -> None:
    if not config.generation.overtakes:
        raise UnsupportedError(
            "unaligned checkpoints came with profile flink-1.11; ask for that or a newer one"
        )


def _tracked(config: GateConfig) -> Component:
    tracker = PolledTracker if config.polled else BarrierTracker
    return tracker(
        config.channels,
        checkpoints_after_tasks_finish=config.after_finish,
        generation=config.generation,
    )


MODES: Final[Mapping[str, Callable[[GateConfig], Component]]] = {
    "exactly-once": _aligned,
    "at-least-once": _tracked,
    "unaligned": _overtaking,
    "alternating": _alternating,
}
_KEYS: Final = ("channels", "mode", "profile", "checkpoints_after_tasks_finish", "level")
_KEYS_OF_MODE: Final[Mapping[str, tuple[str, ...]]] = {
    "exactly-once": ("alignment_limit_bytes",),
    "unaligned": ("alignment_timeout_ms",),
    "alternating": ("alignment_timeout_ms",),
}
"""What only some modes read, beside `_KEYS`."""


def gate_from_config(config: Mapping[str, object]) -> Component:
    """The gate that a wire configuration asks for; `ConfigError` or `UnsupportedError` if there is none."""
    mode = supported(config, "mode", tuple(MODES), "exactly-once")
    only_keys(config, (*_KEYS, *_KEYS_OF_MODE.get(mode, ())))
    known = generation(supported(config, "profile", tuple(GENERATIONS), NEWEST))
    level = supported(config, "level", ("polled", "handler"), "polled")
    after_finish = config.get("checkpoints_after_tasks_finish", known.after_finish)
    if not isinstance(after_finish, bool):
        raise ConfigError(
            f"checkpoints_after_tasks_finish has to be true or false, came {after_finish!r}; correct it"
        )
    channels = positive_int(config, "channels")
    return MODES[mode](GateConfig(channels, known, after_finish, level == "polled", config))
