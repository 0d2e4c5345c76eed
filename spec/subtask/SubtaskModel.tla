---------------------------- MODULE SubtaskModel -----------------------------
(***************************************************************************)
(* One subtask in an environment that permits every event at any time, for *)
(* every id from 1 to M: trigger, abort, notification, the end of the      *)
(* asynchronous part, stop or close of the task. There are two exceptions. *)
(* In generations without ordered triggers no id is triggered while its    *)
(* asynchronous part runs, and no event follows once the task has failed.  *)
(*                                                                         *)
(* Rules TASK-01 to TASK-20 are stated here over one step: `task` before   *)
(* and after, the event and the effects in out'. A rule that holds since   *)
(* or up to some release reads the generation's switch.                    *)
(***************************************************************************)
EXTENDS SubtaskGenerations

CONSTANTS
    M,              \* checkpoint ids are 1 .. M
    News            \* the ids that the notification of a completion may name

ASSUME News \subseteq 1 .. M

VARIABLES
    task,           \* the subtask, see SubtaskType
    out             \* the last event, then its effects

vars == <<task, out>>
Ids == 1 .. M

Causes == {"ASYNC_EXCEPTION", "IO_EXCEPTION"}

EventType ==
    ({"complete_notification", "subsumed_notification", "async_done"} \X Ids)
    \cup ({"abort_on_barrier"} \X Ids \X {"SUBSUMED"})
    \cup ({"checkpoint"} \X Ids \X BOOLEAN) \cup ({"async_failed"} \X Ids \X Causes)
    \cup ({"abort_notification"} \X Ids \X (Ids \cup {-1})) \cup ({"status"} \X BOOLEAN)
    \cup {<<"close">>}
EffectType ==
    ({"broadcast_barrier", "broadcast_cancel", "snapshot", "cancel_async", "acknowledge",
      "notify_complete", "notify_abort", "notify_subsumed"} \X Ids)
    \cup ({"decline"} \X Ids \X ({"SUBSUMED", "TASK_NOT_READY", "JOB_FAILURE"} \cup Causes))
    \cup {<<"fail", "snapshot">>}

TypeOK ==
    /\ task \in SubtaskType
    /\ out = <<>> \/ (Head(out) \in EventType /\ Tail(out) \in Seq(EffectType))

Init == task = NewSubtask /\ out = <<>>

------------------------------------------------------------------------------
(* System: the subtask takes the event. *)

Hears(event, step) == ~task.failed /\ task' = step.task /\ out' = <<event>> \o step.out

(* Environment: events, each of which may come at any time. *)

Checkpoint(n, throws) ==
    /\ n \in Ids /\ (TaskHas("orders_triggers") \/ n \notin task.running)
    /\ Hears(<<"checkpoint", n, throws>>, OnTrigger(task, n, throws))
AbortOnBarrier(n) ==
    /\ n \in Ids
    /\ Hears(<<"abort_on_barrier", n, "SUBSUMED">>, OnAbortOnBarrier(task, n, "SUBSUMED"))
AbortNotification(n, completed) ==
    /\ n \in Ids /\ completed \in News \cup {-1}
    /\ Hears(<<"abort_notification", n, completed>>, OnAbortNotification(task, n, completed))
CompleteNotification(n) ==
    /\ n \in News
    /\ Hears(<<"complete_notification", n>>, OnCompleteNotification(task, n))
AsyncDone(n) ==
    /\ n \in Ids
    /\ Hears(<<"async_done", n>>, OnAsyncDone(task, n))
AsyncFailed(n, cause) ==
    /\ n \in Ids
    /\ Hears(<<"async_failed", n, cause>>, OnAsyncFailed(task, n, cause))
SubsumedNotification(n) ==
    /\ n \in Ids
    /\ Hears(<<"subsumed_notification", n>>, OnSubsumedNotification(task, n))
Close == Hears(<<"close">>, OnClose(task))
Status(runs) ==
    /\ runs \in BOOLEAN
    /\ Hears(<<"status", runs>>, OnStatus(task, runs))

Next ==
    \/ \E n \in Ids :
        \/ \E throws \in BOOLEAN : Checkpoint(n, throws)
        \/ AbortOnBarrier(n)
        \/ \E completed \in News \cup {-1} : AbortNotification(n, completed)
        \/ CompleteNotification(n)
        \/ AsyncDone(n)
        \/ SubsumedNotification(n)
        \/ \E cause \in Causes : AsyncFailed(n, cause)
    \/ Status(~task.runs)
    \/ Close

Spec == Init /\ [][Next]_vars

------------------------------------------------------------------------------
(* Terms of the rules. *)

Comes(kind) == out'[1][1] = kind
Which == out'[1][2]
Effects == Tail(out')
EffectsOf(kind) == SelectSeq(Effects, LAMBDA e : e[1] = kind)
Remembered == Range(task.aborted)

Throws == out'[1][3]
Ordered == TaskHas("orders_triggers")
Lost == TaskHas("infers_aborts") /\ Which + MaxRemembered < task.highest
Taken ==
    Comes("checkpoint") /\ task.runs
    /\ (Ordered => Which > task.last /\ Which \notin Remembered /\ ~Lost)

TASK_01 == [][
    /\ (Taken /\ ~Throws) =>
        /\ Effects = <<<<"broadcast_barrier", Which>>, <<"snapshot", Which>>>>
        /\ Ordered => task'.last = Which
        /\ task'.running = task.running \cup {Which}
    /\ EffectsOf("snapshot") # <<>> => Comes("checkpoint")]_vars

TASK_02 == [][(Ordered /\ Comes("checkpoint") /\ task.runs /\ Which <= task.last) =>
    /\ Effects = <<>>
    /\ task' = [task EXCEPT !.aborted = SelectSeq(@, LAMBDA x : x # Which)]]_vars

TASK_03 == [][(Comes("checkpoint") /\ task.runs /\ Which > task.last /\ Which \in Remembered) =>
    /\ Effects = <<<<"broadcast_cancel", Which>>>>
    /\ task' = [task EXCEPT !.last = Which, !.aborted = SelectSeq(@, LAMBDA x : x # Which)]]_vars

TASK_04 == [][Comes("abort_on_barrier") =>
    /\ Effects = <<<<"decline", Which, out'[1][3]>>, <<"broadcast_cancel", Which>>>>
    /\ task'.last = IF Ordered THEN Greatest({Which, task.last}) ELSE task.last
    /\ task'.aborted # <<>> => Head(task'.aborted) >= task'.last
    /\ task' = [task EXCEPT !.last = task'.last, !.aborted = task'.aborted]]_vars

TASK_05 == [][(TaskHas("hears_aborts") /\ Comes("abort_notification") /\ task.runs) =>
    /\ Effects[Len(Effects)] = <<"notify_abort", Which>>
    /\ task'.last = task.last
    /\ IF Which \in task.running
       THEN /\ EffectsOf("cancel_async") = <<<<"cancel_async", Which>>>>
            /\ task'.running = task.running \ {Which}
            /\ task'.aborted = task.aborted
       ELSE /\ EffectsOf("cancel_async") = <<>>
            /\ task'.running = task.running
            /\ IF Which > task.last THEN Which \in Range(task'.aborted)
               ELSE task'.aborted = task.aborted]_vars

Newest ==
    IF Comes("complete_notification") THEN Which
    ELSE IF Comes("abort_notification") THEN out'[1][3]
    ELSE -1

TASK_06 == [][TaskHas("completes_in_order") =>
    IF Newest > task.completed
    THEN /\ task'.completed = Newest
         /\ IF task.runs THEN Head(Effects) = <<"notify_complete", Newest>> /\ Len(EffectsOf("notify_complete")) = 1
            ELSE Effects = <<>>
    ELSE EffectsOf("notify_complete") = <<>> /\ task'.completed = task.completed]_vars

TASK_07 == [][EffectsOf("acknowledge") =
    IF Comes("async_done") /\ Which \in task.running /\ Which \notin task'.running
    THEN <<<<"acknowledge", Which>>>> ELSE <<>>]_vars

TASK_08 == [][(Comes("async_failed") \/ Comes("async_done")) =>
    /\ (task.runs \/ Comes("async_done")) => Len(EffectsOf("decline")) =
        IF Comes("async_failed") /\ Which \in task.running THEN 1 ELSE 0
    /\ task' = [task EXCEPT !.running = @ \ {Which}]]_vars

(* The abort that was remembered first is dropped. *)
TASK_09 == [][
    /\ Len(task'.aborted) <= MaxRemembered
    /\ (Comes("abort_notification") /\ Range(task'.aborted) # Remembered) =>
        LET grown == Append(task.aborted, Which)
        IN  task'.aborted = SubSeq(grown, 1 + Len(grown) - Len(task'.aborted), Len(grown))
            /\ (Len(grown) <= MaxRemembered => Len(task'.aborted) = Len(grown))]_vars

TASK_10 == [][(Comes("checkpoint") /\ ~task.runs) =>
    /\ task' = task
    /\ Effects = <<<<"broadcast_cancel", Which>>, <<"decline", Which, "TASK_NOT_READY">>>>]_vars

------------------------------------------------------------------------------
(* Differences between generations, and the end of a task. *)

TASK_11 == [][~Ordered =>
    /\ task'.last = task.last
    /\ (Comes("checkpoint") /\ task.runs) => Head(Effects) = <<"broadcast_barrier", Which>>]_vars

TASK_12 == [][(~TaskHas("hears_aborts") /\ Comes("abort_notification")) =>
    Effects = <<>> /\ task' = task]_vars

TASK_13 == [][
    IF Taken /\ Throws /\ TaskHas("broken_snapshot_fails")
    THEN Effects = <<<<"broadcast_barrier", Which>>, <<"fail", "snapshot">>>> /\ task'.failed
    ELSE EffectsOf("fail") = <<>> /\ ~task'.failed]_vars

TASK_14 == [][(Taken /\ Throws /\ ~TaskHas("broken_snapshot_fails")) =>
    /\ Effects = <<<<"broadcast_barrier", Which>>, <<"decline", Which, "JOB_FAILURE">>>>
    /\ task' = task]_vars

TASK_15 == [][(Comes("async_failed") /\ task.runs /\ Which \in task.running) =>
    Effects = <<<<"decline", Which,
               IF TaskHas("declines_with_cause") THEN out'[1][3] ELSE "ASYNC_EXCEPTION">>>>]_vars

TASK_16 == [][(Comes("async_failed") /\ ~task.runs) =>
    Len(Effects) = IF Which \in task.running /\ ~TaskHas("stopped_says_nothing") THEN 1 ELSE 0]_vars

TASK_17 == [][~TaskHas("completes_in_order") =>
    /\ EffectsOf("notify_complete") =
        IF Comes("complete_notification") /\ task.runs THEN <<<<"notify_complete", Which>>>> ELSE <<>>
    /\ task'.completed = task.completed]_vars

TASK_18 == [][EffectsOf("notify_subsumed") =
    IF Comes("subsumed_notification") /\ task.runs /\ TaskHas("hears_subsumed")
    THEN <<<<"notify_subsumed", Which>>>> ELSE <<>>]_vars

TASK_19 == [][TaskHas("infers_aborts") =>
    /\ \A n \in Range(task'.aborted) : n <= task'.highest
    /\ task'.highest >= task.highest
    /\ (Comes("checkpoint") /\ task.runs /\ Which > task.last /\ Lost) =>
        Effects = <<<<"broadcast_cancel", Which>>>> /\ task'.running = task.running]_vars

TASK_20 == [][Comes("close") =>
    /\ task' = [task EXCEPT !.runs = FALSE, !.running = {}]
    /\ Len(Effects) = Cardinality(task.running)
    /\ \A n \in task.running : <<"cancel_async", n>> \in Range(Effects)]_vars

------------------------------------------------------------------------------
(* Replacements: each replaces the operator in its comment in a model that   *)
(* must fail.                                                                *)

NeverOutOfOrder(t, n) == FALSE                                          \* IsOutOfOrder
SnapshotFirst(n) == <<<<"snapshot", n>>, <<"broadcast_barrier", n>>>>   \* SynchronousPart
Silence(n) == <<>>                                                      \* InPlaceOfBarrier
AlwaysNews(t, n) == n > 0                                               \* IsNews
EndsAgain(t, n) == n <= t.last                                          \* Runs
Unbounded(ids) == ids                                                   \* Bounded
ThrowsFirst(n) == <<<<"fail", "snapshot">>, <<"broadcast_barrier", n>>>>    \* BrokenSnapshot
NothingStops(ids) == <<>>                                               \* Stopped
==============================================================================
