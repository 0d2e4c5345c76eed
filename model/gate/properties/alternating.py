"""UNAL-15 to UNAL-21 and UNAL-23 to UNAL-29: time, failures, records and invariants of unaligned gates."""

from model.events import NONE, Advance, Effects, Event, Fail, Step
from model.gate.alignment import ALIGNED, NO_OPTIONS, TIMED, UNALIGNED, Options
from model.gate.events import (
    Abort,
    Announce,
    Block,
    Cancel,
    EndOfPartition,
    Inject,
    OptionedBarrier,
    Persist,
    Process,
    Record,
    Resume,
    StartPersisting,
    Trigger,
    TriggerUnaligned,
)
from model.gate.polled_unaligned_gate import Item, Passage
from model.gate.properties.polled import read_in_order
from model.gate.properties.terms import (
    aborts,
    also,
    awaits,
    begins_overtaking,
    fits_unaligned,
    is_lone,
    is_spent,
    is_whole,
    lasts_too_long,
    overtakes,
    prioritises,
    triggers,
    view_of,
)
from model.gate.properties.unaligned import UNALIGNED_GATE
from model.gate.unaligned import UnalignedGate
from model.registry import Registry
from model.steps import step_of

__all__ = ["PASSAGE", "UNALIGNED_GATE"]

PASSAGE = Registry("passage")


@UNALIGNED_GATE.step("UNAL-15")
def unal_15(before: UnalignedGate, event: Event, effects: Effects, after: UnalignedGate) -> bool:
    """The event that begins a timed checkpoint sets the timer. No other event sets it."""
    if type(event) is Advance or type(event) is Inject or not after.pending or after.failed:
        return True
    if type(event) is not OptionedBarrier and type(event) is not Announce:
        return after.timer == before.timer
    if event.checkpoint <= before.current:
        return after.timer == before.timer
    timed = event.alignment == TIMED and before.timeout > 0 and before.alternating
    if not timed or before.profile.first_decides:
        return after.timer == NONE
    due = (before.now if before.profile.times_from_first else event.timestamp) + before.timeout
    return after.timer == (due if due >= before.now else before.now)


@UNALIGNED_GATE.step("UNAL-16")
def unal_16(before: UnalignedGate, event: Event, effects: Effects, after: UnalignedGate) -> bool:
    """A timer that fires before the gate has read a barrier only prioritises the announced barriers."""
    if not _fires(before, event) or before.begun or before.overtaking:
        return True
    quiet = not after.begun and not any(after.announced) and after.timer == NONE
    return effects == prioritises(before.announced) and after.overtaking and quiet


@UNALIGNED_GATE.step("UNAL-17")
def unal_17(before: UnalignedGate, event: Event, effects: Effects, after: UnalignedGate) -> bool:
    """A timer that fires during an alignment triggers an unaligned snapshot. Earlier it has no effect."""
    if type(event) is not Advance or after.failed:
        return True
    if after.now != before.now + event.ms:
        return False
    if not _fires(before, event):
        return not effects and after == before._replace(now=after.now)
    if before.overtaking:
        return not effects and after == before._replace(now=after.now, timer=NONE)
    if not before.begun:
        return True
    started = (StartPersisting(before.current), TriggerUnaligned(before.current))
    held = (after.arrived, after.blocked) == (before.arrived, before.blocked)
    return effects == (*prioritises(before.announced), *started) and after.overtaking and held


@UNALIGNED_GATE.step("UNAL-18")
def unal_18(before: UnalignedGate, event: Event, effects: Effects, after: UnalignedGate) -> bool:
    """A timed barrier ends the aligned phase if and only if it is not the last, and the time-out is over."""
    if type(event) is not OptionedBarrier or is_spent(before, event.checkpoint) or after.failed:
        return True
    view = view_of(before, event, effects)
    if view.overtaking or not view.stops or view.last:
        return True
    expected: Effects = (Block(event.channel),)
    options = Options(event.alignment, event.savepoint, event.timestamp)
    late = lasts_too_long(before, options, view.since) and not before.profile.first_decides
    if late:
        started = (StartPersisting(event.checkpoint), TriggerUnaligned(event.checkpoint))
        expected = (*expected, *prioritises(view.announced), *started)
    return view.tail == expected and after.overtaking == late and after.begun


