---------------------------- MODULE OffsetCommits ----------------------------
(***************************************************************************)
(* A reader that tells the system behind it how far it has come, whenever  *)
(* a checkpoint completes.                                                 *)
(*                                                                         *)
(* A snapshot files the reader's offsets under the checkpoint's id. The    *)
(* completion of exactly that id commits them; what was filed before it is *)
(* of no use any more. An id that nobody filed commits nothing, and beyond *)
(* Bound filed ones the oldest is forgotten. All this only informs others: *)
(* a restore reads the offsets of the restored state.                      *)
(*                                                                         *)
(* Functions only: models/OffsetsModel.tla puts a reader into an           *)
(* environment and states rules OFFSET-01 to OFFSET-07.                    *)
(*                                                                         *)
(* Source: Apache Flink's connector for Kafka, FlinkKafkaConsumerBase.     *)
(***************************************************************************)
EXTENDS Integers, Sequences, Order

CONSTANT
    Bound           \* at most so many snapshots' offsets are remembered

ASSUME Bound \in Nat \ {0}

Filed == Nat \X Nat                     \* <<checkpoint, offsets>>
Nothing == <<-1, 0>>                    \* before the first commit

ReaderType ==
    [running    : BOOLEAN,              \* not crashed
     newest     : Nat \cup {-1},        \* the highest id snapshotted; -1: none
     remembered : Seq(Filed),           \* oldest first
     committed  : Filed \cup {Nothing}] \* in the external system: what came last

NewReader == [running |-> TRUE, newest |-> -1, remembered |-> <<>>, committed |-> Nothing]

ReaderStep(r, said) == [reader |-> r, out |-> said]

------------------------------------------------------------------------------
(* Operators of their own, so that a model can replace them.                *)

(* OFFSET-02: what is kept of what was filed.                               *)
Trimmed(filed) == IF Len(filed) > Bound THEN Tail(filed) ELSE filed

(* OFFSET-03: the offsets that a completion is about.                       *)
IsMeant(filed, n) == filed[1] = n

Meant(r, n) == SelectSeq(r.remembered, LAMBDA filed : IsMeant(filed, n))

(* OFFSET-03: of no use once n is committed.                                *)
IsOver(filed, n) == filed[1] <= n

(* OFFSET-05: an abort is not heard.                                        *)
AfterAbort(r, n) == ReaderStep(r, <<>>)

(* OFFSET-06: where a restored reader goes on.                              *)
From(r, offsets) == offsets

------------------------------------------------------------------------------
(* What a reader does.                                                      *)

OnSnapshot(r, n, offsets) ==
    ReaderStep([r EXCEPT !.newest = n, !.remembered = Trimmed(Append(@, <<n, offsets>>))], <<>>)

OnNotifyComplete(r, n) ==
    LET meant == Meant(r, n)
    IN  IF meant = <<>> THEN ReaderStep(r, <<<<"ignored", n>>>>)        \* OFFSET-04
        ELSE ReaderStep(
            [r EXCEPT !.remembered = SelectSeq(@, LAMBDA filed : ~IsOver(filed, n)),
                      !.committed = Head(meant)],
            <<<<"commit_offsets", meant[1][1], meant[1][2]>>>>)

OnNotifyAbort(r, n) == AfterAbort(r, n)

OnCrash(r) == ReaderStep([r EXCEPT !.running = FALSE, !.remembered = <<>>], <<>>)

OnRestore(r, offsets) == ReaderStep([r EXCEPT !.running = TRUE], <<<<"seek", From(r, offsets)>>>>)
==============================================================================
