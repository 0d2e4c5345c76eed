"""The unaligned gate of Flink 1.11, which two threads share: the network thread may start a checkpoint.

Rules UNAL-30 and UNAL-31.

When a channel receives a barrier, the network thread reports the barrier to the gate, long before the task
reads it. If the id of the barrier is above every id that was started or cancelled, the checkpoint starts: the
gate persists input from then on. Only the task thread can take the snapshot and abort an older checkpoint.
Therefore the network thread puts these two effects into the mailbox of the task thread, in order. If a newer
checkpoint has started before the task thread reads its mail, the task thread does not take the snapshot.

Both threads share the gate of `model.gate.unaligned`. Its current id is the highest id that either thread has
started or cancelled. Two other fields record the ids that the task has read. The gate never blocks a channel.
"""

from typing import NamedTuple

from model.events import NONE, SUBSUMED, Effects, Step
from model.gate import alternating
from model.gate.events import Abort, StartPersisting, Trigger, TriggerUnaligned
from model.gate.profiles import Profile
from model.gate.unaligned import UnalignedGate, new_gate
from model.gate.unaligned_generations import unaligned_steps


class Left(NamedTuple):
    """One effect that the network thread has put into the mailbox of the task thread."""

    checkpoint: int
    aborts: bool
    """The effect is an abort with reason SUBSUMED. Else it is a trigger."""
    unaligned: bool
    """The effect is a trigger of an unaligned snapshot."""


class Threads(NamedTuple):
    """A gate that two threads share, and the state of the task thread."""

    gate: UnalignedGate
    read: int
    """Highest id that the task has read or cancelled; -1 before the first."""
    reading: bool
    """The task has read a barrier with the id `read`. No cancellation or end has ended its checkpoint."""
    mail: tuple[Left, ...]
    """The effects in the mailbox of the task thread, oldest first."""


def new_threads(channels: int, counts_as_aligned: bool, profile: Profile, timeout: int) -> Threads:
    """A gate in its initial state, before the first event of either thread."""
    gate = new_gate(channels, counts_as_aligned, profile, alternating=False, timeout=timeout)
    return Threads(gate, NONE, False, ())


def on_receive_barrier(
    threads: Threads, channel: int, checkpoint: int, alignment: int, savepoint: bool, timestamp: int
) -> Step[Threads]:
    """The network thread receives barrier `checkpoint` on `channel`. The task has not read it yet."""
    gate, effects, rules = unaligned_steps(threads.gate).on_barrier(
        threads.gate, channel, checkpoint, alignment, savepoint, timestamp
    )
    emitted: Effects = ()
    mail = threads.mail
    for effect in effects:
        if type(effect) is StartPersisting:
            emitted = (*emitted, effect)
        elif type(effect) is Abort:
            mail = (*mail, Left(effect.checkpoint, True, False))
        elif type(effect) is TriggerUnaligned or type(effect) is Trigger:
            mail = (*mail, Left(effect.checkpoint, False, type(effect) is TriggerUnaligned))
    return Step(threads._replace(gate=gate, mail=mail), emitted, (*rules, "UNAL-30"))


def on_mail(threads: Threads) -> Step[Threads]:
    """The task thread emits the effects in its mailbox, except obsolete triggers."""
    emitted: Effects = ()
    for left in threads.mail:
        if left.aborts:
            emitted = (*emitted, Abort(left.checkpoint, SUBSUMED))
        elif is_due(threads, left):
            emitted = (
                *emitted,
                TriggerUnaligned(left.checkpoint) if left.unaligned else Trigger(left.checkpoint),
            )
    return Step(threads._replace(mail=()), emitted, ("UNAL-31",))


def is_due(threads: Threads, left: Left) -> bool:
    """Whether the trigger is not obsolete: no newer checkpoint was started or cancelled."""
    return left.checkpoint >= threads.gate.current


def on_barrier(
    threads: Threads, channel: int, checkpoint: int, alignment: int, savepoint: bool, timestamp: int
) -> Step[Threads]:
    """The task reads barrier `checkpoint` on `channel`."""
    if checkpoint < threads.read or (checkpoint == threads.read and not threads.reading):
        return Step(threads, (), ("UNAL-05",))
    gate, effects, rules = unaligned_steps(threads.gate).on_barrier(
        threads.gate, channel, checkpoint, alignment, savepoint, timestamp
    )
    return Step(threads._replace(gate=gate, read=checkpoint, reading=True), effects, rules)


def on_cancel(threads: Threads, channel: int, checkpoint: int) -> Step[Threads]:
    """The task reads a cancellation marker of `checkpoint` on `channel`."""
    gate, effects, rules = unaligned_steps(threads.gate).on_cancel(threads.gate, channel, checkpoint)
    threads = threads._replace(gate=gate)
    if checkpoint >= threads.read:
        threads = threads._replace(read=checkpoint, reading=False)
    return Step(threads, effects, rules)


def on_end_of_partition(threads: Threads, channel: int) -> Step[Threads]:
    """`channel` ends."""
    gate, effects, rules = unaligned_steps(threads.gate).on_end_of_partition(threads.gate, channel)
    return Step(threads._replace(gate=gate, reading=False), effects, rules)


def on_advance(threads: Threads, ms: int) -> Step[Threads]:
    """Virtual time passes by `ms` milliseconds. In mode unaligned no timer runs."""
    gate, effects, rules = unaligned_steps(threads.gate).on_advance(threads.gate, ms)
    return Step(threads._replace(gate=gate), effects, rules)


def describe(threads: Threads) -> str:
    """Both threads in one line, for transcripts."""
    phase = f"{alternating.describe(threads.gate)}; read {threads.read}"
    left = [f"{'abort' if one.aborts else 'trigger'} {one.checkpoint}" for one in threads.mail]
    return ", ".join([phase, *left])
