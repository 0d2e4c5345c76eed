-------------------------- MODULE CoordinatorModel ---------------------------
(***************************************************************************)
(* The coordinator in its environment: requests, acknowledgements that may *)
(* be repeated, late, or of a stranger, declines, time that passes, tasks  *)
(* that fail, and a job that restarts.                                     *)
(*                                                                         *)
(* Rules COORD-01 to COORD-12 and SUB-02 to SUB-05 are stated here over    *)
(* one step: `coordinator` before and after, the event and the effects in  *)
(* out'. OnlyOlderAreSubsumed is the coordinator's half of SUB-01.         *)
(***************************************************************************)
EXTENDS Coordinator

CONSTANTS
    M,              \* at most M checkpoints and savepoints are asked for
    Savepoints      \* whether savepoints are asked for

VARIABLES
    coordinator,    \* see CoordinatorType
    out             \* the last event, then the effects that it had

vars == <<coordinator, out>>
k == coordinator
Ids == 1 .. M
Stranger == Greatest(Tasks) + 1
Asked == IF Savepoints THEN RequestTypes ELSE {"checkpoint"}

EventKinds == {"request", "acknowledge", "decline", "tick", "job_status", "fail_tasks", "task_status", "restore"}

TypeOK ==
    /\ coordinator \in CoordinatorType
    /\ \A i \in DOMAIN out : out[i] # <<>>
    /\ out # <<>> => out[1][1] \in EventKinds

Init == coordinator = NewCoordinator /\ out = <<>>

------------------------------------------------------------------------------
(* System: the coordinator takes the event. *)

Take(event, step) == coordinator' = step.coordinator /\ out' = <<event>> \o step.out

(* Environment. *)

Request(type) ==
    /\ k.next + Len(k.queue) <= M
    /\ Take(<<"request", type>>, OnRequest(k, type))

Acknowledge(t, n) ==
    /\ n < k.next
    /\ Take(<<"acknowledge", t, n>>, OnAcknowledge(k, t, n))

Decline(n) ==
    /\ n < k.next
    /\ Take(<<"decline", n>>, OnDecline(k, n, "ASYNC_EXCEPTION"))

Tick ==
    /\ k.pending # <<>>
    /\ Take(<<"tick">>, OnTick(k))

LeaveRunning ==
    /\ k.running
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

Next ==
    \/ \E type \in Asked : Request(type)
    \/ \E n \in Ids : Decline(n) \/ \E t \in Tasks \cup {Stranger} : Acknowledge(t, n)
    \/ Tick \/ LeaveRunning \/ EnterRunning \/ Restore
    \/ \E t \in Sources : FailTasks(t) \/ TaskStatus(t)

Spec == Init /\ [][Next]_vars

------------------------------------------------------------------------------
(* Words for the rules. *)

