"""The gate on the wire: the configuration selects the mode and the generation."""

from collections.abc import Hashable, Mapping
from typing import Any

from model import fields
from model.events import Step
from model.fields import Wire, WireError
from model.gate.profiles import NEWEST, PROFILES
from model.gate.wire import aligned as aligned_wire
from model.gate.wire import tracking as tracking_wire
from model.gate.wire import two_threads as two_threads_wire
from model.gate.wire import unaligned as unaligned_wire
from model.gate.wire.mode import Mode

MAX_CHANNELS = 32_768
"""Flink's maximum parallelism of one operator."""

MODES: Mapping[str, Mode] = {
    "exactly-once": aligned_wire.MODE,
    "at-least-once": tracking_wire.MODE,
    "unaligned": unaligned_wire.UNALIGNED_MODE,
    "alternating": unaligned_wire.ALTERNATING_MODE,
}
"""The modes by their name on the wire."""

CONFIG = ("channels", "mode", "profile", "level", "checkpoints_after_tasks_finish")
"""The configuration fields of every gate."""
CONFIG_OF_MODE = {
    "exactly-once": ("alignment_limit_bytes",),
    "unaligned": ("alignment_timeout_ms",),
    "alternating": ("alignment_timeout_ms",),
}
"""The configuration fields that only gates of a mode have."""

_OF_SESSION = {mode.session: mode for mode in (*MODES.values(), two_threads_wire.MODE)}


def new_gate(config: Wire) -> Any:  # noqa: ANN401 - the session of the mode
    """A gate in its initial state, from its configuration.

    Raises WireError if the configuration is not valid.
    """
    name = fields.choice(config, "mode", tuple(MODES), default="exactly-once")
    fields.only(config, (*CONFIG, *CONFIG_OF_MODE.get(name, ())), f"config in mode {name}")
    channels = fields.integer(config, "channels", at_least=1)
    if channels > MAX_CHANNELS:
        raise WireError(f"channels: expected at most {MAX_CHANNELS}, got {channels}")
    mode = MODES[name]
    profile = PROFILES[fields.choice(config, "profile", tuple(PROFILES), default=NEWEST.name)]
    if mode is unaligned_wire.UNALIGNED_MODE and profile.network_starts:
        mode = two_threads_wire.MODE
    level = fields.choice(config, "level", ("polled", "handler"), default="polled")
    after_finish = fields.boolean(config, "checkpoints_after_tasks_finish", default=profile.ends_count)
    return mode.new(config, channels, profile, after_finish, level == "polled")


def step_gate(session: Any, event: Wire) -> Step[Any]:  # noqa: ANN401 - the session of a mode
    """The step of one item, or of the passing of time. Raises WireError if the event is not legal."""
    return _OF_SESSION[type(session)].step(session, event)


def observe_gate(session: Any) -> dict[str, object]:  # noqa: ANN401 - the session of a mode
    """The observable state: `current`, `pending`, `blocked`, `closed`, and the fields of the mode."""
    return _OF_SESSION[type(session)].observe(session)


def key_of_gate(session: Any) -> Hashable:  # noqa: ANN401 - the session of a mode
    """A value that differs between any two sessions that can behave differently."""
    return _OF_SESSION[type(session)].key(session)
