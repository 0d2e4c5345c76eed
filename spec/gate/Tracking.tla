------------------------------ MODULE Tracking -------------------------------
(***************************************************************************)
(* Tracking of checkpoint barriers at one input gate, at-least-once mode.  *)
(*                                                                         *)
(* The tracker never blocks. It counts the channels that have delivered    *)
(* barrier n, and triggers the snapshot when the last awaited channel has  *)
(* delivered it. It tracks several checkpoints at once. Records behind     *)
(* barrier n on a faster channel are also in the snapshot, and the         *)
(* operator processes them again after a restore (TrackedDataflow.tla).    *)
(*                                                                         *)
(* The module has functions only. TrackingModel.tla puts one tracker into  *)
(* an environment, states rules TRACK-01 to TRACK-18, and has the steps of *)
(* older generations.                                                      *)
(*                                                                         *)
(* Source: Apache Flink, CheckpointBarrierTracker (up to 1.8               *)
(* BarrierTracker), read in the bytecode of 1.9.3 to 2.3.0.                *)
(***************************************************************************)
EXTENDS Integers, Sequences, FiniteSets, Order

CONSTANTS
    N,              \* number of input channels; they are 0 .. N-1
    AfterFinish,    \* checkpoints continue after tasks have finished (FLIP-147)
    Bound           \* maximum number of tracked checkpoints; 50 in Flink

ASSUME N \in Nat \ {0} /\ Bound \in Nat \ {0} /\ AfterFinish \in BOOLEAN

Channels == 0 .. N - 1

EntryType ==
    [id      : Nat,
     counted : [Channels -> Nat],       \* number of counts of the channel
     needed  : Nat,                     \* number of counts that complete it; never changes
     aborted : BOOLEAN]                 \* cancelled: it ends without a trigger

TrackerType ==
    [latest  : Nat \cup {-1},           \* highest id ever tracked; -1 before the first
     tracked : Seq(EntryType),          \* tracked checkpoints, oldest first
     closed  : SUBSET Channels]         \* have delivered their end of partition

(* A tracker that reads only `channels`; the other channels count as ended. *)
NewTracker(channels) == [latest |-> -1, tracked |-> <<>>, closed |-> Channels \ channels]

------------------------------------------------------------------------------
(* The conditions of a tracker. Each is an operator, so that a model can     *)
(* replace it and show which rule breaks.                                    *)

OpenChannels(t) == Channels \ t.closed

(* TRACK-15 *)
Needed(t) == Cardinality(OpenChannels(t))

(* TRACK-17: no other channel is awaited. *)
IsAlone(t) == Needed(t) = 1

IsNewer(t, n) == n > t.latest

Position(t, n) == {i \in DOMAIN t.tracked : t.tracked[i].id = n}

RECURSIVE Sum(_, _)
Sum(f, S) == IF S = {} THEN 0 ELSE LET x == Least(S) IN f[x] + Sum(f, S \ {x})

Total(entry) == Sum(entry.counted, Channels)

IsComplete(entry) == Total(entry) = entry.needed

(* TRACK-16 *)
Counting(entry, c) == [entry EXCEPT !.counted[c] = 1]

(* TRACK-07 *)
Bounded(entries) == IF Len(entries) > Bound THEN Tail(entries) ELSE entries

(* TRACK-04: older checkpoints end with it, without an effect. *)
After(entries, i) == SubSeq(entries, i + 1, Len(entries))

------------------------------------------------------------------------------
Tracks(t, entries) == [t EXCEPT !.tracked = entries]

TrackerStep(t, effects) == [tracker |-> t, out |-> effects]

Aborts(entries, reason) ==
    LET alive == SelectSeq(entries, LAMBDA entry : ~entry.aborted)
    IN  [i \in DOMAIN alive |-> <<"abort", alive[i].id, reason>>]

(* TRACK-02, TRACK-10 *)
Begins(t, c, n, aborted) ==
    LET entry == [id |-> n, counted |-> [d \in Channels |-> IF d = c THEN 1 ELSE 0],
                  needed |-> Needed(t), aborted |-> aborted]
    IN  [t EXCEPT !.latest = n, !.tracked = Append(@, entry)]

(* TRACK-04, TRACK-06, TRACK-12 *)
Completion(entry) == IF entry.aborted THEN <<>> ELSE <<<<"trigger", entry.id>>>>

(* A channel has counted for the checkpoint at position i, which is now      *)
(* `entry`.                                                                  *)
SettleEntry(t, i, entry, effects) ==
    IF IsComplete(entry)
    THEN TrackerStep(Tracks(t, After(t.tracked, i)), effects \o Completion(entry))
    ELSE TrackerStep(Tracks(t, [t.tracked EXCEPT ![i] = entry]), effects)

------------------------------------------------------------------------------
(* The steps of a tracker. *)

(* TRACK-02, TRACK-03, TRACK-04, TRACK-05, TRACK-17 *)
TrackBarrier(t, c, n) ==
    IF IsNewer(t, n)
    THEN IF IsAlone(t) THEN TrackerStep(t, <<<<"trigger", n>>>>)
         ELSE LET begun == Begins(t, c, n, FALSE)
              IN  TrackerStep(Tracks(begun, Bounded(begun.tracked)), <<>>)
    ELSE IF Position(t, n) = {} THEN TrackerStep(t, <<>>)
    ELSE LET i == Least(Position(t, n)) IN SettleEntry(t, i, Counting(t.tracked[i], c), <<>>)

Cancelled(n) == <<<<"abort", n, "ON_CANCELLATION_BARRIER">>>>

(* TRACK-08 *)
Older(t, n) == {i \in DOMAIN t.tracked : t.tracked[i].id < n}

(* TRACK-09, TRACK-10, TRACK-11, TRACK-17 *)
TrackCancel(t, c, n) ==
    IF IsNewer(t, n) /\ IsAlone(t) THEN TrackerStep(t, Cancelled(n))
    ELSE LET older == Cardinality(Older(t, n))
             effects == Aborts(SubSeq(t.tracked, 1, older), "ON_CANCELLATION_BARRIER")
             rest == Tracks(t, After(t.tracked, older))
         IN  IF Position(rest, n) # {}
             THEN LET i == Least(Position(rest, n))
                      entry == rest.tracked[i]
                  IN  SettleEntry(rest, i, Counting([entry EXCEPT !.aborted = TRUE], c),
                                  effects \o IF entry.aborted THEN <<>> ELSE Cancelled(n))
             ELSE IF IsNewer(t, n) THEN TrackerStep(Begins(rest, c, n, TRUE), effects \o Cancelled(n))
             ELSE TrackerStep(rest, effects)

(* TRACK-14: the tracker visits checkpoints newest first, up to the first    *)
(* complete one.                                                             *)
RECURSIVE CountsEnd(_, _, _)
CountsEnd(t, c, i) ==
    IF i = 0 THEN TrackerStep(t, <<>>)
    ELSE LET entry == Counting(t.tracked[i], c)
         IN  IF IsComplete(entry) THEN SettleEntry(t, i, entry, <<>>)
             ELSE CountsEnd(Tracks(t, [t.tracked EXCEPT ![i] = entry]), c, i - 1)

(* TRACK-13, TRACK-14 *)
TrackEndOfPartition(t, c) ==
    LET closed == [t EXCEPT !.closed = @ \cup {c}]
    IN  IF AfterFinish THEN CountsEnd(closed, c, Len(t.tracked))
        ELSE TrackerStep(Tracks(closed, <<>>), Aborts(t.tracked, "INPUT_END_OF_STREAM"))
==============================================================================
