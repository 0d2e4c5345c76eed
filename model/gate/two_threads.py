"""The two threads of Flink 1.11's unaligned gate: the network's may start a checkpoint. UNAL-30, UNAL-31.

When a channel receives a barrier, the thread of the network tells the gate, long before the task reads it.
If its id is above every one that was started or cancelled, the checkpoint starts: input is persisted from now
on. The snapshot is the task's business, and so is the word about an older checkpoint that ends: both are
left for the task's thread, in order. By the time it gets to them something newer may have started; then the
snapshot is not taken any more.

What both threads share is the gate of `model.gate.unaligned`: its current id is the highest that either
started or cancelled. Apart from it is what the task has read. Nothing is ever blocked here.
"""

from typing import NamedTuple

from model.events import NONE, SUBSUMED, Effects, Step
from model.gate import alternating
from model.gate.events import Abort, Trigger
from model.gate.profiles import Profile
from model.gate.unaligned import UnalignedGate, new_gate
from model.gate.unaligned_events import StartPersisting, TriggerUnaligned


class Left(NamedTuple):
    """What the network's thread leaves for the task's to say."""

    checkpoint: int
    aborts: bool
    """It was subsumed; else it is to be triggered."""
    unaligned: bool
    """How the barrier asked to be triggered."""


class Threads(NamedTuple):
    """A gate that two threads share, and what only one of them knows."""

    gate: UnalignedGate
    read: int
    """Highest id that the task read or cancelled; -1 before the first."""
    reading: bool
    """The task has read a barrier of it, and it was not cut off since."""
    mail: tuple[Left, ...]
    """Oldest first."""


def new_threads(channels: int, counts_as_aligned: bool, profile: Profile, timeout: int = 0) -> Threads:
    """A gate of which neither thread has seen anything."""
    gate = new_gate(channels, counts_as_aligned, profile, timeout=timeout)
    return Threads(gate, NONE, False, ())


def on_receive(
    threads: Threads, channel: int, checkpoint: int, alignment: int, savepoint: bool, timestamp: int
) -> Step[Threads]:
    """The network's thread has received barrier `checkpoint` on `channel`; nobody has read it yet."""
    gate, effects, rules = alternating.on_barrier(
        threads.gate, channel, checkpoint, alignment, savepoint, timestamp
    )
    said: Effects = ()
    mail = threads.mail
    for effect in effects:
        if type(effect) is StartPersisting:
            said = (*said, effect)
        elif type(effect) is Abort:
            mail = (*mail, Left(effect.checkpoint, True, False))
        elif type(effect) is TriggerUnaligned or type(effect) is Trigger:
            mail = (*mail, Left(effect.checkpoint, False, type(effect) is TriggerUnaligned))
    return Step(threads._replace(gate=gate, mail=mail), said, (*rules, "UNAL-30"))


def on_mail(threads: Threads) -> Step[Threads]:
    """The task's thread says what was left for it; a snapshot that is out of date is not taken."""
    said: Effects = ()
    for left in threads.mail:
        if left.aborts:
            said = (*said, Abort(left.checkpoint, SUBSUMED))
        elif is_due(threads, left):
            said = (*said, TriggerUnaligned(left.checkpoint) if left.unaligned else Trigger(left.checkpoint))
    return Step(threads._replace(mail=()), said, ("UNAL-31",))


def is_due(threads: Threads, left: Left) -> bool:
    """Nothing newer was started or cancelled since."""
    return left.checkpoint >= threads.gate.current


def on_barrier(
    threads: Threads, channel: int, checkpoint: int, alignment: int, savepoint: bool, timestamp: int
) -> Step[Threads]:
    """The task reads barrier `checkpoint` on `channel`."""
    if checkpoint < threads.read or (checkpoint == threads.read and not threads.reading):
        return Step(threads, (), ("UNAL-05",))
    gate, effects, rules = alternating.on_barrier(
        threads.gate, channel, checkpoint, alignment, savepoint, timestamp
    )
    return Step(threads._replace(gate=gate, read=checkpoint, reading=True), effects, rules)


def on_cancel(threads: Threads, channel: int, checkpoint: int) -> Step[Threads]:
    """The task reads a cancellation marker of `checkpoint` on `channel`."""
    gate, effects, rules = alternating.on_cancel(threads.gate, channel, checkpoint)
    threads = threads._replace(gate=gate)
    if checkpoint >= threads.read:
        threads = threads._replace(read=checkpoint, reading=False)
    return Step(threads, effects, rules)


def on_end_of_partition(threads: Threads, channel: int) -> Step[Threads]:
    """`channel` ends."""
    gate, effects, rules = alternating.on_end_of_partition(threads.gate, channel)
    return Step(threads._replace(gate=gate, reading=False), effects, rules)


def on_advance(threads: Threads, ms: int) -> Step[Threads]:
    """Virtual time passes."""
    gate, effects, rules = alternating.on_advance(threads.gate, ms)
    return Step(threads._replace(gate=gate), effects, rules)


def describe(threads: Threads) -> str:
    """Both threads in one line."""
    phase = f"{alternating.describe(threads.gate)}; read {threads.read}"
    left = [f"{'abort' if one.aborts else 'trigger'} {one.checkpoint}" for one in threads.mail]
    return ", ".join([phase, *left])
