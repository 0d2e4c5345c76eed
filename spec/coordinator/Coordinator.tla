----------------------------- MODULE Coordinator -----------------------------
(***************************************************************************)
(* The checkpoint coordinator of one job: when a checkpoint starts, when   *)
(* it is complete, which ones it replaces, and what aborts it.             *)
(*                                                                         *)
(* A request waits until it may start (Requests.tla). A started            *)
(* checkpoint is pending until every task has acknowledged it, or until a  *)
(* decline, the time-out, a newer completed checkpoint or the end of the   *)
(* run ends it; too many such ends fail the job (Failures.tla).            *)
(* A completed one goes to the store (Store.tla), which is                 *)
(* durable, and may fail. A new coordinator reads the durable state.       *)
(*                                                                         *)
(* Functions only: CoordinatorModel.tla puts a coordinator into an         *)
(* environment and states rules COORD-01 to COORD-14, COORD-19 to COORD-22 *)
(* and SUB-02 to SUB-05, SUB-11; Dataflow.tla composes it with tasks and   *)
(* channels.                                                               *)
(*                                                                         *)
(* Source: Apache Flink, CheckpointCoordinator, CheckpointRequestDecider,  *)
(* PendingCheckpoint; CoordinatorGenerations.tla lists the differences     *)
(* between releases.                                                       *)
(***************************************************************************)
EXTENDS Integers, Sequences, FiniteSets, Order, Store, Requests, Failures

CONSTANTS
    Tasks,          \* all tasks, numbers; each must acknowledge
    Sources,        \* those that the coordinator triggers
    MaxConcurrent,  \* number of pending checkpoints at which further ones wait
    Timeout         \* number of units of time for which a checkpoint may be pending

ASSUME Sources \subseteq Tasks /\ MaxConcurrent \in Nat \ {0} /\ Timeout \in Nat \ {0}

PendingType ==
    [id      : Nat,
     type    : RequestTypes,
     missing : SUBSET Tasks,            \* have not acknowledged yet
     age     : 0 .. Timeout]            \* time since its start

Faults == {"none", "before", "after", "maybe"}

CoordinatorType ==
    [running  : BOOLEAN,                \* the job is RUNNING
     up       : SUBSET Tasks,           \* the tasks that are RUNNING
     next     : Nat,                    \* id of the next checkpoint; never falls
     pending  : Seq(PendingType),       \* ascending by id
     queue    : Seq(RequestType),       \* waiting requests, head first
     pause    : 0 .. MinPause,          \* time left of the pause after a completion
     failures : FailuresType,
     store    : Seq(EntryType),         \* completed checkpoints, in the order of additions
     fault    : Faults,                 \* how the next addition to the store fails
     unseen   : SUBSET EntryType]       \* durable, although the addition failed

NewCoordinator ==
    [running |-> TRUE, up |-> Tasks, next |-> 1, pending |-> <<>>, queue |-> <<>>, pause |-> 0,
     failures |-> NoFailures, store |-> EmptyStore, fault |-> "none", unseen |-> {}]

CoordinatorStep(k, effects) == [coordinator |-> k, out |-> effects]

InTaskOrder(tasks, Effect(_)) ==
    LET order == InOrder(tasks) IN [i \in 1 .. Len(order) |-> Effect(order[i])]

------------------------------------------------------------------------------
(* The conditions of a coordinator. These are operators, so that a model can *)
(* replace them.                                                             *)

CanStart(k) ==                                                      \* COORD-01
    k.running /\ IF CoordinatorHas("awaits_running") THEN k.up = Tasks ELSE Sources \subseteq k.up

HasRoom(k) == Len(k.pending) < MaxConcurrent                        \* COORD-03

IsPaused(k, r) == KeepsPause(r) /\ k.pause > 0                      \* COORD-14

IsPendingId(k, n) == \E i \in DOMAIN k.pending : k.pending[i].id = n  \* COORD-06

PendingOf(k, n) == k.pending[CHOOSE i \in DOMAIN k.pending : k.pending[i].id = n]

