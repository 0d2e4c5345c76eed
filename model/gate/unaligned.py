"""Unaligned checkpoints at one input gate: barriers overtake records. Rules UNAL-01 to UNAL-10.

A gate that aligns waits for the slowest channel. A gate whose barriers overtake does not wait: the first
barrier triggers the snapshot. Later the other channels deliver the records before their barriers. The task
processes these records *and* stores them in the snapshot as in-flight data. The state at the trigger and the
in-flight data together form the same cut as an alignment.

The module holds the gate and its steps while barriers overtake, in Flink 1.15 and later.
`model.gate.alternating` holds the step of each event, the aligned phase and the passing of time. A gate of
mode `unaligned` has no aligned phase. `model.gate.unaligned_generations` holds the steps that differ in older
generations. `model.gate.polled_unaligned_gate` adds the items that wait on blocked channels.
"""

from typing import NamedTuple

from model.events import NONE, SUBSUMED, Effects, Fail, Rules, Step
from model.gate.aligned import with_flag
from model.gate.alignment import ALIGNED, NO_OPTIONS, TIMED, UNALIGNED, Options
from model.gate.events import (
    Abort,
    Block,
    Prioritise,
    Resume,
    StartPersisting,
    StopPersisting,
    TriggerUnaligned,
)
from model.gate.profiles import NEWEST, Profile

NOT_CONVERTIBLE = "barrier cannot become unaligned"


class UnalignedGate(NamedTuple):
    """One input gate; the tuples have one element for each channel."""

    current: int
    """Highest checkpoint id begun or cancelled here; -1 before the first."""
    pending: bool
    """Checkpoint `current` has begun and has not ended."""
    begun: bool
    """The gate has read a barrier of the pending checkpoint. False if there were only announcements."""
    overtaking: bool
    """The phase. True: barriers overtake. False: the gate aligns, or is idle and will align at first."""
    arrived: tuple[bool, ...]
    """The channel has delivered the pending barrier, or it has ended since the checkpoint began."""
    blocked: tuple[bool, ...]
    """The channel has delivered an aligned barrier and waits for the end of the checkpoint."""
    announced: tuple[bool, ...]
    """The channel has announced the pending barrier, and the gate has neither read nor prioritised it."""
    closed: tuple[bool, ...]
    """The channel has delivered its end of partition."""
    first: Options
    """Options of the barrier or announcement that began the pending checkpoint."""
    since: int
    """Virtual time in ms at which the pending checkpoint began at this gate. Only in 1.13, else 0."""
    repeats: int
    """Number of repeated barriers that have counted. Only in 1.12 and 1.13, else 0 (ALIGN-21)."""
    now: int
    """Virtual time in milliseconds."""
    timer: int
    """Virtual time in ms at which the timer fires. -1 if no timer runs."""
    failed: bool
    """The gate has refused an event with an exception and accepts no further event (UNAL-21)."""
    alternating: bool
    """True in mode alternating, in which a checkpoint aligns at first. Else mode unaligned. Never changes."""
    counts_as_aligned: bool
    """Checkpoints after tasks finish are enabled: an ended channel counts as aligned. Never changes."""
    timeout: int
    """Maximum duration of an alignment in ms. 0 for no limit. Never changes."""
    profile: Profile = NEWEST
    """The generation. Never changes."""


def new_gate(
    channels: int,
    counts_as_aligned: bool,
    profile: Profile = NEWEST,
    *,
    alternating: bool,
    timeout: int,
) -> UnalignedGate:
    """A gate in its initial state at time 0: no channel has delivered anything."""
    none = (False,) * channels
    return UnalignedGate(
        current=NONE,
        pending=False,
        begun=False,
        overtaking=not alternating,
        arrived=none,
        blocked=none,
        announced=none,
        closed=none,
        first=NO_OPTIONS,
        since=0,
        repeats=0,
        now=0,
        timer=NONE,
        failed=False,
        alternating=alternating,
        counts_as_aligned=counts_as_aligned,
        timeout=timeout,
        profile=profile,
    )


# ---------------------------------------------------------------- terms


def is_spent(gate: UnalignedGate, checkpoint: int) -> bool:
    """The id has ended or was skipped, and cannot begin again (UNAL-25)."""
    return checkpoint < gate.current or (checkpoint == gate.current and not gate.pending)


def persisting(gate: UnalignedGate) -> tuple[bool, ...]:
    """The channels whose records the gate persists: open channels whose barrier it awaits (UNAL-23)."""
    if not (gate.begun and gate.overtaking):
        return (False,) * len(gate.closed)
    channels = zip(gate.arrived, gate.closed, strict=True)
    return tuple(not arrived and not closed for arrived, closed in channels)


def prioritise_all(gate: UnalignedGate) -> Effects:
    """The effects that prioritise every announced barrier, in channel order."""
    return tuple(Prioritise(channel) for channel, announced in enumerate(gate.announced) if announced)


