"""The gate behind the words of the wire: the configuration picks the mode and the generation."""

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
"""As many subtasks as Flink allows one operator to have."""

MODES: Mapping[str, Mode] = {
    "exactly-once": aligned_wire.MODE,
    "at-least-once": tracking_wire.MODE,
    "unaligned": unaligned_wire.UNALIGNED_MODE,
    "alternating": unaligned_wire.ALTERNATING_MODE,
}
"""By their name on the wire."""

CONFIG = (
    "channels",
    "mode",
    "profile",
    "level",
    "checkpoints_after_tasks_finish",
    "alignment_timeout_ms",
    "alignment_limit_bytes",
)
"""What a gate is configured with; not every mode reads all of it."""

_OF_SESSION = {mode.session: mode for mode in (*MODES.values(), two_threads_wire.MODE)}


def new_gate(config: Wire) -> Any:  # noqa: ANN401 - the session of the mode
    """`channels`, `mode`, `profile`, `checkpoints_after_tasks_finish`, `level`, and the mode's own."""
    fields.only(config, CONFIG, "config")
    channels = fields.integer(config, "channels", at_least=1)
    if channels > MAX_CHANNELS:
        raise WireError(f"channels: expected at most {MAX_CHANNELS}, got {channels}")
    mode = MODES[fields.choice(config, "mode", tuple(MODES), default="exactly-once")]
    profile = PROFILES[fields.choice(config, "profile", tuple(PROFILES), default=NEWEST.name)]
    if mode is unaligned_wire.UNALIGNED_MODE and profile.network_starts:
        mode = two_threads_wire.MODE
    level = fields.choice(config, "level", ("polled", "handler"), default="polled")
    after_finish = fields.boolean(config, "checkpoints_after_tasks_finish", default=profile.ends_count)
    return mode.new(config, channels, profile, after_finish, level == "polled")


def step_gate(session: Any, event: Wire) -> Step[Any]:  # noqa: ANN401 - the session of a mode
    """One item arrives, or time passes."""
    return _OF_SESSION[type(session)].step(session, event)


def observe_gate(session: Any) -> dict[str, object]:  # noqa: ANN401 - the session of a mode
    """What the mode shows: `current`, `pending`, `blocked`, `closed`, and its own."""
    return _OF_SESSION[type(session)].observe(session)


def key_of_gate(session: Any) -> Hashable:  # noqa: ANN401 - the session of a mode
    """What tells two sessions apart."""
    return _OF_SESSION[type(session)].key(session)
