----------------------------- MODULE Coordinator -----------------------------
(***************************************************************************)
(* The checkpoint coordinator of one job: when a checkpoint starts, when   *)
(* it is complete, what it replaces, and what ends it before.              *)
(*                                                                         *)
(* A request waits until it may start. A started checkpoint is pending     *)
(* until every task has acknowledged it, or until a decline, the time-out, *)
(* a newer completed checkpoint or the end of the run ends it. A completed *)
(* one goes to the store, CheckpointStore.tla.                             *)
(*                                                                         *)
(* Functions only: models/CoordinatorModel.tla puts a coordinator into an  *)
(* environment and states rules COORD-01 to COORD-12 and SUB-02 to SUB-05; *)
(* Dataflow.tla composes it with tasks and channels.                       *)
(*                                                                         *)
(* Source: Apache Flink, CheckpointCoordinator, CheckpointRequestDecider,  *)
(* PendingCheckpoint, 1.15 and later.                                      *)
(***************************************************************************)
EXTENDS Integers, Sequences, FiniteSets, Order, CheckpointStore

CONSTANTS
    Tasks,          \* all tasks, numbers; each must acknowledge
    Sources,        \* those that the coordinator triggers
    MaxConcurrent,  \* how many may be pending before further checkpoints wait
    Timeout         \* how many units of time a checkpoint may be pending

ASSUME Sources \subseteq Tasks /\ MaxConcurrent \in Nat \ {0} /\ Timeout \in Nat \ {0}

RequestTypes == {"checkpoint", "savepoint"}

PendingType ==
    [id      : Nat,
     type    : RequestTypes,
     missing : SUBSET Tasks,            \* have not acknowledged yet
     age     : 0 .. Timeout]            \* time since its start

CoordinatorType ==
    [running : BOOLEAN,                 \* the job is RUNNING
     up      : SUBSET Tasks,            \* the tasks that are RUNNING
     next    : Nat,                     \* id of the next checkpoint; never falls
     pending : Seq(PendingType),        \* ascending by id
     queue   : Seq(RequestTypes),       \* requests that wait, head first
     store   : Seq(EntryType)]          \* completed checkpoints, in the order of adding

NewCoordinator ==
    [running |-> TRUE, up |-> Tasks, next |-> 1, pending |-> <<>>, queue |-> <<>>, store |-> EmptyStore]

CoordinatorStep(k, said) == [coordinator |-> k, out |-> said]

InTaskOrder(tasks, Effect(_)) ==
    LET order == InOrder(tasks) IN [i \in 1 .. Len(order) |-> Effect(order[i])]

------------------------------------------------------------------------------
(* The questions a coordinator asks. Operators of their own, so that a      *)
(* model can replace them.                                                  *)

CanStart(k) == k.running /\ k.up = Tasks                            \* COORD-01

HasRoom(k) == Len(k.pending) < MaxConcurrent                        \* COORD-03

IsPendingId(k, n) == \E i \in DOMAIN k.pending : k.pending[i].id = n  \* COORD-06

PendingOf(k, n) == k.pending[CHOOSE i \in DOMAIN k.pending : k.pending[i].id = n]

IsFirstAcknowledgement(p, t) == t \in p.missing                     \* COORD-05

IsFullyAcknowledged(p) == p.missing = {}                            \* COORD-07

IsSubsumedBy(p, n) == p.id < n /\ p.type # "savepoint"              \* SUB-02, SUB-03, SUB-04

IsExpired(p) == p.age >= Timeout                                    \* COORD-10

GoesToStore(p) == p.type = "checkpoint"                             \* SUB-05

------------------------------------------------------------------------------
(* Requests. *)

Begun(k, type) ==
    [k EXCEPT !.next = @ + 1,
              !.pending = Append(@, [id |-> k.next, type |-> type, missing |-> Tasks, age |-> 0])]

(* COORD-03, COORD-11: from the head on, as far as the limit allows.        *)
RECURSIVE Serve(_, _)
Serve(k, said) ==
    IF k.queue = <<>> \/ (Head(k.queue) = "checkpoint" /\ ~HasRoom(k))
    THEN CoordinatorStep(k, said)
    ELSE LET type == Head(k.queue)
             rest == [k EXCEPT !.queue = Tail(@)]
             Trigger(t) == <<"trigger_task", t, k.next, type>>
         IN  IF CanStart(k)             \* COORD-02, COORD-04
             THEN Serve(Begun(rest, type), said \o InTaskOrder(Sources, Trigger))
             ELSE Serve(rest, Append(said, <<"rejected", type, "NOT_ALL_REQUIRED_TASKS_RUNNING">>))

