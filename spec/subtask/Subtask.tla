------------------------------- MODULE Subtask -------------------------------
(***************************************************************************)
(* The snapshot steps of one subtask.                                      *)
(*                                                                         *)
(* A triggered checkpoint has two parts. The synchronous part sends the    *)
(* barrier and takes the snapshot, in one step. The asynchronous part      *)
(* writes the snapshot, and ends with an acknowledgement or a decline. The *)
(* abort of a checkpoint can arrive before its trigger. Then the subtask   *)
(* remembers the abort, and at the trigger it sends a cancellation         *)
(* downstream in place of a barrier, so that no task there waits for ever. *)
(*                                                                         *)
(* The module has functions only. SubtaskModel.tla puts a subtask into an  *)
(* environment and states rules TASK-01 to TASK-20. SubtaskGenerations.tla *)
(* has the steps of older releases.                                        *)
(*                                                                         *)
(* Source: Apache Flink, SubtaskCheckpointCoordinatorImpl and              *)
(* AsyncCheckpointRunnable; StreamTask up to 1.10; FLINK-18238.            *)
(***************************************************************************)
EXTENDS Integers, Sequences, FiniteSets, Order

CONSTANT
    MaxRemembered   \* maximum number of remembered aborts

ASSUME MaxRemembered \in Nat \ {0}

SubtaskType ==
    [runs      : BOOLEAN,               \* the task is RUNNING
     last      : Nat \cup {-1},         \* highest id triggered or aborted; -1 before the first
     aborted   : Seq(Nat),              \* aborts that arrived before their trigger, as remembered
     running   : SUBSET Nat,            \* ids whose asynchronous part runs
     completed : Nat \cup {-1},         \* highest completed id: the restored one, then those reported
     highest   : Nat \cup {-1},         \* highest id ever remembered as aborted
     failed    : BOOLEAN]               \* the task has failed with its snapshot

NewSubtask ==
    [runs |-> TRUE, last |-> -1, aborted |-> <<>>, running |-> {}, completed |-> -1, highest |-> -1,
     failed |-> FALSE]

(* TASK-06: a task knows that its restored checkpoint is complete.           *)
KnownAtRestore(n) == n
RestoredSubtask(n) == [NewSubtask EXCEPT !.completed = KnownAtRestore(n)]

Answer(t, effects) == [task |-> t, out |-> effects]

------------------------------------------------------------------------------
(* The conditions of a subtask. *)

IsOutOfOrder(t, n) == n <= t.last               \* TASK-02

WasAborted(t, n) == n \in Range(t.aborted)      \* TASK-03

(* TASK-19: the subtask may have remembered the abort of n and dropped it. *)
IsFarBelow(t, n) == n + MaxRemembered < t.highest

Runs(t, n) == n \in t.running                   \* TASK-07, TASK-08: it ends once

IsNewCompletion(t, n) == n > t.completed        \* TASK-06

------------------------------------------------------------------------------
(* Memory of aborts.                                                        *)

