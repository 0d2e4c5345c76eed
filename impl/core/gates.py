"""The component `gate` of the wire: the configuration picks the handler, the generation and the level."""

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from impl.core.component import Component, only_keys, positive_int, supported
from impl.core.errors import ConfigError
from impl.core.gate import InputGate
from impl.core.generations import GENERATIONS, NEWEST, Generation, generation
from impl.core.network import PolledGate


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
    return PolledGate(gate) if config.polled else gate


MODES: Final[Mapping[str, Callable[[GateConfig], Component]]] = {
    "exactly-once": _aligned,
}
_KEYS: Final = ("channels", "mode", "profile", "checkpoints_after_tasks_finish", "level")
_KEYS_OF_MODE: Final[Mapping[str, tuple[str, ...]]] = {}
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