Enqueued(queue, type) ==
    IF type = "checkpoint" THEN Append(queue, type)
    ELSE SelectSeq(queue, LAMBDA q : q = "savepoint") \o <<type>>
         \o SelectSeq(queue, LAMBDA q : q # "savepoint")

OnRequest(k, type) ==
    IF CanStart(k) THEN Serve([k EXCEPT !.queue = Enqueued(@, type)], <<>>)
    ELSE CoordinatorStep(k, <<<<"rejected", type, "NOT_ALL_REQUIRED_TASKS_RUNNING">>>>)

------------------------------------------------------------------------------
(* The end of a pending checkpoint. *)

Without(k, n) == [k EXCEPT !.pending = SelectSeq(@, LAMBDA p : p.id # n)]

(* COORD-09: what was collected goes, and every task is told.               *)
AbortEffects(p, reason) ==
    LET Discard(t) == <<"discard_state", t, p.id>>
        Notify(t) == <<"notify_abort", t, p.id>>
    IN  <<<<"abort", p.id, reason>>>> \o InTaskOrder(Tasks \ p.missing, Discard)
        \o InTaskOrder(Tasks, Notify)

Abort(k, p, reason, said) ==
    CoordinatorStep(Without(k, p.id), said \o AbortEffects(p, reason))

(* The pending ones that Which picks are aborted, oldest first.             *)
RECURSIVE AbortAll(_, _, _, _)
AbortAll(k, Which(_), reason, said) ==
    LET ended == SelectSeq(k.pending, LAMBDA p : Which(p))
    IN  IF ended = <<>> THEN CoordinatorStep(k, said)
        ELSE LET step == Abort(k, Head(ended), reason, said)
             IN  AbortAll(step.coordinator, Which, reason, step.out)

(* COORD-08: store, then end the older ones, then notify; SUB-05.           *)
Complete(k, p, said) ==
    IF ~GoesToStore(p) THEN Serve(Without(k, p.id), Append(said, <<"complete", p.id>>))
    ELSE LET added == OnAdd(k.store, p.id, p.type)
             stored == [Without(k, p.id) EXCEPT !.store = added.store]
             Gone(e) == e[1] = "discard"
             subsumed == SelectSeq(added.out, LAMBDA e : e[1] = "subsumed")
             ended == AbortAll(stored, LAMBDA q : IsSubsumedBy(q, p.id), "CHECKPOINT_SUBSUMED",
                               said \o Those(added.out, Gone) \o <<<<"complete", p.id>>>>)
             Notify(t) == <<<<"notify_complete", t, p.id>>>>
                          \o [i \in DOMAIN subsumed |-> <<"notify_subsumed", t, subsumed[i][2]>>]
             all == InTaskOrder(Tasks, Notify)
             RECURSIVE Flat(_)
             Flat(i) == IF i > Len(all) THEN <<>> ELSE all[i] \o Flat(i + 1)
         IN  Serve(ended.coordinator, ended.out \o Flat(1))

------------------------------------------------------------------------------
(* Messages of tasks; a task outside Tasks is a stranger to the plan.       *)

OnAcknowledge(k, t, n) ==
    IF ~IsPendingId(k, n) THEN CoordinatorStep(k, <<<<"discard_state", t, n>>>>)
    ELSE
    LET p == PendingOf(k, n)
        heard == [p EXCEPT !.missing = @ \ {t}]
        after == [k EXCEPT !.pending = [i \in DOMAIN @ |-> IF @[i].id = n THEN heard ELSE @[i]]]
    IN  IF t \notin Tasks
        THEN CoordinatorStep(k, <<<<"acknowledged", t, n, "UNKNOWN">>, <<"discard_state", t, n>>>>)
        ELSE IF ~IsFirstAcknowledgement(p, t)
        THEN CoordinatorStep(k, <<<<"acknowledged", t, n, "DUPLICATE">>>>)
        ELSE IF IsFullyAcknowledged(heard)
        THEN Complete(after, heard, <<<<"acknowledged", t, n, "SUCCESS">>>>)
        ELSE CoordinatorStep(after, <<<<"acknowledged", t, n, "SUCCESS">>>>)

OnDecline(k, n, reason) ==
    IF ~IsPendingId(k, n) THEN CoordinatorStep(k, <<>>)
    ELSE LET step == Abort(k, PendingOf(k, n), reason, <<>>) IN Serve(step.coordinator, step.out)

------------------------------------------------------------------------------
(* Time and statuses. *)

(* COORD-10: one unit passes; what is due ends, each followed by the queue. *)
RECURSIVE Expire(_, _)
Expire(k, said) ==
    LET due == SelectSeq(k.pending, LAMBDA p : IsExpired(p))
    IN  IF due = <<>> THEN CoordinatorStep(k, said)
        ELSE LET gone == Abort(k, Head(due), "CHECKPOINT_EXPIRED", said)
                 served == Serve(gone.coordinator, gone.out)
             IN  Expire(served.coordinator, served.out)

OnTick(k) == Expire([k EXCEPT !.pending = [i \in DOMAIN @ |-> [@[i] EXCEPT !.age = @ + 1]]], <<>>)

(* COORD-12 *)
Suspend(k) ==
    LET reject == [i \in DOMAIN k.queue |-> <<"rejected", k.queue[i], "COORDINATOR_SUSPEND">>]
    IN  AbortAll([k EXCEPT !.queue = <<>>], LAMBDA p : TRUE, "COORDINATOR_SUSPEND", reject)

OnJobStatus(k, running) ==
    IF running THEN CoordinatorStep([k EXCEPT !.running = TRUE], <<>>)
    ELSE Suspend([k EXCEPT !.running = FALSE])

OnFailTasks(k, tasks) == Suspend([k EXCEPT !.running = FALSE, !.up = @ \ tasks])

OnTaskStatus(k, t, running) ==
    CoordinatorStep([k EXCEPT !.up = IF running THEN @ \cup {t} ELSE @ \ {t}], <<>>)

(* ONCE-04: the newest retained one, 0 for the beginning.                   *)
OnRestoreRequest(k) == CoordinatorStep(k, <<<<"restored", LatestId(k.store)>>>>)
==============================================================================
