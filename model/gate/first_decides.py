"""Unaligned gates of Flink 1.11 and 1.12: the first barrier decides whether its checkpoint aligns.

In 1.12 the options of the barrier decide (UNAL-27). In 1.11 the type of the checkpoint decides (UNAL-28).
`FirstDecides.tla` specifies the same gates. Each class overrides the steps in which its generation differs
from its base class.
"""

from model.events import SUBSUMED, Effects, Rules, Step
from model.gate.alignment import UNALIGNED, Options
from model.gate.alternating import UnalignedSteps
from model.gate.events import Abort, Resume, StartPersisting, StopPersisting, Trigger
from model.gate.unaligned import UnalignedGate, refuse, resume_all

DISAGREES = "barrier disagrees with the first of its checkpoint"


class CountsBarriers(UnalignedSteps):
    """1.12 and 1.13: the gate counts barriers, so a repeated barrier can replace a missing one (ALIGN-21)."""

    def all_arrived(self, gate: UnalignedGate) -> bool:
        """Whether the repeated barriers are at least as many as the channels without a barrier."""
        channels = zip(gate.arrived, gate.closed, strict=True)
        return gate.repeats >= sum(1 for arrived, closed in channels if not (arrived or closed))

    def counted(self, gate: UnalignedGate, channel: int) -> UnalignedGate:
        """A repeated barrier counts again."""
        if gate.arrived[channel]:
            return gate._replace(repeats=gate.repeats + 1)
        return super().counted(gate, channel)


class FirstDecides(CountsBarriers):
    """1.12: the first barrier decides whether its checkpoint aligns (UNAL-27).

    The gate refuses a later barrier of the checkpoint if its options contradict the decision. There are no
    announcements and no time-outs, and barriers that overtake never block. After a checkpoint the gate keeps
    its phase, aligned or overtaking, until the first barrier of the next checkpoint.
    """

    decides: Rules = ("UNAL-27",)
    """The rules that state how the first barrier decides."""

    def on_announce(
        self,
        gate: UnalignedGate,
        channel: int,
        checkpoint: int,
        alignment: int,
        savepoint: bool,
        timestamp: int,
    ) -> Step[UnalignedGate]:
        """An announcement has no effect."""
        return Step(gate, (), ("UNAL-05",))

    def late(self, gate: UnalignedGate, channel: int, options: Options) -> Effects:
        """The effects of a late barrier: none while barriers overtake, because no sender has stopped."""
        return super().late(gate, channel, options) if gate.alternating else ()

    def begin_if_newer(self, gate: UnalignedGate, checkpoint: int, options: Options) -> Step[UnalignedGate]:
        """The first barrier of a checkpoint begins it, without a timer."""
        if checkpoint == gate.current:
            return Step(gate, (), ())
        return self.begin(gate, checkpoint, options)

    def begin(self, gate: UnalignedGate, checkpoint: int, options: Options) -> Step[UnalignedGate]:
        """The checkpoint begins, and its first barrier decides whether the checkpoint aligns."""
        begun = super().begin(gate, checkpoint, options)
        if not gate.alternating:
            return begun
        decided = begun.state._replace(overtaking=self.overtakes(options))
        return Step(decided, begun.effects, (*begun.rules, *self.decides))

    def count(
        self, begun: Step[UnalignedGate], channel: int, options: Options, *, blocks: bool
    ) -> Step[UnalignedGate]:
        """The gate refuses a barrier that contradicts the first one."""
        if self.disagrees(begun.state, channel, options):
            return refuse(begun.state, begun.effects, (*begun.rules, "UNAL-21"), DISAGREES)
        return super().count(begun, channel, options, blocks=blocks)

    def disagrees(self, gate: UnalignedGate, channel: int, options: Options) -> bool:
        """Whether the barrier contradicts the first one of its checkpoint, or its channel is blocked."""
        if gate.blocked[channel]:
            return True
        return gate.alternating and gate.overtaking != self.overtakes(options)

    def is_convertible(self, options: Options) -> bool:
        """True: the first barrier has decided, and the gate refuses a barrier that contradicts it."""
        return True

    def is_timed_out(self, gate: UnalignedGate, options: Options) -> bool:
        """False: these generations have no time-outs."""
        return False

    def on_overtaking_barrier(
        self, gate: UnalignedGate, channel: int, options: Options, *, blocks: bool
    ) -> Step[UnalignedGate]:
        """A barrier that overtakes never blocks."""
        return super().on_overtaking_barrier(gate, channel, options, blocks=False)

    def start(self, gate: UnalignedGate, options: Options) -> Effects:
        """The effects that start an unaligned checkpoint. Only an unaligned barrier triggers as unaligned."""
        if options.alignment == UNALIGNED:
            return super().start(gate, options)
        return (StartPersisting(gate.current), Trigger(gate.current))

    def complete(self, gate: UnalignedGate, effects: Effects, rules: Rules) -> Step[UnalignedGate]:
        """Every channel is aligned: resume the channels, then trigger the snapshot (UNAL-11)."""
        effects = (*effects, *resume_all(gate), Trigger(gate.current))
        return Step(self.idle(gate), effects, (*rules, "UNAL-11"))

    def stop_and_resume(self, gate: UnalignedGate, checkpoint: int) -> Effects:
        """The effects that stop persisting and resume the blocked channels, without an abort.

        While barriers overtake, the gate emits the stop even if no checkpoint has begun.
        """
        stopped: Effects = (StopPersisting(checkpoint),) if gate.overtaking else ()
        return (*stopped, *resume_all(gate))

    def idle(self, gate: UnalignedGate) -> UnalignedGate:
        """No checkpoint is pending. The gate keeps the phase of its last checkpoint."""
        return super().idle(gate)._replace(overtaking=gate.overtaking)


