"""The steps of gates in the modes unaligned and alternating. Rules UNAL-03 to UNAL-19, UNAL-21, UNAL-22.

An alternating gate aligns until a time-out, and then lets barriers overtake. Aligned, timed, forced-aligned
and unaligned barriers may arrive in any mixture. A channel announces a timed barrier while the barrier still
waits behind records. The checkpoint begins with the first barrier or announcement of its id. Its time-out
counts from the checkpoint's timestamp. Until then the gate aligns as in `model.gate.aligned`. If the time-out
passes or an unaligned barrier arrives, the gate prioritises the announced barriers, and the checkpoint
continues unaligned (`model.gate.unaligned`). Blocked channels stay blocked until the end of the checkpoint.

Time is a number in the state. Only `on_advance` increases it and fires a timer. A barrier or an end can
therefore arrive after the time-out and before the timer fires, as in a busy task.

The module describes Flink 1.15 and later. Their profile has the name `flink-1.14`, because aligned gates
behave alike from 1.14 on. `model.gate.unaligned_generations` holds the steps of 1.14 and older.
"""

from model.events import INPUT_END_OF_STREAM, NONE, ON_CANCELLATION_BARRIER, Effects, Rules, Step
from model.gate.aligned import with_flag
from model.gate.alignment import TIMED, UNALIGNED, Options
from model.gate.events import Abort, Block, Prioritise, Resume, Trigger
from model.gate.unaligned import (
    OvertakingSteps,
    UnalignedGate,
    is_spent,
    prioritise_all,
    refuse,
    resume_all,
)


