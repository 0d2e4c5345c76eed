------------------------- MODULE SubtaskGenerations --------------------------
(***************************************************************************)
(* Generations of Flink at the snapshot steps of one subtask: one          *)
(* protocol, and the switches in which the releases differ. A generation   *)
(* is the set of its switches, and a model selects one with TaskSwitches   *)
(* <- Task_1_11.  The rules read TaskHas(switch). The steps of older       *)
(* generations are below. spec/manifests/subtask.toml substitutes them for *)
(* operators of Subtask, which is the newest generation.                   *)
(*                                                                         *)
(* orders_triggers                                                         *)
(*     a trigger is ignored if its id is not above the last id (TASK-02);  *)
(*     else the subtask takes every trigger (TASK-11)                      *)
(* notified_of_aborts                                                      *)
(*     the coordinator notifies the task of aborts (TASK-05); else it does *)
(*     not (TASK-12)                                                       *)
(* broken_snapshot_fails                                                   *)
(*     if the synchronous part throws, the task fails (TASK-13); else it   *)
(*     declines the checkpoint (TASK-14)                                   *)
(* names_async_failure                                                     *)
(*     if the asynchronous part fails, the decline names a reason; else    *)
(*     the coordinator records JOB_FAILURE (TASK-15)                       *)
(* declines_with_cause                                                     *)
(*     the reason of this decline is the cause of the failure; else it is  *)
(*     always ASYNC_EXCEPTION (TASK-15)                                    *)
(* stopped_ignores_failures                                                *)
(*     a failure of the asynchronous part has no effect after the task has *)
(*     stopped (TASK-16)                                                   *)
(* completes_in_order                                                      *)
(*     the task passes on a completion only if it is newer than the        *)
(*     earlier ones (TASK-06); else it passes on each (TASK-17)            *)
(* notified_of_subsumed                                                    *)
(*     the coordinator notifies the task of dropped checkpoints (TASK-18)  *)
(* infers_aborts                                                           *)
(*     an id counts as aborted if it is lower than the highest aborted id  *)
(*     by more than MaxRemembered (TASK-19)                                *)
(*                                                                         *)
(* The constant MaxRemembered is the number of remembered aborts: 128 from *)
(* 1.11 on, and the number of concurrent checkpoints from 1.17 on.         *)
(*                                                                         *)
(* Source: bytecode of the released jars 1.9.3 to 2.3.0,                   *)
(* SubtaskCheckpointCoordinatorImpl, StreamTask, AsyncCheckpointRunnable.  *)
(***************************************************************************)
EXTENDS Subtask

Task_1_9 == {}
Task_1_10 == {"names_async_failure"}
Task_1_11 ==
    Task_1_10 \cup {"orders_triggers", "notified_of_aborts", "broken_snapshot_fails", "declines_with_cause",
                    "stopped_ignores_failures"}
Task_1_14 == Task_1_11 \cup {"completes_in_order"}
Task_1_15 == Task_1_14 \cup {"notified_of_subsumed"}
Task_1_17 == Task_1_15 \cup {"infers_aborts"}

TaskSwitches == Task_1_17

TaskHas(switch) == switch \in TaskSwitches

------------------------------------------------------------------------------
(* Each definition replaces the operator in its comment.                     *)

(* Up to 1.16: an abort that is no longer remembered is unknown.             *)
NeverFarBelow(t, n) == FALSE                                            \* IsFarBelow
KeepsNoHighest(t, n) == t.highest                                       \* Highest

(* Up to 1.14, TASK-18 *)
IgnoresSubsumed(t, n) == Answer(t, <<>>)                                \* OnSubsumedNotification

(* Up to 1.13, TASK-17: the task passes on each completion, and no abort     *)
(* carries a completion.                                                     *)
PassesOnEach(t, n) == Answer(t, ToOperators(t, <<"notify_complete", n>>))   \* OnCompleteNotification
CarriesNone(t, completed) == Answer(t, <<>>)                            \* CarriedCompletion
KnowsNone(n) == -1                                                      \* KnownAtRestore

(* Up to 1.10, TASK-11: ids have no order.                                   *)
TakesEachTrigger(t, n, throws) ==                                       \* OnTrigger
    IF t.runs THEN TakeSnapshot(t, n, throws)
    ELSE Answer(t, <<<<"broadcast_cancel", n>>, <<"decline", n, "TASK_NOT_READY">>>>)
AbortsInAnyOrder(t, n, reason) ==                                       \* OnAbortOnBarrier
    Answer(t, <<<<"decline", n, reason>>, <<"broadcast_cancel", n>>>>)

(* Up to 1.10, TASK-14: the task declines, and does not fail.                *)
DeclinesBroken(t, n, throws) ==                                         \* TakeSnapshot
    IF throws THEN Answer(t, <<<<"broadcast_barrier", n>>, <<"decline", n, "JOB_FAILURE">>>>)
    ELSE Answer([t EXCEPT !.running = @ \cup {n}], SynchronousPart(n))

IgnoresAborts(t, n, completed) == Answer(t, <<>>)                       \* OnAbortNotification, TASK-12
AlwaysAsync(cause) == "ASYNC_EXCEPTION"                                  \* Cause, TASK-15
(* Up to 1.9, TASK-15: a decline has no reason, so the coordinator records   *)
(* JOB_FAILURE.                                                              *)
AlwaysJobFailure(cause) == "JOB_FAILURE"                                 \* Cause

AlwaysHeeded(t) == TRUE                                                 \* IsHeeded, TASK-16
=============================================================================
