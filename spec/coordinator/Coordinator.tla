----------------------------- MODULE Coordinator -----------------------------
(***************************************************************************)
(* The checkpoint coordinator of one job: the start of checkpoints, and    *)
(* the step of each event.                                                 *)
(*                                                                         *)
(* A request waits until it can start (Requests.tla). A started            *)
(* checkpoint is pending until it is complete or aborted (Completion.tla). *)
(* A new coordinator reads the durable state.                              *)
(*                                                                         *)
(* The module has functions only. CoordinatorEnvironment.tla puts a        *)
(* coordinator into an environment. CoordinatorModel.tla states the rules. *)
(* Dataflow.tla composes the coordinator with tasks and channels.          *)
(* OlderCoordinator.tla has the steps of older generations.                *)
(*                                                                         *)
(* Source: Apache Flink 1.18 and later, CheckpointCoordinator,             *)
(* CheckpointRequestDecider.                                               *)
(***************************************************************************)
EXTENDS Completion

CONSTANTS
    Sources,        \* the tasks that the coordinator triggers
    MaxConcurrent   \* number of pending checkpoints at which further requests wait

ASSUME Sources \subseteq Tasks /\ MaxConcurrent \in Nat \ {0}

------------------------------------------------------------------------------
(* The conditions of a start. These are operators, so that a model can       *)
(* replace them.                                                             *)

CanStart(k) == k.running /\ k.up = Tasks                            \* COORD-01

HasRoom(k) == Len(k.pending) < MaxConcurrent                        \* COORD-03

IsCleaning(k) == Len(k.deletions) > MaxConcurrent                   \* COORD-33

IsPaused(k, r) == KeepsPause(r) /\ k.pause > 0                      \* COORD-14

------------------------------------------------------------------------------
(* Requests. *)

IdAfter(n) == n + 1                                                 \* COORD-02

NewPending(n, type) == [id |-> n, type |-> type, missing |-> Tasks, age |-> 0]  \* COORD-04

Begun(k, type) == [k EXCEPT !.next = IdAfter(@), !.pending = Append(@, NewPending(k.next, type))]

(* COORD-38: no checkpoint has completed after the unclaimed savepoint. *)
TriggersFull(k) == RestoredSavepoint # 0 /\ ClaimMode = "NO_CLAIM" /\ LatestId(k.store) = RestoredSavepoint

TriggeredType(k, type) == IF type = "checkpoint" /\ TriggersFull(k) THEN "full_checkpoint" ELSE type

Rejected(r, reason) == <<"rejected", r.type, reason>>

(* The reason for which no request can start. The reason is another one for  *)
(* a periodic request while the scheduler is stopped.                        *)
Refusal(k, r) ==
    IF r.periodic /\ ~k.running THEN "PERIODIC_SCHEDULER_SHUTDOWN" ELSE "NOT_ALL_REQUIRED_TASKS_RUNNING"

(* COORD-29: number of turns of waiting requests after `ended` ends of       *)
(* checkpoints and the deletion of `dropped` stored checkpoints. After each  *)
(* end, one turn follows the end and one follows the deletion of its state.  *)
TurnsAfter(ended, dropped) == 2 * ended + dropped

(* COORD-34: if the metadata cannot be written, one turn follows the abort,  *)
(* and one follows the failed completion.                                    *)
TurnsAfterWrite(k) == IF "metadata" \in k.io THEN 1 ELSE 0

(* The number of these turns that follow deletions which began between the   *)
(* two states: such a turn comes when its deletion ends.                     *)
TurnsLater(k, after) ==
    Len(SelectSeq(SubSeq(after.deletions, Len(k.deletions) + 1, Len(after.deletions)), LAMBDA turn : turn))

(* A start lasts until the end of the event, so the other turns start no     *)
(* request. The same holds for a start that fails because tasks do not run.  *)
TakesAllTurns(k, r) == Refusal(k, r) = "NOT_ALL_REQUIRED_TASKS_RUNNING"

AfterNoId(k) == [k EXCEPT !.io = @ \ {"id"}]                        \* COORD-36

AfterNoLocation(k) == [k EXCEPT !.io = @ \ {"location"}, !.next = IdAfter(@)]  \* COORD-35

(* COORD-03, COORD-11: requests start from the head on, as far as the limit  *)
(* allows. A request that is too early leaves the queue and ends one turn.   *)
RECURSIVE Serve(_, _, _)
Serve(k, turns, effects) ==
    IF k.queue = <<>> \/ (~Head(k.queue).forced /\ ~HasRoom(k)) \/ IsCleaning(k) THEN CoordinatorStep(k, effects)
    ELSE LET r == Head(k.queue)
             rest == [k EXCEPT !.queue = Tail(@)]
             Trigger(t) == <<"trigger_task", t, k.next, TriggeredType(k, r.type)>>
             early == Append(effects, Rejected(r, "MINIMUM_TIME_BETWEEN_CHECKPOINTS"))
             left == IF TakesAllTurns(k, r) THEN 1 ELSE turns
             new == NewPending(k.next, r.type)
             lost == Abort(AfterNoLocation(rest), new, "IO_EXCEPTION", FALSE, effects)
         IN  IF IsPaused(k, r)
             THEN IF turns > 1 THEN Serve(rest, turns - 1, early) ELSE CoordinatorStep(rest, early)
             ELSE IF ~CanStart(k) THEN Serve(rest, left, Append(effects, Rejected(r, Refusal(k, r))))
             ELSE IF "id" \in k.io THEN Serve(AfterNoId(rest), 1, Append(effects, Rejected(r, "IO_EXCEPTION")))
             ELSE IF "location" \in k.io
             THEN Serve(lost.coordinator, TurnsAfter(1, 0) + 1 - TurnsLater(k, lost.coordinator), lost.out)
             ELSE Serve(Begun(rest, r.type), 1, effects \o InTaskOrder(Sources, Trigger))  \* COORD-02, COORD-04