class UnalignedSteps(OvertakingSteps):
    """The steps of a gate, and the methods that older generations override."""

    # ------------------------------------------------------------ events

    def on_barrier(
        self,
        gate: UnalignedGate,
        channel: int,
        checkpoint: int,
        alignment: int,
        savepoint: bool,
        timestamp: int,
    ) -> Step[UnalignedGate]:
        """The gate reads barrier `checkpoint` on `channel`. Unless it is unaligned, the channel blocks."""
        return self.read(gate, channel, checkpoint, Options(alignment, savepoint, timestamp), blocks=True)

    def on_inject(
        self, gate: UnalignedGate, checkpoint: int, alignment: int, savepoint: bool, timestamp: int
    ) -> Step[UnalignedGate]:
        """The coordinator triggers the task itself. Each open channel counts as if it had the barrier.

        No channel is blocked.
        """
        options = Options(alignment, savepoint, timestamp)
        effects: Effects = ()
        rules: Rules = ("UNAL-22",)
        for channel, closed in enumerate(gate.closed):
            if not closed and not gate.failed:
                gate, emitted, fired = self.read(gate, channel, checkpoint, options, blocks=False)
                effects = (*effects, *emitted)
                rules = (*rules, *fired)
        return Step(gate, effects, rules)

    def on_announce(
        self,
        gate: UnalignedGate,
        channel: int,
        checkpoint: int,
        alignment: int,
        savepoint: bool,
        timestamp: int,
    ) -> Step[UnalignedGate]:
        """`channel` announces a barrier. This begins a newer checkpoint, but counts for no channel."""
        if is_spent(gate, checkpoint):
            return Step(gate, (), ("UNAL-05",))
        gate, effects, rules = self.begin_if_newer(gate, checkpoint, Options(alignment, savepoint, timestamp))
        if gate.overtaking:
            return Step(gate, (*effects, Prioritise(channel)), (*rules, "UNAL-14"))
        announced = with_flag(gate.announced, channel, True)
        return Step(gate._replace(announced=announced), effects, (*rules, "UNAL-13"))

    def on_cancel(self, gate: UnalignedGate, channel: int, checkpoint: int) -> Step[UnalignedGate]:
        """The gate reads a cancellation marker of `checkpoint` on `channel`."""
        if checkpoint < gate.current or (checkpoint == gate.current and not any(gate.arrived)):
            return Step(gate, (), ("UNAL-07",))  # also if the checkpoint has only an announcement
        effects = (*self.stop_and_resume(gate, checkpoint), Abort(checkpoint, ON_CANCELLATION_BARRIER))
        return Step(self.idle(gate)._replace(current=checkpoint), effects, ("UNAL-06",))

    def on_end_of_partition(self, gate: UnalignedGate, channel: int) -> Step[UnalignedGate]:
        """`channel` ends. The gate no longer awaits a barrier of this channel."""
        gate = gate._replace(closed=with_flag(gate.closed, channel, True))
        if not gate.pending:
            return Step(gate, (), ("UNAL-09",))
        if not gate.counts_as_aligned:
            effects = self.aborted(gate, INPUT_END_OF_STREAM)
            return Step(self.idle(gate), effects, ("UNAL-08",))
        gate = gate._replace(
            arrived=with_flag(gate.arrived, channel, True),
            blocked=with_flag(gate.blocked, channel, False),
            announced=with_flag(gate.announced, channel, False),
        )
        if gate.begun and not gate.overtaking and gate.first.alignment == UNALIGNED:
            return refuse(gate, (), ("UNAL-09", "UNAL-21"))  # only the announcement was unaligned
        if not self.all_arrived(gate):
            if gate.begun and not gate.overtaking and self.is_timed_out(gate, gate.first):
                return self.give_up_alignment(gate, gate.first, ("UNAL-09", "UNAL-19"))
            return Step(gate, (), ("UNAL-09",))
        if not gate.begun:
            return Step(self.idle(gate), (), ("UNAL-09",))  # every channel has ended before its barrier
        if gate.overtaking:
            return self.stop(gate, (), ("UNAL-09", "UNAL-03"))
        return self.complete(gate, (), ("UNAL-09",))

    def on_advance(self, gate: UnalignedGate, ms: int) -> Step[UnalignedGate]:
        """Virtual time passes by `ms` milliseconds. The timer fires if it is due."""
        gate = gate._replace(now=gate.now + ms)
        if gate.timer == NONE or gate.timer > gate.now:
            return Step(gate, (), ())
        gate = gate._replace(timer=NONE)
        if gate.overtaking:
            return Step(gate, (), ("UNAL-17",))  # the checkpoint is already unaligned
        return self.give_up_alignment(gate, gate.first, ("UNAL-17",) if gate.begun else ("UNAL-16",))

    # ------------------------------------------------------------ the aligned phase

    def read(
        self, gate: UnalignedGate, channel: int, checkpoint: int, options: Options, *, blocks: bool
    ) -> Step[UnalignedGate]:
        """The gate reads a barrier of `channel`, or an injection counts as one. `blocks`: the former."""
        if is_spent(gate, checkpoint):
            return Step(gate, self.late(gate, channel, options), ("UNAL-05",))
        begun = self.begin_if_newer(gate, checkpoint, options)
        return self.count(begun, channel, options, blocks=blocks)

    def late(self, gate: UnalignedGate, channel: int, options: Options) -> Effects:
        """The effects of a late barrier: a resume, if the sender has stopped after it (UNAL-05)."""
        return () if self.overtakes(options) else (Resume(channel),)

    def count(
        self, begun: Step[UnalignedGate], channel: int, options: Options, *, blocks: bool
    ) -> Step[UnalignedGate]:
        """The gate counts the barrier of `channel`. `begun` is the result of `begin_if_newer`."""
        gate = self.counted(begun.state, channel)
        if gate.overtaking:
            step = self.on_overtaking_barrier(gate, channel, options, blocks=blocks)
        elif options.alignment == UNALIGNED:
            step = self.overtake(gate, channel, options, ("UNAL-12",))
        else:
            step = self.align(gate, channel, options, blocks=blocks)
        return Step(step.state, (*begun.effects, *step.effects), (*step.rules, *begun.rules))

    def begin_if_newer(self, gate: UnalignedGate, checkpoint: int, options: Options) -> Step[UnalignedGate]:
        """Begins the checkpoint if its id is newer. A timed checkpoint gets a timer (UNAL-15)."""
        if checkpoint == gate.current:
            return Step(gate, (), ())
        gate, effects, rules = self.begin(gate, checkpoint, options)
        if gate.alternating and gate.timeout > 0 and options.alignment == TIMED:
            due = self.aligning_since(gate, options) + gate.timeout
            gate = gate._replace(timer=due if due > gate.now else gate.now)
            rules = (*rules, "UNAL-15")
        return Step(gate, effects, rules)

    def aligning_since(self, gate: UnalignedGate, options: Options) -> int:
        """Returns the time from which the time-out counts, in ms: the checkpoint's timestamp."""
        return options.timestamp

    def align(
        self, gate: UnalignedGate, channel: int, options: Options, *, blocks: bool
    ) -> Step[UnalignedGate]:
        """The gate reads an aligned, timed or forced-aligned barrier while it aligns."""
        gate = gate._replace(announced=with_flag(gate.announced, channel, False))
        effects: Effects = ()
        if blocks:
            gate = gate._replace(blocked=with_flag(gate.blocked, channel, True))
            effects = (Block(channel),)
        if self.all_arrived(gate):  # before the time-out check: the last barrier always aligns
            return self.complete(gate, effects, ("UNAL-10",))
        if self.is_timed_out(gate, options):
            if not self.is_convertible(options):
                return refuse(gate, (*effects, *prioritise_all(gate)), ("UNAL-18", "UNAL-21"))
            unaligned = options._replace(alignment=UNALIGNED)
            step = self.overtake(gate, channel, unaligned, ("UNAL-18",))
            return Step(step.state, (*effects, *step.effects), step.rules)
        return Step(gate._replace(begun=True), effects, ("UNAL-10",))

    def overtake(
        self, gate: UnalignedGate, channel: int, options: Options, rules: Rules
    ) -> Step[UnalignedGate]:
        """An unaligned or timed-out barrier ends the aligned phase. It may be the first of its checkpoint."""
        gate, effects, fired = self.give_up_alignment(gate, options, rules)
        step = self.on_overtaking_barrier(gate, channel, options, blocks=False)
        return Step(step.state, (*effects, *step.effects), (*fired, *step.rules))

    def give_up_alignment(self, gate: UnalignedGate, options: Options, rules: Rules) -> Step[UnalignedGate]:
        """Ends the aligned phase: prioritises announced barriers, and triggers if a barrier was read."""
        effects = prioritise_all(gate)
        gate = gate._replace(announced=(False,) * len(gate.closed), overtaking=True)
        if not gate.begun:
            return Step(gate, effects, rules)
        if not self.is_convertible(options):
            return refuse(gate, effects, (*rules, "UNAL-21"))
        return Step(gate, (*effects, *self.start(gate, options)), rules)

    def complete(self, gate: UnalignedGate, effects: Effects, rules: Rules) -> Step[UnalignedGate]:
        """Every channel is aligned: the gate triggers the snapshot, then resumes the channels (UNAL-11)."""
        effects = (*effects, Trigger(gate.current), *resume_all(gate))
        return Step(self.idle(gate), effects, (*rules, "UNAL-11"))

    def is_timed_out(self, gate: UnalignedGate, options: Options) -> bool:
        """Whether the barrier is timed and the alignment has lasted longer than the time-out."""
        if options.alignment != TIMED or gate.timeout <= 0:
            return False
        return gate.timeout < gate.now - self.aligning_since(gate, options)


def describe(gate: UnalignedGate) -> str:
    """The gate in one line, for transcripts."""
    phase = "idle"
    if gate.pending:
        phase = "announced" if not gate.begun else "persisting" if gate.overtaking else "aligning"
    return f"current={gate.current} {phase} at {gate.now}" + "".join(
        f", {name} " + " ".join(str(channel) for channel, flag in enumerate(flags) if flag)
        for name, flags in (
            ("arrived", gate.arrived),
            ("blocked", gate.blocked),
            ("announced", gate.announced),
            ("closed", gate.closed),
        )
        if any(flags)
    )