@UNALIGNED_GATE.step("UNAL-19")
def unal_19(before: UnalignedGate, event: Event, effects: Effects, after: UnalignedGate) -> bool:
    """An end ends the aligned phase if and only if a channel is still awaited, and the time-out is over."""
    if type(event) is not EndOfPartition or not before.pending or not before.counts_as_aligned:
        return True
    if after.failed or before.overtaking or not awaits(also(before.arrived, event.channel), after.closed):
        return True
    late = before.begun and lasts_too_long(before, before.first, before.since)
    if not late:
        return not effects and not after.overtaking
    announced = tuple(has and place != event.channel for place, has in enumerate(before.announced))
    started = (StartPersisting(before.current), TriggerUnaligned(before.current))
    return effects == (*prioritises(announced), *started) and after.overtaking


@UNALIGNED_GATE.state("UNAL-20")
def unal_20(gate: UnalignedGate) -> bool:
    """A timer runs only for a pending timed checkpoint of a gate in mode alternating."""
    if gate.timer == NONE or gate.failed:
        return True
    if gate.profile.first_decides:
        return False
    return gate.pending and gate.alternating and gate.timeout > 0 and gate.first.alignment == TIMED


@UNALIGNED_GATE.step("UNAL-21")
def unal_21(before: UnalignedGate, event: Event, effects: Effects, after: UnalignedGate) -> bool:
    """The gate fails at an event if and only if the checkpoint has to continue unaligned, but may not.

    In generations in which the first barrier decides, it also fails at a barrier that contradicts the first.
    """
    fails = any(type(effect) is Fail for effect in effects)
    if fails != after.failed or (fails and type(effects[-1]) is not Fail):
        return False
    return type(event) is Inject or fails == _must_be_refused(before, event, effects, after)


def _must_be_refused(before: UnalignedGate, event: Event, effects: Effects, after: UnalignedGate) -> bool:
    aligning = before.begun and not before.overtaking
    if type(event) is OptionedBarrier and not is_spent(before, event.checkpoint):
        view = view_of(before, event, effects)
        if before.profile.first_decides:
            return _is_of_another_kind(before, event)
        options = Options(event.alignment, event.savepoint, event.timestamp)
        if fits_unaligned(before, options):
            return False
        if view.overtaking:
            return not view.begun
        return not view.last and lasts_too_long(before, options, view.since)
    if type(event) is EndOfPartition and aligning and before.counts_as_aligned:
        if before.first.alignment == UNALIGNED:
            return True
        last = not awaits(also(before.arrived, event.channel), after.closed)
        return (
            not last
            and lasts_too_long(before, before.first, before.since)
            and not fits_unaligned(before, before.first)
        )
    return _fires(before, event) and aligning and not fits_unaligned(before, before.first)


def _is_of_another_kind(before: UnalignedGate, event: OptionedBarrier) -> bool:
    """The barrier contradicts the first one of its checkpoint, or its channel is blocked (UNAL-27)."""
    if event.checkpoint != before.current:
        return False
    differs = before.alternating and overtakes(before, event) != before.overtaking
    return differs or before.blocked[event.channel]


@UNALIGNED_GATE.step("UNAL-25")
def unal_25(before: UnalignedGate, event: Event, effects: Effects, after: UnalignedGate) -> bool:
    """The current id never falls. A step triggers at most the current id. An aborted id is then spent."""
    if after.current < before.current:
        return False
    if after.current == before.current and after.pending and not before.pending:
        return False
    highest = before.current - 1 if before.pending else before.current
    ends = tuple(one for one in effects if isinstance(one, Abort | Trigger | TriggerUnaligned))
    for end in ends:
        if type(end) is Abort:
            if end.checkpoint <= highest or not is_spent(after, end.checkpoint):
                return False
            highest = end.checkpoint
        elif end.checkpoint != after.current or end.checkpoint <= highest:
            return False
    return triggers(effects) <= 1


