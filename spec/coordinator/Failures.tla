------------------------------ MODULE Failures -------------------------------
(***************************************************************************)
(* The count of failing checkpoints, which fails the job if it exceeds the *)
(* tolerated number.                                                       *)
(*                                                                         *)
(* Only some reasons count. A checkpoint counts once until a success       *)
(* clears the count. A success clears the count if it is newer than all    *)
(* earlier ones. Failures of older checkpoints do not count.               *)
(*                                                                         *)
(* The module has functions only. FailuresModel.tla puts the count into an *)
(* environment and states rules COORD-15 to COORD-18.                      *)
(* CoordinatorGenerations.tla has the operators of older generations.      *)
(*                                                                         *)
(* Source: Apache Flink 1.15 and later, CheckpointFailureManager.          *)
(***************************************************************************)
EXTENDS Integers, Sequences, FiniteSets

Unlimited == -1

(* Number of tolerated consecutive failures. A model replaces it by a        *)
(* number. Without a number, no failure counts.                              *)
Tolerable == Unlimited

(* The id of a failure that names no checkpoint. *)
NoCheckpoint == -1

FailuresType ==
    [counted : SUBSET Int,              \* the ids of the failures that have counted;
                                        \* negative: failures without a checkpoint
     highest : Nat]                     \* the id of the newest success, 0 before the first

NoFailures == [counted |-> {}, highest |-> 0]

FailuresStep(f, effects) == [failures |-> f, out |-> effects]

(* The reasons that count. *)
Counted ==
    {"CHECKPOINT_DECLINED", "ASYNC_EXCEPTION", "CHECKPOINT_EXPIRED", "IO_EXCEPTION",
     "FINALIZE_CHECKPOINT_FAILURE"}

------------------------------------------------------------------------------
(* The conditions are operators, so that a model can replace them. *)

IsCounted(reason) == reason \in Counted                             \* COORD-15

HasCounted(f, n) == n \in f.counted                                 \* COORD-16

IsTooMany(counted) == Cardinality(counted) > Tolerable              \* COORD-16

IsOlder(f, n) == f.highest > 0 /\ n <= f.highest                    \* COORD-17

IsUnnamed(n) == n = NoCheckpoint                                    \* COORD-16

Clears(f, n) == n > f.highest                                       \* COORD-17, COORD-18

HighestSuccess(n) == n                                              \* COORD-17

(* A failure that no task has reported is the coordinator's own, and counts  *)
(* for checkpoints only. An IO_EXCEPTION is a failed write of the            *)
(* coordinator, even if a task reports it.                                   *)
IsOwn(reason, byTask) == ~byTask \/ reason = "IO_EXCEPTION"

Concerns(type, reason, byTask) == type = "checkpoint" \/ ~IsOwn(reason, byTask)

(* Each failure without a checkpoint is a new failure. *)
CountedAs(f, n) == IF IsUnnamed(n) THEN NoCheckpoint - Cardinality({m \in f.counted : m < 0}) ELSE n

------------------------------------------------------------------------------
OnFailure(f, n, type, reason, byTask) ==
    IF \/ Tolerable = Unlimited \/ ~Concerns(type, reason, byTask) \/ ~IsCounted(reason)
       \/ ~IsUnnamed(n) /\ (IsOlder(f, n) \/ HasCounted(f, n))
    THEN FailuresStep(f, <<>>)
    ELSE LET more == f.counted \cup {CountedAs(f, n)}
         IN  IF IsTooMany(more)
             THEN FailuresStep([f EXCEPT !.counted = {}], <<<<"fail_job", reason>>>>)
             ELSE FailuresStep([f EXCEPT !.counted = more], <<>>)

OnSuccess(f, n) ==
    IF Tolerable = Unlimited \/ ~Clears(f, n) THEN f
    ELSE [counted |-> {}, highest |-> HighestSuccess(n)]
=============================================================================
