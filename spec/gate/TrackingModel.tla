---------------------------- MODULE TrackingModel ----------------------------
(***************************************************************************)
(* One tracker in its environment: channels that deliver barriers and      *)
(* cancellations with ids that never fall, and that end. The Python        *)
(* reference model describes the same closed model. The triangle compares  *)
(* both graphs state for state and edge for edge.                          *)
(*                                                                         *)
(* This module states rules TRACK-01 to TRACK-18 over one step: `tracker`  *)
(* before and after, the event and the effects in out'. It also states     *)
(* TRACK-12 and TRACK-15 over states.                                      *)
(***************************************************************************)
EXTENDS Tracking, GateGenerations

CONSTANT M          \* checkpoint ids are 1 .. M

VARIABLES
    tracker,        \* see TrackerType
    last,           \* by channel: the highest id it delivered, 0 at first
    out             \* the last event, then its effects

vars == <<tracker, last, out>>
Ids == 1 .. M

TypeOK ==
    /\ tracker \in TrackerType
    /\ last \in [0 .. N - 1 -> 0 .. M]

Init ==
    /\ tracker = NewTracker(Channels)
    /\ last = [c \in Channels |-> 0]
    /\ out = <<>>

------------------------------------------------------------------------------
(* System: the tracker takes the event. *)

Take(event, step) == tracker' = step.tracker /\ out' = <<event>> \o step.out

(* Environment: what a channel can deliver. *)

Barrier(c, n) ==
    /\ c \notin tracker.closed /\ n >= last[c]
    /\ last' = [last EXCEPT ![c] = n]
    /\ Take(<<"barrier", c, n>>, TrackBarrier(tracker, c, n))

Cancel(c, n) ==
    /\ c \notin tracker.closed /\ n >= last[c]
    /\ last' = [last EXCEPT ![c] = n]
    /\ Take(<<"cancel", c, n>>, TrackCancel(tracker, c, n))

EndOfPartition(c) ==
    /\ c \notin tracker.closed
    /\ last' = last
    /\ Take(<<"end_of_partition", c>>, TrackEndOfPartition(tracker, c))

Next ==
    \E c \in Channels :
        \/ \E n \in Ids : Barrier(c, n) \/ Cancel(c, n)
        \/ EndOfPartition(c)

Spec == Init /\ [][Next]_vars

(* Nothing stays blocked: without a next step, all input has been read. *)
StuckOnlyAtTheEnd == tracker.closed = Channels \/ ENABLED Next

------------------------------------------------------------------------------
(* Terms of the rules. The event is on EventChannel with EventId; Effects    *)
(* are its effects.                                                          *)

EventIs(kind) == out'[1][1] = kind
EventChannel == out'[1][2]
EventId == out'[1][3]
Effects == Tail(out')
EffectsOf(kind) == SelectSeq(Effects, LAMBDA e : e[1] = kind)
Silent == Effects = <<>> /\ tracker' = tracker

OpenNow == Channels \ tracker.closed
CountsOf(entry) == LET total[S \in SUBSET Channels] ==
                          IF S = {} THEN 0 ELSE entry.counted[Least(S)] + total[S \ {Least(S)}]
                   IN  total[Channels]
TrackedIds(t) == {t.tracked[i].id : i \in DOMAIN t.tracked}
Entry(t, n) == t.tracked[CHOOSE i \in DOMAIN t.tracked : t.tracked[i].id = n]
Above(t, n) == SelectSeq(t.tracked, LAMBDA entry : entry.id > n)
Below(t, n) == SelectSeq(t.tracked, LAMBDA entry : entry.id < n)

(* The switches of the generation. *)
CountsEnds == Has("tracker_counts_ends")
AwaitsEnded == Has("tracker_awaits_ended")
CountsRepeats == Has("tracker_counts_repeats")

(* The channel of this event is the last one that checkpoint n awaits. *)
IsLast(n) ==
    LET entry == Entry(tracker, n)
        already == entry.counted[EventChannel] > 0 /\ ~CountsRepeats
    IN  CountsOf(entry) + (IF already THEN 0 ELSE 1) = entry.needed

Alone == IF AwaitsEnded THEN N = 1 ELSE OpenNow = {EventChannel}
IsFirst == EventId > tracker.latest /\ ~Alone
IsFurther == EventId <= tracker.latest /\ EventId \in TrackedIds(tracker)

TRACK_01 == [][\A i \in DOMAIN Effects : Effects[i][1] \in {"trigger", "abort"}]_vars

TRACK_02 == [][(EventIs("barrier") /\ IsFirst) =>
    /\ Effects = <<>>
    /\ tracker'.latest = EventId
    /\ LET entry == tracker'.tracked[Len(tracker'.tracked)]
       IN  /\ entry.id = EventId /\ ~entry.aborted
           /\ \A c \in Channels : entry.counted[c] = IF c = EventChannel THEN 1 ELSE 0]_vars

