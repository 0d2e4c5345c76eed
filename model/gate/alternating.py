"""A gate that aligns until it takes too long, and then lets barriers overtake. Rules UNAL-04 to UNAL-26.

Aligned, timed, forced-aligned and unaligned barriers may come mixed. A timed barrier is announced by its
channel while it still stands behind records. The checkpoint begins with the first barrier or announcement
of its id; a timer runs from the checkpoint's timestamp (in Flink 1.13 from that first word of it). As long
as nobody objects the gate aligns as in `model.gate.aligned`; when the time is over, or when an unaligned
barrier comes, the announced barriers are asked to overtake and the checkpoint goes on unaligned
(`model.gate.unaligned`). Blocked channels stay blocked until its end.

Time is a number in the state: it passes by `on_advance`, which alone lets a timer fire. That a barrier or
an end comes after the time-out and before the timer is therefore possible, as in a busy task.
"""

from model.events import INPUT_END_OF_STREAM, NONE, ON_CANCELLATION_BARRIER, Effects, Rules, Step
from model.gate.aligned import with_flag
from model.gate.events import Abort, Block, Resume, Trigger
from model.gate.unaligned import (
    DISAGREES,
    UnalignedGate,
    aborted,
    begin,
    counted,
    everyone_arrived,
    idle,
    is_convertible,
    is_spent,
    let_go,
    on_overtaking_barrier,
    overtakes,
    prioritise_all,
    refuse,
    resume_all,
    start,
    stop,
)
from model.gate.unaligned_events import TIMED, UNALIGNED, Options, Prioritise

# ---------------------------------------------------------------- what may happen


def on_barrier(
    gate: UnalignedGate, channel: int, checkpoint: int, alignment: int, savepoint: bool, timestamp: int
) -> Step[UnalignedGate]:
    """Barrier `checkpoint` is read on `channel`, which is open; the sender of an aligned one stops."""
    return read(gate, channel, checkpoint, Options(alignment, savepoint, timestamp), blocks=True)


def on_inject(
    gate: UnalignedGate, checkpoint: int, alignment: int, savepoint: bool, timestamp: int
) -> Step[UnalignedGate]:
    """The coordinator triggers the task: as if the barrier came on each open channel; no sender stops."""
    options = Options(alignment, savepoint, timestamp)
    effects: Effects = ()
    rules: Rules = ("UNAL-22",)
    for channel, closed in enumerate(gate.closed):
        if not closed and not gate.failed:
            gate, said, fired = read(gate, channel, checkpoint, options, blocks=False)
            effects = (*effects, *said)
            rules = (*rules, *fired)
    return Step(gate, effects, rules)


def on_announce(
    gate: UnalignedGate, channel: int, checkpoint: int, alignment: int, savepoint: bool, timestamp: int
) -> Step[UnalignedGate]:
    """Barrier `checkpoint` stands in `channel`: its checkpoint begins, but nothing counts yet (UNAL-13)."""
    if is_spent(gate, checkpoint) or gate.profile.first_decides:
        return Step(gate, (), ("UNAL-05",))
    gate, effects, rules = begin_if_newer(gate, checkpoint, Options(alignment, savepoint, timestamp))
    if gate.overtaking:
        return Step(gate, (*effects, Prioritise(channel)), (*rules, "UNAL-14"))
    announced = with_flag(gate.announced, channel, True)
    return Step(gate._replace(announced=announced), effects, (*rules, "UNAL-13"))


def on_cancel(gate: UnalignedGate, channel: int, checkpoint: int) -> Step[UnalignedGate]:
    """A cancellation marker of `checkpoint` is read on `channel`."""
    if checkpoint < gate.current or (checkpoint == gate.current and not any(gate.arrived)):
        return Step(gate, (), ("UNAL-07",))  # also of a pending one that was only announced
    effects = (*let_go(gate, checkpoint), Abort(checkpoint, ON_CANCELLATION_BARRIER))
    return Step(idle(gate)._replace(current=checkpoint), effects, ("UNAL-06",))


def on_end_of_partition(gate: UnalignedGate, channel: int) -> Step[UnalignedGate]:
    """`channel` ends: it is awaited no more."""
    gate = gate._replace(closed=with_flag(gate.closed, channel, True))
    if not gate.pending:
        return Step(gate, (), ("UNAL-09",))
    if not gate.counts_as_aligned:
        effects = aborted(gate, INPUT_END_OF_STREAM, releases_first=gate.profile.releases_first)
        return Step(idle(gate), effects, ("UNAL-08",))
    gate = gate._replace(
        arrived=with_flag(gate.arrived, channel, True),
        blocked=with_flag(gate.blocked, channel, False),
        announced=with_flag(gate.announced, channel, False),
    )
    if gate.begun and not gate.overtaking and gate.first.alignment == UNALIGNED:
        return refuse(gate, (), ("UNAL-09", "UNAL-21"))  # announced as unaligned, read as aligned
    if not everyone_arrived(gate):
        if gate.begun and not gate.overtaking and is_timed_out(gate, gate.first):
            return give_up_alignment(gate, gate.first, ("UNAL-09", "UNAL-19"))
        return Step(gate, (), ("UNAL-09",))
    if not gate.begun:
        return Step(idle(gate), (), ("UNAL-09",))  # announced, and never read: it ends without a word
    if gate.overtaking:
        return stop(gate, (), ("UNAL-09", "UNAL-03"))
    return complete(gate, (), ("UNAL-09",))


