"""Alignment of checkpoint barriers at one input gate (mode exactly-once): rules ALIGN-01 to -19 and -24.

A gate reads several channels. In each channel, the records before barrier n belong to checkpoint n, and the
records after it do not. The gate blocks a channel that has delivered barrier n until every open channel has
delivered it. Then it triggers the snapshot. So the snapshot contains exactly the records before barrier n.

The module describes one gate of Flink 1.14 and later, without coordinator, records and time.
`model.gate.generations` holds the steps that differ in older generations. `model.gate.polled_gate` adds the
items that wait on blocked channels. Up to Flink 1.10 the gate itself stores them (`model.gate.buffering`).
"""

from typing import NamedTuple

from model.events import INPUT_END_OF_STREAM, NONE, ON_CANCELLATION_BARRIER, SUBSUMED, Effects, Rules, Step
from model.gate.events import Abort, Block, Resume, Trigger
from model.gate.profiles import NEWEST, Profile


class Gate(NamedTuple):
    """One input gate; the tuples have one element for each channel."""

    current: int
    """Highest checkpoint id begun or cancelled here; -1 before the first."""
    pending: bool
    """The gate has counted a barrier of `current`, and still awaits the barrier of an open channel."""
    blocked: tuple[bool, ...]
    """The channel has delivered barrier `current`, and its further items wait."""
    closed: tuple[bool, ...]
    """The channel has delivered its end of partition."""
    counts_as_aligned: bool
    """Checkpoints after tasks finish are enabled: an ended channel counts as aligned. Never changes."""
    profile: Profile = NEWEST
    """The generation. Never changes."""
    repeats: int = 0
    """Number of repeated barriers that the pending checkpoint has counted in 1.13 (ALIGN-21). Else 0."""
    failed: bool = False
    """The gate has thrown an exception and accepts no further event. Only up to 1.12 (ALIGN-20)."""


def new_gate(channels: int, counts_as_aligned: bool, profile: Profile = NEWEST) -> Gate:
    """A gate in its initial state: no channel has delivered anything."""
    return Gate(NONE, False, (False,) * channels, (False,) * channels, counts_as_aligned, profile)


class AlignedSteps:
    """The steps of a gate, and the methods that older generations override."""

    def on_barrier(self, gate: Gate, channel: int, checkpoint: int) -> Step[Gate]:
        """Barrier `checkpoint` arrives on `channel`, which is open. Ids may skip numbers (ALIGN-08)."""
        if checkpoint < gate.current or (checkpoint == gate.current and not gate.pending):
            return self.late(gate, channel)
        if checkpoint > gate.current:
            if gate.pending:  # the newer barrier subsumes the pending checkpoint
                effects = self.give_up(gate, SUBSUMED)
                return self.arrive(begin(gate, checkpoint), channel, effects, ("ALIGN-03", "SUB-01"))
            return self.arrive(begin(gate, checkpoint), channel, (), ("ALIGN-01",))
        if gate.blocked[channel]:
            return self.repeated(gate, channel)
        return self.arrive(gate, channel, (), ("ALIGN-02",))

    def late(self, gate: Gate, channel: int) -> Step[Gate]:
        """A late barrier resumes its channel: the sender has stopped after the barrier, and may continue."""
        return Step(gate, (Resume(channel),), ("ALIGN-04",))

    def repeated(self, gate: Gate, channel: int) -> Step[Gate]:
        """The channel repeats the barrier of the pending checkpoint. The barrier does not count again."""
        return self.arrive(gate, channel, (), ("ALIGN-16",))

    def arrive(self, gate: Gate, channel: int, effects: Effects, rules: Rules) -> Step[Gate]:
        """The channel delivers the barrier of the pending checkpoint, and the gate blocks it.

        If it was the last awaited channel, the checkpoint completes. `effects` and `rules` come first.
        """
        gate = block(gate, channel)
        effects = (*effects, Block(channel))
        if self.awaits_a_channel(gate):
            return Step(gate, effects, rules)
        return self.complete(gate, effects, rules)

    def on_cancel(self, gate: Gate, channel: int, checkpoint: int) -> Step[Gate]:
        """A cancellation marker of `checkpoint` arrives on `channel`, which is open."""
        if checkpoint < gate.current or (checkpoint == gate.current and not gate.pending):
            return Step(gate, (), ("ALIGN-12",))
        rule = "ALIGN-10"
        effects = resume_all(gate)
        if gate.pending:
            rule = "ALIGN-09" if checkpoint == gate.current else "ALIGN-11"
        effects = (*effects, Abort(checkpoint, ON_CANCELLATION_BARRIER))
        return Step(idle(gate._replace(current=checkpoint)), effects, (rule,))

    def on_end_of_partition(self, gate: Gate, channel: int) -> Step[Gate]:
        """`channel` ends. The gate no longer awaits a barrier of this channel."""
        gate = gate._replace(closed=with_flag(gate.closed, channel, True))
        if not gate.pending:
            return Step(gate, (), ("ALIGN-13",))
        if not gate.counts_as_aligned:
            return Step(idle(gate), self.give_up(gate, INPUT_END_OF_STREAM), ("ALIGN-14",))
        gate = gate._replace(blocked=with_flag(gate.blocked, channel, False))
        if self.awaits_a_channel(gate):
            return Step(gate, (), ("ALIGN-15",))
        return self.complete(gate, (), ("ALIGN-15",))

    def on_inject(self, gate: Gate, checkpoint: int) -> Step[Gate]:
        """The coordinator triggers `checkpoint` on the task itself, although the task has input channels.

        Each open channel counts as if it had delivered the barrier. No channel is blocked.
        """
        if all(gate.closed):
            return Step(gate, (), ("ALIGN-24",))
        if checkpoint < gate.current or (checkpoint == gate.current and not gate.pending):
            return Step(gate, resume_open(gate), ("ALIGN-24",))
        if checkpoint == gate.current:
            done = self.complete(gate, (), ("ALIGN-24",))
            counted_late = behind_the_last_awaited(gate)
            return done._replace(effects=(*done.effects, *counted_late))
        effects = self.give_up(gate, SUBSUMED) if gate.pending else ()
        rules: Rules = ("ALIGN-24", "ALIGN-03", "SUB-01") if gate.pending else ("ALIGN-24",)
        return self.complete(begin(gate, checkpoint), effects, rules)

    def complete(self, gate: Gate, effects: Effects, rules: Rules) -> Step[Gate]:
        """Every channel is aligned: triggers the snapshot, then resumes channels (ALIGN-05, ALIGN-06)."""
        done = (*effects, Trigger(gate.current), *resume_all(gate))
        return Step(idle(gate), done, (*rules, "ALIGN-05", "ALIGN-06"))

    def give_up(self, gate: Gate, reason: str) -> Effects:
        """Returns the effects that abort the pending alignment: resumes of its channels, then the abort."""
        return (*resume_all(gate), Abort(gate.current, reason))

    def awaits_a_channel(self, gate: Gate) -> bool:
        """Whether an open channel has not delivered the barrier of the pending checkpoint."""
        return not all(blocked or closed for blocked, closed in zip(gate.blocked, gate.closed, strict=True))