def resume_all(gate: UnalignedGate) -> Effects:
    """The effects that resume every blocked channel, in channel order."""
    return tuple(Resume(channel) for channel, blocked in enumerate(gate.blocked) if blocked)


def refuse(
    gate: UnalignedGate, effects: Effects, rules: Rules, why: str = NOT_CONVERTIBLE
) -> Step[UnalignedGate]:
    """The gate refuses the event with an exception (UNAL-21)."""
    return Step(gate._replace(failed=True), (*effects, Fail(why)), rules)


class OvertakingSteps:
    """The steps while barriers overtake, and the beginning and the end of a checkpoint."""

    def all_arrived(self, gate: UnalignedGate) -> bool:
        """Whether the gate awaits no channel."""
        return all(arrived or closed for arrived, closed in zip(gate.arrived, gate.closed, strict=True))

    def counted(self, gate: UnalignedGate, channel: int) -> UnalignedGate:
        """The gate after it has counted the pending barrier of the channel."""
        return gate._replace(arrived=with_flag(gate.arrived, channel, True))

    def overtakes(self, options: Options) -> bool:
        """Whether a barrier with these options overtakes. Its sender then does not stop after it."""
        return options.alignment == UNALIGNED

    def is_convertible(self, options: Options) -> bool:
        """Whether a checkpoint with these options may continue unaligned (UNAL-21)."""
        if options.savepoint:
            return False
        return options.alignment == ALIGNED or options.alignment == TIMED or options.alignment == UNALIGNED

    # ------------------------------------------------------------ barriers that overtake

    def on_overtaking_barrier(
        self, gate: UnalignedGate, channel: int, options: Options, *, blocks: bool
    ) -> Step[UnalignedGate]:
        """The gate reads a barrier of the pending checkpoint. `blocks`: it blocks the channel if aligned."""
        effects: Effects = ()
        rules: Rules = ("UNAL-02",) if gate.begun else ("UNAL-01",)
        if blocks and options.alignment != UNALIGNED:
            gate = gate._replace(blocked=with_flag(gate.blocked, channel, True))
            effects = (Block(channel),)
            rules = (*rules, "UNAL-10")
        if not gate.begun:
            if not self.is_convertible(options):
                return refuse(gate, effects, (*rules, "UNAL-21"))
            gate = gate._replace(begun=True)
            effects = (*effects, *self.start(gate, options))
        if self.all_arrived(gate):
            return self.stop(gate, effects, (*rules, "UNAL-03"))
        return Step(gate, effects, rules)

    def start(self, gate: UnalignedGate, options: Options) -> Effects:
        """The effects that start to persist in-flight data and trigger the snapshot (UNAL-01)."""
        return (StartPersisting(gate.current), TriggerUnaligned(gate.current))

    def stop(self, gate: UnalignedGate, effects: Effects, rules: Rules) -> Step[UnalignedGate]:
        """The last barrier has arrived: the in-flight data is complete, and all channels resume (UNAL-03)."""
        effects = (*effects, StopPersisting(gate.current), *resume_all(gate))
        return Step(self.idle(gate), effects, rules)

    # ------------------------------------------------------------ the beginning and the end

    def begin(self, gate: UnalignedGate, checkpoint: int, options: Options) -> Step[UnalignedGate]:
        """A newer checkpoint begins. A pending checkpoint ends first, and ends once (UNAL-04)."""
        effects, rules = self.subsumed(gate, options)
        gate = self.idle(gate)._replace(current=checkpoint, pending=True, first=options)
        return Step(gate, effects, rules)

    def subsumed(self, gate: UnalignedGate, options: Options) -> tuple[Effects, Rules]:
        """The effects and rules that end a pending checkpoint when a barrier with these options is newer."""
        return (self.aborted(gate, SUBSUMED), ("UNAL-04",)) if gate.pending else ((), ())

    def aborted(self, gate: UnalignedGate, reason: str) -> Effects:
        """The effects that abort the pending checkpoint: the resumes of its channels, then the abort."""
        return (*self.stop_and_resume(gate, gate.current), Abort(gate.current, reason))

    def stop_and_resume(self, gate: UnalignedGate, checkpoint: int) -> Effects:
        """The effects that stop persisting and resume the blocked channels, without an abort.

        `checkpoint`: the pending id, or the newer id that ends it.
        """
        stopped: Effects = (StopPersisting(checkpoint),) if gate.overtaking and gate.begun else ()
        return (*stopped, *resume_all(gate))

    def idle(self, gate: UnalignedGate) -> UnalignedGate:
        """No checkpoint is pending: no channel is blocked or announced, no timer runs (UNAL-20, UNAL-26)."""
        none = (False,) * len(gate.closed)
        return gate._replace(
            pending=False,
            begun=False,
            overtaking=not gate.alternating,
            arrived=none,
            blocked=none,
            announced=none,
            first=NO_OPTIONS,
            since=0,
            repeats=0,
            timer=NONE,
        )
