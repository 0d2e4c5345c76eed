------------------------- MODULE CheckpointFailures -------------------------
(***************************************************************************)
(* When failing checkpoints fail the job: more of them in a row than are   *)
(* tolerated.                                                              *)
(*                                                                         *)
(* Not every reason counts, and which do has grown with the releases. A    *)
(* checkpoint counts once, until the count is cleared; a success clears    *)
(* it. From 1.12 on only a success newer than all before does, and what is *)
(* older than it counts no more.                                           *)
(*                                                                         *)
(* Functions only: models/FailuresModel.tla puts the count into an         *)
(* environment and states rules COORD-15 to COORD-18.                      *)
(*                                                                         *)
(* Source: Apache Flink, CheckpointFailureManager.                         *)
(***************************************************************************)
EXTENDS Integers, Sequences, FiniteSets, CoordinatorGenerations

Unlimited == -1

(* So many may fail in a row. A model puts a number in its place; without    *)
(* one nothing is counted.                                                   *)
Tolerable == Unlimited

FailuresType ==
    [counted : SUBSET Nat,              \* the checkpoints that have counted
     highest : Nat]                     \* the newest success, 0 before the first

NoFailures == [counted |-> {}, highest |-> 0]

FailuresStep(f, said) == [failures |-> f, out |-> said]

(* The reasons that count, in the order in which releases came to count them. *)
Counted ==
    {"CHECKPOINT_DECLINED"}
    \cup (IF CoordinatorHas("counts_snapshots") THEN {"ASYNC_EXCEPTION", "CHECKPOINT_EXPIRED"} ELSE {})
    \cup (IF CoordinatorHas("counts_io") THEN {"IO_EXCEPTION"} ELSE {})
    \cup (IF CoordinatorHas("counts_finalization") THEN {"FINALIZE_CHECKPOINT_FAILURE"} ELSE {})

------------------------------------------------------------------------------
(* The questions, operators of their own, so that a model can replace them.  *)

IsCounted(reason) == reason \in Counted                             \* COORD-15

HasCounted(f, n) == n \in f.counted                                 \* COORD-16

IsTooMany(counted) == Cardinality(counted) > Tolerable              \* COORD-16

IsOldNews(f, n) == CoordinatorHas("counts_in_order") /\ n <= f.highest  \* COORD-17

Clears(f, n) == CoordinatorHas("counts_in_order") => n > f.highest  \* COORD-17, COORD-18

(* A failure that no task told of is the coordinator's own, and concerns     *)
(* checkpoints only; so is one of the coordinator's writes, whoever tells.   *)
IsOwn(reason, byTask) == ~byTask \/ reason = "IO_EXCEPTION"
Concerns(type, reason, byTask) ==
    type = "checkpoint" \/ ~IsOwn(reason, byTask) \/ ~CoordinatorHas("savepoints_apart")

------------------------------------------------------------------------------
OnFailure(f, n, type, reason, byTask) ==
    IF \/ Tolerable = Unlimited \/ ~Concerns(type, reason, byTask) \/ ~IsCounted(reason)
       \/ IsOldNews(f, n) \/ HasCounted(f, n)
    THEN FailuresStep(f, <<>>)
    ELSE LET more == f.counted \cup {n}
         IN  IF IsTooMany(more)
             THEN FailuresStep([f EXCEPT !.counted = {}], <<<<"fail_job", reason>>>>)
             ELSE FailuresStep([f EXCEPT !.counted = more], <<>>)

OnSuccess(f, n) ==
    IF Tolerable = Unlimited \/ ~Clears(f, n) THEN f
    ELSE [counted |-> {}, highest |-> IF CoordinatorHas("counts_in_order") THEN n ELSE 0]
=============================================================================
