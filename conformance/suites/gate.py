"""The alphabets of the input gate, by mode."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from conformance.adapters.protocol import Wire
from conformance.suites.alphabet import NOON, Alphabet, Clock, Dependent, Letter, Newest, letter
from model.gate.profiles import NEWEST

OLDER, NEWEST_ID, NEWER = Newest(-1), Newest(0), Newest(1)
NEAR = (OLDER, NEWEST_ID, NEWER)
LONG_PAST = Newest(-9)
"""An id that is obsolete in every state except the initial one."""
TRACKED = 2
"""Maximum number of tracked checkpoints of a gate of mode at-least-once."""
OF_TYPES = "flink-1.11"
"""The profile in which the type of a checkpoint determines whether its barriers overtake."""
ALIGNMENTS = ("timeout", "unaligned", "aligned")
"""The options of barriers in the alphabets."""

Bound = Callable[[Any, Wire], bool]


@dataclass(frozen=True)
class Waiting(Dependent):
    """The value of a record: the number of waiting items before it.

    So waiting records have different values.
    """

    channel: int

    def at(self, state: Any) -> int:  # noqa: ANN401 - the model's own state
        """The number of items that wait in a state."""
        return waiting_items(state) if _gate(state).blocked[self.channel] else 0


@dataclass(frozen=True)
class Unblocked(Dependent):
    """The first channel that is open and not blocked."""

    @property
    def name(self) -> str:
        """The text of the channel in the name of a letter."""
        return "unblocked"

    def at(self, state: Any) -> int | None:  # noqa: ANN401 - the model's own state
        """The channel in a state; None if there is none."""
        gate = _gate(state)
        pairs = zip(gate.closed, gate.blocked, strict=True)
        return next((channel for channel, flags in enumerate(pairs) if not any(flags)), None)


def gate_alphabets(config: Wire, *, injects: bool, thorough: bool) -> Iterator[Alphabet]:
    """The alphabets for one configuration."""
    mode = config.get("mode", "exactly-once")
    injects = injects and config.get("profile", NEWEST.name) == NEWEST.name
    if mode == "exactly-once":
        yield aligned(config, injects=injects)
        if _is_polled(config):
            yield aligned(config, injects=injects, waiting=2)
    elif mode == "at-least-once":
        yield tracking(config)
    elif config["profile"] == OF_TYPES:
        yield of_types(config)
    else:
        for alignment in ALIGNMENTS:
            yield unaligned(config, (alignment,), injects=injects)
        if thorough or not _is_polled(config):
            yield unaligned(config, ALIGNMENTS, injects=injects)


def aligned(config: Wire, *, injects: bool = False, waiting: int = 1) -> Alphabet:
    """A gate of mode exactly-once: barriers, cancellations and ends of channels.

    At level polled also records.
    """
    letters: list[Letter] = []
    for channel in range(config["channels"]):
        letters += (letter("barrier", channel=channel, checkpoint=near) for near in NEAR)
        letters += (letter("cancel", channel=channel, checkpoint=near) for near in NEAR)
        letters.append(letter("end_of_partition", channel=channel))
    if injects:
        letters += (letter("inject", checkpoint=near) for near in NEAR)
    return _at_level(Alphabet("gate", config, tuple(letters)), waiting)


def tracking(config: Wire, tracked: int = TRACKED) -> Alphabet:
    """A gate of mode at-least-once: the letters of `aligned`, with at most `tracked` tracked checkpoints."""
    letters: list[Letter] = []
    for channel in range(config["channels"]):
        letters += (letter("barrier", channel=channel, checkpoint=near) for near in NEAR)
        letters += (letter("cancel", channel=channel, checkpoint=near) for near in NEAR)
        letters.append(letter("end_of_partition", channel=channel))
        if _is_polled(config):
            letters.append(letter("record", channel=channel, value=0))

    def allows(state: Any, event: Wire) -> bool:  # noqa: ANN401 - the model's own state
        tracker = state.inbox
        return event.get("checkpoint", 0) <= tracker.latest or len(tracker.tracked) < tracked

    return Alphabet("gate", config, tuple(letters), f"at most {tracked} checkpoints under way", allows)


def unaligned(
    config: Wire, alignments: tuple[str, ...], waiting: int = 1, *, injects: bool = False
) -> Alphabet:
    """A gate of mode unaligned or alternating. `alignments`: the options that its barriers may have."""
    letters: list[Letter] = []
    for channel in range(config["channels"]):
        letters += (
            letter(kind, channel=channel, checkpoint=near, alignment=alignment)
            for kind in ("barrier", "announce")
            for near in NEAR
            for alignment in alignments
        )
        letters += _cancellations_and_end(channel)
    if injects:
        letters += (letter("inject", checkpoint=near, alignment=alignments[0]) for near in NEAR)
    return _overtaking(config, letters, f"barriers {', '.join(alignments)}", waiting)


def of_types(config: Wire, waiting: int = 1) -> Alphabet:
    """A gate of Flink 1.11 with barriers of checkpoints and savepoints.

    In mode unaligned it has two threads.
    """
    letters: list[Letter] = []
    has_threads = config["mode"] == "unaligned"
    for channel in range(config["channels"]):
        letters += (letter("barrier", channel=channel, checkpoint=near) for near in NEAR)
        letters += (letter("barrier", channel=channel, checkpoint=near, savepoint=True) for near in NEAR)
        if has_threads:
            letters += (letter("receive_barrier", channel=channel, checkpoint=near) for near in NEAR)
        letters += _cancellations_and_end(channel)
    if has_threads:
        letters.append(letter("mail"))
    made = _overtaking(config, letters, "barriers of checkpoints and savepoints", waiting)
    if not has_threads:
        return made

    def allows(state: Any, event: Wire) -> bool:  # noqa: ANN401 - the model's own state
        threads = state.inbox
        current, oldest = threads.gate.current, min((one.checkpoint for one in threads.mail), default=None)
        if event.get("checkpoint", 0) > current and oldest is not None and oldest < current:
            return False
        if event["kind"] == "receive_barrier" and event["checkpoint"] > current != threads.read:
            return False
        return made.allows(state, event)

    bound = "; ".join(part for part in (made.bound, "the threads one checkpoint apart") if part)
    return made._replace(bound=bound, allows=allows)


def _cancellations_and_end(channel: int) -> list[Letter]:
    cancellations = (letter("cancel", channel=channel, checkpoint=near) for near in NEAR)
    return [*cancellations, letter("end_of_partition", channel=channel)]


def _overtaking(config: Wire, letters: list[Letter], subject: str, waiting: int) -> Alphabet:
    if config["alignment_timeout_ms"]:
        letters.append(letter("advance", ms=config["alignment_timeout_ms"]))
    clock = Clock(_now, 2 * config["alignment_timeout_ms"] + 1, {"kind": "advance", "ms": NOON})
    return _at_level(Alphabet("gate", config, tuple(letters), clock=clock, subject=subject), waiting)


def _at_level(alphabet: Alphabet, waiting: int) -> Alphabet:
    """The alphabet. At level polled it also has records, and at most `waiting` items wait."""
    if not _is_polled(alphabet.config):
        return alphabet
    channels = range(alphabet.config["channels"])
    records = (letter("record", channel=channel, value=Waiting(channel)) for channel in channels)
    letters = (*alphabet.letters, *records, letter("cancel", channel=Unblocked(), checkpoint=LONG_PAST))

    def allows(state: Any, event: Wire) -> bool:  # noqa: ANN401 - the model's own state
        channel = event.get("channel")
        return channel is None or waiting_items(state) < waiting or not _gate(state).blocked[channel]

    return alphabet._replace(letters=letters, bound=f"at most {waiting} waiting", allows=allows)


def _is_polled(config: Wire) -> bool:
    return bool(config.get("level", "polled") == "polled")


def _gate(state: Any) -> Any:  # noqa: ANN401 - any gate, alone or with the items that wait for it
    return getattr(state.inbox, "gate", state.inbox)


def _now(state: Any) -> int:  # noqa: ANN401 - the model's own state
    now: int = _gate(state).now
    return now


def waiting_items(state: Any) -> int:  # noqa: ANN401 - the model's own state
    """The number of items that wait at a gate."""
    at = state.inbox
    return len(getattr(at, "waiting", ()) or getattr(at, "stored", ()))