Forget(ids, n) == SelectSeq(ids, LAMBDA x : x # n)

(* Drops the oldest ids, up to the first id that is not below n.             *)
RECURSIVE Prune(_, _)
Prune(ids, n) == IF ids = <<>> \/ Head(ids) >= n THEN ids ELSE Prune(Tail(ids), n)

(* TASK-09: a further abort drops the abort that was remembered first. *)
Bounded(ids) == IF Len(ids) > MaxRemembered THEN Tail(ids) ELSE ids

Remember(ids, n) == IF n \in Range(ids) THEN ids ELSE Bounded(Append(ids, n))

(* TASK-19: the highest id ever remembered as aborted, once n is remembered. *)
Highest(t, n) == IF n > t.highest THEN n ELSE t.highest

------------------------------------------------------------------------------
(* The trigger: from the coordinator, for a source, or at a barrier of the   *)
(* gate.                                                                    *)

(* TASK-01: the barrier leaves first.                                       *)
SynchronousPart(n) == <<<<"broadcast_barrier", n>>, <<"snapshot", n>>>>

(* TASK-03: a task downstream can be blocked and wait for this id. *)
InPlaceOfBarrier(n) == <<<<"broadcast_cancel", n>>>>

(* TASK-13: the barrier has left when the snapshot throws. *)
BrokenSnapshot(n) == <<<<"broadcast_barrier", n>>, <<"fail", "snapshot">>>>

TakeSnapshot(t, n, throws) ==
    IF throws THEN Answer([t EXCEPT !.failed = TRUE], BrokenSnapshot(n))
    ELSE Answer([t EXCEPT !.running = @ \cup {n}], SynchronousPart(n))

OnTrigger(t, n, throws) ==
    LET known == [t EXCEPT !.aborted = Forget(@, n)]
        begun == [known EXCEPT !.last = n]
    IN  IF ~t.runs          \* TASK-10
        THEN Answer(t, <<<<"broadcast_cancel", n>>, <<"decline", n, "TASK_NOT_READY">>>>)
        ELSE IF IsOutOfOrder(t, n) THEN Answer(known, <<>>)
        ELSE IF WasAborted(t, n) \/ IsFarBelow(t, n) THEN Answer(begun, InPlaceOfBarrier(n))
        ELSE TakeSnapshot(begun, n, throws)

OnCheckpoint(t, n) == OnTrigger(t, n, FALSE)

(* TASK-10: at a barrier, a task that does not run only cancels downstream.  *)
OnTriggerAtBarrier(t, n, throws) ==
    IF t.runs THEN OnTrigger(t, n, throws) ELSE Answer(t, <<<<"broadcast_cancel", n>>>>)

(* TASK-04: the gate aborts n.                                              *)
OnAbortOnBarrier(t, n, reason) ==
    LET last == IF n > t.last THEN n ELSE t.last
    IN  Answer([t EXCEPT !.last = last, !.aborted = Prune(@, last)],
               <<<<"decline", n, reason>>, <<"broadcast_cancel", n>>>>)

------------------------------------------------------------------------------
(* Notifications of the coordinator. The operators of a task that does not   *)
(* run receive none.                                                         *)

ToOperators(t, notification) == IF t.runs THEN <<notification>> ELSE <<>>

(* TASK-06 *)
OnCompleteNotification(t, n) ==
    IF IsNewCompletion(t, n)
    THEN Answer([t EXCEPT !.completed = n], ToOperators(t, <<"notify_complete", n>>))
    ELSE Answer(t, <<>>)

(* TASK-18 *)
OnSubsumedNotification(t, n) == Answer(t, ToOperators(t, <<"notify_subsumed", n>>))

(* TASK-06: an abort carries the newest completed id, or -1. *)
CarriedCompletion(t, completed) == OnCompleteNotification(t, completed)

(* TASK-05, TASK-06 *)
OnAbortNotification(t, n, completed) ==
    LET carried == CarriedCompletion(t, completed)
        stopped == IF Runs(t, n) THEN <<<<"cancel_async", n>>>> ELSE <<>>
        ahead == ~Runs(t, n) /\ n > t.last
        highest == IF ahead THEN Highest(t, n) ELSE t.highest
    IN  IF ~t.runs THEN carried
        ELSE Answer([carried.task EXCEPT !.running = @ \ {n}, !.highest = highest,
                                         !.aborted = IF ahead THEN Remember(@, n) ELSE @],
                    carried.out \o stopped \o <<<<"notify_abort", n>>>>)

------------------------------------------------------------------------------
(* The end of the asynchronous part, and of the task.                       *)

Ends(t, n, effects) ==
    IF Runs(t, n)
    THEN Answer([t EXCEPT !.running = @ \ {n}], effects)
    ELSE Answer(t, <<>>)

OnAsyncDone(t, n) == Ends(t, n, <<<<"acknowledge", n>>>>)                   \* TASK-07

(* TASK-08, TASK-15, TASK-16. `cause` is the reason that the failure names, *)
(* ASYNC_EXCEPTION if it names none.                                        *)
Cause(cause) == cause
IsHeeded(t) == t.runs
OnAsyncFailed(t, n, cause) ==
    Ends(t, n, IF IsHeeded(t) THEN <<<<"decline", n, Cause(cause)>>>> ELSE <<>>)

OnStatus(t, runs) == Answer([t EXCEPT !.runs = runs], <<>>)

(* TASK-20: a closed task stops its running parts, smallest id first. *)
Stopped(ids) == LET order == InOrder(ids) IN [i \in DOMAIN order |-> <<"cancel_async", order[i]>>]
OnClose(t) == Answer([t EXCEPT !.runs = FALSE, !.running = {}], Stopped(t.running))
==============================================================================
