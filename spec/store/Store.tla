-------------------------------- MODULE Store --------------------------------
(***************************************************************************)
(* The store of completed checkpoints: which ones it keeps, which ones it  *)
(* drops, and which one a restore reads.                                   *)
(*                                                                         *)
(* The store adds a completed checkpoint at its end. Then it drops the     *)
(* oldest entries that it may drop, until it holds Retain entries. It      *)
(* never drops the entry just added or the newest checkpoint. (A newer     *)
(* savepoint does not take the place of the newest checkpoint, because it  *)
(* belongs to a user, who can delete it.) A job that was stopped with a    *)
(* savepoint needs only that savepoint.                                    *)
(*                                                                         *)
(* The module has functions only. StoreModel.tla puts a store into an      *)
(* environment and states rules SUB-06 to SUB-10.                          *)
(* CoordinatorGenerations.tla has the operators of older generations.      *)
(*                                                                         *)
(* Source: Apache Flink 1.15 and later, DefaultCompletedCheckpointStore    *)
(* and CheckpointSubsumeHelper.                                            *)
(***************************************************************************)
EXTENDS Integers, Sequences, FiniteSets, Order

CONSTANT
    Retain          \* number of completed checkpoints to keep

ASSUME Retain \in Nat \ {0}

Types == {"checkpoint", "savepoint", "stop"}

EntryType == [id : Nat, type : Types]

EmptyStore == <<>>

(* The id that a restore reads; 0 stands for the initial state. *)
LatestId(store) == IF store = <<>> THEN 0 ELSE store[Len(store)].id

------------------------------------------------------------------------------
(* Entries that may be dropped. These are operators, so that a model can     *)
(* replace them.                                                             *)

IsLast(store, i) == i = Len(store)

IsNewestCheckpoint(store, i) ==
    /\ store[i].type = "checkpoint"
    /\ \A j \in i + 1 .. Len(store) : store[j].type # "checkpoint"

EndsWithStop(store) == store[Len(store)].type = "stop"

(* SUB-06 protects the last element, SUB-08 the newest checkpoint. *)
MayGo(store, i) == ~IsLast(store, i) /\ (EndsWithStop(store) \/ ~IsNewestCheckpoint(store, i))

Surplus(store) == Len(store) - Retain

(* SUB-07: from the oldest on, as many droppable entries as are surplus. *)
IsDropped(store, i) ==
    /\ MayGo(store, i)
    /\ Cardinality({j \in 1 .. i - 1 : MayGo(store, j)}) < Surplus(store)

(* SUB-09: the store does not delete a dropped savepoint, because a user     *)
(* owns it.                                                                  *)
IsDeleted(entry) == entry.type = "checkpoint"

------------------------------------------------------------------------------
(* The elements at a set of positions, in order. *)
At(store, positions) ==
    LET order == InOrder(positions)
    IN  [k \in 1 .. Len(order) |-> store[order[k]]]

(* The store reports the highest checkpoint that an addition has deleted. *)
NotifySubsumed(deleted) == IF deleted = {} THEN <<>> ELSE <<<<"subsumed", Greatest(deleted)>>>>

(* Adds the entry (n, type). The result is [store, out]. *)
OnAdd(store, n, type) ==
    LET grown == Append(store, [id |-> n, type |-> type])
        gone == {i \in DOMAIN grown : IsDropped(grown, i)}
        deleted == {i \in gone : IsDeleted(grown[i])}
        discards == [k \in 1 .. Cardinality(deleted) |-> <<"discard", At(grown, deleted)[k].id>>]
    IN  [store |-> At(grown, DOMAIN grown \ gone),
         out   |-> discards \o NotifySubsumed({grown[i].id : i \in deleted})]
==============================================================================
