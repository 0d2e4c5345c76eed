---------------------------- MODULE SubtaskModel -----------------------------
(***************************************************************************)
(* One subtask in an environment that may do anything at any time, for     *)
(* every id from 1 to M: trigger, abort, notify, end the asynchronous      *)
(* part, stop the task. Nothing that the coordinator or the gate could say *)
(* in any order is left out.                                               *)
(*                                                                         *)
(* Rules TASK-01 to TASK-10 are stated here over one step: `task` before   *)
(* and after, the event and the effects in out'.                           *)
(***************************************************************************)
EXTENDS Subtask

CONSTANT
    M               \* checkpoint ids are 1 .. M

VARIABLES
    task,           \* the subtask, see SubtaskType
    out             \* the last event, then the effects that it had

vars == <<task, out>>
Ids == 1 .. M

EventType ==
    ({"checkpoint", "abort_on_barrier", "complete_notification", "async_done", "async_failed"} \X Ids)
    \cup ({"abort_notification"} \X Ids \X (Ids \cup {-1})) \cup ({"status"} \X BOOLEAN)
EffectType ==
    ({"broadcast_barrier", "broadcast_cancel", "snapshot", "cancel_async", "acknowledge",
      "notify_complete", "notify_abort"} \X Ids)
    \cup ({"decline"} \X Ids \X {"SUBSUMED", "TASK_NOT_READY", "ASYNC_EXCEPTION"})

TypeOK ==
    /\ task \in SubtaskType
    /\ out = <<>> \/ (Head(out) \in EventType /\ Tail(out) \in Seq(EffectType))

Init == task = NewSubtask /\ out = <<>>

------------------------------------------------------------------------------
(* System: the subtask takes the event. *)

Take(event, step) == task' = step.task /\ out' = <<event>> \o step.out

(* Environment: events, each of which may come at any time. *)

Checkpoint(n) ==
    /\ n \in Ids
    /\ Take(<<"checkpoint", n>>, OnCheckpoint(task, n))
AbortOnBarrier(n) ==
    /\ n \in Ids
    /\ Take(<<"abort_on_barrier", n>>, OnAbortOnBarrier(task, n, "SUBSUMED"))
AbortNotification(n, completed) ==
    /\ n \in Ids
    /\ Take(<<"abort_notification", n, completed>>, OnAbortNotification(task, n, completed))
CompleteNotification(n) ==
    /\ n \in Ids
    /\ Take(<<"complete_notification", n>>, OnCompleteNotification(task, n))
AsyncDone(n) ==
    /\ n \in Ids
    /\ Take(<<"async_done", n>>, OnAsyncDone(task, n))
AsyncFailed(n) ==
    /\ n \in Ids
    /\ Take(<<"async_failed", n>>, OnAsyncFailed(task, n))
Status(runs) ==
    /\ runs \in BOOLEAN
    /\ Take(<<"status", runs>>, OnStatus(task, runs))

Next ==
    \/ \E n \in Ids :
        \/ Checkpoint(n)
        \/ AbortOnBarrier(n)
        \/ \E completed \in Ids \cup {-1} : AbortNotification(n, completed)
        \/ CompleteNotification(n)
        \/ AsyncDone(n)
        \/ AsyncFailed(n)
    \/ Status(~task.runs)

Spec == Init /\ [][Next]_vars

------------------------------------------------------------------------------
(* Words for the rules. *)

Comes(kind) == out'[1][1] = kind
Which == out'[1][2]
Said == Tail(out')
Saying(kind) == SelectSeq(Said, LAMBDA e : e[1] = kind)
Remembered == Range(task.aborted)

TASK_01 == [][
    /\ (Comes("checkpoint") /\ task.runs /\ Which > task.last /\ Which \notin Remembered) =>
        /\ Said = <<<<"broadcast_barrier", Which>>, <<"snapshot", Which>>>>
        /\ task'.last = Which
        /\ task'.running = task.running \cup {Which}
    /\ Saying("snapshot") # <<>> => Comes("checkpoint")]_vars

TASK_02 == [][(Comes("checkpoint") /\ task.runs /\ Which <= task.last) =>
    /\ Said = <<>>
    /\ task' = [task EXCEPT !.aborted = SelectSeq(@, LAMBDA x : x # Which)]]_vars

TASK_03 == [][(Comes("checkpoint") /\ task.runs /\ Which > task.last /\ Which \in Remembered) =>
    /\ Said = <<<<"broadcast_cancel", Which>>>>
    /\ task' = [task EXCEPT !.last = Which, !.aborted = SelectSeq(@, LAMBDA x : x # Which)]]_vars

TASK_04 == [][Comes("abort_on_barrier") =>
    /\ Said = <<<<"decline", Which, "SUBSUMED">>, <<"broadcast_cancel", Which>>>>
    /\ task'.last = Greatest({Which, task.last})
    /\ task'.aborted # <<>> => Head(task'.aborted) >= task'.last
    /\ task' = [task EXCEPT !.last = task'.last, !.aborted = task'.aborted]]_vars

TASK_05 == [][(Comes("abort_notification") /\ task.runs) =>
    /\ Said[Len(Said)] = <<"notify_abort", Which>>
    /\ task'.last = task.last
    /\ IF Which \in task.running
       THEN /\ Saying("cancel_async") = <<<<"cancel_async", Which>>>>
            /\ task'.running = task.running \ {Which}
            /\ task'.aborted = task.aborted
       ELSE /\ Saying("cancel_async") = <<>>
            /\ task'.running = task.running
            /\ IF Which > task.last THEN Which \in Range(task'.aborted)
               ELSE task'.aborted = task.aborted]_vars

Newest ==
    IF Comes("complete_notification") THEN Which
    ELSE IF Comes("abort_notification") THEN out'[1][3]
    ELSE -1

TASK_06 == [][
    IF task.runs /\ Newest > task.completed
    THEN Head(Said) = <<"notify_complete", Newest>> /\ Len(Saying("notify_complete")) = 1
         /\ task'.completed = Newest
    ELSE Saying("notify_complete") = <<>> /\ task'.completed = task.completed]_vars

TASK_07 == [][Saying("acknowledge") =
    IF Comes("async_done") /\ Which \in task.running /\ Which \notin task'.running
    THEN <<<<"acknowledge", Which>>>> ELSE <<>>]_vars

TASK_08 == [][(Comes("async_failed") \/ Comes("async_done")) =>
    /\ Saying("decline") =
        IF Comes("async_failed") /\ Which \in task.running
        THEN <<<<"decline", Which, "ASYNC_EXCEPTION">>>> ELSE <<>>
    /\ task' = [task EXCEPT !.running = @ \ {Which}]]_vars

(* What goes is what was remembered first. *)
TASK_09 == [][
    /\ Len(task'.aborted) <= MaxRemembered
    /\ (Comes("abort_notification") /\ Range(task'.aborted) # Remembered) =>
        LET grown == Append(task.aborted, Which)
        IN  task'.aborted = SubSeq(grown, 1 + Len(grown) - Len(task'.aborted), Len(grown))
            /\ (Len(grown) <= MaxRemembered => Len(task'.aborted) = Len(grown))]_vars

TASK_10 == [][(Comes("checkpoint") /\ ~task.runs) =>
    /\ task' = task
    /\ Said = <<<<"broadcast_cancel", Which>>, <<"decline", Which, "TASK_NOT_READY">>>>]_vars

------------------------------------------------------------------------------
(* Replacements: each is put in the place of the operator in its comment by  *)
(* a model that must fail.                                                   *)

NeverOutOfOrder(t, n) == FALSE                                          \* IsOutOfOrder
SnapshotFirst(n) == <<<<"snapshot", n>>, <<"broadcast_barrier", n>>>>   \* SynchronousPart
Silence(n) == <<>>                                                      \* InPlaceOfBarrier
AlwaysNews(t, n) == n > 0                                               \* IsNews
EndsAgain(t, n) == n <= t.last                                          \* Runs
Unbounded(ids) == ids                                                   \* Bounded
==============================================================================
