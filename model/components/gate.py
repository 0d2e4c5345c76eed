"""The gate behind the words of the wire: the configuration picks the mode and the generation."""

from collections.abc import Hashable, Mapping
from typing import Any

from model.components import aligned, overtaking, threaded, tracked, words
from model.components.mode import Mode
from model.components.words import Wire, WireError
from model.events import Step
from model.profiles import NEWEST, PROFILES

MAX_CHANNELS = 32_768
"""As many subtasks as Flink allows one operator to have."""

MODES: Mapping[str, Mode] = {
    "exactly-once": aligned.MODE,
    "at-least-once": tracked.MODE,
    "unaligned": overtaking.UNALIGNED_MODE,
    "alternating": overtaking.ALTERNATING_MODE,
}
"""By their name on the wire."""

CONFIG = ("channels", "mode", "profile", "level", "checkpoints_after_tasks_finish")
"""What every gate is configured with."""
CONFIG_OF_MODE = {
    "exactly-once": ("alignment_limit_bytes",),
    "unaligned": ("alignment_timeout_ms",),
    "alternating": ("alignment_timeout_ms",),
}
"""What only gates of a mode are configured with."""

_OF_SESSION = {mode.session: mode for mode in (*MODES.values(), threaded.MODE)}


def new_gate(config: Wire) -> Any:  # noqa: ANN401 - the session of the mode
    """`channels`, `mode`, `profile`, `checkpoints_after_tasks_finish`, `level`, and the mode's own."""
    name = words.choice(config, "mode", tuple(MODES), default="exactly-once")
    words.only(config, (*CONFIG, *CONFIG_OF_MODE.get(name, ())), f"config in mode {name}")
    channels = words.integer(config, "channels", at_least=1)
    if channels > MAX_CHANNELS:
        raise WireError(f"channels: expected at most {MAX_CHANNELS}, got {channels}")
    mode = MODES[name]
    profile = PROFILES[words.choice(config, "profile", tuple(PROFILES), default=NEWEST.name)]
    if mode is overtaking.UNALIGNED_MODE and profile.network_starts:
        mode = threaded.MODE
    level = words.choice(config, "level", ("polled", "handler"), default="polled")
    after_finish = words.boolean(config, "checkpoints_after_tasks_finish", default=profile.ends_count)
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
