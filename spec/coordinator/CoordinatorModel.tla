-------------------------- MODULE CoordinatorModel ---------------------------
(***************************************************************************)
(* This module states rules COORD-01 to COORD-14, COORD-19 to COORD-22,    *)
(* COORD-29, COORD-33 to COORD-36, SUB-02 to SUB-06 and SUB-11 over one    *)
(* step: `coordinator` before and after, the event and the effects in      *)
(* out'. The rules do not use the operators that they check: they state    *)
(* the behaviour of each generation again. OnlyOlderAreSubsumed is the     *)
(* coordinator's part of SUB-01.                                           *)
(***************************************************************************)
EXTENDS CoordinatorEnvironment

------------------------------------------------------------------------------
(* Terms of the rules. *)

EventIs(kind) == out'[1][1] = kind
Effects == Tail(out')
EffectsOf(kind) == SelectSeq(Effects, LAMBDA e : e[1] = kind)
PendingIds(c) == {c.pending[i].id : i \in DOMAIN c.pending}
Started == PendingIds(k') \ PendingIds(k)
Aborted(reason) == {n \in Ids : \E i \in DOMAIN Effects : Effects[i] = <<"abort", n, reason>>}
Completed == {n \in Ids : \E i \in DOMAIN Effects : Effects[i] = <<"complete", n>>}
CannotStart ==
    \/ ~k.running
    \/ IF CoordinatorHas("every_task_must_run") THEN k.up # Tasks ELSE ~(Sources \subseteq k.up)
HoldsBack(c) == Len(c.deletions) > MaxConcurrent
HasToWait(r) == ~r.forced /\ Len(k.pending) >= MaxConcurrent
Task == out'[1][2]
Up == IF out'[1][3] THEN k.up \cup {Task} ELSE k.up \ {Task}     \* after the report of a task
AcknowledgedId == out'[1][3]
AcknowledgesPending == EventIs("acknowledge") /\ AcknowledgedId \in PendingIds(k)
IsComplete == AcknowledgesPending /\ PendingOf(k, AcknowledgedId).missing = {Task}
IsUnwritten == IsComplete /\ "metadata" \in k.io
IsStored(p) == p.type = "checkpoint" \/ CoordinatorHas("stores_savepoints")
StoreThrows == IsComplete /\ ~IsUnwritten /\ k.fault # "none" /\ IsStored(PendingOf(k, AcknowledgedId))

(* The arriving request, its priority, the queue after it has joined, and    *)
(* the requests that leave the queue in this step.                           *)
Arriving == [type |-> out'[1][2], forced |-> out'[1][3], periodic |-> out'[1][4]]
Urgency(r) ==
    (IF r.type = "savepoint" THEN 4 ELSE 0) + (IF r.forced THEN 2 ELSE 0) + (IF r.periodic THEN 0 ELSE 1)
Whole ==
    IF ~EventIs("request") \/ Effects = <<Rejected(Arriving, "TOO_MANY_CONCURRENT_CHECKPOINTS")>> THEN k.queue
    ELSE SelectSeq(k.queue, LAMBDA q : Urgency(q) >= Urgency(Arriving)) \o <<Arriving>>
         \o SelectSeq(k.queue, LAMBDA q : Urgency(q) < Urgency(Arriving))
Left == SubSeq(Whole, 1, Len(Whole) - Len(k'.queue))
IsEarly(r) == k'.pause > 0 /\ ~r.forced /\ (r.periodic \/ ~CoordinatorHas("pauses_periodic"))
Ends == EventIs("coordinator_restart") \/ ((EventIs("job_status") \/ EventIs("fail_tasks")) /\ ~k'.running)

COORD_01 == [][
    /\ (EventIs("request") /\ CannotStart /\ k.queue = <<>> /\ ~HoldsBack(k) /\ ~HasToWait(Arriving)) =>
        /\ Len(Effects) = 1 /\ Effects[1][1] = "rejected" /\ Effects[1][2] = Arriving.type /\ k' = k
        /\ Effects[1][3] = "NOT_ALL_REQUIRED_TASKS_RUNNING" \/ Arriving.periodic \/ IsEarly(Arriving)
    /\ CannotStart => Started = {} /\ k'.next = k.next
    /\ EventIs("task_status") => k'.up = Up]_vars

COORD_02 == [][
    /\ k'.next = k.next + Cardinality({i \in DOMAIN Effects : Effects[i][1] = "trigger_task"}) \div Cardinality(Sources)
    /\ \A n \in Started : n \in k.next .. k'.next - 1]_vars

COORD_03 == [][\A i \in DOMAIN Effects :
    (/\ Effects[i][1] = "trigger_task" /\ Effects[i][4] \in {"checkpoint", "full_checkpoint"}
     /\ \A q \in Range(Whole) : q.type = "checkpoint" => ~q.forced) =>
        Cardinality({n \in PendingIds(k') : n <= Effects[i][3]}) <= MaxConcurrent \/ Effects[i][3] \notin PendingIds(k')]_vars

COORD_04 == [][\A n \in Started :
    LET Trigger(t) == <<"trigger_task", t, n, AtTasks(PendingOf(k', n).type, k')>>
    IN  /\ SelectSeq(Effects, LAMBDA e : e[1] = "trigger_task" /\ e[3] = n) = InTaskOrder(Sources, Trigger)
        /\ PendingOf(k', n).missing = Tasks /\ PendingOf(k', n).age = 0]_vars

COORD_05 == [][AcknowledgesPending =>
    LET missing == PendingOf(k, AcknowledgedId).missing
        result == IF Task \notin Tasks THEN "UNKNOWN" ELSE IF Task \in missing THEN "SUCCESS" ELSE "DUPLICATE"
    IN  /\ Head(Effects) = <<"acknowledged", Task, AcknowledgedId, result>>
        /\ result = "DUPLICATE" => Len(Effects) = 1 /\ k' = k
        /\ result = "UNKNOWN" => Tail(Effects) = <<<<"discard_state", Task, AcknowledgedId>>>> /\ k' = k
        /\ (result = "SUCCESS" /\ missing # {Task}) => PendingOf(k', AcknowledgedId).missing = missing \ {Task}]_vars

COORD_06 == [][(EventIs("acknowledge") /\ ~AcknowledgesPending) =>
    Effects = <<<<"discard_state", Task, AcknowledgedId>>>> /\ k' = k]_vars

COORD_07 == [][
    /\ StoreThrows \/ IsUnwritten \/ Completed = IF IsComplete THEN {AcknowledgedId} ELSE {}
    /\ \A n \in PendingIds(k) \cap PendingIds(k') :
        PendingOf(k, n).missing \ PendingOf(k', n).missing
            \subseteq IF EventIs("acknowledge") /\ AcknowledgedId = n THEN {Task} ELSE {}
    /\ EventIs("coordinator_restart") \/ \A n \in PendingIds(k) \ PendingIds(k') :
        n \in Completed \/ \E i \in DOMAIN Effects : Effects[i][1] = "abort" /\ Effects[i][2] = n]_vars

(* Effects come in the order of their ranks. *)
Rank(e) ==
    CASE e[1] = "acknowledged" -> 1
      [] e[1] = "discard" -> IF CoordinatorHas("completes_before_storing") THEN 3 ELSE 2
      [] e[1] = "complete" -> IF CoordinatorHas("completes_before_storing") THEN 2 ELSE 3
      [] e[1] \in {"abort", "discard_state", "notify_abort"} -> 4
      [] e[1] \in {"notify_complete", "notify_subsumed"} -> 5
      [] OTHER -> 6

COORD_08 == [][\A n \in Completed : (PendingOf(k, n).type = "checkpoint" /\ ~StoreThrows) =>
    LET Notify(t) == <<"notify_complete", t, n>>
    IN  /\ \A i, j \in DOMAIN Effects : i < j => Rank(Effects[i]) <= Rank(Effects[j])
        /\ EffectsOf("notify_complete") = InTaskOrder(Tasks, Notify)
        /\ LatestId(k'.store) = n
        /\ {m \in PendingIds(k') : m < n /\ PendingOf(k', m).type = "checkpoint"} = {}]_vars

COORD_09 == [][EventIs("decline") =>
    LET n == out'[1][2]
        Discard(t) == <<"discard_state", t, n>>
        Notify(t) == <<"notify_abort", t, n>>
    IN  IF n \in PendingIds(k)
        THEN /\ n \notin PendingIds(k')
             /\ IsPrefixOf(<<<<"abort", n, out'[1][3]>>>>
                           \o InTaskOrder(Tasks \ PendingOf(k, n).missing, Discard), Effects)
             /\ SelectSeq(EffectsOf("notify_abort"), LAMBDA e : e[3] = n) =
                    IF CoordinatorHas("abort_notifications") THEN InTaskOrder(Tasks, Notify) ELSE <<>>
        ELSE Effects = <<>> /\ k' = k]_vars

COORD_10 == [][EventIs("tick") =>
    /\ Aborted("CHECKPOINT_EXPIRED") = {n \in PendingIds(k) : PendingOf(k, n).age + 1 = Timeout}
    /\ \A n \in PendingIds(k) \cap PendingIds(k') : PendingOf(k', n).age = PendingOf(k, n).age + 1]_vars

(* Below the limit of pending checkpoints, only the minimum pause delays a   *)
(* request. A request that starts was first in the queue.                    *)
COORD_11 ==
    (k.queue # <<>> /\ ~SlowCleaning) =>      \* else COORD_33
        /\ k.running /\ CoordinatorHas("queues_requests")
        /\ \/ HasToWait(Head(k.queue))
           \/ MinPause > 0 /\ \A q \in Range(k.queue) : q.periodic /\ ~q.forced

COORD_12 == [][((EventIs("job_status") \/ EventIs("fail_tasks")) /\ ~k'.running) =>
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
        /\ ~CannotStart => k'.next - k.next = Len(Left) - Cardinality(early)]_vars

(* For each deletion that begins in this step: whether its end gives a turn. *)
RECURSIVE NewIn(_)
NewIn(effects) ==
    IF effects = <<>> THEN <<>>
    ELSE LET e == Head(effects)
             isUnstored == StoreThrows /\ e[2] = AcknowledgedId
             isEmpty == ~(IsUnwritten /\ e[2] = AcknowledgedId)
                        /\ (e[2] \notin PendingIds(k) \/ PendingOf(k, e[2]).missing = Tasks)
         IN  (CASE e[1] = "abort" /\ ~isUnstored ->
                        IF isEmpty /\ ~CoordinatorHas("counts_empty_deletions") THEN <<>> ELSE <<TRUE>>
                [] e[1] = "discard" /\ isUnstored -> <<FALSE>>
                [] e[1] = "discard" /\ ~isUnstored /\ CoordinatorHas("turn_after_deletion") -> <<TRUE>>
                [] OTHER -> <<>>) \o NewIn(Tail(effects))
NewDeletions == IF SlowCleaning THEN NewIn(Effects) ELSE <<>>

(* If no request starts, each turn rejects the head if it is too early.      *)
TurnsDue ==
    LET ended == Cardinality(PendingIds(k) \ PendingIds(k'))
        dropped == {i \in DOMAIN k.store : k.store[i] \notin Range(k'.store)}
    IN  ended * (IF CoordinatorHas("turn_after_cleaning") THEN 2 ELSE 1)
        + (IF CoordinatorHas("turn_after_deletion") THEN Cardinality(dropped) ELSE 0)
        + (IF "metadata" \in k.io /\ "metadata" \notin k'.io THEN 1 ELSE 0)
        - Len(SelectSeq(NewDeletions, LAMBDA turn : turn))

COORD_29 == [][(EventIs("acknowledge") \/ EventIs("decline")) /\ ~CannotStart /\ k'.next = k.next =>
    LET early == {i \in DOMAIN Whole : i <= TurnsDue /\ \A j \in 1 .. i :
                      Len(k'.pending) < MaxConcurrent /\ ~HoldsBack(k') /\ IsEarly(Whole[j])}
    IN  Len(Left) = Cardinality(early)]_vars

EndsOne == (EventIs("acknowledge") \/ EventIs("decline")) /\ PendingIds(k) \ PendingIds(k') # {}

(* No request leaves the queue while too many deletions are under way. (In   *)
(* one tick, a checkpoint can start before deletions begin.) The end of a    *)
(* checkpoint gives a turn. The end of a deletion gives one too, unless its  *)
(* checkpoint was not stored.                                                *)
COORD_33 == [][~Ends =>
    /\ HoldsBack(IF EventIs("tick") THEN k ELSE k') => Left = <<>> /\ k'.next = k.next
    /\ EventIs("deleted") \/ (SlowCleaning /\ EndsOne) =>
        IF EventIs("deleted") /\ ~Head(k.deletions) THEN Left = <<>>
        ELSE \/ k'.queue = <<>> \/ HoldsBack(k') \/ IsEarly(Head(k'.queue))
             \/ ~Head(k'.queue).forced /\ Len(k'.pending) >= MaxConcurrent]_vars

COORD_19 == [][~CoordinatorHas("abort_notifications") => EffectsOf("notify_abort") = <<>>]_vars

COORD_20 == [][StoreThrows =>
    /\ k'.store = k.store /\ AcknowledgedId \notin PendingIds(k') /\ k'.pause = k.pause
    /\ \A p \in Range(k.pending) : p.id # AcknowledgedId => p \in Range(k'.pending)
    /\ EffectsOf("notify_complete") = <<>> /\ Range(EffectsOf("discard")) \subseteq {<<"discard", AcknowledgedId>>}
    /\ CoordinatorHas("completes_before_storing") \/
        (AcknowledgedId \in Aborted("FINALIZE_CHECKPOINT_FAILURE") /\ Completed = {})
    /\ <<"fail", "CheckpointException">> \in Range(Effects)]_vars

COORD_21 == [][StoreThrows =>
    IF CoordinatorHas("keeps_possibly_stored") /\ k.fault = "maybe"
    THEN <<"discard", AcknowledgedId>> \notin Range(Effects) /\ \E e \in Durable(k') : e.id = AcknowledgedId
    ELSE <<"discard", AcknowledgedId>> \in Range(Effects)]_vars

COORD_22 == [][EventIs("coordinator_restart") =>
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

SUB_06 == [][
    LET adds == IsComplete /\ ~StoreThrows /\ ~IsUnwritten /\ IsStored(PendingOf(k, AcknowledgedId))
        rest == SubSeq(k'.store, 1, Len(k'.store) - 1)
    IN  /\ \A i, j \in DOMAIN k'.store : i # j => k'.store[i].id # k'.store[j].id
        /\ adds => /\ k'.store # <<>> /\ k'.store[Len(k'.store)].id = AcknowledgedId
                   /\ rest = SelectSeq(k.store, LAMBDA e : e \in Range(rest))
        /\ adds \/ EventIs("coordinator_restart") \/ k'.store = k.store
        /\ EventIs("restore") =>
            Effects = <<<<"restored", IF k.store = <<>> THEN 0 ELSE k.store[Len(k.store)].id>>>>]_vars

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
(* All changes by each event, and all its effects in order.                  *)

ById(c, n) == c.pending[CHOOSE i \in DOMAIN c.pending : c.pending[i].id = n]
Each(kind, tasks, n) ==
    LET order == InOrder(tasks) IN [i \in DOMAIN order |-> <<kind, order[i], n>>]

COORD_34 == [][IsUnwritten =>
    /\ k'.store = k.store /\ k'.unseen = k.unseen /\ k'.fault = k.fault /\ k'.pause = k.pause
    /\ AcknowledgedId \in Aborted("FINALIZE_CHECKPOINT_FAILURE") /\ Completed = {}
    /\ \A p \in Range(k.pending) : p.id # AcknowledgedId => p \in Range(k'.pending)
    /\ EffectsOf("discard_state") = Each("discard_state", Tasks, AcknowledgedId)
    /\ EffectsOf("notify_complete") = <<>> /\ <<"fail", "CheckpointException">> \in Range(Effects)]_vars

COORD_35 == [][("location" \in k.io /\ "location" \notin k'.io) =>
    \E n \in k.next .. k'.next - 1 : n \in Aborted("IO_EXCEPTION") \ PendingIds(k') /\
        \A e \in Range(EffectsOf("trigger_task")) : e[3] # n]_vars

COORD_36 == [][("id" \in k.io /\ "id" \notin k'.io) =>
    /\ \E e \in Range(EffectsOf("rejected")) : e[3] = "IO_EXCEPTION"
    /\ \A n \in k.next .. k'.next - 1 : n \in Aborted("IO_EXCEPTION") \cup Started]_vars

RECURSIVE Joined(_)
Joined(parts) == IF parts = <<>> THEN <<>> ELSE Head(parts) \o Joined(Tail(parts))

IsOfQueue(e) == e[1] = "trigger_task" \/ (e[1] = "rejected" /\ e[3] # "COORDINATOR_SUSPEND")
OfQueue == SelectSeq(Effects, IsOfQueue)
OfEnds == SelectSeq(Effects, LAMBDA e : ~IsOfQueue(e) /\ e[1] # "fail_job")

(* The requests that left the queue: too early, rejected, or with a start. *)
Starts == IF CannotStart \/ Ends THEN <<>> ELSE SelectSeq(Left, LAMBDA r : ~IsEarly(r))
Outcome(i) ==
    LET r == Left[i]
        n == k.next + Cardinality({j \in 1 .. i - 1 : ~IsEarly(Left[j])})
        order == InOrder(Sources)
    IN  IF IsEarly(r) THEN <<<<"rejected", r.type, "MINIMUM_TIME_BETWEEN_CHECKPOINTS">>>>
        ELSE IF ~CannotStart THEN [j \in DOMAIN order |-> <<"trigger_task", order[j], n, AtTasks(r.type, k')>>]
        ELSE IF r.periodic /\ ~k.running THEN <<<<"rejected", r.type, "PERIODIC_SCHEDULER_SHUTDOWN">>>>
        ELSE <<<<"rejected", r.type, "NOT_ALL_REQUIRED_TASKS_RUNNING">>>>
IsTurnedAway == EventIs("request") /\ ~CoordinatorHas("queues_requests") /\ HasToWait(Arriving)

QueueServed ==
    OfQueue = IF IsTurnedAway THEN <<<<"rejected", Arriving.type, "TOO_MANY_CONCURRENT_CHECKPOINTS">>>>
           ELSE IF Ends THEN <<>> ELSE Joined([i \in DOMAIN Left |-> Outcome(i)])

Notified(p) == IF CoordinatorHas("abort_notifications") THEN Each("notify_abort", Tasks, p.id) ELSE <<>>
EndOf(p, reason) ==
    <<<<"abort", p.id, reason>>>> \o Each("discard_state", Tasks \ p.missing, p.id) \o Notified(p)
EndsOf(pending, reason) == Joined([i \in DOMAIN pending |-> EndOf(pending[i], reason)])

Deletions ==
    LET gone == SelectSeq(k.store, LAMBDA e : e.type = "checkpoint" /\ e \notin Range(k'.store))
    IN  [i \in DOMAIN gone |-> <<"discard", gone[i].id>>]
Reports(n) ==
    LET order == InOrder(Tasks)
        dropped == {Deletions[i][2] : i \in DOMAIN Deletions}
        report(t) == IF dropped # {} /\ CoordinatorHas("subsumed_notifications")
                     THEN <<<<"notify_subsumed", t, Greatest(dropped)>>>> ELSE <<>>
    IN  Joined([i \in DOMAIN order |-> <<<<"notify_complete", order[i], n>>>> \o report(order[i])])

AfterLastAnswer(p) ==
    LET complete == <<<<"complete", p.id>>>>
        first == CoordinatorHas("completes_before_storing")
        older == SelectSeq(k.pending, LAMBDA q : q.id < p.id /\ q.type = "checkpoint")
    IN  IF IsUnwritten
        THEN EndOf([p EXCEPT !.missing = {}], "FINALIZE_CHECKPOINT_FAILURE") \o <<<<"fail", "CheckpointException">>>>
        ELSE IF StoreThrows
        THEN (IF first THEN complete ELSE <<<<"abort", p.id, "FINALIZE_CHECKPOINT_FAILURE">>>>)
             \o (IF k.fault = "maybe" /\ CoordinatorHas("keeps_possibly_stored") THEN <<>>
                 ELSE <<<<"discard", p.id>>>>)
             \o Notified(p) \o <<<<"fail", "CheckpointException">>>>
        ELSE IF ~IsStored(p) THEN complete
        ELSE (IF first THEN complete \o Deletions ELSE Deletions \o complete)
             \o EndsOf(older, "CHECKPOINT_SUBSUMED") \o Reports(p.id)

AfterAnswer ==
    IF ~AcknowledgesPending THEN <<<<"discard_state", Task, AcknowledgedId>>>>
    ELSE LET p == ById(k, AcknowledgedId)
             Result(result) == <<<<"acknowledged", Task, AcknowledgedId, result>>>>
         IN  IF Task \notin Tasks THEN Append(Result("UNKNOWN"), <<"discard_state", Task, AcknowledgedId>>)
             ELSE IF Task \notin p.missing THEN Result("DUPLICATE")
             ELSE Result("SUCCESS") \o IF IsComplete THEN AfterLastAnswer(p) ELSE <<>>

Refused == [i \in DOMAIN k.queue |-> <<"rejected", k.queue[i].type, "COORDINATOR_SUSPEND">>]

(* All effects in order. At a tick, requests start after each expiry.        *)
AllEffects == [][
    /\ QueueServed
    /\ OfEnds =
        CASE EventIs("acknowledge") -> AfterAnswer
          [] EventIs("decline") /\ out'[1][2] \in PendingIds(k) -> EndOf(ById(k, out'[1][2]), out'[1][3])
          [] EventIs("tick") ->
                EndsOf(SelectSeq(k.pending, LAMBDA p : p.age + 1 >= Timeout), "CHECKPOINT_EXPIRED")
          [] Ends /\ ~EventIs("coordinator_restart") -> Refused \o EndsOf(k.pending, "COORDINATOR_SUSPEND")
          [] EventIs("restore") -> <<<<"restored", IF k.store = <<>> THEN 0 ELSE k.store[Len(k.store)].id>>>>
          [] OTHER -> <<>>
    /\ \A i \in DOMAIN Effects : IsOfQueue(Effects[i]) =>
        EventIs("tick") \/ \A j \in i .. Len(Effects) : IsOfQueue(Effects[j])]_vars

(* The failures that count, and the successes, in the order of the effects.  *)
CountsIn(f, e) ==
    /\ e[1] = "abort" /\ e[3] \in Reasons \cup {"CHECKPOINT_EXPIRED", "FINALIZE_CHECKPOINT_FAILURE"}
    /\ e[2] > f.highest
IsOneTooMany(f, e) == Tolerable # -1 /\ CountsIn(f, e) /\ Cardinality(f.counted \cup {e[2]}) > Tolerable

RECURSIVE CountedIn(_, _)
CountedIn(f, effects) ==
    IF effects = <<>> THEN f
    ELSE LET e == Head(effects) IN CountedIn(
            CASE CountsIn(f, e) -> [f EXCEPT !.counted = IF IsOneTooMany(f, e) THEN {} ELSE @ \cup {e[2]}]
              [] e[1] = "complete" /\ e[2] > f.highest -> [counted |-> {}, highest |-> e[2]]
              [] OTHER -> f,
            Tail(effects))

(* All changes: the checkpoints that have started are pending after the      *)
(* others.                                                                   *)
Remaining ==
    LET kept == SelectSeq(k.pending, LAMBDA p : p.id \in PendingIds(k'))
        After(p) == IF EventIs("tick") THEN [p EXCEPT !.age = @ + 1]
                    ELSE IF AcknowledgesPending /\ p.id = AcknowledgedId THEN [p EXCEPT !.missing = @ \ {Task}]
                    ELSE p
    IN  [i \in DOMAIN kept |-> After(kept[i])]
        \o [i \in DOMAIN Starts |-> [id |-> k.next + i - 1, type |-> Starts[i].type, missing |-> Tasks, age |-> 0]]
Gone == {Effects[i][2] : i \in {i \in DOMAIN Effects : Effects[i][1] \in {"abort", "complete"}}}
(* The aborts at which the count exceeds the tolerated number. *)
Overflows ==
    {i \in DOMAIN Effects : IsOneTooMany(CountedIn(k.failures, SubSeq(Effects, 1, i - 1)), Effects[i])}
Restart == EventIs("coordinator_restart")
Entry == LET p == ById(k, AcknowledgedId) IN [id |-> p.id, type |-> p.type]

Frame == [][
    /\ out = <<>> => k = AtFirst
    /\ k'.running = IF EventIs("job_status") THEN out'[1][2] ELSE k.running /\ ~EventIs("fail_tasks") /\ ~Restart
    /\ k'.up = CASE EventIs("fail_tasks") -> k.up \ {Task} [] EventIs("task_status") -> Up
                 [] Restart -> {} [] OTHER -> k.up
    /\ k'.next = k.next + Len(Starts)
    /\ k'.pending = Remaining
    /\ Restart \/ PendingIds(k) \ PendingIds(k') = Gone
    /\ k'.queue = IF Ends THEN <<>> ELSE SubSeq(Whole, Len(Left) + 1, Len(Whole))
    /\ k'.pause = CASE Restart -> 0 [] IsComplete /\ ~StoreThrows /\ ~IsUnwritten -> MinPause
                    [] EventIs("tick") /\ k.pause > 0 -> k.pause - 1 [] OTHER -> k.pause
    /\ k'.fault = IF EventIs("store_fails") THEN out'[1][2] ELSE IF StoreThrows THEN "none" ELSE k.fault
    /\ k'.io = IF EventIs("io_fails") THEN k.io \cup {Task} ELSE IF IsUnwritten THEN k.io \ {"metadata"} ELSE k.io
    /\ k'.unseen = IF Restart THEN {} ELSE IF StoreThrows /\ k.fault # "before" THEN k.unseen \cup {Entry} ELSE k.unseen
    /\ k'.deletions = IF Restart THEN <<>> ELSE IF EventIs("deleted") THEN Tail(k.deletions) ELSE k.deletions \o NewDeletions
    /\ k'.failures = IF Restart THEN [counted |-> {}, highest |-> 0]
                     ELSE IF Tolerable = -1 THEN k.failures ELSE CountedIn(k.failures, Effects)
    /\ IF IsComplete /\ ~StoreThrows /\ ~IsUnwritten /\ IsStored(ById(k, AcknowledgedId))
       THEN k'.store = Append(SelectSeq(k.store, LAMBDA e : e \in Range(k'.store)), Entry)
       ELSE Restart \/ k'.store = k.store
    /\ \A i \in DOMAIN Effects : Effects[i][1] = "fail_job" =>
        i > 1 /\ Effects[i - 1][1] \in {"abort", "discard_state", "discard"}
    /\ Len(EffectsOf("fail_job")) = Cardinality(Overflows)]_vars
==============================================================================
