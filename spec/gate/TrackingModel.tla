---------------------------- MODULE TrackingModel ----------------------------
(***************************************************************************)
(* One tracker in its environment: channels that deliver barriers and      *)
(* cancellations with ids that never fall, and that end. The Python        *)
(* reference model describes the same closed model; both graphs are        *)
(* compared state for state and edge for edge.                             *)
(*                                                                         *)
(* Rules TRACK-01 to TRACK-18 are stated here over one step: `tracker`     *)
(* before and after, the event and the effects in out'. TRACK-15 and       *)
(* TRACK-12 are stated over states too.                                    *)
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
    /\ last \in [Channels -> 0 .. M]

Init ==
    /\ tracker = NewTracker(Channels)
    /\ last = [c \in Channels |-> 0]
    /\ out = <<>>

------------------------------------------------------------------------------
(* System: the tracker takes the event. *)

Take(event, step) == tracker' = step.tracker /\ out' = <<event>> \o step.out

(* Environment: what a channel may deliver. *)

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

------------------------------------------------------------------------------
(* Terms of the rules. The event is on channel Where with id Which; Effects  *)
(* are its effects.                                                          *)

Comes(kind) == out'[1][1] = kind
Where == out'[1][2]
Which == out'[1][3]
Effects == Tail(out')
EffectsOf(kind) == SelectSeq(Effects, LAMBDA e : e[1] = kind)
Silent == Effects = <<>> /\ tracker' = tracker

TrackedIds(t) == {t.tracked[i].id : i \in DOMAIN t.tracked}
Entry(t, n) == t.tracked[CHOOSE i \in DOMAIN t.tracked : t.tracked[i].id = n]
Above(t, n) == SelectSeq(t.tracked, LAMBDA entry : entry.id > n)
Below(t, n) == SelectSeq(t.tracked, LAMBDA entry : entry.id < n)

(* The switches of the generation. *)
HearsEnds == Has("tracker_hears_ends")
AwaitsEnded == Has("tracker_awaits_ended")
CountsRepeats == Has("tracker_counts_repeats")

(* The channel of this event is the last one that checkpoint n awaits. *)
IsLast(n) ==
    LET entry == Entry(tracker, n)
        already == entry.counted[Where] > 0 /\ ~CountsRepeats
    IN  Total(entry) + (IF already THEN 0 ELSE 1) = entry.needed

Alone == IF AwaitsEnded THEN N = 1 ELSE OpenChannels(tracker) = {Where}
IsFirst == Which > tracker.latest /\ ~Alone
IsFurther == Which <= tracker.latest /\ Which \in TrackedIds(tracker)

TRACK_01 == [][\A i \in DOMAIN Effects : Effects[i][1] \in {"trigger", "abort"}]_vars

TRACK_02 == [][(Comes("barrier") /\ IsFirst) =>
    /\ Effects = <<>>
    /\ tracker'.latest = Which
    /\ LET entry == tracker'.tracked[Len(tracker'.tracked)]
       IN  /\ entry.id = Which /\ ~entry.aborted
           /\ \A c \in Channels : entry.counted[c] = IF c = Where THEN 1 ELSE 0]_vars