@UNALIGNED_GATE.step("UNAL-25")
def kept_while_pending(before: UnalignedGate, event: Event, effects: Effects, after: UnalignedGate) -> bool:
    """A pending checkpoint keeps its options and its beginning. An event counts only for its own channel."""
    if not after.pending or after.failed:
        return True
    if type(event) is Announce and before.profile.first_decides:
        return True  # UNAL-04
    due, arrived, announced = before, before.arrived, before.announced
    if isinstance(event, OptionedBarrier | Announce) and not is_spent(before, event.checkpoint):
        view = view_of(before, event, effects)
        arrives = type(event) is OptionedBarrier
        arrived, announced = view.arrived, view.announced
        due = due._replace(begun=view.begun or arrives)
        if event.checkpoint > before.current:
            since = before.now if before.profile.times_from_first else 0
            options = Options(event.alignment, event.savepoint, event.timestamp)
            due = due._replace(first=options, since=since, repeats=0)
        elif arrives and before.profile.overtaking_counts_repeats and before.arrived[event.channel]:
            due = due._replace(repeats=before.repeats + 1)
        if not arrives:
            announced = also(announced, event.channel)
        if view.overtaking and not after.overtaking:
            return False
    elif type(event) is EndOfPartition:
        arrived = also(arrived, event.channel)
        announced = tuple(has and place != event.channel for place, has in enumerate(announced))
        blocked = tuple(has and place != event.channel for place, has in enumerate(before.blocked))
        if after.blocked != blocked or (before.overtaking and not after.overtaking):
            return False
    elif type(event) is Advance and _fires(before, event) and after.timer != NONE:
        return False
    now = (after.first, after.since, after.repeats, after.begun, after.arrived)
    same = now == (due.first, due.since, due.repeats, due.begun, arrived)
    return same and (after.overtaking or after.announced == announced)


@UNALIGNED_GATE.state("UNAL-26")
def unal_26_options(gate: UnalignedGate) -> bool:
    """The options of the first barrier are valid: a known alignment, and no unaligned savepoint."""
    return _are_known(gate.first)


def _are_known(options: Options | OptionedBarrier | Announce) -> bool:
    if options.timestamp < 0 or (options.savepoint and options.alignment == UNALIGNED):
        return False
    return ALIGNED <= options.alignment <= TIMED


@UNALIGNED_GATE.state("UNAL-26")
def unal_26(gate: UnalignedGate) -> bool:
    """A channel is blocked or announced only for a pending checkpoint, which awaits an open channel."""
    if gate.failed:
        return True
    if gate.now < 0 or gate.timeout < 0 or (not gate.alternating and not gate.overtaking):
        return False
    if not gate.pending:
        rests = gate.overtaking != gate.alternating or gate.profile.first_decides
        rests = rests and gate.first == NO_OPTIONS
        flags = any(gate.arrived) or any(gate.blocked) or any(gate.announced)
        rests = rests and gate.since == 0 and gate.repeats == 0
        return gate.current >= -1 and rests and not gate.begun and not flags
    if gate.begun and not any(gate.arrived):
        return False
    if gate.profile.first_decides and not _is_decided(gate):
        return False
    channels = zip(gate.arrived, gate.blocked, gate.announced, gate.closed, strict=True)
    if not all(_fits_its_channel(gate, *flags) for flags in channels):
        return False
    if gate.since < 0 or gate.since > gate.now or gate.repeats < 0:
        return False
    return gate.current >= 0 and (is_whole(gate) or awaits(gate.arrived, gate.closed, gate.repeats))


def _fits_its_channel(
    gate: UnalignedGate, arrived: bool, blocked: bool, announced: bool, closed: bool
) -> bool:
    """The flags of one channel are consistent with each other and with the phase of the gate."""
    if (blocked and not arrived) or (closed and (blocked or announced)) or (announced and gate.overtaking):
        return False
    return not arrived or (gate.counts_as_aligned if closed else gate.begun)


def _is_decided(gate: UnalignedGate) -> bool:
    """A barrier has begun the pending checkpoint. The checkpoint aligns, or it blocks no channel."""
    if not gate.begun or any(gate.announced) or (not gate.overtaking and is_lone(gate)):
        return False
    if gate.overtaking:
        return not any(gate.blocked)
    return gate.blocked == gate.arrived and gate.repeats == 0


@UNALIGNED_GATE.step("UNAL-27")
def unal_27(before: UnalignedGate, event: Event, effects: Effects, after: UnalignedGate) -> bool:
    """If the first barrier decides (1.11, 1.12), the phase does not change until the checkpoint ends."""
    if not before.profile.first_decides or type(event) is not OptionedBarrier:
        return True
    if is_spent(before, event.checkpoint):
        return True
    if event.checkpoint == before.current:
        refused = _is_of_another_kind(before, event)
        return after.failed == refused and (after.overtaking == before.overtaking)
    decided = before.profile.type_decides or after.overtaking == begins_overtaking(before, event)
    return not after.failed and decided