class TypeDecides(FirstDecides):
    """1.11: a savepoint aligns, and the barriers of any other checkpoint overtake (UNAL-28).

    A checkpoint whose barriers have all overtaken stays pending (UNAL-29): an end, a cancellation or a
    savepoint still aborts it. Persisting ends without an effect.
    """

    decides = ("UNAL-28",)
    all_arrived = UnalignedSteps.all_arrived
    counted = UnalignedSteps.counted

    def overtakes(self, options: Options) -> bool:
        """Every barrier overtakes, except that of a savepoint."""
        return not options.savepoint

    def is_whole(self, gate: UnalignedGate) -> bool:
        """Whether all barriers of the pending checkpoint have overtaken (UNAL-29)."""
        return gate.pending and gate.overtaking and self.all_arrived(gate)

    def stop(self, gate: UnalignedGate, effects: Effects, rules: Rules) -> Step[UnalignedGate]:
        """The last barrier has arrived: the checkpoint stays pending."""
        return Step(gate, effects, (*rules, "UNAL-29"))

    def count(
        self, begun: Step[UnalignedGate], channel: int, options: Options, *, blocks: bool
    ) -> Step[UnalignedGate]:
        """The gate counts the barrier. If it has a single channel, an aligned barrier triggers at once."""
        gate = begun.state
        if len(gate.closed) > 1 or gate.overtaking or self.disagrees(gate, channel, options):
            return super().count(begun, channel, options, blocks=blocks)
        passed = (*begun.effects, Resume(channel), Trigger(gate.current))
        return Step(self.idle(gate), passed, (*begun.rules, "UNAL-11"))

    def subsumed(self, gate: UnalignedGate, options: Options) -> tuple[Effects, Rules]:
        """The effects and rules that end a pending checkpoint when a barrier with these options is newer.

        A checkpoint whose barriers have all overtaken ends without an effect (UNAL-29). If only one of the
        two checkpoints aligns, the channels resume before the abort.
        """
        changes = gate.alternating and gate.overtaking != self.overtakes(options)
        if self.is_whole(gate) and not changes:
            return (), ("UNAL-29",)
        if gate.pending and changes:
            return super().aborted(gate, SUBSUMED), ("UNAL-04",)
        return super().subsumed(gate, options)

    def aborted(self, gate: UnalignedGate, reason: str) -> Effects:
        """The effects that abort the pending checkpoint: first the abort, then the resumes of channels."""
        return (Abort(gate.current, reason), *self.stop_and_resume(gate, gate.current))

    def stop_and_resume(self, gate: UnalignedGate, checkpoint: int) -> Effects:
        """The resumes of the blocked channels. Persisting stops without an effect."""
        return resume_all(gate)