def begin(gate: Gate, checkpoint: int) -> Gate:
    """Returns the gate at the start of the alignment of `checkpoint`, with no channel blocked."""
    return idle(gate)._replace(current=checkpoint, pending=True)


def idle(gate: Gate) -> Gate:
    """Returns the gate with no pending checkpoint and no blocked channel (ALIGN-19)."""
    return gate._replace(pending=False, blocked=(False,) * len(gate.blocked), repeats=0)


def block(gate: Gate, channel: int) -> Gate:
    """Returns the gate with the channel blocked."""
    return gate._replace(blocked=with_flag(gate.blocked, channel, True))


def resume_all(gate: Gate) -> Effects:
    """The effects that resume every blocked channel, in channel order."""
    return tuple(Resume(channel) for channel, blocked in enumerate(gate.blocked) if blocked)


def resume_open(gate: Gate) -> Effects:
    """The effects that resume every open channel, blocked or not, in channel order."""
    return tuple(Resume(channel) for channel, closed in enumerate(gate.closed) if not closed)


def behind_the_last_awaited(gate: Gate) -> Effects:
    """The effects that resume the blocked channels after the last awaited channel, at an injection.

    An injection counts the channels in order, and the checkpoint completes at the last awaited channel. The
    injected barrier is then late for the channels after it, so these resume a second time (ALIGN-04).
    """
    late: Effects = ()
    for channel in reversed(range(len(gate.blocked))):
        if gate.blocked[channel]:
            late = (Resume(channel), *late)
        elif not gate.closed[channel]:
            return late
    return late


def with_flag(flags: tuple[bool, ...], position: int, value: bool) -> tuple[bool, ...]:
    """The same flags, with `value` at `position`."""
    return (*flags[:position], value, *flags[position + 1 :])


def describe(gate: Gate) -> str:
    """The gate in one line, for transcripts."""
    phase = "aligning" if gate.pending else "idle"
    blocked = [str(channel) for channel, flag in enumerate(gate.blocked) if flag]
    closed = [str(channel) for channel, flag in enumerate(gate.closed) if flag]
    return ", ".join(
        [
            f"current={gate.current} {phase}",
            *(["blocked " + " ".join(blocked)] if blocked else []),
            *(["closed " + " ".join(closed)] if closed else []),
        ]
    )