TRACK_03 == [][(Comes("barrier") /\ IsFurther /\ ~IsLast(Which)) =>
    /\ Effects = <<>>
    /\ tracker'.latest = tracker.latest
    /\ TrackedIds(tracker') = TrackedIds(tracker)
    /\ Entry(tracker', Which).counted[Where] > 0
    /\ \A n \in TrackedIds(tracker) \ {Which} : Entry(tracker', n) = Entry(tracker, n)]_vars

TRACK_04 == [][(Comes("barrier") /\ IsFurther /\ IsLast(Which)) =>
    /\ Effects = IF Entry(tracker, Which).aborted THEN <<>> ELSE <<<<"trigger", Which>>>>
    /\ tracker' = [tracker EXCEPT !.tracked = Above(tracker, Which)]]_vars

TRACK_05 == [][(Comes("barrier") /\ Which <= tracker.latest /\ Which \notin TrackedIds(tracker)) => Silent]_vars

(* A barrier or cancellation does not change newer checkpoints. *)
TRACK_06 == [][(Comes("barrier") \/ Comes("cancel")) => Above(tracker', Which) = Above(tracker, Which)]_vars

TRACK_07 == [][
    /\ Len(tracker'.tracked) <= Bound
    /\ (Comes("barrier") /\ IsFirst) =>
        SubSeq(tracker'.tracked, 1, Len(tracker'.tracked) - 1) =
            IF Len(tracker.tracked) = Bound THEN Tail(tracker.tracked) ELSE tracker.tracked]_vars

OlderAborts(n) == Aborts(Below(tracker, n), "ON_CANCELLATION_BARRIER")

TRACK_08 == [][(Comes("cancel") /\ ~(Alone /\ Which > tracker.latest)) =>
    /\ IsPrefixOf(OlderAborts(Which), Effects)
    /\ \A i \in DOMAIN Effects : i > Len(OlderAborts(Which)) => Effects[i][2] = Which
    /\ Below(tracker', Which) = <<>>]_vars

Own == SelectSeq(Effects, LAMBDA e : e[2] = Which)

TRACK_09 == [][(Comes("cancel") /\ IsFurther) =>
    /\ Own = IF Entry(tracker, Which).aborted THEN <<>> ELSE Cancelled(Which)
    /\ (Which \notin TrackedIds(tracker')) = IsLast(Which)
    /\ Which \in TrackedIds(tracker') =>
        Entry(tracker', Which).aborted /\ Entry(tracker', Which).counted[Where] > 0]_vars

TRACK_10 == [][(Comes("cancel") /\ IsFirst) =>
    /\ Own = Cancelled(Which)
    /\ tracker'.latest = Which
    /\ TrackedIds(tracker') = {Which}
    /\ Entry(tracker', Which).aborted /\ Total(Entry(tracker', Which)) = 1]_vars

TRACK_11 == [][(Comes("cancel") /\ Which <= tracker.latest /\ Which \notin TrackedIds(tracker)) =>
    Own = <<>> /\ tracker' = [tracker EXCEPT !.tracked = Above(tracker, Which)]]_vars

(* An aborted checkpoint is never triggered nor aborted again while it is    *)
(* tracked.                                                                  *)
TRACK_12 == [][\A n \in TrackedIds(tracker) : Entry(tracker, n).aborted =>
    /\ \A i \in DOMAIN Effects : Effects[i][2] # n
    /\ n \in TrackedIds(tracker') => Entry(tracker', n).aborted]_vars

TRACK_13 == [][(Comes("end_of_partition") /\ HearsEnds /\ ~AfterFinish) =>
    /\ Effects = Aborts(tracker.tracked, "INPUT_END_OF_STREAM")
    /\ tracker' = [tracker EXCEPT !.closed = @ \cup {Where}, !.tracked = <<>>]]_vars

(* The newest checkpoint that awaited only the ended channel. *)
Finished == {n \in TrackedIds(tracker) : IsLast(n)}

TRACK_14 == [][(Comes("end_of_partition") /\ HearsEnds /\ AfterFinish) =>
    /\ tracker'.latest = tracker.latest /\ tracker'.closed = tracker.closed \cup {Where}
    /\ IF Finished = {}
       THEN Effects = <<>> /\ TrackedIds(tracker') = TrackedIds(tracker)
       ELSE LET n == Greatest(Finished)
            IN  /\ Effects = IF Entry(tracker, n).aborted THEN <<>> ELSE <<<<"trigger", n>>>>
                /\ TrackedIds(tracker') = {m \in TrackedIds(tracker) : m > n}
    /\ \A n \in TrackedIds(tracker') : Entry(tracker', n).counted[Where] > 0]_vars

(* No awaited count is missing for good: a checkpoint lacks a barrier of     *)
(* each open channel that has not counted.                                   *)
TRACK_15 == \A i \in DOMAIN tracker.tracked :
    LET entry == tracker.tracked[i]
    IN  IF AwaitsEnded THEN entry.needed = N
        ELSE entry.needed - Total(entry) = Cardinality({c \in OpenChannels(tracker) : entry.counted[c] = 0})

TRACK_16 == [][(Comes("barrier") /\ IsFurther /\ Entry(tracker, Which).counted[Where] > 0) =>
    IF CountsRepeats
    THEN Which \in TrackedIds(tracker') =>
        Entry(tracker', Which).counted[Where] = Entry(tracker, Which).counted[Where] + 1
    ELSE Silent]_vars

TRACK_17 == [][((Comes("barrier") \/ Comes("cancel")) /\ Alone /\ Which > tracker.latest) =>
    /\ tracker' = tracker
    /\ Comes("barrier") => Effects = <<<<"trigger", Which>>>>
    /\ Comes("cancel") => Effects = Cancelled(Which)]_vars

TRACK_18 == [][(Comes("end_of_partition") /\ ~HearsEnds) =>
    Effects = <<>> /\ tracker' = [tracker EXCEPT !.closed = @ \cup {Where}]]_vars

(* Ids ascend, none is above the latest, and each one still awaits a         *)
(* channel.                                                                  *)
InOrderOfIds ==
    \A i \in DOMAIN tracker.tracked :
        /\ tracker.tracked[i].id <= tracker.latest
        /\ Total(tracker.tracked[i]) \in 1 .. tracker.tracked[i].needed - 1
        /\ \A j \in DOMAIN tracker.tracked : i < j => tracker.tracked[i].id < tracker.tracked[j].id

------------------------------------------------------------------------------
(* Older generations: each definition replaces the operator in its comment   *)
(* (spec/manifests/gate_generations.toml). Up to 1.13 the tracker counts     *)
(* barriers and needs one of each channel, ended ones included (TRACK-15); a *)
(* repeated one counts again (TRACK-16). Up to 1.8 it does not learn that a  *)
(* channel ended (TRACK-18).                                                 *)

AllAreNeeded(t) == N                                            \* Needed
CountsTwice(entry, c) == [entry EXCEPT !.counted[c] = @ + 1]    \* Counting
IgnoresEnds(t, c) == TrackerStep([t EXCEPT !.closed = @ \cup {c}], <<>>)     \* TrackEndOfPartition

------------------------------------------------------------------------------
(* Replacements: each replaces the operator in its comment in a model that   *)
(* must fail.                                                                *)

NeverBounded(entries) == entries                                \* Bounded
NeverAlone(t) == FALSE                                          \* IsAlone
NewerOrEqual(t, n) == n >= t.latest                             \* IsNewer
OneIsEnough(entry) == TRUE                                      \* IsComplete
OlderStay(entries, i) == SubSeq(entries, 1, i - 1) \o SubSeq(entries, i + 1, Len(entries))   \* After
AllGo(entries, i) == <<>>                                       \* After
TriggersAborted(entry) == <<<<"trigger", entry.id>>>>           \* Completion
NothingIsOlder(t, n) == {}                                      \* Overtaken
AnyUntracked(t, n) == Position(t, n) = {}                       \* IsNewer
EndsNothing(t, c, i) == TrackerStep(t, <<>>)                    \* CountsEnd
Blocks(t, effects) == [tracker |-> t, out |-> <<<<"block", 0>>>> \o effects]     \* TrackerStep
==============================================================================
