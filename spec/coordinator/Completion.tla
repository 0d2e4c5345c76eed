----------------------------- MODULE Completion ------------------------------
(***************************************************************************)
(* The pending checkpoints of one coordinator, and their ends. A           *)
(* checkpoint is complete when every task has acknowledged it. A decline,  *)
(* its time-out, a newer completed checkpoint or a job that leaves RUNNING *)
(* aborts it. Too many failures fail the job (Failures.tla). A completed   *)
(* checkpoint is added to the store (Store.tla), which is durable and can  *)
(* fail.                                                                   *)
(*                                                                         *)
(* The module has functions only. Coordinator.tla starts checkpoints and   *)
(* takes the events. OlderCoordinator.tla has the steps of older           *)
(* generations.                                                            *)
(*                                                                         *)
(* Source: Apache Flink 1.18 and later, CheckpointCoordinator,             *)
(* PendingCheckpoint.                                                      *)
(***************************************************************************)
EXTENDS Integers, Sequences, FiniteSets, Order, Store, Requests, Failures

CONSTANTS
    Tasks,          \* all tasks, numbers; each must acknowledge
    Timeout         \* number of units of time for which a checkpoint may be pending

ASSUME Timeout \in Nat \ {0}

PendingType ==
    [id      : Nat,
     type    : RequestTypes,
     missing : SUBSET Tasks,            \* the tasks that have not acknowledged yet
     age     : 0 .. Timeout]            \* time since its start

Faults == {"none", "before", "after", "maybe"}

IoSteps == {"metadata", "location", "id"}  \* inputs and outputs of the coordinator that can fail

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
     unseen   : SUBSET EntryType,       \* checkpoints that are durable, although their addition failed
     deletions : Seq(BOOLEAN),          \* under way, oldest first; TRUE: its end gives a turn
     io       : SUBSET IoSteps]         \* the next step of this kind fails

(* The job starts from a savepoint or retained checkpoint with this id (0:   *)
(* it does not), in this claim mode. A model replaces these.                 *)
RestoredSavepoint == 0
ClaimMode == "LEGACY"                                               \* or "CLAIM", "NO_CLAIM"

FirstId == RestoredSavepoint + 1                                    \* COORD-37