IsFirstAcknowledgement(p, t) == t \in p.missing                     \* COORD-05

IsFullyAcknowledged(p) == p.missing = {}                            \* COORD-07

IsSubsumedBy(p, n) == p.id < n /\ p.type # "savepoint"              \* SUB-02, SUB-03, SUB-04

IsExpired(p) == p.age >= Timeout                                    \* COORD-10

Replaces(p) == p.type = "checkpoint" \/ CoordinatorHas("stores_savepoints")  \* SUB-05, SUB-11

GoesToStore(p) == Replaces(p)                                       \* SUB-05, SUB-11

IsPossiblyStored(fault) == fault = "maybe" /\ CoordinatorHas("doubts_the_store")  \* COORD-21

------------------------------------------------------------------------------
(* Requests. *)

IdAfter(n) == n + 1                                                 \* COORD-02

NewPending(n, type) == [id |-> n, type |-> type, missing |-> Tasks, age |-> 0]  \* COORD-04

Begun(k, type) == [k EXCEPT !.next = IdAfter(@), !.pending = Append(@, NewPending(k.next, type))]

Rejected(r, reason) == <<"rejected", r.type, reason>>

(* The reason for which no request can start; a periodic one has its own     *)
(* reason while the scheduler is stopped.                                    *)
WhyNot(k, r) ==
    IF r.periodic /\ ~k.running THEN "PERIODIC_SCHEDULER_SHUTDOWN" ELSE "NOT_ALL_REQUIRED_TASKS_RUNNING"

(* COORD-29: number of turns of waiting requests after `ended` ends. *)
TurnsAfter(ended, dropped) ==
    ended * (IF CoordinatorHas("turn_after_cleaning") THEN 2 ELSE 1)
    + (IF CoordinatorHas("turn_after_drop") THEN dropped ELSE 0)

(* COORD-03, COORD-11: from the head on, as far as the limit allows; a       *)
(* request that is too early ends one turn. A start takes longer: the other  *)
(* turns find it busy.                                                       *)
RECURSIVE Serve(_, _, _)
Serve(k, turns, effects) ==
    IF k.queue = <<>> \/ (~Head(k.queue).forced /\ ~HasRoom(k)) THEN CoordinatorStep(k, effects)
    ELSE LET r == Head(k.queue)
             rest == [k EXCEPT !.queue = Tail(@)]
             Trigger(t) == <<"trigger_task", t, k.next, r.type>>
             early == Append(effects, Rejected(r, "MINIMUM_TIME_BETWEEN_CHECKPOINTS"))
             isLong == WhyNot(k, r) = "NOT_ALL_REQUIRED_TASKS_RUNNING" /\ CoordinatorHas("plans_later")
         IN  IF IsPaused(k, r)
             THEN IF turns > 1 THEN Serve(rest, turns - 1, early) ELSE CoordinatorStep(rest, early)
             ELSE IF CanStart(k)             \* COORD-02, COORD-04
             THEN Serve(Begun(rest, r.type), 1, effects \o InTaskOrder(Sources, Trigger))
             ELSE Serve(rest, IF isLong THEN 1 ELSE turns, Append(effects, Rejected(r, WhyNot(k, r))))

(* Up to 1.10 no request waits: above the limit it is rejected. (The         *)
(* scheduler then repeats it; here the environment requests it again.)       *)
OnRequest(k, r) ==
    IF CoordinatorHas("queues") \/ r.forced \/ HasRoom(k)
    THEN Serve([k EXCEPT !.queue = Enqueued(@, r)], 1, <<>>)
    ELSE CoordinatorStep(k, <<Rejected(r, "TOO_MANY_CONCURRENT_CHECKPOINTS")>>)

------------------------------------------------------------------------------
(* The end of a pending checkpoint. *)

