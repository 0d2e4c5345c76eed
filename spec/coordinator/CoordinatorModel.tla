-------------------------- MODULE CoordinatorModel ---------------------------
(***************************************************************************)
(* The coordinator in its environment: requests, acknowledgements that may *)
(* be repeated, late, or from an unknown task, declines, time, tasks that  *)
(* fail, a job that restarts, a store that fails and a coordinator that is *)
(* replaced.                                                               *)
(*                                                                         *)
(* Rules COORD-01 to COORD-14, COORD-19 to COORD-22, COORD-29, SUB-02 to   *)
(* SUB-05, SUB-11 are stated here over one step: `coordinator` before and  *)
(* after, the event and the effects in out'. The rules state the behaviour *)
(* of each generation again, so that they do not use the operators that    *)
(* they judge. OnlyOlderAreSubsumed is the coordinator's half of SUB-01.   *)
(***************************************************************************)
EXTENDS Coordinator

CONSTANTS
    M,              \* maximum number of requested checkpoints and savepoints
    Savepoints      \* savepoints are requested

VARIABLES
    coordinator,    \* see CoordinatorType
    out             \* the last event, then its effects

vars == <<coordinator, out>>
k == coordinator
Ids == 1 .. M
Stranger == Greatest(Tasks) + 1

(* The events of the environment; a model replaces these. *)
Asked == {ByHand(type) : type \in IF Savepoints THEN RequestTypes ELSE {"checkpoint"}}
Reasons == {"ASYNC_EXCEPTION"}      \* reasons of declines
StoreFaults == {}                   \* ways in which the store may fail
Restarts == FALSE                   \* the coordinator may be replaced
Failing == Sources                  \* the tasks that may fail
JobRestarts == TRUE                 \* the job may leave RUNNING without a failed task

EventKinds ==
    {"request", "acknowledge", "decline", "tick", "job_status", "fail_tasks", "task_status", "restore",
     "store_fails", "coordinator_restart"}

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
    /\ t \notin k.up
    /\ Take(<<"task_status", t>>, OnTaskStatus(k, t, TRUE))

Restore ==
    /\ ~k.running
    /\ Take(<<"restore">>, OnRestoreRequest(k))

StoreFails(when) ==
    /\ k.fault = "none"
    /\ Take(<<"store_fails", when>>, OnStoreFails(k, when))

CoordinatorRestart ==
    /\ Restarts
    /\ Take(<<"coordinator_restart">>, OnCoordinatorRestart(k))

Next ==
    \/ \E r \in Asked : Request(r)
    \/ \E n \in Ids :
        \/ \E reason \in Reasons : Decline(n, reason)
        \/ \E t \in Tasks \cup {Stranger} : Acknowledge(t, n)
    \/ Tick \/ LeaveRunning \/ EnterRunning \/ Restore
    \/ \E t \in Failing : FailTasks(t) \/ TaskStatus(t)
    \/ \E when \in StoreFaults : StoreFails(when)
    \/ CoordinatorRestart

Spec == Init /\ [][Next]_vars

------------------------------------------------------------------------------
(* Terms of the rules. *)

Comes(kind) == out'[1][1] = kind
Effects == Tail(out')
EffectsOf(kind) == SelectSeq(Effects, LAMBDA e : e[1] = kind)
PendingIds(c) == {c.pending[i].id : i \in DOMAIN c.pending}
Started == PendingIds(k') \ PendingIds(k)
Aborted(reason) == {n \in Ids : \E i \in DOMAIN Effects : Effects[i] = <<"abort", n, reason>>}
Completed == {n \in Ids : \E i \in DOMAIN Effects : Effects[i] = <<"complete", n>>}
Unfit ==
    \/ ~k.running
    \/ IF CoordinatorHas("awaits_running") THEN k.up # Tasks ELSE ~(Sources \subseteq k.up)
Task == out'[1][2]
Acked == out'[1][3]
AckedPending == Comes("acknowledge") /\ Acked \in PendingIds(k)
IsComplete == AckedPending /\ PendingOf(k, Acked).missing = {Task}
IsStored(p) == p.type = "checkpoint" \/ CoordinatorHas("stores_savepoints")
StoreThrows == IsComplete /\ k.fault # "none" /\ IsStored(PendingOf(k, Acked))

(* The arriving request; its priority; the queue after it has joined, and    *)
(* the requests that have left the queue in this step.                       *)
Request1 == [type |-> out'[1][2], forced |-> out'[1][3], periodic |-> out'[1][4]]
Urgency(r) ==
    (IF r.type = "savepoint" THEN 4 ELSE 0) + (IF r.forced THEN 2 ELSE 0) + (IF r.periodic THEN 0 ELSE 1)
Whole ==
    IF ~Comes("request") \/ Effects = <<Rejected(Request1, "TOO_MANY_CONCURRENT_CHECKPOINTS")>> THEN k.queue
    ELSE SelectSeq(k.queue, LAMBDA q : Urgency(q) >= Urgency(Request1)) \o <<Request1>>
         \o SelectSeq(k.queue, LAMBDA q : Urgency(q) < Urgency(Request1))
Left == SubSeq(Whole, 1, Len(Whole) - Len(k'.queue))
IsEarly(r) == k'.pause > 0 /\ ~r.forced /\ (r.periodic \/ ~CoordinatorHas("pauses_periodic"))
Ends == Comes("coordinator_restart") \/ ((Comes("job_status") \/ Comes("fail_tasks")) /\ ~k'.running)

COORD_01 == [][
    /\ (Comes("request") /\ Unfit) =>
        /\ Len(Effects) = 1 /\ Effects[1][1] = "rejected" /\ Effects[1][2] = Request1.type /\ k' = k
        /\ Effects[1][3] = "NOT_ALL_REQUIRED_TASKS_RUNNING" \/ Request1.periodic \/ IsEarly(Request1)
    /\ Unfit => Started = {} /\ k'.next = k.next]_vars

COORD_02 == [][
    /\ k'.next = k.next + Cardinality({i \in DOMAIN Effects : Effects[i][1] = "trigger_task"}) \div Cardinality(Sources)
    /\ \A n \in Started : n \in k.next .. k'.next - 1]_vars

COORD_03 == [][\A i \in DOMAIN Effects :
    (/\ Effects[i][1] = "trigger_task" /\ Effects[i][4] = "checkpoint"
     /\ \A q \in Range(Whole) : q.type = "checkpoint" => ~q.forced) =>
        Cardinality({n \in PendingIds(k') : n <= Effects[i][3]}) <= MaxConcurrent \/ Effects[i][3] \notin PendingIds(k')]_vars

COORD_04 == [][\A n \in Started :
    LET Trigger(t) == <<"trigger_task", t, n, PendingOf(k', n).type>>
    IN  /\ SelectSeq(Effects, LAMBDA e : e[1] = "trigger_task" /\ e[3] = n) = InTaskOrder(Sources, Trigger)
        /\ PendingOf(k', n).missing = Tasks]_vars

COORD_05 == [][AckedPending =>
    LET missing == PendingOf(k, Acked).missing
        result == IF Task \notin Tasks THEN "UNKNOWN" ELSE IF Task \in missing THEN "SUCCESS" ELSE "DUPLICATE"
    IN  /\ Head(Effects) = <<"acknowledged", Task, Acked, result>>
        /\ result = "DUPLICATE" => Len(Effects) = 1 /\ k' = k
        /\ result = "UNKNOWN" => Tail(Effects) = <<<<"discard_state", Task, Acked>>>> /\ k' = k
        /\ (result = "SUCCESS" /\ missing # {Task}) => PendingOf(k', Acked).missing = missing \ {Task}]_vars

COORD_06 == [][(Comes("acknowledge") /\ ~AckedPending) =>
    Effects = <<<<"discard_state", Task, Acked>>>> /\ k' = k]_vars

COORD_07 == [][StoreThrows \/ Completed = IF IsComplete THEN {Acked} ELSE {}]_vars

(* The kinds of effects, in the order of their ranks. *)
Rank(e) ==
    CASE e[1] = "acknowledged" -> 1
      [] e[1] = "discard" -> IF CoordinatorHas("completes_first") THEN 3 ELSE 2
      [] e[1] = "complete" -> IF CoordinatorHas("completes_first") THEN 2 ELSE 3
      [] e[1] \in {"abort", "discard_state", "notify_abort"} -> 4
      [] e[1] \in {"notify_complete", "notify_subsumed"} -> 5
      [] OTHER -> 6

COORD_08 == [][\A n \in Completed : (PendingOf(k, n).type = "checkpoint" /\ ~StoreThrows) =>
    LET Notify(t) == <<"notify_complete", t, n>>
    IN  /\ \A i, j \in DOMAIN Effects : i < j => Rank(Effects[i]) <= Rank(Effects[j])
        /\ EffectsOf("notify_complete") = InTaskOrder(Tasks, Notify)
        /\ LatestId(k'.store) = n]_vars

COORD_09 == [][Comes("decline") =>
    LET n == out'[1][2]
        Discard(t) == <<"discard_state", t, n>>
        Notify(t) == <<"notify_abort", t, n>>
    IN  IF n \in PendingIds(k)
        THEN /\ n \notin PendingIds(k')
             /\ IsPrefixOf(<<<<"abort", n, out'[1][3]>>>>
                           \o InTaskOrder(Tasks \ PendingOf(k, n).missing, Discard), Effects)
             /\ CoordinatorHas("tells_of_aborts") =>
                    SelectSeq(EffectsOf("notify_abort"), LAMBDA e : e[3] = n) = InTaskOrder(Tasks, Notify)
        ELSE Effects = <<>> /\ k' = k]_vars

COORD_10 == [][Comes("tick") =>
    /\ Aborted("CHECKPOINT_EXPIRED") = {n \in PendingIds(k) : PendingOf(k, n).age + 1 = Timeout}
    /\ \A n \in PendingIds(k) \cap PendingIds(k') : PendingOf(k', n).age = PendingOf(k, n).age + 1]_vars

(* No request waits below the limit, except one that the min pause delays; a *)
(* request that starts was first in the queue.                               *)
COORD_11 ==
    k.queue # <<>> =>
        /\ ~Unfit /\ CoordinatorHas("queues")
        /\ \/ ~Head(k.queue).forced /\ Len(k.pending) >= MaxConcurrent
           \/ MinPause > 0 /\ \A q \in Range(k.queue) : q.periodic /\ ~q.forced

COORD_12 == [][((Comes("job_status") \/ Comes("fail_tasks")) /\ ~k'.running) =>
    /\ k'.pending = <<>> /\ k'.queue = <<>>
    /\ Aborted("COORDINATOR_SUSPEND") = PendingIds(k)
    /\ EffectsOf("rejected") = [i \in DOMAIN k.queue |-> <<"rejected", k.queue[i].type, "COORDINATOR_SUSPEND">>]
    /\ \A n \in PendingIds(k) : \A t \in Tasks \ PendingOf(k, n).missing :
        \E i \in DOMAIN Effects : Effects[i] = <<"discard_state", t, n>>]_vars

COORD_13 == [][
    /\ Len(k'.queue) <= Len(Whole) /\ k'.queue = SubSeq(Whole, Len(Left) + 1, Len(Whole))
    /\ \A i, j \in DOMAIN k'.queue : i < j => Urgency(k'.queue[i]) >= Urgency(k'.queue[j])]_vars

COORD_14 == [][~Ends =>
    LET early == {i \in DOMAIN Left : IsEarly(Left[i])}
    IN  /\ Cardinality(early) = Len(SelectSeq(Effects, LAMBDA e :
                e[1] = "rejected" /\ e[3] = "MINIMUM_TIME_BETWEEN_CHECKPOINTS"))
        /\ ~Unfit => k'.next - k.next = Len(Left) - Cardinality(early)]_vars

(* If an end starts no request, each of its turns removes one head that is   *)
(* too early.                                                                *)
TurnsDue ==
    LET ended == Cardinality(PendingIds(k) \ PendingIds(k'))
        dropped == {i \in DOMAIN k.store : <<"discard", k.store[i].id>> \in Range(Effects)}
    IN  ended * (IF CoordinatorHas("turn_after_cleaning") THEN 2 ELSE 1)
        + (IF CoordinatorHas("turn_after_drop") THEN Cardinality(dropped) ELSE 0)

COORD_29 == [][(Comes("acknowledge") \/ Comes("decline")) /\ ~Unfit /\ k'.next = k.next =>
    LET early == {i \in DOMAIN Whole : i <= TurnsDue /\ \A j \in 1 .. i :
                      Len(k'.pending) < MaxConcurrent /\ IsEarly(Whole[j])}
    IN  Len(Left) = Cardinality(early)]_vars

COORD_19 == [][~CoordinatorHas("tells_of_aborts") => EffectsOf("notify_abort") = <<>>]_vars

COORD_20 == [][StoreThrows =>
    /\ k'.store = k.store /\ Acked \notin PendingIds(k') /\ k'.pause = k.pause
    /\ \A p \in Range(k.pending) : p.id # Acked => p \in Range(k'.pending)
    /\ EffectsOf("notify_complete") = <<>> /\ Range(EffectsOf("discard")) \subseteq {<<"discard", Acked>>}
    /\ CoordinatorHas("completes_first") \/
        (Acked \in Aborted("FINALIZE_CHECKPOINT_FAILURE") /\ Completed = {})
    /\ <<"fail", "CheckpointException">> \in Range(Effects)]_vars

COORD_21 == [][StoreThrows =>
    IF CoordinatorHas("doubts_the_store") /\ k.fault = "maybe"
    THEN <<"discard", Acked>> \notin Range(Effects) /\ \E e \in Durable(k') : e.id = Acked
    ELSE <<"discard", Acked>> \in Range(Effects)]_vars

COORD_22 == [][Comes("coordinator_restart") =>
    /\ Effects = <<>> /\ k'.next = k.next /\ k'.pending = <<>> /\ k'.queue = <<>> /\ k'.up = {}
    /\ k'.failures = NoFailures /\ k'.pause = 0
    /\ Range(k'.store) = Range(k.store) \cup k.unseen
    /\ \A i, j \in DOMAIN k'.store : i < j => k'.store[i].id < k'.store[j].id]_vars

SUB_02 == [][\A n \in Completed : (PendingOf(k, n).type = "checkpoint" /\ ~StoreThrows) =>
    \A i \in DOMAIN k.pending : LET p == k.pending[i] IN
        (p.id < n /\ p.type = "checkpoint") =>
            /\ p.id \in Aborted("CHECKPOINT_SUBSUMED") /\ p.id \notin PendingIds(k')
            /\ \A t \in Tasks \ p.missing : \E j \in DOMAIN Effects : Effects[j] = <<"discard_state", t, p.id>>]_vars

SUB_03 == [][\A n \in Completed : \A i \in DOMAIN k.pending :
    k.pending[i].id > n => k.pending[i] \in Range(k'.pending)]_vars

SUB_04 == [][\A n \in Completed : \A i \in DOMAIN k.pending :
    (k.pending[i].type = "savepoint" /\ k.pending[i].id # n) => k.pending[i] \in Range(k'.pending)]_vars

SUB_05 == [][\A n \in Completed :
    (PendingOf(k, n).type = "savepoint" /\ ~CoordinatorHas("stores_savepoints")) =>
        k'.store = k.store /\ EffectsOf("abort") = <<>> /\ EffectsOf("notify_complete") = <<>>]_vars

SUB_11 == [][\A n \in Completed :
    LET Notify(t) == <<"notify_complete", t, n>>
    IN  (PendingOf(k, n).type = "savepoint" /\ CoordinatorHas("stores_savepoints") /\ ~StoreThrows) =>
        /\ LatestId(k'.store) = n
        /\ \A p \in Range(k.pending) :
            (p.id < n /\ p.type = "checkpoint") => p.id \in Aborted("CHECKPOINT_SUBSUMED")
        /\ EffectsOf("notify_complete") = InTaskOrder(Tasks, Notify)]_vars

OnlyOlderAreSubsumed == [][\A n \in Aborted("CHECKPOINT_SUBSUMED") :
    /\ \E m \in Completed : n < m
    /\ Len(SelectSeq(Effects, LAMBDA e : e = <<"abort", n, "CHECKPOINT_SUBSUMED">>)) = 1]_vars

------------------------------------------------------------------------------
(* Replacements: each replaces the operator in its comment in a model that   *)
(* must fail.                                                                *)

EveryTimeIsTheFirst(p, t) == TRUE                           \* IsFirstAcknowledgement
OneMayBeMissing(p) == Cardinality(p.missing) <= 1           \* IsFullyAcknowledged
SubsumesNone(p, n) == FALSE                                 \* IsSubsumedBy
SubsumesNewerToo(p, n) == p.type # "savepoint"              \* IsSubsumedBy
SubsumesSavepoints(p, n) == p.id < n                        \* IsSubsumedBy
StoresSavepoints(p) == TRUE                                 \* GoesToStore
StartsAnyway(c) == c.running                                \* CanStart
OneTurn(ended, dropped) == 1                                \* TurnsAfter
AlwaysRoom(c) == TRUE                                       \* HasRoom
NeverExpires(p) == FALSE                                    \* IsExpired
KeepsState(p, reason) == <<<<"abort", p.id, reason>>>>      \* AbortEffects
ForgetsPending(c) == CoordinatorStep([c EXCEPT !.queue = <<>>], <<>>)   \* Suspend
TellsNobody(p) == <<>>                                      \* NotifyAbort
TellsTheFirst(p) == <<<<"notify_abort", Least(Tasks), p.id>>>>  \* NotifyAbort
PeriodicFirst(r, other) == r.periodic /\ ~other.periodic    \* GoesBefore
EverybodyPauses(r) == TRUE                                  \* KeepsPause
NobodyPauses(c, r) == FALSE                                 \* IsPaused
NeverInDoubt(fault) == FALSE                                \* IsPossiblyStored
OnlyCheckpoints(p) == p.type = "checkpoint"                 \* GoesToStore
OnlyWhatIsListed(c) == Range(c.store)                       \* Durable
LeavesWaiting(step) == step                                 \* TurnAfter
DrawsItAgain(n) == n                                        \* IdAfter
AwaitsSources(n, type) == [id |-> n, type |-> type, missing |-> Sources, age |-> 0]     \* NewPending
KeepsLateState(c, t, n) == CoordinatorStep(c, <<>>)         \* OnLateAnswer
StoresNothing(p) == FALSE                                   \* GoesToStore
CallsItDeclined(p, reason) ==                               \* AbortEffects
    LET Discard(t) == <<"discard_state", t, p.id>>
    IN  <<<<"abort", p.id, "CHECKPOINT_DECLINED">>>> \o InTaskOrder(Tasks \ p.missing, Discard)
RejectsAsUnfit(c) ==                                        \* Suspend
    LET reject == [i \in DOMAIN c.queue |-> Rejected(c.queue[i], "NOT_ALL_REQUIRED_TASKS_RUNNING")]
    IN  AbortAll([c EXCEPT !.queue = <<>>], LAMBDA p : TRUE, "COORDINATOR_SUSPEND", reject)
StoreNeverThrows(step, p) ==                                \* FailToStore
    CallComplete(Succeed(CoordinatorStep([step.coordinator EXCEPT !.fault = "none"], step.out), p), p)

------------------------------------------------------------------------------
(* Constants of models. *)

One == 1
Yes == TRUE
No == FALSE
Nobody == {}
Others == Tasks \ Sources
AllFaults == {"before", "after", "maybe"}
OfAllKinds ==
    {Periodic, ByHand("checkpoint"), [ByHand("checkpoint") EXCEPT !.forced = TRUE],
     [ByHand("savepoint") EXCEPT !.forced = FALSE]}
==============================================================================
