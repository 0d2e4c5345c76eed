-------------------------- MODULE JobLifecycleModel --------------------------
(***************************************************************************)
(* The life of a job in its environment: tasks finish, checkpoints and     *)
(* stops are requested, acknowledged and declined, they expire, and the    *)
(* job ends in one of four ways.                                           *)
(*                                                                         *)
(* This module states rules COORD-25, COORD-27 and COORD-28 over one step. *)
(***************************************************************************)
EXTENDS JobLifecycle

CONSTANT
    M               \* maximum number of requested checkpoints

VARIABLES
    job,            \* see JobType
    out             \* the last event, then its effects

vars == <<job, out>>
Ids == 1 .. M

TypeOK == job \in JobType /\ \A i \in DOMAIN out : out[i] # <<>>

Init == job = NewJob /\ out = <<>>

------------------------------------------------------------------------------
(* System: the coordinator takes the event. *)

Take(event, step) == job' = step.job /\ out' = <<event>> \o step.out

(* Environment. *)

Request(type) == job.next <= M /\ Take(<<"request", type>>, OnRequest(job, type))
Acknowledge(t, n) == n < job.next /\ Take(<<"acknowledge", t, n>>, OnAcknowledge(job, t, n))
Decline(n) == n < job.next /\ Take(<<"decline", n>>, OnFail(job, n, "ASYNC_EXCEPTION", TRUE))
Expire(n) == n < job.next /\ Take(<<"expire", n>>, OnFail(job, n, "CHECKPOINT_EXPIRED", FALSE))
TaskEnds(t) == t \in job.up /\ Take(<<"task_ends", t>>, OnTaskEnds(job, t))
End(status) == status \in Ends /\ Take(<<"end", status>>, OnEnd(job, status))

Next ==
    \/ \E type \in Types : Request(type)
    \/ \E n \in Ids : Decline(n) \/ Expire(n) \/ \E t \in Tasks : Acknowledge(t, n)
    \/ \E t \in Tasks : TaskEnds(t)
    \/ \E status \in Ends : End(status)

Spec == Init /\ [][Next]_vars

------------------------------------------------------------------------------
(* Terms of the rules. *)

