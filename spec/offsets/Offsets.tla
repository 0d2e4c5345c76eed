------------------------------- MODULE Offsets -------------------------------
(***************************************************************************)
(* A reader that commits its offsets to the external system whenever a     *)
(* checkpoint completes.                                                   *)
(*                                                                         *)
(* A snapshot stores the reader's offsets under the checkpoint's id. The   *)
(* completion of exactly that id commits them and drops older ones. An id  *)
(* without stored offsets commits nothing. If there are more than Bound    *)
(* offsets, the oldest ones are dropped. A commit only informs the         *)
(* external system: a restore reads the offsets of the restored state.     *)
(*                                                                         *)
(* The module has functions only. OffsetsModel.tla puts a reader into an   *)
(* environment and states rules OFFSET-01 to OFFSET-07.                    *)
(*                                                                         *)
(* Source: Apache Flink's connector for Kafka, FlinkKafkaConsumerBase.     *)
(***************************************************************************)
EXTENDS Integers, Sequences, Order

CONSTANT
    Bound           \* number of snapshots whose offsets are remembered

ASSUME Bound \in Nat \ {0}

Filed == Nat \X Nat                     \* <<checkpoint, offsets>>
Nothing == <<-1, 0>>                    \* before the first commit

ReaderType ==
    [running    : BOOLEAN,              \* not crashed
     newest     : Nat \cup {-1},        \* the highest id snapshotted; -1: none
     remembered : Seq(Filed),           \* oldest first
     committed  : Filed \cup {Nothing}] \* in the external system: the last commit

NewReader == [running |-> TRUE, newest |-> -1, remembered |-> <<>>, committed |-> Nothing]

ReaderStep(r, effects) == [reader |-> r, out |-> effects]

------------------------------------------------------------------------------
(* These are operators, so that a model can replace them. *)

(* OFFSET-02: the stored offsets that are kept. *)
Trimmed(entries) == IF Len(entries) > Bound THEN Tail(entries) ELSE entries

(* OFFSET-03: the offsets that a completion commits. *)
IsMeant(entry, n) == entry[1] = n

Meant(r, n) == SelectSeq(r.remembered, LAMBDA entry : IsMeant(entry, n))

(* OFFSET-03: dropped once n is committed. *)
IsOver(entry, n) == entry[1] <= n

(* OFFSET-05: an abort has no effect. *)
AfterAbort(r, n) == ReaderStep(r, <<>>)

(* OFFSET-06: the offsets at which a restored reader continues. *)
From(r, offsets) == offsets

------------------------------------------------------------------------------
(* The steps of a reader. *)

OnSnapshot(r, n, offsets) ==
    ReaderStep([r EXCEPT !.newest = n, !.remembered = Trimmed(Append(@, <<n, offsets>>))], <<>>)

OnNotifyComplete(r, n) ==
    LET meant == Meant(r, n)
    IN  IF meant = <<>> THEN ReaderStep(r, <<<<"ignored", n>>>>)        \* OFFSET-04
        ELSE ReaderStep(
            [r EXCEPT !.remembered = SelectSeq(@, LAMBDA entry : ~IsOver(entry, n)),
                      !.committed = Head(meant)],
            <<<<"commit_offsets", meant[1][1], meant[1][2]>>>>)

OnNotifyAbort(r, n) == AfterAbort(r, n)

OnCrash(r) == ReaderStep([r EXCEPT !.running = FALSE, !.remembered = <<>>], <<>>)

OnRestore(r, offsets) == ReaderStep([r EXCEPT !.running = TRUE], <<<<"seek", From(r, offsets)>>>>)
==============================================================================
