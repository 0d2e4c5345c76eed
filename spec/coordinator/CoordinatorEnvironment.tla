----------------------- MODULE CoordinatorEnvironment ------------------------
(***************************************************************************)
(* The coordinator in its environment: requests, acknowledgements (also    *)
(* repeated, late, or from an unknown task), declines, time, tasks that    *)
(* fail, a job that restarts, a store that fails and a new coordinator     *)
(* that takes over. CoordinatorModel.tla states the rules.                 *)
(***************************************************************************)
EXTENDS OlderCoordinator

CONSTANTS
    M,              \* maximum number of requested checkpoints and savepoints
    Savepoints      \* TRUE: savepoints are requested too

VARIABLES
    coordinator,    \* see CoordinatorType
    out             \* the last event, then its effects

vars == <<coordinator, out>>
k == coordinator
Ids == 1 .. M
UnknownTask == Greatest(Tasks) + 1

(* The events of the environment; a model replaces these. *)
OfferedRequests == {ByHand(type) : type \in IF Savepoints THEN RequestTypes ELSE {"checkpoint"}}
Reasons == {"ASYNC_EXCEPTION"}      \* reasons of declines
StoreFaults == {}                   \* ways in which the store can fail
IoFailures == {}                    \* inputs and outputs that can fail
Restarts == FALSE                   \* TRUE: the coordinator can be replaced
Failing == Sources                  \* the tasks that can fail
JobRestarts == TRUE                 \* TRUE: the job can leave RUNNING without a failed task
TasksStop == FALSE                  \* TRUE: a task of Failing can leave RUNNING while the job runs on

EventKinds ==
    {"request", "acknowledge", "decline", "tick", "job_status", "fail_tasks", "task_status", "restore",
     "store_fails", "io_fails", "deleted", "coordinator_restart"}

(* A new coordinator, and the type of a checkpoint that its tasks are        *)
(* triggered with, as the rules state them: with a restored savepoint or     *)
(* without a savepoint.                                                      *)
IsNewestRestored(c) == \A e \in Range(c.store) : e.id <= RestoredSavepoint
AtTasks(type, after) ==
    IF type = "checkpoint" /\ ClaimMode = "NO_CLAIM" /\ IsNewestRestored(after) THEN "full_checkpoint" ELSE type
AtFirst ==
    [running |-> TRUE, up |-> Tasks, next |-> RestoredSavepoint + 1, pending |-> <<>>, queue |-> <<>>, pause |-> 0,
     failures |-> [counted |-> {}, highest |-> 0], fault |-> "none", unseen |-> {}, deletions |-> <<>>, io |-> {},
     store |-> IF RestoredSavepoint = 0 THEN <<>>
               ELSE <<[id |-> RestoredSavepoint, type |-> IF ClaimMode = "CLAIM" THEN "checkpoint" ELSE "savepoint"]>>]

TypeOK ==
    /\ coordinator \in CoordinatorType
    /\ \A i \in DOMAIN out : out[i] # <<>>
    /\ out # <<>> => out[1][1] \in EventKinds

Init == coordinator = NewCoordinator /\ out = <<>>

------------------------------------------------------------------------------
(* System: the coordinator takes the event. *)

Take(event, step) == coordinator' = step.coordinator /\ out' = <<event>> \o step.out

(* Environment. *)

Request(r) ==
    /\ k.next + Len(k.queue) <= M
    /\ Take(<<"request", r.type, r.forced, r.periodic>>, OnRequest(k, r))

Acknowledge(t, n) ==
    /\ n < k.next
    /\ Take(<<"acknowledge", t, n>>, OnAcknowledge(k, t, n))

Decline(n, reason) ==
    /\ n < k.next
    /\ Take(<<"decline", n, reason>>, OnDecline(k, n, reason))

Tick ==
    /\ k.pending # <<>> \/ k.pause > 0
    /\ Take(<<"tick">>, OnTick(k))

LeaveRunning ==
    /\ k.running /\ JobRestarts
    /\ Take(<<"job_status", FALSE>>, OnJobStatus(k, FALSE))

EnterRunning ==
    /\ ~k.running
    /\ Take(<<"job_status", TRUE>>, OnJobStatus(k, TRUE))

FailTasks(t) ==
    /\ k.running
    /\ Take(<<"fail_tasks", t>>, OnFailTasks(k, {t}))

TaskStatus(t) ==
    LET runs == t \notin k.up
    IN  /\ runs \/ TasksStop
        /\ Take(<<"task_status", t, runs>>, OnTaskStatus(k, t, runs))

Restore ==
    /\ ~k.running
    /\ Take(<<"restore">>, OnRestoreRequest(k))

StoreFails(when) ==
    /\ k.fault = "none"
    /\ Take(<<"store_fails", when>>, OnStoreFails(k, when))

IoFails(what) ==
    /\ what \notin k.io
    /\ Take(<<"io_fails", what>>, OnIoFails(k, what))

Deleted ==
    /\ k.deletions # <<>>
    /\ Take(<<"deleted">>, OnDeleted(k))

CoordinatorRestart ==
    /\ Restarts
    /\ Take(<<"coordinator_restart">>, OnCoordinatorRestart(k))

