"""One channel on the wire, from its sender to its receiver."""

from collections.abc import Hashable, Mapping

from model import fields
from model.channel import channel
from model.channel.channel import AWAITED, CHANNEL_PROFILES, NEWEST_CHANNEL, Channel, Queue
from model.channel.events import Datum, GiveBarrier, Mark, StoreInput, StoreOutput
from model.events import NONE, Effect, Step
from model.fields import Wire, WireError
from model.gate.wire.unaligned import ALIGNMENTS

FIELDS: Mapping[str, tuple[str, ...]] = {
    "emit": ("value",),
    "send_barrier": ("checkpoint", "alignment"),
    "time_out": ("checkpoint",),
    "abort": ("checkpoint",),
    "transfer": (),
    "take": (),
    "resume": (),
    "start_persisting": ("checkpoint",),
    "stop_persisting": ("checkpoint",),
    "prioritise": ("checkpoint",),
    "restore": ("input", "output"),
}
"""By kind of event, its fields."""

_NAMES = {code: name for name, code in ALIGNMENTS.items()}


def new_channel(config: Wire) -> Channel:
    """An empty channel of the configured `profile`. Raises WireError if the configuration is not valid."""
    fields.only(config, ("profile",), "config")
    named = fields.choice(config, "profile", tuple(CHANNEL_PROFILES), default=NEWEST_CHANNEL.name)
    return channel.new_channel(CHANNEL_PROFILES[named])


def step_channel(state: Channel, event: Wire) -> Step[Channel]:
    """The step of one call at either end, or of one transfer. Raises WireError if the event is not legal."""
    kind = fields.kind_of(event, tuple(FIELDS))
    fields.only(event, ("kind", *FIELDS[kind]), kind)
    if kind == "emit":
        return channel.on_emit(state, fields.field(event, "value"))
    if kind == "transfer":
        return channel.on_transfer(state)
    if kind == "take":
        return channel.on_take(state)
    if kind == "resume":
        if not state.blocked:
            raise WireError("resume: no aligned barrier has left; the gate lets go what it has held up")
        return channel.on_resume(state)
    if kind == "restore":
        return channel.on_restore(state, _values(event, "input"), _values(event, "output"))
    return _of_checkpoint(state, kind, fields.checkpoint(event), event)


def _of_checkpoint(state: Channel, kind: str, checkpoint: int, event: Wire) -> Step[Channel]:
    if kind == "send_barrier":
        alignment = fields.choice(event, "alignment", tuple(ALIGNMENTS), default="aligned")
        return channel.on_send_barrier(state, checkpoint, ALIGNMENTS[alignment])
    if kind == "time_out":
        return channel.on_time_out(state, checkpoint)
    if kind == "abort":
        return channel.on_abort(state, checkpoint)
    if kind == "start_persisting":
        return channel.on_start_persisting(state, checkpoint)
    if kind == "stop_persisting":
        return channel.on_stop_persisting(state, checkpoint)
    if not channel.may_prioritise(state, checkpoint):
        raise WireError(
            f"prioritise: the barrier of checkpoint {checkpoint} has to wait at the receiver, announced and "
            "not overtaken by a newer one or the end of its snapshot (1.13+)"
        )
    return channel.on_prioritise(state, checkpoint)


def _values(event: Wire, name: str) -> tuple[int, ...]:
    values = fields.field(event, name)
    if not isinstance(values, list | tuple):
        raise WireError(f"{name}: expected a list of record values, got {values!r}")
    return tuple(values)


def effect_of_channel(state: Channel, effect: Effect) -> dict[str, object]:
    """The effect in wire form: alignments by name, records as a list."""
    wire = fields.to_wire(effect)
    if type(effect) is StoreInput or type(effect) is StoreOutput:
        wire["records"] = list(effect.records)
    if type(effect) is GiveBarrier:
        wire["alignment"] = _NAMES[effect.alignment]
    return wire


def observe_channel(state: Channel) -> dict[str, object]:
    """The observable state: `output`, `input`, `blocked`, `promised`, `persisting`, `recovering`."""
    return {
        "output": _shown(state.output),
        "input": _shown(state.input),
        "blocked": state.blocked,
        "promised": None if state.promised == NONE else state.promised,
        "persisting": state.seen if state.phase == AWAITED else None,
        "recovering": state.restored,
    }


def _shown(queue: Queue) -> list[list[object]]:
    shown: list[list[object]] = []
    for item in queue:
        if type(item) is Datum:
            shown.append(["record", item.value])
        elif type(item) is Mark:
            shown.append(["barrier", item.checkpoint, _NAMES[item.alignment]])
        else:
            shown.append(["announce", item[0]])
    return shown


def key_of_channel(state: Channel) -> Hashable:
    """The state; its text while it holds items, because Python takes record values 1 and true for equal."""
    return repr(state) if state.output or state.input else state