Comes(kind) == out'[1][1] = kind
Said == Tail(out')
Saying(kind) == SelectSeq(Said, LAMBDA e : e[1] = kind)
PendingIds(c) == {c.pending[i].id : i \in DOMAIN c.pending}
Started == PendingIds(k') \ PendingIds(k)
Aborted(reason) == {n \in Ids : \E i \in DOMAIN Said : Said[i] = <<"abort", n, reason>>}
Completed == {n \in Ids : \E i \in DOMAIN Said : Said[i] = <<"complete", n>>}
Unfit == ~k.running \/ k.up # Tasks
Task == out'[1][2]
Acked == out'[1][3]
AckedPending == Comes("acknowledge") /\ Acked \in PendingIds(k)

COORD_01 == [][
    /\ (Comes("request") /\ Unfit) =>
        Said = <<<<"rejected", out'[1][2], "NOT_ALL_REQUIRED_TASKS_RUNNING">>>> /\ k' = k
    /\ Unfit => Started = {} /\ k'.next = k.next]_vars

COORD_02 == [][
    /\ k'.next = k.next + Cardinality({i \in DOMAIN Said : Said[i][1] = "trigger_task"}) \div Cardinality(Sources)
    /\ \A n \in Started : n \in k.next .. k'.next - 1]_vars

COORD_03 == [][\A i \in DOMAIN Said :
    (Said[i][1] = "trigger_task" /\ Said[i][4] = "checkpoint") =>
        Cardinality({n \in PendingIds(k') : n <= Said[i][3]}) <= MaxConcurrent \/ Said[i][3] \notin PendingIds(k')]_vars

COORD_04 == [][\A n \in Started :
    LET Trigger(t) == <<"trigger_task", t, n, PendingOf(k', n).type>>
    IN  /\ SelectSeq(Said, LAMBDA e : e[1] = "trigger_task" /\ e[3] = n) = InTaskOrder(Sources, Trigger)
        /\ PendingOf(k', n).missing = Tasks]_vars

COORD_05 == [][AckedPending =>
    LET missing == PendingOf(k, Acked).missing
        result == IF Task \notin Tasks THEN "UNKNOWN" ELSE IF Task \in missing THEN "SUCCESS" ELSE "DUPLICATE"
    IN  /\ Head(Said) = <<"acknowledged", Task, Acked, result>>
        /\ result = "DUPLICATE" => Len(Said) = 1 /\ k' = k
        /\ result = "UNKNOWN" => Tail(Said) = <<<<"discard_state", Task, Acked>>>> /\ k' = k
        /\ (result = "SUCCESS" /\ missing # {Task}) => PendingOf(k', Acked).missing = missing \ {Task}]_vars

COORD_06 == [][(Comes("acknowledge") /\ ~AckedPending) =>
    Said = <<<<"discard_state", Task, Acked>>>> /\ k' = k]_vars

COORD_07 == [][Completed =
    IF AckedPending /\ PendingOf(k, Acked).missing = {Task} THEN {Acked} ELSE {}]_vars

(* The kinds of effects, in the order of their ranks. *)
Rank(e) ==
    CASE e[1] = "acknowledged" -> 1
      [] e[1] = "discard" -> 2
      [] e[1] = "complete" -> 3
      [] e[1] \in {"abort", "discard_state", "notify_abort"} -> 4
      [] e[1] \in {"notify_complete", "notify_subsumed"} -> 5
      [] OTHER -> 6

COORD_08 == [][\A n \in Completed : PendingOf(k, n).type = "checkpoint" =>
    LET Notify(t) == <<"notify_complete", t, n>>
    IN  /\ \A i, j \in DOMAIN Said : i < j => Rank(Said[i]) <= Rank(Said[j])
        /\ Saying("notify_complete") = InTaskOrder(Tasks, Notify)
        /\ LatestId(k'.store) = n]_vars

COORD_09 == [][Comes("decline") =>
    LET n == out'[1][2]
    IN  IF n \in PendingIds(k)
        THEN /\ IsPrefixOf(AbortEffects(PendingOf(k, n), "ASYNC_EXCEPTION"), Said)
             /\ n \notin PendingIds(k')
        ELSE Said = <<>> /\ k' = k]_vars

COORD_10 == [][Comes("tick") =>
    /\ Aborted("CHECKPOINT_EXPIRED") = {n \in PendingIds(k) : PendingOf(k, n).age + 1 = Timeout}
    /\ \A n \in PendingIds(k) \cap PendingIds(k') : PendingOf(k', n).age = PendingOf(k, n).age + 1]_vars

(* Nothing waits while there is room; what starts was first in the queue.    *)
COORD_11 ==
    k.queue # <<>> => Head(k.queue) = "checkpoint" /\ Len(k.pending) >= MaxConcurrent /\ ~Unfit

COORD_12 == [][((Comes("job_status") \/ Comes("fail_tasks")) /\ ~k'.running) =>
    /\ k'.pending = <<>> /\ k'.queue = <<>>
    /\ Aborted("COORDINATOR_SUSPEND") = PendingIds(k)
    /\ Len(Saying("rejected")) = Len(k.queue)
    /\ \A n \in PendingIds(k) : \A t \in Tasks \ PendingOf(k, n).missing :
        \E i \in DOMAIN Said : Said[i] = <<"discard_state", t, n>>]_vars

SUB_02 == [][\A n \in Completed : PendingOf(k, n).type = "checkpoint" =>
    \A i \in DOMAIN k.pending : LET p == k.pending[i] IN
        (p.id < n /\ p.type = "checkpoint") =>
            /\ p.id \in Aborted("CHECKPOINT_SUBSUMED") /\ p.id \notin PendingIds(k')
            /\ \A t \in Tasks \ p.missing : \E j \in DOMAIN Said : Said[j] = <<"discard_state", t, p.id>>]_vars

SUB_03 == [][\A n \in Completed : \A i \in DOMAIN k.pending :
    k.pending[i].id > n => k.pending[i] \in Range(k'.pending)]_vars

SUB_04 == [][\A n \in Completed : \A i \in DOMAIN k.pending :
    (k.pending[i].type = "savepoint" /\ k.pending[i].id # n) => k.pending[i] \in Range(k'.pending)]_vars

SUB_05 == [][\A n \in Completed : PendingOf(k, n).type = "savepoint" =>
    k'.store = k.store /\ Saying("abort") = <<>> /\ Saying("notify_complete") = <<>>]_vars

OnlyOlderAreSubsumed == [][\A n \in Aborted("CHECKPOINT_SUBSUMED") :
    /\ \E m \in Completed : n < m
    /\ Len(SelectSeq(Said, LAMBDA e : e = <<"abort", n, "CHECKPOINT_SUBSUMED">>)) = 1]_vars

------------------------------------------------------------------------------
(* Replacements: each is put in the place of the operator in its comment by  *)
(* a model that must fail.                                                   *)

EveryTimeIsTheFirst(p, t) == TRUE                           \* IsFirstAcknowledgement
OneMayBeMissing(p) == Cardinality(p.missing) <= 1           \* IsFullyAcknowledged
SubsumesNone(p, n) == FALSE                                 \* IsSubsumedBy
SubsumesNewerToo(p, n) == p.type # "savepoint"              \* IsSubsumedBy
SubsumesSavepoints(p, n) == p.id < n                        \* IsSubsumedBy
StoresSavepoints(p) == TRUE                                 \* GoesToStore
StartsAnyway(c) == c.running                                \* CanStart
AlwaysRoom(c) == TRUE                                       \* HasRoom
NeverExpires(p) == FALSE                                    \* IsExpired
TellsNobody(p, reason) == <<<<"abort", p.id, reason>>>>     \* AbortEffects
ForgetsPending(c) == CoordinatorStep([c EXCEPT !.queue = <<>>], <<>>)   \* Suspend
==============================================================================