def on_advance(gate: UnalignedGate, ms: int) -> Step[UnalignedGate]:
    """Virtual time passes; a timer that is due fires."""
    gate = gate._replace(now=gate.now + ms)
    if gate.timer == NONE or gate.timer > gate.now:
        return Step(gate, (), ())
    gate = gate._replace(timer=NONE)
    if gate.overtaking:
        return Step(gate, (), ("UNAL-17",))  # barriers overtake already
    return give_up_alignment(gate, gate.first, ("UNAL-17",) if gate.begun else ("UNAL-16",))


# ---------------------------------------------------------------- the aligned phase


def read(
    gate: UnalignedGate, channel: int, checkpoint: int, options: Options, *, blocks: bool
) -> Step[UnalignedGate]:
    """A barrier is read, on a channel or in its stead."""
    if is_spent(gate, checkpoint):
        late: Effects = () if overtakes(gate, options) else (Resume(channel),)
        if gate.profile.first_decides and not gate.alternating:
            late = ()  # a gate that never blocks never resumes
        return Step(gate, late, ("UNAL-05",))
    gate, effects, rules = begin_if_newer(gate, checkpoint, options)
    if gate.profile.first_decides and disagrees(gate, channel, options):
        return refuse(gate, effects, (*rules, "UNAL-21"), DISAGREES)
    if gate.profile.passes_alone and len(gate.closed) == 1 and not gate.overtaking:
        passed: Effects = (Resume(channel), Trigger(checkpoint))  # a lone channel is never blocked
        return Step(idle(gate), (*effects, *passed), (*rules, "UNAL-11"))
    gate = counted(gate, channel)
    if gate.overtaking:
        step = on_overtaking_barrier(gate, channel, options, blocks=blocks)
    elif options.alignment == UNALIGNED:
        step = overtake(gate, channel, options, ("UNAL-12",))
    else:
        step = align(gate, channel, options, blocks=blocks)
    return Step(step.state, (*effects, *step.effects), (*step.rules, *rules))


def disagrees(gate: UnalignedGate, channel: int, options: Options) -> bool:
    """The barrier is of another kind than the first one, or its channel is blocked by an earlier one."""
    if gate.blocked[channel]:
        return True
    return gate.alternating and gate.overtaking != overtakes(gate, options)


def begin_if_newer(gate: UnalignedGate, checkpoint: int, options: Options) -> Step[UnalignedGate]:
    """The first that is heard of a checkpoint begins it, and sets the timer of a timed one (UNAL-15)."""
    if checkpoint == gate.current:
        return Step(gate, (), ())
    gate, effects, rules = begin(gate, checkpoint, options)
    timed = gate.timeout > 0 and options.alignment == TIMED
    if gate.alternating and timed and not gate.profile.first_decides:
        started = gate.since if gate.profile.times_from_first else options.timestamp
        due = started + gate.timeout
        gate = gate._replace(timer=due if due > gate.now else gate.now)
        rules = (*rules, "UNAL-15")
    return Step(gate, effects, rules)


def align(gate: UnalignedGate, channel: int, options: Options, *, blocks: bool) -> Step[UnalignedGate]:
    """An aligned, timed or forced-aligned barrier while the gate aligns."""
    gate = gate._replace(announced=with_flag(gate.announced, channel, False))
    effects: Effects = ()
    if blocks:
        gate = gate._replace(blocked=with_flag(gate.blocked, channel, True))
        effects = (Block(channel),)
    if everyone_arrived(gate):  # asked before the time: the last barrier is never too late
        return complete(gate, effects, ("UNAL-10",))
    if is_timed_out(gate, options):
        if not is_convertible(gate, options):
            return refuse(gate, (*effects, *prioritise_all(gate)), ("UNAL-18", "UNAL-21"))
        unaligned = options._replace(alignment=UNALIGNED)
        step = overtake(gate, channel, unaligned, ("UNAL-18",))
        return Step(step.state, (*effects, *step.effects), step.rules)
    return Step(gate._replace(begun=True), effects, ("UNAL-10",))


def overtake(gate: UnalignedGate, channel: int, options: Options, rules: Rules) -> Step[UnalignedGate]:
    """The alignment is given up because of a barrier, which is then the first or a further one."""
    gate, effects, fired = give_up_alignment(gate, options, rules)
    step = on_overtaking_barrier(gate, channel, options, blocks=False)
    return Step(step.state, (*effects, *step.effects), (*fired, *step.rules))


def give_up_alignment(gate: UnalignedGate, options: Options, rules: Rules) -> Step[UnalignedGate]:
    """Announced barriers are to overtake; if one was read before, the snapshot is triggered now."""
    effects = prioritise_all(gate)
    gate = gate._replace(announced=(False,) * len(gate.closed), overtaking=True)
    if not gate.begun:
        return Step(gate, effects, rules)
    if not is_convertible(gate, options):
        return refuse(gate, effects, (*rules, "UNAL-21"))
    return Step(gate, (*effects, *start(gate, options)), rules)


def complete(gate: UnalignedGate, effects: Effects, rules: Rules) -> Step[UnalignedGate]:
    """Every channel is aligned: snapshot first, then let go (UNAL-11)."""
    said: Effects = (Trigger(gate.current), *resume_all(gate))
    if not gate.profile.triggers_first:
        said = (*resume_all(gate), Trigger(gate.current))
    return Step(idle(gate), (*effects, *said), (*rules, "UNAL-11"))


def is_timed_out(gate: UnalignedGate, options: Options) -> bool:
    """The alignment of a timed barrier has lasted longer than it may."""
    if options.alignment != TIMED or gate.timeout <= 0 or gate.profile.first_decides:
        return False
    if gate.profile.times_from_first:
        return gate.timeout < gate.now - gate.since
    return gate.timeout < gate.now - options.timestamp


def describe(gate: UnalignedGate) -> str:
    """The gate in one line."""
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