TRACK_03 == [][(EventIs("barrier") /\ IsFurther /\ ~IsLast(EventId)) =>
    /\ Effects = <<>>
    /\ tracker'.latest = tracker.latest
    /\ TrackedIds(tracker') = TrackedIds(tracker)
    /\ Entry(tracker', EventId).counted[EventChannel] > 0
    /\ \A n \in TrackedIds(tracker) \ {EventId} : Entry(tracker', n) = Entry(tracker, n)]_vars

TRACK_04 == [][(EventIs("barrier") /\ IsFurther /\ IsLast(EventId)) =>
    /\ Effects = IF Entry(tracker, EventId).aborted THEN <<>> ELSE <<<<"trigger", EventId>>>>
    /\ tracker' = [tracker EXCEPT !.tracked = Above(tracker, EventId)]]_vars

TRACK_05 == [][(EventIs("barrier") /\ EventId <= tracker.latest /\ EventId \notin TrackedIds(tracker)) => Silent]_vars

(* A barrier or cancellation does not change newer checkpoints. *)
TRACK_06 == [][(EventIs("barrier") \/ EventIs("cancel")) => Above(tracker', EventId) = Above(tracker, EventId)]_vars

TRACK_07 == [][
    /\ Len(tracker'.tracked) <= Bound
    /\ (EventIs("barrier") /\ IsFirst) =>
        SubSeq(tracker'.tracked, 1, Len(tracker'.tracked) - 1) =
            IF Len(tracker.tracked) = Bound THEN Tail(tracker.tracked) ELSE tracker.tracked]_vars

AbortEach(entries, reason) ==
    LET alive == SelectSeq(entries, LAMBDA entry : ~entry.aborted)
    IN  [i \in DOMAIN alive |-> <<"abort", alive[i].id, reason>>]
Cancellation(n) == <<<<"abort", n, "ON_CANCELLATION_BARRIER">>>>
OlderAborts(n) == AbortEach(Below(tracker, n), "ON_CANCELLATION_BARRIER")

TRACK_08 == [][(EventIs("cancel") /\ ~(Alone /\ EventId > tracker.latest)) =>
    /\ IsPrefixOf(OlderAborts(EventId), Effects)
    /\ \A i \in DOMAIN Effects : i > Len(OlderAborts(EventId)) => Effects[i][2] = EventId
    /\ Below(tracker', EventId) = <<>>]_vars

Own == SelectSeq(Effects, LAMBDA e : e[2] = EventId)

TRACK_09 == [][(EventIs("cancel") /\ IsFurther) =>
    /\ Own = IF Entry(tracker, EventId).aborted THEN <<>> ELSE Cancellation(EventId)
    /\ (EventId \notin TrackedIds(tracker')) = IsLast(EventId)
    /\ EventId \in TrackedIds(tracker') =>
        Entry(tracker', EventId).aborted /\ Entry(tracker', EventId).counted[EventChannel] > 0]_vars

TRACK_10 == [][(EventIs("cancel") /\ IsFirst) =>
    /\ Own = Cancellation(EventId)
    /\ tracker'.latest = EventId
    /\ TrackedIds(tracker') = {EventId}
    /\ Entry(tracker', EventId).aborted /\ CountsOf(Entry(tracker', EventId)) = 1]_vars

TRACK_11 == [][(EventIs("cancel") /\ EventId <= tracker.latest /\ EventId \notin TrackedIds(tracker)) =>
    Own = <<>> /\ tracker' = [tracker EXCEPT !.tracked = Above(tracker, EventId)]]_vars

(* An aborted checkpoint is never triggered nor aborted again while it is    *)
(* tracked.                                                                  *)
TRACK_12 == [][\A n \in TrackedIds(tracker) : Entry(tracker, n).aborted =>
    /\ \A i \in DOMAIN Effects : Effects[i][2] # n
    /\ n \in TrackedIds(tracker') => Entry(tracker', n).aborted]_vars

TRACK_13 == [][(EventIs("end_of_partition") /\ CountsEnds /\ ~AfterFinish) =>
    /\ Effects = AbortEach(tracker.tracked, "INPUT_END_OF_STREAM")
    /\ tracker' = [tracker EXCEPT !.closed = @ \cup {EventChannel}, !.tracked = <<>>]]_vars

(* The newest checkpoint that awaited only the ended channel. *)
Finished == {n \in TrackedIds(tracker) : IsLast(n)}

TRACK_14 == [][(EventIs("end_of_partition") /\ CountsEnds /\ AfterFinish) =>
    /\ tracker'.latest = tracker.latest /\ tracker'.closed = tracker.closed \cup {EventChannel}
    /\ IF Finished = {}
       THEN Effects = <<>> /\ TrackedIds(tracker') = TrackedIds(tracker)
       ELSE LET n == Greatest(Finished)
            IN  /\ Effects = IF Entry(tracker, n).aborted THEN <<>> ELSE <<<<"trigger", n>>>>
                /\ TrackedIds(tracker') = {m \in TrackedIds(tracker) : m > n}
    /\ \A n \in TrackedIds(tracker') : Entry(tracker', n).counted[EventChannel] > 0]_vars

(* A checkpoint awaits exactly the open channels that have not counted, so   *)
(* each awaited barrier can still arrive.                                    *)
TRACK_15 == \A i \in DOMAIN tracker.tracked :
    LET entry == tracker.tracked[i]
    IN  IF AwaitsEnded THEN entry.needed = N
        ELSE entry.needed - CountsOf(entry) = Cardinality({c \in OpenNow : entry.counted[c] = 0})

TRACK_16 == [][(EventIs("barrier") /\ IsFurther /\ Entry(tracker, EventId).counted[EventChannel] > 0) =>
    IF CountsRepeats
    THEN EventId \in TrackedIds(tracker') =>
        Entry(tracker', EventId).counted[EventChannel] = Entry(tracker, EventId).counted[EventChannel] + 1
    ELSE Silent]_vars

TRACK_17 == [][((EventIs("barrier") \/ EventIs("cancel")) /\ Alone /\ EventId > tracker.latest) =>
    /\ tracker' = tracker
    /\ EventIs("barrier") => Effects = <<<<"trigger", EventId>>>>
    /\ EventIs("cancel") => Effects = Cancellation(EventId)]_vars

TRACK_18 == [][(EventIs("end_of_partition") /\ ~CountsEnds) =>
    Effects = <<>> /\ tracker' = [tracker EXCEPT !.closed = @ \cup {EventChannel}]]_vars

(* Ids ascend, none is above the latest, and each checkpoint still awaits a  *)
(* channel.                                                                  *)
InOrderOfIds ==
    \A i \in DOMAIN tracker.tracked :
        /\ tracker.tracked[i].id <= tracker.latest
        /\ CountsOf(tracker.tracked[i]) \in 1 .. tracker.tracked[i].needed - 1
        /\ \A j \in DOMAIN tracker.tracked : i < j => tracker.tracked[i].id < tracker.tracked[j].id

------------------------------------------------------------------------------
(* All effects in order, and all changes of the state.                       *)

HasNewerId == EventId > tracker.latest
Counting1(entry) ==
    [entry EXCEPT !.counted[EventChannel] = IF CountsRepeats THEN @ + 1 ELSE 1]
Aborting(entry) == [entry EXCEPT !.aborted = EventIs("cancel") \/ @]
OwnEntry ==
    [id |-> EventId, counted |-> [c \in Channels |-> IF c = EventChannel THEN 1 ELSE 0],
     needed |-> IF AwaitsEnded THEN N ELSE Cardinality(OpenNow), aborted |-> EventIs("cancel")]
TriggerOf(n) == IF Entry(tracker, n).aborted THEN <<>> ELSE <<<<"trigger", n>>>>

AllEffects == [][Effects =
    CASE EventIs("barrier") /\ HasNewerId -> IF Alone THEN <<<<"trigger", EventId>>>> ELSE <<>>
      [] EventIs("barrier") /\ IsFurther -> IF IsLast(EventId) THEN TriggerOf(EventId) ELSE <<>>
      [] EventIs("cancel") /\ HasNewerId -> (IF Alone THEN <<>> ELSE OlderAborts(EventId)) \o Cancellation(EventId)
      [] EventIs("cancel") /\ IsFurther ->
            OlderAborts(EventId) \o IF Entry(tracker, EventId).aborted THEN <<>> ELSE Cancellation(EventId)
      [] EventIs("cancel") /\ ~HasNewerId /\ ~IsFurther -> OlderAborts(EventId)
      [] EventIs("end_of_partition") /\ CountsEnds ->
            IF ~AfterFinish THEN AbortEach(tracker.tracked, "INPUT_END_OF_STREAM")
            ELSE IF Finished = {} THEN <<>> ELSE TriggerOf(Greatest(Finished))
      [] OTHER -> <<>>]_vars

(* The tracked checkpoints after a barrier or a cancellation.                *)
OlderKept == IF EventIs("cancel") THEN <<>> ELSE Below(tracker, EventId)
AfterItem ==
    IF HasNewerId
    THEN IF Alone THEN tracker
         ELSE LET grown == Append(OlderKept, OwnEntry)
              IN  [tracker EXCEPT !.latest = EventId,
                                  !.tracked = IF Len(grown) > Bound THEN Tail(grown) ELSE grown]
    ELSE [tracker EXCEPT !.tracked =
            IF ~IsFurther THEN IF EventIs("cancel") THEN Above(tracker, EventId) ELSE @
            ELSE IF IsLast(EventId) THEN Above(tracker, EventId)
            ELSE OlderKept \o <<Aborting(Counting1(Entry(tracker, EventId)))>> \o Above(tracker, EventId)]

(* The ended channel counts for all checkpoints that stay tracked.           *)
AfterEnd ==
    LET stay == IF ~CountsEnds THEN tracker.tracked
                ELSE IF ~AfterFinish THEN <<>>
                ELSE LET left == IF Finished = {} THEN tracker.tracked ELSE Above(tracker, Greatest(Finished))
                     IN  [i \in DOMAIN left |-> Counting1(left[i])]
    IN  [tracker EXCEPT !.closed = @ \cup {EventChannel}, !.tracked = stay]

Frame == [][
    /\ out = <<>> => tracker = [latest |-> -1, tracked |-> <<>>, closed |-> {}]
    /\ tracker' = IF EventIs("end_of_partition") THEN AfterEnd ELSE AfterItem]_vars

------------------------------------------------------------------------------
(* Older generations: each definition replaces the operator in its comment   *)
(* (spec/manifests/gate_generations.toml). Up to 1.13 the tracker counts     *)
(* barriers and needs a barrier of each channel, also of an ended one        *)
(* (TRACK-15). A repeated barrier counts again (TRACK-16). Up to 1.8 it does *)
(* not learn that a channel ended (TRACK-18).                                *)

AllAreNeeded(t) == N                                            \* Needed
CountsTwice(entry, c) == [entry EXCEPT !.counted[c] = @ + 1]    \* Counting
IgnoresEnds(t, c) == TrackerStep([t EXCEPT !.closed = @ \cup {c}], <<>>)     \* TrackEndOfPartition

------------------------------------------------------------------------------
(* Replacements: each takes the place of the operator in its comment.        *)

NeverBounded(entries) == entries                                \* Bounded
NeverAlone(t) == FALSE                                          \* IsAlone
NewerOrEqual(t, n) == n >= t.latest                             \* IsNewer
OneIsEnough(entry) == TRUE                                      \* IsComplete
OlderStay(entries, i) == SubSeq(entries, 1, i - 1) \o SubSeq(entries, i + 1, Len(entries))   \* After
AllGo(entries, i) == <<>>                                       \* After
TriggersAborted(entry) == <<<<"trigger", entry.id>>>>           \* Completion
NothingIsOlder(t, n) == {}                                      \* Older
AnyUntracked(t, n) == Position(t, n) = {}                       \* IsNewer
EndsNothing(t, c, i) == TrackerStep(t, <<>>)                    \* CountsEnd
Blocks(t, effects) == [tracker |-> t, out |-> <<<<"block", 0>>>> \o effects]     \* TrackerStep
==============================================================================