OnRequest(k, r) == Serve([k EXCEPT !.queue = Enqueued(@, r)], 1, <<>>)

------------------------------------------------------------------------------
(* Messages of tasks. A task outside Tasks is not in the plan. *)

(* COORD-06 *)
OnLateAnswer(k, t, n) == CoordinatorStep(k, <<<<"discard_state", t, n>>>>)

OnAcknowledge(k, t, n) ==
    IF ~IsPendingId(k, n) THEN OnLateAnswer(k, t, n)
    ELSE
    LET p == PendingOf(k, n)
        counted == [p EXCEPT !.missing = @ \ {t}]
        after == [k EXCEPT !.pending = [i \in DOMAIN @ |-> IF @[i].id = n THEN counted ELSE @[i]]]
        success == <<<<"acknowledged", t, n, "SUCCESS">>>>
    IN  IF t \notin Tasks
        THEN CoordinatorStep(k, <<<<"acknowledged", t, n, "UNKNOWN">>, <<"discard_state", t, n>>>>)
        ELSE IF ~IsFirstAcknowledgement(p, t)
        THEN CoordinatorStep(k, <<<<"acknowledged", t, n, "DUPLICATE">>>>)
        ELSE IF IsFullyAcknowledged(counted)
        THEN LET done == Complete(after, counted, success)
                 ended == Len(k.pending) - Len(done.coordinator.pending)
                 dropped == SelectSeq(k.store, LAMBDA e : e \notin Range(done.coordinator.store))
                 turns == TurnsAfter(ended, Len(dropped)) + TurnsAfterWrite(k) - TurnsLater(k, done.coordinator)
             IN  Serve(done.coordinator, turns, done.out)
        ELSE CoordinatorStep(after, success)

(* COORD-11: waiting requests get turns after the end of one checkpoint. *)
TurnAfter(k, step) == Serve(step.coordinator, TurnsAfter(1, 0) - TurnsLater(k, step.coordinator), step.out)

(* COORD-33: the oldest deletion ends, which gives waiting requests a turn   *)
(* if its element in `deletions` is TRUE.                                    *)
OnDeleted(k) ==
    LET left == [k EXCEPT !.deletions = Tail(@)]
    IN  IF k.deletions = <<>> THEN CoordinatorStep(k, <<>>)
        ELSE IF Head(k.deletions) THEN Serve(left, 1, <<>>) ELSE CoordinatorStep(left, <<>>)

OnDecline(k, n, reason) ==
    IF ~IsPendingId(k, n) THEN CoordinatorStep(k, <<>>)
    ELSE TurnAfter(k, Abort(k, PendingOf(k, n), reason, TRUE, <<>>))

------------------------------------------------------------------------------
(* Time and statuses. *)

(* COORD-10: one unit passes. The checkpoints that are due expire, and       *)
(* waiting requests get turns after each end.                                *)
RECURSIVE Expire(_, _)
Expire(k, effects) ==
    LET due == SelectSeq(k.pending, LAMBDA p : IsExpired(p))
    IN  IF due = <<>> THEN CoordinatorStep(k, effects)
        ELSE LET served == TurnAfter(k, Abort(k, Head(due), "CHECKPOINT_EXPIRED", FALSE, effects))
             IN  Expire(served.coordinator, served.out)

OnTick(k) ==
    Expire([k EXCEPT !.pending = [i \in DOMAIN @ |-> [@[i] EXCEPT !.age = @ + 1]],
                     !.pause = IF @ > 0 THEN @ - 1 ELSE 0], <<>>)

(* COORD-12 *)
Suspend(k) ==
    LET reject == [i \in DOMAIN k.queue |-> Rejected(k.queue[i], "COORDINATOR_SUSPEND")]
    IN  AbortAll([k EXCEPT !.queue = <<>>], LAMBDA p : TRUE, "COORDINATOR_SUSPEND", reject)

OnJobStatus(k, running) ==
    IF running THEN CoordinatorStep([k EXCEPT !.running = TRUE], <<>>)
    ELSE Suspend([k EXCEPT !.running = FALSE])

OnFailTasks(k, tasks) == Suspend([k EXCEPT !.running = FALSE, !.up = @ \ tasks])

OnTaskStatus(k, t, running) ==
    CoordinatorStep([k EXCEPT !.up = IF running THEN @ \cup {t} ELSE @ \ {t}], <<>>)

(* ONCE-04: the newest retained checkpoint, 0 for the initial state. *)
OnRestoreRequest(k) == CoordinatorStep(k, <<<<"restored", LatestId(k.store)>>>>)

------------------------------------------------------------------------------
(* Store or metadata fail, and a new coordinator takes over. *)

OnStoreFails(k, when) == CoordinatorStep([k EXCEPT !.fault = when], <<>>)

OnIoFails(k, what) == CoordinatorStep([k EXCEPT !.io = @ \cup {what}], <<>>)

Durable(k) == Range(k.store) \cup k.unseen

(* COORD-22: the completed checkpoints and the counter of ids are durable. *)
Recovered(k) ==
    LET ids == InOrder({e.id : e \in Durable(k)})
    IN  [i \in DOMAIN ids |-> CHOOSE e \in Durable(k) : e.id = ids[i]]

OnCoordinatorRestart(k) ==
    CoordinatorStep([NewCoordinator EXCEPT !.running = FALSE, !.up = {}, !.next = k.next, !.fault = k.fault, !.io = k.io,
                                           !.store = Recovered(k)], <<>>)
==============================================================================