Next ==
    \/ \E r \in OfferedRequests : Request(r)
    \/ \E n \in Ids :
        \/ \E reason \in Reasons : Decline(n, reason)
        \/ \E t \in Tasks \cup {UnknownTask} : Acknowledge(t, n)
    \/ Tick \/ LeaveRunning \/ EnterRunning \/ Restore
    \/ \E t \in Failing : FailTasks(t) \/ TaskStatus(t)
    \/ \E when \in StoreFaults : StoreFails(when)
    \/ \E what \in IoFailures : IoFails(what)
    \/ Deleted \/ CoordinatorRestart

Spec == Init /\ [][Next]_vars

------------------------------------------------------------------------------
(* Replacements: each takes the place of the operator in its comment.        *)

EveryTimeIsTheFirst(p, t) == TRUE                           \* IsFirstAcknowledgement
OneMayBeMissing(p) == Cardinality(p.missing) <= 1           \* IsFullyAcknowledged
SubsumesNone(p, n) == FALSE                                 \* IsSubsumedBy
SubsumesNewerToo(p, n) == p.type # "savepoint"              \* IsSubsumedBy
SubsumesSavepoints(p, n) == p.id < n                        \* IsSubsumedBy
StoresSavepoints(p) == TRUE                                 \* GoesToStore
StartsAnyway(c) == c.running                                \* CanStart
OneTurn(ended, dropped) == 1                                \* TurnsAfter
AlwaysRoom(c) == TRUE                                       \* HasRoom
NeverCleaning(c) == FALSE                                   \* IsCleaning
EndsSilently(c) == CoordinatorStep([c EXCEPT !.deletions = Tail(@)], <<>>)   \* OnDeleted
NeverExpires(p) == FALSE                                    \* IsExpired
KeepsState(p, reason) == <<<<"abort", p.id, reason>>>>      \* AbortEffects
ForgetsPending(c) == CoordinatorStep([c EXCEPT !.queue = <<>>], <<>>)   \* Suspend
NotifiesTheFirst(p) == <<<<"notify_abort", Least(Tasks), p.id>>>>  \* NotifyAbort
PeriodicFirst(r, other) == r.periodic /\ ~other.periodic    \* GoesBefore
EveryRequestPauses(r) == TRUE                                  \* KeepsPause
NeverPauses(c, r) == FALSE                                 \* IsPaused
OnlyCheckpoints(p) == p.type = "checkpoint"                 \* GoesToStore
OnlyListed(c) == Range(c.store)                       \* Durable
LeavesWaiting(c, step) == step                              \* TurnAfter
TurnsAtOnce(c, step) == Serve(step.coordinator, TurnsAfter(1, 0), step.out)  \* TurnAfter
DrawsAgain(n) == n                                        \* IdAfter
AwaitsSources(n, type) == [id |-> n, type |-> type, missing |-> Sources, age |-> 0]     \* NewPending
KeepsLateState(c, t, n) == CoordinatorStep(c, <<>>)         \* OnLateAnswer
StoresNothing(p) == FALSE                                   \* GoesToStore
ReportsDecline(p, reason) ==                               \* AbortEffects
    LET Discard(t) == <<"discard_state", t, p.id>>
    IN  <<<<"abort", p.id, "CHECKPOINT_DECLINED">>>> \o InTaskOrder(Tasks \ p.missing, Discard)
RejectsAsNotRunning(c) ==                                        \* Suspend
    LET reject == [i \in DOMAIN c.queue |-> Rejected(c.queue[i], "NOT_ALL_REQUIRED_TASKS_RUNNING")]
    IN  AbortAll([c EXCEPT !.queue = <<>>], LAMBDA p : TRUE, "COORDINATOR_SUSPEND", reject)
PutsItFirst(store, n, type) ==                                    \* OnAdd
    [store |-> <<[id |-> n, type |-> type]>> \o store, out |-> <<>>]
StoreNeverThrows(step, p) ==                                \* FailToStore
    CallComplete(Succeed(CoordinatorStep([step.coordinator EXCEPT !.fault = "none"], step.out), p), p)
UsesUpTheId(c) == [c EXCEPT !.io = @ \ {"id"}, !.next = IdAfter(@)]  \* AfterNoId
KeepsTheId(c) == [c EXCEPT !.io = @ \ {"location"}]            \* AfterNoLocation
IgnoresFailedWrites(c, p, effects) ==                        \* FailToWrite
    Complete([c EXCEPT !.io = {}], p, effects)
StoresUnwritten(c, p, effects) ==                            \* FailToWrite
    LET step == Abort([c EXCEPT !.io = {}], p, "FINALIZE_CHECKPOINT_FAILURE", FALSE, effects)
    IN  CoordinatorStep([step.coordinator EXCEPT !.store = OnAdd(@, p.id, p.type).store],
                        Append(step.out, <<"fail", "CheckpointException">>))

------------------------------------------------------------------------------
(* Constants of models. *)

Zero == 0
One == 1
Two == 2
Yes == TRUE
No == FALSE
Nothing == {}
Others == Tasks \ Sources
AllFaults == {"before", "after", "maybe"}
OnlyBefore == {"before"}
OnlyMetadata == {"metadata"}
AllIo == IoSteps
Checkpoints == {Periodic, ByHand("checkpoint")}
OfAllKinds ==
    {Periodic, ByHand("checkpoint"), [ByHand("checkpoint") EXCEPT !.forced = TRUE],
     [ByHand("savepoint") EXCEPT !.forced = FALSE]}
==============================================================================
