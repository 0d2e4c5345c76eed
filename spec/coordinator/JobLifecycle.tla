---------------------------- MODULE JobLifecycle -----------------------------
(***************************************************************************)
(* Checkpoints during the life of their job: tasks finish and no longer    *)
(* take part, a stop with a savepoint fails, and the job and its           *)
(* coordinator end.                                                        *)
(*                                                                         *)
(* The module has functions only. JobLifecycleModel.tla puts them into an  *)
(* environment and states rules COORD-25, COORD-27 and COORD-28.           *)
(*                                                                         *)
(* Source: Apache Flink, DefaultCheckpointPlanCalculator,                  *)
(* CheckpointFailureManager, CheckpointCoordinator.shutdown,               *)
(* CompletedCheckpoint.discardOnShutdown, 1.14 and later.                  *)
(***************************************************************************)
EXTENDS Integers, Sequences, FiniteSets, Order

CONSTANTS
    Tasks,          \* all tasks, numbers; the smallest one is the source
    Retains         \* a job that was cancelled or failed keeps its checkpoints

Types == {"checkpoint", "stop"}
Ends == {"FINISHED", "CANCELED", "FAILED", "SUSPENDED"}

PendingType == [id : Nat, type : Types, tasks : SUBSET Tasks, missing : SUBSET Tasks]

JobType ==
    [open    : BOOLEAN,                 \* the coordinator is not shut down
     up      : SUBSET Tasks,            \* the tasks that run; the others have finished
     next    : Nat,                     \* id of the next checkpoint
     pending : Seq(PendingType),          \* ascending by id
     store   : Seq(Nat)]                \* completed checkpoints that are kept

NewJob == [open |-> TRUE, up |-> Tasks, next |-> 1, pending |-> <<>>, store |-> <<>>]

JobStep(j, effects) == [job |-> j, out |-> effects]

------------------------------------------------------------------------------
(* The conditions are operators, so that a model can replace them. *)

TakingPart(j) == j.up                                               \* COORD-27

Beginning(tasks) == IF Least(Tasks) \in tasks THEN {Least(Tasks)} ELSE tasks  \* COORD-27

(* The failures of a stop that fail the job. *)
FailsTheJob(p, byTask) == p.type = "stop" /\ byTask                 \* COORD-28

EndReason == "COORDINATOR_SHUTDOWN"                                  \* COORD-25

Keeps(status) ==                                                    \* COORD-25
    status = "SUSPENDED" \/ (status \in {"CANCELED", "FAILED"} /\ Retains)

------------------------------------------------------------------------------
Each(tasks, Effect(_)) == LET order == InOrder(tasks) IN [i \in 1 .. Len(order) |-> Effect(order[i])]

IsPendingId(j, n) == \E i \in DOMAIN j.pending : j.pending[i].id = n
PendingOf(j, n) == j.pending[CHOOSE i \in DOMAIN j.pending : j.pending[i].id = n]
Without(j, n) == [j EXCEPT !.pending = SelectSeq(@, LAMBDA p : p.id # n)]

(* If every task has finished, the id is drawn and not used. *)
OnRequest(j, type) ==
    LET tasks == TakingPart(j)
        Trigger(t) == <<"trigger_task", t, j.next>>
    IN  IF ~j.open THEN JobStep(j, <<<<"rejected", type, "COORDINATOR_SHUTDOWN">>>>)
        ELSE IF tasks = {}
        THEN JobStep([j EXCEPT !.next = @ + 1], <<<<"rejected", type, "TRIGGER_CHECKPOINT_FAILURE">>>>)
        ELSE JobStep(
            [j EXCEPT !.next = @ + 1,
                      !.pending = Append(@, [id |-> j.next, type |-> type, tasks |-> tasks, missing |-> tasks])],
            Each(Beginning(tasks), Trigger))

(* SUB-06: one completed checkpoint is kept, and the next one deletes it. *)
Discards(ids) == [i \in DOMAIN ids |-> <<"discard", ids[i]>>]

OnAcknowledge(j, t, n) ==
    LET p == [PendingOf(j, n) EXCEPT !.missing = @ \ {t}]
    IN  IF ~IsPendingId(j, n) THEN JobStep(j, <<>>)
        ELSE IF p.missing # {}
        THEN JobStep([j EXCEPT !.pending = [i \in DOMAIN @ |-> IF @[i].id = n THEN p ELSE @[i]]], <<>>)
        ELSE JobStep(
            [Without(j, n) EXCEPT !.store = IF p.type = "checkpoint" THEN <<n>> ELSE @],
            (IF p.type = "checkpoint" THEN Discards(j.store) ELSE <<>>) \o <<<<"complete", n>>>>)

(* A failed checkpoint is aborted, and some stops fail the job. *)
OnFail(j, n, reason, byTask) ==
    IF ~IsPendingId(j, n) THEN JobStep(j, <<>>)
    ELSE JobStep(Without(j, n),
        <<<<"abort", n, reason>>>>
        \o (IF FailsTheJob(PendingOf(j, n), byTask) THEN <<<<"fail_job", reason>>>> ELSE <<>>))

OnTaskEnds(j, t) == JobStep([j EXCEPT !.up = @ \ {t}], <<>>)

OnEnd(j, status) ==
    LET aborts == [i \in DOMAIN j.pending |-> <<"abort", j.pending[i].id, EndReason>>]
        deletes == IF Keeps(status) THEN <<>> ELSE Discards(j.store)
    IN  IF ~j.open THEN JobStep(j, <<>>)
        ELSE JobStep([j EXCEPT !.open = FALSE, !.pending = <<>>, !.store = <<>>], aborts \o deletes)
==============================================================================
