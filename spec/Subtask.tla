------------------------------- MODULE Subtask -------------------------------
(***************************************************************************)
(* The snapshot steps of one subtask.                                      *)
(*                                                                         *)
(* A triggered checkpoint is answered in two parts. The synchronous part   *)
(* sends the barrier on and takes the snapshot, in one step; the           *)
(* asynchronous part writes it, and ends in an acknowledgement or in a     *)
(* decline. The abort of a checkpoint may come before its trigger: it is   *)
(* remembered, and the trigger then sends a cancellation downstream in     *)
(* place of a barrier, so that nobody there waits for ever.                *)
(*                                                                         *)
(* Functions only: models/SubtaskModel.tla puts a subtask into an          *)
(* environment and states rules TASK-01 to TASK-10.                        *)
(*                                                                         *)
(* Source: Apache Flink, SubtaskCheckpointCoordinatorImpl and              *)
(* AsyncCheckpointRunnable, 1.14 and later; FLINK-18238.                   *)
(***************************************************************************)
EXTENDS Integers, Sequences, FiniteSets, Order

CONSTANT
    MaxRemembered   \* how many aborts are remembered

ASSUME MaxRemembered \in Nat \ {0}

SubtaskType ==
    [runs      : BOOLEAN,               \* the task is RUNNING
     last      : Nat \cup {-1},         \* highest id triggered or aborted; -1 before the first
     aborted   : Seq(Nat),              \* aborts that came before their trigger, as remembered
     running   : SUBSET Nat,            \* ids whose asynchronous part runs
     completed : Nat \cup {-1}]         \* highest completed id that the operators were told

NewSubtask == [runs |-> TRUE, last |-> -1, aborted |-> <<>>, running |-> {}, completed |-> -1]

Answer(t, said) == [task |-> t, out |-> said]

------------------------------------------------------------------------------
(* The questions a subtask asks.                                            *)

IsOutOfOrder(t, n) == n <= t.last               \* TASK-02

WasAborted(t, n) == n \in Range(t.aborted)      \* TASK-03

Runs(t, n) == n \in t.running                   \* TASK-07, TASK-08: it ends once

IsNews(t, n) == n > t.completed                 \* TASK-06

------------------------------------------------------------------------------
(* Memory of aborts.                                                        *)

Forget(ids, n) == SelectSeq(ids, LAMBDA x : x # n)

(* From the one remembered first on, up to the first that is not below n.   *)
RECURSIVE Prune(_, _)
Prune(ids, n) == IF ids = <<>> \/ Head(ids) >= n THEN ids ELSE Prune(Tail(ids), n)

(* TASK-09: one more forgets the one remembered first.                      *)
Bounded(ids) == IF Len(ids) > MaxRemembered THEN Tail(ids) ELSE ids

Remember(ids, n) == IF n \in Range(ids) THEN ids ELSE Bounded(Append(ids, n))

------------------------------------------------------------------------------
(* The trigger, from the gate or, for a source, from the coordinator.       *)

(* TASK-01: the barrier leaves first.                                       *)
SynchronousPart(n) == <<<<"broadcast_barrier", n>>, <<"snapshot", n>>>>

(* TASK-03: somebody downstream may be blocked, waiting for this id.        *)
InPlaceOfBarrier(n) == <<<<"broadcast_cancel", n>>>>

OnCheckpoint(t, n) ==
    LET known == [t EXCEPT !.aborted = Forget(@, n)]
    IN  IF ~t.runs          \* TASK-10
        THEN Answer(t, <<<<"broadcast_cancel", n>>, <<"decline", n, "TASK_NOT_READY">>>>)
        ELSE IF IsOutOfOrder(t, n) THEN Answer(known, <<>>)
        ELSE IF WasAborted(t, n) THEN Answer([known EXCEPT !.last = n], InPlaceOfBarrier(n))
        ELSE Answer([known EXCEPT !.last = n, !.running = @ \cup {n}], SynchronousPart(n))

(* TASK-04: the gate aborts n.                                              *)
OnAbortOnBarrier(t, n, reason) ==
    LET last == IF n > t.last THEN n ELSE t.last
    IN  Answer([t EXCEPT !.last = last, !.aborted = Prune(@, last)],
               <<<<"decline", n, reason>>, <<"broadcast_cancel", n>>>>)

------------------------------------------------------------------------------
(* Notifications of the coordinator; a task that does not run hears none.   *)

OnCompleteNotification(t, n) ==
    IF t.runs /\ IsNews(t, n)
    THEN Answer([t EXCEPT !.completed = n], <<<<"notify_complete", n>>>>)
    ELSE Answer(t, <<>>)

(* TASK-05, TASK-06; `completed` is the newest completed id, or -1.         *)
OnAbortNotification(t, n, completed) ==
    IF ~t.runs THEN Answer(t, <<>>)
    ELSE
    LET told == OnCompleteNotification(t, completed)
        stopped == IF Runs(t, n) THEN <<<<"cancel_async", n>>>> ELSE <<>>
        remembered == IF ~Runs(t, n) /\ n > t.last THEN Remember(t.aborted, n) ELSE t.aborted
    IN  Answer([told.task EXCEPT !.running = @ \ {n}, !.aborted = remembered],
               told.out \o stopped \o <<<<"notify_abort", n>>>>)

------------------------------------------------------------------------------
(* The end of the asynchronous part.                                        *)

Ends(t, n, said) ==
    IF Runs(t, n)
    THEN Answer([t EXCEPT !.running = @ \ {n}], said)
    ELSE Answer(t, <<>>)

OnAsyncDone(t, n) == Ends(t, n, <<<<"acknowledge", n>>>>)                   \* TASK-07
OnAsyncFailed(t, n) == Ends(t, n, <<<<"decline", n, "ASYNC_EXCEPTION">>>>)  \* TASK-08

OnStatus(t, runs) == Answer([t EXCEPT !.runs = runs], <<>>)
==============================================================================
