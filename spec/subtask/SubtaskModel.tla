---------------------------- MODULE SubtaskModel -----------------------------
(***************************************************************************)
(* One subtask in an environment that permits every event at any time, for *)
(* every id from 1 to M: trigger, abort, notification, the end of the      *)
(* asynchronous part, start, stop or close of the task. There are three    *)
(* exceptions. In generations without ordered triggers no id is triggered  *)
(* while its asynchronous part runs. A completion names an id of           *)
(* Completable. No event follows once the task has failed.                 *)
(*                                                                         *)
(* This module states rules TASK-01 to TASK-20 over one step: `task` and   *)
(* task' are the subtask before and after, out' is the event followed by   *)
(* its effects. A rule that does not hold in every generation reads the    *)
(* generation's switch with TaskHas (SubtaskGenerations.tla).              *)
(***************************************************************************)
EXTENDS SubtaskGenerations

CONSTANTS
    M,              \* checkpoint ids are 1 .. M
    Completable,    \* the ids that a notification can name as completed
    Barriers,       \* whether a gate triggers too, beside the coordinator
    Restored        \* the checkpoint that the task was restored from, as a set; {} for none

ASSUME
    /\ Completable \subseteq 1 .. M /\ Barriers \in BOOLEAN
    /\ Restored \subseteq 0 .. M /\ Cardinality(Restored) <= 1

VARIABLES
    task,           \* the subtask, see SubtaskType
    out             \* the last event, then its effects

vars == <<task, out>>
Ids == 1 .. M

Causes == {"ASYNC_EXCEPTION", "IO_EXCEPTION"}

EventType ==
    ({"complete_notification", "subsumed_notification", "async_done"} \X Ids)
    \cup ({"abort_on_barrier"} \X Ids \X {"SUBSUMED"})
    \cup ({"checkpoint", "checkpoint_on_barrier"} \X Ids \X BOOLEAN) \cup ({"async_failed"} \X Ids \X Causes)
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

Init ==
    /\ task = IF Restored = {} THEN NewSubtask ELSE RestoredSubtask(CHOOSE n \in Restored : TRUE)
    /\ out = <<>>

------------------------------------------------------------------------------
(* System: the subtask takes the event. *)

Take(event, step) == ~task.failed /\ task' = step.task /\ out' = <<event>> \o step.out

(* Environment: each event can come at any time.            *)

Checkpoint(n, throws) ==
    /\ n \in Ids /\ (TaskHas("orders_triggers") \/ n \notin task.running)
    /\ Take(<<"checkpoint", n, throws>>, OnTrigger(task, n, throws))
CheckpointOnBarrier(n, throws) ==
    /\ Barriers /\ n \in Ids /\ (TaskHas("orders_triggers") \/ n \notin task.running)
    /\ Take(<<"checkpoint_on_barrier", n, throws>>, OnTriggerAtBarrier(task, n, throws))
AbortOnBarrier(n) ==
    /\ n \in Ids
    /\ Take(<<"abort_on_barrier", n, "SUBSUMED">>, OnAbortOnBarrier(task, n, "SUBSUMED"))
AbortNotification(n, completed) ==
    /\ n \in Ids /\ completed \in Completable \cup {-1}
    /\ Take(<<"abort_notification", n, completed>>, OnAbortNotification(task, n, completed))
CompleteNotification(n) ==
    /\ n \in Completable
    /\ Take(<<"complete_notification", n>>, OnCompleteNotification(task, n))
AsyncDone(n) ==
    /\ n \in Ids
    /\ Take(<<"async_done", n>>, OnAsyncDone(task, n))
AsyncFailed(n, cause) ==
    /\ n \in Ids
    /\ Take(<<"async_failed", n, cause>>, OnAsyncFailed(task, n, cause))
SubsumedNotification(n) ==
    /\ n \in Ids
    /\ Take(<<"subsumed_notification", n>>, OnSubsumedNotification(task, n))
Close == /\ ~task.failed                  \* a conjunction, so that TLC labels the edge Close
         /\ Take(<<"close">>, OnClose(task))
Status(runs) ==
    /\ runs \in BOOLEAN
    /\ Take(<<"status", runs>>, OnStatus(task, runs))

Next ==
    \/ \E n \in Ids :
        \/ \E throws \in BOOLEAN : Checkpoint(n, throws)
        \/ \E throws \in BOOLEAN : CheckpointOnBarrier(n, throws)
        \/ AbortOnBarrier(n)
        \/ \E completed \in Completable \cup {-1} : AbortNotification(n, completed)
        \/ CompleteNotification(n)
        \/ AsyncDone(n)
        \/ SubsumedNotification(n)
        \/ \E cause \in Causes : AsyncFailed(n, cause)
    \/ Status(~task.runs)
    \/ Close

Spec == Init /\ [][Next]_vars

(* Only a task that has failed takes no further event. *)
StuckOnlyAtTheEnd == (task.failed /\ out # <<>>) \/ ENABLED Next

------------------------------------------------------------------------------
(* Terms of the rules. *)

EventIs(kind) == out'[1][1] = kind
EventId == out'[1][2]
Triggered == EventIs("checkpoint") \/ EventIs("checkpoint_on_barrier")
Effects == Tail(out')
EffectsOf(kind) == SelectSeq(Effects, LAMBDA e : e[1] = kind)
Remembered == Range(task.aborted)

Throws == out'[1][3]
Ordered == TaskHas("orders_triggers")
Lost == TaskHas("infers_aborts") /\ EventId + MaxRemembered < task.highest
Taken ==
    Triggered /\ task.runs
    /\ (Ordered => EventId > task.last /\ EventId \notin Remembered /\ ~Lost)

(* A task knows that the checkpoint from which it was restored is complete.  *)
Known == IF TaskHas("completes_in_order") /\ Restored # {} THEN CHOOSE n \in Restored : TRUE ELSE -1

TASK_01 == [][
    /\ (Taken /\ ~Throws) =>
        /\ Effects = <<<<"broadcast_barrier", EventId>>, <<"snapshot", EventId>>>>
        /\ Ordered => task'.last = EventId
        /\ task' = [task EXCEPT !.last = task'.last, !.running = @ \cup {EventId}]
    /\ EffectsOf("snapshot") # <<>> => Triggered
    /\ EventIs("status") => Effects = <<>> /\ task' = [task EXCEPT !.runs = ~@]
    /\ out = <<>> => task = [runs |-> TRUE, last |-> -1, aborted |-> <<>>, running |-> {}, completed |-> Known,
                            highest |-> -1, failed |-> FALSE]]_vars

TASK_02 == [][(Ordered /\ Triggered /\ task.runs /\ EventId <= task.last) =>
    /\ Effects = <<>>
    /\ task' = [task EXCEPT !.aborted = SelectSeq(@, LAMBDA x : x # EventId)]]_vars

TASK_03 == [][(Triggered /\ task.runs /\ EventId > task.last /\ EventId \in Remembered) =>
    /\ Effects = <<<<"broadcast_cancel", EventId>>>>
    /\ task' = [task EXCEPT !.last = EventId, !.aborted = SelectSeq(@, LAMBDA x : x # EventId)]]_vars

TASK_04 == [][EventIs("abort_on_barrier") =>
    /\ Effects = <<<<"decline", EventId, out'[1][3]>>, <<"broadcast_cancel", EventId>>>>
    /\ task'.last = IF Ordered /\ EventId > task.last THEN EventId ELSE task.last
    /\ task'.aborted # <<>> => Head(task'.aborted) >= task'.last
    /\ \E i \in 1 .. Len(task.aborted) + 1 :
        /\ task'.aborted = SubSeq(task.aborted, i, Len(task.aborted))
        /\ \A j \in 1 .. i - 1 : task.aborted[j] < task'.last
    /\ task' = [task EXCEPT !.last = task'.last, !.aborted = task'.aborted]]_vars

TASK_05 == [][(TaskHas("notified_of_aborts") /\ EventIs("abort_notification")) =>
    IF ~task.runs THEN Effects = <<>> /\ task' = [task EXCEPT !.completed = task'.completed]
    ELSE
        /\ Effects = EffectsOf("notify_complete") \o EffectsOf("cancel_async") \o <<<<"notify_abort", EventId>>>>
        /\ task' = [task EXCEPT !.running = task'.running, !.aborted = task'.aborted,
                                !.completed = task'.completed, !.highest = task'.highest]
        /\ IF EventId \in task.running
           THEN /\ EffectsOf("cancel_async") = <<<<"cancel_async", EventId>>>>
                /\ task'.running = task.running \ {EventId}
                /\ task'.aborted = task.aborted
           ELSE /\ EffectsOf("cancel_async") = <<>>
                /\ task'.running = task.running
                /\ IF EventId > task.last THEN EventId \in Range(task'.aborted)
                   ELSE task'.aborted = task.aborted]_vars

Newest ==
    IF EventIs("complete_notification") THEN EventId
    ELSE IF EventIs("abort_notification") THEN out'[1][3]
    ELSE -1

TASK_06 == [][TaskHas("completes_in_order") =>
    /\ EventIs("complete_notification") =>
        Effects = EffectsOf("notify_complete") /\ task' = [task EXCEPT !.completed = task'.completed]
    /\ IF Newest > task.completed
       THEN /\ task'.completed = Newest
            /\ IF task.runs THEN Head(Effects) = <<"notify_complete", Newest>> /\ Len(EffectsOf("notify_complete")) = 1
               ELSE Effects = <<>>
       ELSE EffectsOf("notify_complete") = <<>> /\ task'.completed = task.completed
    /\ \A e \in Range(EffectsOf("notify_complete")), n \in Restored : e[2] > n]_vars

TASK_07 == [][
    /\ EffectsOf("acknowledge") =
        IF EventIs("async_done") /\ EventId \in task.running /\ EventId \notin task'.running
        THEN <<<<"acknowledge", EventId>>>> ELSE <<>>
    /\ EventIs("async_done") => Effects = EffectsOf("acknowledge")]_vars

TASK_08 == [][(EventIs("async_failed") \/ EventIs("async_done")) =>
    /\ (task.runs \/ EventIs("async_done")) => Len(EffectsOf("decline")) =
        IF EventIs("async_failed") /\ EventId \in task.running THEN 1 ELSE 0
    /\ EventId \notin task.running => Effects = <<>>
    /\ task' = [task EXCEPT !.running = @ \ {EventId}]]_vars

(* The abort of this id comes before its trigger. *)
Ahead == EventIs("abort_notification") /\ task.runs /\ EventId > task.last /\ EventId \notin task.running

(* Each id is remembered once, the last one after the others. The one that   *)
(* was remembered first is dropped.                                          *)
TASK_09 == [][
    /\ Len(task'.aborted) <= MaxRemembered
    /\ \A i, j \in DOMAIN task'.aborted : i # j => task'.aborted[i] # task'.aborted[j]
    /\ EventIs("abort_notification") =>
        LET joins == TaskHas("notified_of_aborts") /\ Ahead /\ EventId \notin Remembered
            grown == IF joins THEN Append(task.aborted, EventId) ELSE task.aborted
        IN  task'.aborted = IF Len(grown) > MaxRemembered THEN Tail(grown) ELSE grown]_vars

TASK_10 == [][(Triggered /\ ~task.runs) =>
    /\ task' = task
    /\ Effects = <<<<"broadcast_cancel", EventId>>>> \o
        (IF EventIs("checkpoint") THEN <<<<"decline", EventId, "TASK_NOT_READY">>>> ELSE <<>>)]_vars

------------------------------------------------------------------------------
(* Differences between generations, and the end of a task. *)

TASK_11 == [][~Ordered =>
    /\ task'.last = task.last
    /\ (Triggered /\ task.runs) => Head(Effects) = <<"broadcast_barrier", EventId>>]_vars

TASK_12 == [][(~TaskHas("notified_of_aborts") /\ EventIs("abort_notification")) =>
    Effects = <<>> /\ task' = task]_vars

TASK_13 == [][
    IF Taken /\ Throws /\ TaskHas("broken_snapshot_fails")
    THEN /\ Effects = <<<<"broadcast_barrier", EventId>>, <<"fail", "snapshot">>>>
         /\ task' = [task EXCEPT !.last = EventId, !.failed = TRUE]
    ELSE EffectsOf("fail") = <<>> /\ ~task'.failed]_vars

TASK_14 == [][(Taken /\ Throws /\ ~TaskHas("broken_snapshot_fails")) =>
    /\ Effects = <<<<"broadcast_barrier", EventId>>, <<"decline", EventId, "JOB_FAILURE">>>>
    /\ task' = task]_vars

(* The reason of a failed asynchronous part that names none.                *)
Unnamed == IF TaskHas("names_async_failure") THEN "ASYNC_EXCEPTION" ELSE "JOB_FAILURE"

TASK_15 == [][(EventIs("async_failed") /\ task.runs /\ EventId \in task.running) =>
    Effects = <<<<"decline", EventId,
               IF TaskHas("declines_with_cause") THEN out'[1][3] ELSE Unnamed>>>>]_vars

TASK_16 == [][(EventIs("async_failed") /\ ~task.runs) =>
    Effects = IF EventId \in task.running /\ ~TaskHas("stopped_ignores_failures")
           THEN <<<<"decline", EventId, Unnamed>>>> ELSE <<>>]_vars

TASK_17 == [][~TaskHas("completes_in_order") =>
    /\ EffectsOf("notify_complete") =
        IF EventIs("complete_notification") /\ task.runs THEN <<<<"notify_complete", EventId>>>> ELSE <<>>
    /\ EventIs("complete_notification") => Effects = EffectsOf("notify_complete") /\ task' = task
    /\ task'.completed = task.completed]_vars

TASK_18 == [][
    /\ EffectsOf("notify_subsumed") =
        IF EventIs("subsumed_notification") /\ task.runs /\ TaskHas("notified_of_subsumed")
        THEN <<<<"notify_subsumed", EventId>>>> ELSE <<>>
    /\ EventIs("subsumed_notification") => Effects = EffectsOf("notify_subsumed") /\ task' = task]_vars

TASK_19 == [][
  /\ task'.highest = IF TaskHas("infers_aborts") /\ Ahead /\ EventId > task.highest THEN EventId ELSE task.highest
  /\ TaskHas("infers_aborts") =>
    /\ \A n \in Range(task'.aborted) : n <= task'.highest
    /\ (Triggered /\ task.runs /\ EventId > task.last /\ Lost) =>
        /\ Effects = <<<<"broadcast_cancel", EventId>>>>
        /\ task' = [task EXCEPT !.last = EventId, !.aborted = SelectSeq(@, LAMBDA x : x # EventId)]]_vars

TASK_20 == [][EventIs("close") =>
    /\ task' = [task EXCEPT !.runs = FALSE, !.running = {}]
    /\ Len(Effects) = Cardinality(task.running)
    /\ \A n \in task.running : <<"cancel_async", n>> \in Range(Effects)
    /\ \A i, j \in DOMAIN Effects : i < j => Effects[i][2] < Effects[j][2]]_vars

------------------------------------------------------------------------------
(* Faults: in a model broken_subtask_* of spec/manifests/subtask.toml, each  *)
(* operator replaces the one in its comment, and a rule must be violated.    *)

NeverOutOfOrder(t, n) == FALSE                                          \* IsOutOfOrder
SnapshotFirst(n) == <<<<"snapshot", n>>, <<"broadcast_barrier", n>>>>   \* SynchronousPart
SendsNothing(n) == <<>>                                                 \* InPlaceOfBarrier
AnyCompletion(t, n) == n > 0                                            \* IsNewCompletion
ForgetsRestored(n) == -1                                                \* KnownAtRestore
EndsAgain(t, n) == n <= t.last                                          \* Runs
Unbounded(ids) == ids                                                   \* Bounded
ThrowsFirst(n) == <<<<"fail", "snapshot">>, <<"broadcast_barrier", n>>>>    \* BrokenSnapshot
NothingStops(ids) == <<>>                                               \* Stopped
RemembersAgain(ids, n) == Bounded(Append(ids, n))                       \* Remember
DeclinesAtBarrier(t, n, throws) == OnTrigger(t, n, throws)              \* OnTriggerAtBarrier
==============================================================================