(* A claimed savepoint becomes the job's own checkpoint. *)
RestoredType == IF ClaimMode = "CLAIM" THEN "checkpoint" ELSE "savepoint"   \* SUB-13

RestoredStore ==
    IF RestoredSavepoint = 0 THEN EmptyStore ELSE <<[id |-> RestoredSavepoint, type |-> RestoredType]>>

NewCoordinator ==
    [running |-> TRUE, up |-> Tasks, next |-> FirstId, pending |-> <<>>, queue |-> <<>>, pause |-> 0,
     failures |-> NoFailures, store |-> RestoredStore, fault |-> "none", unseen |-> {},
     deletions |-> <<>>, io |-> {}]

CoordinatorStep(k, effects) == [coordinator |-> k, out |-> effects]

InTaskOrder(tasks, Effect(_)) ==
    LET order == InOrder(tasks) IN [i \in 1 .. Len(order) |-> Effect(order[i])]

------------------------------------------------------------------------------
(* The conditions of a pending checkpoint. These are operators, so that a    *)
(* model can replace them.                                                   *)

IsPendingId(k, n) == \E i \in DOMAIN k.pending : k.pending[i].id = n  \* COORD-06

PendingOf(k, n) == k.pending[CHOOSE i \in DOMAIN k.pending : k.pending[i].id = n]

IsFirstAcknowledgement(p, t) == t \in p.missing                     \* COORD-05

IsFullyAcknowledged(p) == p.missing = {}                            \* COORD-07

IsSubsumedBy(p, n) == p.id < n /\ p.type # "savepoint"              \* SUB-02, SUB-03, SUB-04

IsExpired(p) == p.age >= Timeout                                    \* COORD-10

(* A savepoint belongs to its user, so it replaces no checkpoint. *)
Replaces(p) == p.type = "checkpoint"                                \* SUB-05

GoesToStore(p) == Replaces(p)                                       \* SUB-05

IsPossiblyStored(fault) == fault = "maybe"                          \* COORD-21

------------------------------------------------------------------------------
(* Deletions. *)

(* TRUE: a deletion is under way until an event ends it. A model replaces    *)
(* this.                                                                     *)
SlowCleaning == FALSE

(* Deletions begin. If turns[i] is TRUE, the end of deletion i gives waiting *)
(* requests a turn.                                                          *)
Deleting(k, turns) == IF SlowCleaning THEN [k EXCEPT !.deletions = @ \o turns] ELSE k

(* A task has acknowledged the aborted checkpoint, so its state is deleted.  *)
HasDeletion(p) == p.missing # Tasks                                 \* COORD-33

(* The turns after the deletions of checkpoints that the store has dropped. *)
TurnsOfDropped(dropped) == [i \in DOMAIN dropped |-> TRUE]         \* COORD-29

------------------------------------------------------------------------------
(* Aborts. *)

Without(k, n) == [k EXCEPT !.pending = SelectSeq(@, LAMBDA p : p.id # n)]

(* COORD-09: the coordinator notifies every task. *)
NotifyAbort(p) == LET Notify(t) == <<"notify_abort", t, p.id>> IN InTaskOrder(Tasks, Notify)

(* COORD-09: the coordinator deletes the collected state. *)
AbortEffects(p, reason) ==
    LET Discard(t) == <<"discard_state", t, p.id>>
    IN  <<<<"abort", p.id, reason>>>> \o InTaskOrder(Tasks \ p.missing, Discard)

Abort(k, p, reason, byTask, effects) ==
    LET counted == OnFailure(k.failures, p.id, p.type, reason, byTask)
    IN  CoordinatorStep(Deleting([Without(k, p.id) EXCEPT !.failures = counted.failures],
                                 IF HasDeletion(p) THEN <<TRUE>> ELSE <<>>),
                        effects \o AbortEffects(p, reason) \o counted.out \o NotifyAbort(p))

(* Aborts the pending checkpoints that Which selects, oldest first. *)
RECURSIVE AbortAll(_, _, _, _)
AbortAll(k, Which(_), reason, effects) ==
    LET ended == SelectSeq(k.pending, LAMBDA p : Which(p))
    IN  IF ended = <<>> THEN CoordinatorStep(k, effects)
        ELSE LET step == Abort(k, Head(ended), reason, FALSE, effects)
             IN  AbortAll(step.coordinator, Which, reason, step.out)

------------------------------------------------------------------------------
(* Completion. *)

(* The checkpoint counts as a success. *)
Succeed(step, p) ==
    CoordinatorStep([step.coordinator EXCEPT !.failures = OnSuccess(@, p.id)], step.out)

(* The checkpoint is reported complete. *)
CallComplete(step, p) == CoordinatorStep(step.coordinator, Append(step.out, <<"complete", p.id>>))

(* The effects and changes before and after the store adds the checkpoint. *)
BeforeStoring(step, p) == step

AfterStoring(step, p) == CallComplete(Succeed(step, p), p)

(* COORD-20: the store has failed, and no effect of a completion occurs. *)
AbortUnstored(p) == <<<<"abort", p.id, "FINALIZE_CHECKPOINT_FAILURE">>>>

CountFailedStore(f, p) == OnFailure(f, p.id, p.type, "FINALIZE_CHECKPOINT_FAILURE", FALSE)

FailToStore(step, p) ==
    LET k == step.coordinator
        entry == [id |-> p.id, type |-> p.type]
        discard == IF IsPossiblyStored(k.fault) THEN <<>> ELSE <<<<"discard", p.id>>>>
        counted == CountFailedStore(k.failures, p)
        after == [k EXCEPT !.failures = counted.failures, !.fault = "none",
                           !.unseen = IF k.fault = "before" THEN @ ELSE @ \cup {entry}]
    IN  CoordinatorStep(Deleting(after, IF discard = <<>> THEN <<>> ELSE <<FALSE>>),
                        step.out \o AbortUnstored(p) \o discard \o counted.out \o NotifyAbort(p)
                        \o <<<<"fail", "CheckpointException">>>>)

(* COORD-34: the metadata cannot be written, so the checkpoint is aborted    *)
(* before it is stored.                                                      *)
FailToWrite(k, p, effects) ==
    LET step == Abort([k EXCEPT !.io = @ \ {"metadata"}], p, "FINALIZE_CHECKPOINT_FAILURE", FALSE, effects)
    IN  CoordinatorStep(step.coordinator, Append(step.out, <<"fail", "CheckpointException">>))

Complete(k, p, effects) ==                                             \* COORD-08
    LET begun == BeforeStoring(CoordinatorStep(Without(k, p.id), effects), p)
        added == IF GoesToStore(p) THEN OnAdd(k.store, p.id, p.type) ELSE [store |-> k.store, out |-> <<>>]
        Kind(kind) == SelectSeq(added.out, LAMBDA e : e[1] = kind)
        kept == CoordinatorStep(Deleting([begun.coordinator EXCEPT !.store = added.store, !.pause = MinPause],
                                         TurnsOfDropped(Kind("discard"))),
                                begun.out \o Kind("discard"))
        done == AfterStoring(kept, p)
        ended == AbortAll(done.coordinator, LAMBDA q : IsSubsumedBy(q, p.id), "CHECKPOINT_SUBSUMED", done.out)
        Notify(t) == <<<<"notify_complete", t, p.id>>>>
                     \o [i \in DOMAIN Kind("subsumed") |-> <<"notify_subsumed", t, Kind("subsumed")[i][2]>>]
        all == InTaskOrder(Tasks, Notify)
        RECURSIVE Flat(_)
        Flat(i) == IF i > Len(all) THEN <<>> ELSE all[i] \o Flat(i + 1)
    IN  IF "metadata" \in k.io THEN FailToWrite(k, p, effects)
        ELSE IF GoesToStore(p) /\ k.fault # "none" THEN FailToStore(begun, p)
        ELSE IF Replaces(p) THEN CoordinatorStep(ended.coordinator, ended.out \o Flat(1))
        ELSE done
==============================================================================