EventIs(kind) == out'[1][1] = kind
Which == out'[1][2]
Effects == Tail(out')
PendingIds(j) == {j.pending[i].id : i \in DOMAIN j.pending}
Aborted == {n \in Ids : \E i \in DOMAIN Effects : Effects[i][1] = "abort" /\ Effects[i][2] = n}
Discarded == {n \in Ids : <<"discard", n>> \in {Effects[i] : i \in DOMAIN Effects}}
Triggered == {t \in Tasks : \E i \in DOMAIN Effects : Effects[i][1] = "trigger_task" /\ Effects[i][2] = t}

COORD_25 == [][
    /\ (EventIs("end") /\ job.open) =>
        /\ Aborted = PendingIds(job)
        /\ \A i \in DOMAIN Effects : Effects[i][1] = "abort" => Effects[i][3] = "COORDINATOR_SHUTDOWN"
        /\ Discarded =
            CASE Which = "FINISHED" -> {job.store[i] : i \in DOMAIN job.store}
              [] Which \in {"CANCELED", "FAILED"} -> IF Retains THEN {} ELSE {job.store[i] : i \in DOMAIN job.store}
              [] OTHER -> {}
    /\ ~job.open => Aborted = {} /\ Discarded = {} /\ job'.pending = <<>> /\ ~job'.open]_vars

COORD_27 == [][(EventIs("request") /\ job.open) =>
    /\ job'.next = job.next + 1
    /\ IF job.up = {}
       THEN Effects = <<<<"rejected", Which, "TRIGGER_CHECKPOINT_FAILURE">>>> /\ job'.pending = job.pending
       ELSE /\ PendingOf(job', job.next).missing = job.up
            /\ Triggered = IF Least(Tasks) \in job.up THEN {Least(Tasks)} ELSE job.up]_vars

COORD_28 == [][
    LET p == PendingOf(job, Which)
    IN  ((EventIs("decline") \/ EventIs("expire")) /\ IsPendingId(job, Which)) =>
            ((Len(Effects) = 2 /\ Effects[2][1] = "fail_job") = (p.type = "stop" /\ EventIs("decline")))]_vars

------------------------------------------------------------------------------
(* All effects in order, and all changes of the state.                       *)

Known == Which \in PendingIds(job)
Of(n) == CHOOSE p \in Range(job.pending) : p.id = n
First == LET order == InOrder(IF Least(Tasks) \in job.up THEN {Least(Tasks)} ELSE job.up)
         IN  [i \in DOMAIN order |-> <<"trigger_task", order[i], job.next>>]
Answerer == out'[1][2]
AnsweredId == out'[1][3]
IsLast == EventIs("acknowledge") /\ AnsweredId \in PendingIds(job) /\ Of(AnsweredId).missing \subseteq {Answerer}
Deleted == IF Which = "FINISHED" \/ (Which # "SUSPENDED" /\ ~Retains) THEN job.store ELSE <<>>

AllEffects == [][Effects =
    CASE EventIs("request") ->
            IF ~job.open THEN <<<<"rejected", Which, "COORDINATOR_SHUTDOWN">>>>
            ELSE IF job.up = {} THEN <<<<"rejected", Which, "TRIGGER_CHECKPOINT_FAILURE">>>> ELSE First
      [] IsLast ->
            (IF Of(AnsweredId).type = "stop" THEN <<>> ELSE [i \in DOMAIN job.store |-> <<"discard", job.store[i]>>])
            \o <<<<"complete", AnsweredId>>>>
      [] EventIs("expire") /\ Known -> <<<<"abort", Which, "CHECKPOINT_EXPIRED">>>>
      [] EventIs("decline") /\ Known ->
            <<<<"abort", Which, "ASYNC_EXCEPTION">>>>
            \o IF Of(Which).type = "stop" THEN <<<<"fail_job", "ASYNC_EXCEPTION">>>> ELSE <<>>
      [] EventIs("end") /\ job.open ->
            [i \in DOMAIN job.pending |-> <<"abort", job.pending[i].id, "COORDINATOR_SHUTDOWN">>]
            \o [i \in DOMAIN Deleted |-> <<"discard", Deleted[i]>>]
      [] OTHER -> <<>>]_vars

Gone(p) == ((EventIs("decline") \/ EventIs("expire")) /\ p.id = Which) \/ (IsLast /\ p.id = AnsweredId)
After(p) ==
    IF EventIs("acknowledge") /\ p.id = AnsweredId THEN [p EXCEPT !.missing = @ \ {Answerer}] ELSE p
Remaining == LET kept == SelectSeq(job.pending, LAMBDA p : ~Gone(p)) IN [i \in DOMAIN kept |-> After(kept[i])]
Started == [id |-> job.next, type |-> Which, tasks |-> job.up, missing |-> job.up]

Frame == [][
    /\ out = <<>> => job = [open |-> TRUE, up |-> Tasks, next |-> 1, pending |-> <<>>, store |-> <<>>]
    /\ job' = CASE ~job.open /\ ~EventIs("task_ends") -> job
                [] EventIs("request") ->
                    [job EXCEPT !.next = @ + 1, !.pending = IF job.up = {} THEN @ ELSE Append(@, Started)]
                [] EventIs("task_ends") -> [job EXCEPT !.up = @ \ {Which}]
                [] EventIs("end") -> [job EXCEPT !.open = FALSE, !.pending = <<>>, !.store = <<>>]
                [] OTHER -> [job EXCEPT !.pending = Remaining,
                    !.store = IF IsLast /\ Of(AnsweredId).type = "checkpoint" THEN <<AnsweredId>> ELSE @]]_vars

------------------------------------------------------------------------------
(* Replacements: each takes the place of the operator in its comment.        *)

EveryTaskTakesPart(j) == Tasks                                      \* TakingPart
TriggersTheLast(tasks) == {Greatest(tasks)}                         \* Beginning
NothingIsKept(status) == FALSE                                      \* Keeps
EndsAsExpired == "CHECKPOINT_EXPIRED"                               \* EndReason
NoStopMatters(p, byTask) == FALSE                                   \* FailsTheJob
==============================================================================