Without(k, n) == [k EXCEPT !.pending = SelectSeq(@, LAMBDA p : p.id # n)]

(* COORD-09: every task is notified; up to 1.10 none (COORD-19). *)
NotifyAbort(p) ==
    LET Notify(t) == <<"notify_abort", t, p.id>>
    IN  IF CoordinatorHas("tells_of_aborts") THEN InTaskOrder(Tasks, Notify) ELSE <<>>

(* COORD-09: the collected state is deleted. *)
AbortEffects(p, reason) ==
    LET Discard(t) == <<"discard_state", t, p.id>>
    IN  <<<<"abort", p.id, reason>>>> \o InTaskOrder(Tasks \ p.missing, Discard)

Abort(k, p, reason, byTask, effects) ==
    LET counted == OnFailure(k.failures, p.id, p.type, reason, byTask)
    IN  CoordinatorStep([Without(k, p.id) EXCEPT !.failures = counted.failures],
                        effects \o AbortEffects(p, reason) \o counted.out \o NotifyAbort(p))

(* The pending ones that Which selects are aborted, oldest first. *)
RECURSIVE AbortAll(_, _, _, _)
AbortAll(k, Which(_), reason, effects) ==
    LET ended == SelectSeq(k.pending, LAMBDA p : Which(p))
    IN  IF ended = <<>> THEN CoordinatorStep(k, effects)
        ELSE LET step == Abort(k, Head(ended), reason, FALSE, effects)
             IN  AbortAll(step.coordinator, Which, reason, step.out)

(* It counts as a success. *)
Succeed(step, p) ==
    CoordinatorStep([step.coordinator EXCEPT !.failures = OnSuccess(@, p.id)], step.out)

(* It is reported complete. *)
CallComplete(step, p) == CoordinatorStep(step.coordinator, Append(step.out, <<"complete", p.id>>))

(* COORD-20: the store has failed, and no effect of a completion occurs. *)
FailToStore(step, p) ==
    LET k == step.coordinator
        entry == [id |-> p.id, type |-> p.type]
        abort == IF CoordinatorHas("completes_first") THEN <<>>
                 ELSE <<<<"abort", p.id, "FINALIZE_CHECKPOINT_FAILURE">>>>
        discard == IF IsPossiblyStored(k.fault) THEN <<>> ELSE <<<<"discard", p.id>>>>
        counted == IF CoordinatorHas("counts_failed_store")
                   THEN OnFailure(k.failures, p.id, p.type, "FINALIZE_CHECKPOINT_FAILURE", FALSE)
                   ELSE FailuresStep(k.failures, <<>>)
    IN  CoordinatorStep([k EXCEPT !.failures = counted.failures, !.fault = "none",
                                  !.unseen = IF k.fault = "before" THEN @ ELSE @ \cup {entry}],
                        step.out \o abort \o discard \o counted.out \o NotifyAbort(p)
                        \o <<<<"fail", "CheckpointException">>>>)

Complete(k, p, effects) ==                                             \* COORD-08
    LET first == CoordinatorHas("completes_first")
        gone == CoordinatorStep(Without(k, p.id), effects)
        succeeds == CoordinatorHas("success_first")
        counted == IF succeeds THEN Succeed(gone, p) ELSE gone
        called == IF first THEN CallComplete(counted, p) ELSE counted
        added == IF GoesToStore(p) THEN OnAdd(k.store, p.id, p.type) ELSE [store |-> k.store, out |-> <<>>]
        Kind(kind) == SelectSeq(added.out, LAMBDA e : e[1] = kind)
        kept == CoordinatorStep([called.coordinator EXCEPT !.store = added.store, !.pause = MinPause],
                                called.out \o Kind("discard"))
        late == IF succeeds THEN kept ELSE Succeed(kept, p)
        done == IF first THEN late ELSE CallComplete(late, p)
        ended == AbortAll(done.coordinator, LAMBDA q : IsSubsumedBy(q, p.id), "CHECKPOINT_SUBSUMED", done.out)
        Notify(t) == <<<<"notify_complete", t, p.id>>>>
                     \o [i \in DOMAIN Kind("subsumed") |-> <<"notify_subsumed", t, Kind("subsumed")[i][2]>>]
        all == InTaskOrder(Tasks, Notify)
        RECURSIVE Flat(_)
        Flat(i) == IF i > Len(all) THEN <<>> ELSE all[i] \o Flat(i + 1)
    IN  IF GoesToStore(p) /\ k.fault # "none" THEN FailToStore(called, p)
        ELSE IF Replaces(p) THEN CoordinatorStep(ended.coordinator, ended.out \o Flat(1))
        ELSE done

------------------------------------------------------------------------------
(* Messages of tasks; a task outside Tasks is unknown to the plan. *)

(* COORD-06 *)
OnLateAnswer(k, t, n) == CoordinatorStep(k, <<<<"discard_state", t, n>>>>)

OnAcknowledge(k, t, n) ==
    IF ~IsPendingId(k, n) THEN OnLateAnswer(k, t, n)
    ELSE
    LET p == PendingOf(k, n)
        heard == [p EXCEPT !.missing = @ \ {t}]
        after == [k EXCEPT !.pending = [i \in DOMAIN @ |-> IF @[i].id = n THEN heard ELSE @[i]]]
        success == <<<<"acknowledged", t, n, "SUCCESS">>>>
    IN  IF t \notin Tasks
        THEN CoordinatorStep(k, <<<<"acknowledged", t, n, "UNKNOWN">>, <<"discard_state", t, n>>>>)
        ELSE IF ~IsFirstAcknowledgement(p, t)
        THEN CoordinatorStep(k, <<<<"acknowledged", t, n, "DUPLICATE">>>>)
        ELSE IF IsFullyAcknowledged(heard)
        THEN LET done == Complete(after, heard, success)
                 ended == Len(k.pending) - Len(done.coordinator.pending)
                 dropped == SelectSeq(done.out, LAMBDA e : e[1] = "discard" /\ e[2] # n)
             IN  Serve(done.coordinator, TurnsAfter(ended, Len(dropped)), done.out)
        ELSE CoordinatorStep(after, success)

(* COORD-11: the end of one checkpoint gives waiting requests a turn. *)
TurnAfter(step) == Serve(step.coordinator, TurnsAfter(1, 0), step.out)

OnDecline(k, n, reason) ==
    IF ~IsPendingId(k, n) THEN CoordinatorStep(k, <<>>)
    ELSE TurnAfter(Abort(k, PendingOf(k, n), reason, TRUE, <<>>))

------------------------------------------------------------------------------
(* Time and statuses. *)

(* COORD-10: one unit passes; due checkpoints expire, each followed by the   *)
(* queue.                                                                    *)
RECURSIVE Expire(_, _)
Expire(k, effects) ==
    LET due == SelectSeq(k.pending, LAMBDA p : IsExpired(p))
    IN  IF due = <<>> THEN CoordinatorStep(k, effects)
        ELSE LET served == TurnAfter(Abort(k, Head(due), "CHECKPOINT_EXPIRED", FALSE, effects))
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

(* ONCE-04: the newest retained one, 0 for the initial state. *)
OnRestoreRequest(k) == CoordinatorStep(k, <<<<"restored", LatestId(k.store)>>>>)

------------------------------------------------------------------------------
(* The store fails, and a new coordinator takes over. *)

OnStoreFails(k, when) == CoordinatorStep([k EXCEPT !.fault = when], <<>>)

Durable(k) == Range(k.store) \cup k.unseen

(* COORD-22: the completed checkpoints and the counter of ids are durable. *)
Recovered(k) ==
    LET ids == InOrder({e.id : e \in Durable(k)})
    IN  [i \in DOMAIN ids |-> CHOOSE e \in Durable(k) : e.id = ids[i]]

OnCoordinatorRestart(k) ==
    CoordinatorStep([NewCoordinator EXCEPT !.running = FALSE, !.up = {}, !.next = k.next, !.fault = k.fault,
                                           !.store = Recovered(k)], <<>>)
==============================================================================
