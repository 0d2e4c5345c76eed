----------------------------- MODULE StoreModel ------------------------------
(***************************************************************************)
(* The store of completed checkpoints in its environment: every id from 1  *)
(* to M is added once, in any order, with any type. (Ids out of order      *)
(* represent a restored savepoint, which can have any id.) The Python      *)
(* reference model describes the same closed model. The triangle compares  *)
(* both graphs state for state and edge for edge.                          *)
(*                                                                         *)
(* This module states rules SUB-06 to SUB-10 over one addition: `store`    *)
(* before and after, the event and the effects in out'.                    *)
(***************************************************************************)
EXTENDS Store, CoordinatorGenerations

CONSTANT
    M               \* checkpoint ids are 1 .. M

VARIABLES
    store,          \* the completed checkpoints, in the order of additions
    added,          \* the ids that were added
    out             \* the last event, then its effects

vars == <<store, added, out>>
Ids == 1 .. M

TypeOK ==
    /\ store \in Seq(EntryType)
    /\ added \subseteq Ids
    /\ {store[i].id : i \in DOMAIN store} \subseteq added
    /\ \/ out = <<>>
       \/ Head(out) \in {"add"} \X Ids \X Types /\ Tail(out) \in Seq({"discard", "subsumed"} \X Ids)

Init == store = EmptyStore /\ added = {} /\ out = <<>>

------------------------------------------------------------------------------
(* System and environment together: a checkpoint is added, and the store     *)
(* drops others.                                                             *)

Add(n, type) ==
    /\ n \notin added
    /\ added' = added \cup {n}
    /\ LET step == OnAdd(store, n, type)
       IN  store' = step.store /\ out' = <<<<"add", n, type>>>> \o step.out

Next == \E n \in Ids, type \in Types : Add(n, type)

Spec == Init /\ [][Next]_vars

(* Every checkpoint can be added. *)
StuckOnlyAtTheEnd == added = Ids \/ ENABLED Next

------------------------------------------------------------------------------
(* Terms of the rules. *)

EventId == out'[1][2]
Type == out'[1][3]
New == [id |-> EventId, type |-> Type]
Grown == Append(store, New)
Dropped == Range(Grown) \ Range(store')
Kept == Range(store')
Deleted == {e.id : e \in {e \in Dropped : e.type = "checkpoint"}}
Effects == Tail(out')

(* The kept elements stay in their order. *)
IsInOrderOfAdding ==
    /\ Kept \subseteq Range(Grown)
    /\ store' = SelectSeq(Grown, LAMBDA e : e \in Kept)

(* Before the first addition the latest is the initial state, 0. *)
SUB_06 == [][
    /\ IsInOrderOfAdding /\ store' # <<>> /\ store'[Len(store')] = New
    /\ \A i, j \in DOMAIN store' : i # j => store'[i].id # store'[j].id
    /\ LatestId(store') = EventId /\ (store = <<>> => LatestId(store) = 0)]_vars

(* The entry just added and, while the job runs, the newest checkpoint.      *)
(* After a stop, and up to 1.11, only the entry just added.                  *)
Protected ==
    {New} \cup
    IF Type = "stop" \/ ~CoordinatorHas("protects_newest_checkpoint") THEN {}
    ELSE {e \in Range(Grown) : e.type = "checkpoint" /\
            \A i, j \in DOMAIN Grown : i < j /\ Grown[i] = e => Grown[j].type # "checkpoint"}

OldestFirst ==
    \A i, j \in DOMAIN Grown :
        (i < j /\ Grown[j] \in Dropped /\ Grown[i] \notin Protected) => Grown[i] \in Dropped

SUB_07 == [][
    /\ Len(store') <= Retain \/ Kept = Protected
    /\ Len(Grown) <= Retain => Dropped = {}
    /\ Len(store') < Len(Grown) => Len(store') >= Retain
    /\ OldestFirst]_vars

SUB_08 == [][(Type # "stop" /\ CoordinatorHas("protects_newest_checkpoint")) =>
    \A i \in DOMAIN Grown :
        (/\ Grown[i].type = "checkpoint"
         /\ \A j \in i + 1 .. Len(Grown) : Grown[j].type # "checkpoint") => Grown[i] \in Kept]_vars

SUB_09 == [][
    LET order == SelectSeq(Grown, LAMBDA e : e \in Dropped /\ e.type = "checkpoint")
        discards == [i \in DOMAIN order |-> <<"discard", order[i].id>>]
    IN  Effects = IF Deleted # {} /\ CoordinatorHas("subsumed_notifications")
               THEN Append(discards, <<"subsumed", Greatest(Deleted)>>) ELSE discards]_vars

SUB_10 == [][~CoordinatorHas("protects_newest_checkpoint") =>
    store' = SubSeq(Grown, IF Len(Grown) > Retain THEN Len(Grown) - Retain + 1 ELSE 1, Len(Grown))]_vars

------------------------------------------------------------------------------
(* Replacements: each takes the place of the operator in its comment.        *)

HighestIsLast(s, i) == s[i].id = Greatest({s[j].id : j \in DOMAIN s})     \* IsLast
NothingIsNewest(s, i) == FALSE                                          \* IsNewestCheckpoint
OneMore(s) == Len(s) - Retain - 1                                       \* Surplus
DeletesEverything(entry) == TRUE                                        \* IsDeleted
AnswersTheHighest(s) == IF s = <<>> THEN 0 ELSE Greatest({s[i].id : i \in DOMAIN s})      \* LatestId
ListsTwice(s, n, type) ==                                               \* OnAdd
    LET new == [id |-> n, type |-> type] IN [store |-> s \o <<new, new>>, out |-> <<>>]
ProtectsAnyway(s, i) == ~IsLast(s, i) /\ ~IsNewestCheckpoint(s, i)      \* MayGo
==============================================================================