@UNALIGNED_GATE.step("UNAL-28")
def unal_28(before: UnalignedGate, event: Event, effects: Effects, after: UnalignedGate) -> bool:
    """In 1.11 a savepoint aligns and any other checkpoint overtakes, whatever the options of its barriers."""
    if not before.profile.type_decides or type(event) is not OptionedBarrier:
        return True
    if event.checkpoint <= before.current or not before.alternating:
        return True
    persists = any(type(effect) is StartPersisting for effect in effects)
    return persists != event.savepoint and after.overtaking == persists


@UNALIGNED_GATE.step("UNAL-29")
def unal_29(before: UnalignedGate, event: Event, effects: Effects, after: UnalignedGate) -> bool:
    """In 1.11 a checkpoint whose last barrier has overtaken stays pending, without a further effect."""
    if not before.profile.whole_stays_pending or after.failed:
        return True
    if type(event) is OptionedBarrier and not is_spent(before, event.checkpoint):
        is_newer = event.checkpoint > before.current
        overtaking = begins_overtaking(before, event) if is_newer else before.overtaking
        if overtaking and not (after.pending and after.current == event.checkpoint):
            return False
    if not is_whole(before):
        return True
    if type(event) is Advance or type(event) is Announce:
        return not effects and is_whole(after)
    if type(event) is OptionedBarrier:
        if event.checkpoint <= before.current:
            return is_whole(after) and triggers(effects) == 0
        changes = begins_overtaking(before, event) != before.overtaking
        return aborts(effects) == (1 if changes else 0)
    if type(event) is Cancel and event.checkpoint < before.current:
        return not effects and after == before
    return aborts(effects) == 1 and not after.pending  # an end, or a cancellation of this id or a newer one


def _fires(before: UnalignedGate, event: Event) -> bool:
    return type(event) is Advance and before.timer != NONE and before.timer <= before.now + event.ms


@PASSAGE.initial("UNAL-24")
def unal_24_at_first(passage: Passage) -> bool:
    """In a new gate no item waits, and the network holds no channel."""
    return passage.waiting == () and not any(passage.held)


@PASSAGE.step("UNAL-23")
def unal_23(before: Passage, event: Item, effects: Effects, after: Passage) -> bool:
    """The gate persists a record if and only if a running snapshot awaits the barrier of its channel."""
    if type(event) is not Record or before.held[event.channel]:
        return True
    gate = before.gate
    running = gate.begun and gate.overtaking
    if running and not gate.arrived[event.channel]:
        return effects == (Persist(event.channel, event.value),)
    return effects == (Process(event.channel, event.value),)


@PASSAGE.step("UNAL-24")
def unal_24(before: Passage, event: Item | Inject | Advance, effects: Effects, after: Passage) -> bool:
    """The items of a held channel wait. After a resume the gate reads them in order of arrival."""
    if not isinstance(event, Inject | Advance) and before.held[event.channel]:
        return not effects and after == before._replace(waiting=(*before.waiting, event))

    def held(gate: UnalignedGate, effects: Effects) -> tuple[bool, ...]:
        flags = dict(enumerate(before.held))
        flags.update({one.channel: type(one) is Block for one in effects if isinstance(one, Block | Resume)})
        return tuple(flags.values())

    gate, expected, waiting = read_in_order(before.gate, event, before.waiting, _read_alone, held)
    return effects == expected and after == Passage(gate, waiting, held(gate, effects))


def _read_alone(gate: UnalignedGate, item: Item | Inject | Advance) -> Step[UnalignedGate]:
    """The step of the gate without waiting items. The gate persists a record if UNAL-23 requires it."""
    if type(item) is not Record:
        return step_of("unaligned")(gate, item)
    kind = Persist if gate.begun and gate.overtaking and not gate.arrived[item.channel] else Process
    return Step(gate, (kind(item.channel, item.value),), ())


@PASSAGE.state("UNAL-24")
@PASSAGE.state("UNAL-26")
def waiting_options_are_known(passage: Passage) -> bool:
    """The options of waiting barriers and announcements are valid."""
    return all(_are_known(item) for item in passage.waiting if isinstance(item, OptionedBarrier | Announce))


@PASSAGE.state("UNAL-24")
def unal_24_waiting(passage: Passage) -> bool:
    """Only items of held channels wait, and only blocked channels are held."""
    if passage.gate.failed:
        return True
    if any(held and not blocked for held, blocked in zip(passage.held, passage.gate.blocked, strict=True)):
        return False
    return all(passage.held[item.channel] for item in passage.waiting)


PASSAGE.part(UNALIGNED_GATE, lambda passage: passage.gate)
