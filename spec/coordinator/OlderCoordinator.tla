-------------------------- MODULE OlderCoordinator ---------------------------
(***************************************************************************)
(* What older generations do in the place of operators of Coordinator and  *)
(* Completion. Each definition here replaces the operator in its comment;  *)
(* spec/manifests/coordinator_generations.toml says which ones make up a   *)
(* generation. CoordinatorGenerations.tla has those of the modules that    *)
(* Coordinator extends, and states all differences as switches.            *)
(*                                                                         *)
(* Source: bytecode of the released jars of 1.9 to 1.17,                   *)
(* CheckpointCoordinator.                                                  *)
(***************************************************************************)
EXTENDS Coordinator, CoordinatorGenerations

(* Up to 1.18, COORD-33: every deletion is under way until an event ends it. *)
AnyHasDeletion(p) == TRUE                                               \* HasDeletion

(* Up to 1.17: a checkpoint counts as a success before it is stored, and a   *)
(* failed addition does not count.                                           *)
SucceedsFirst(step, p) == Succeed(step, p)                              \* BeforeStoring
OnlyCompletes(step, p) == CallComplete(step, p)                         \* AfterStoring
NeverCounts(f, p) == FailuresStep(f, <<>>)                              \* CountFailedStore

(* Up to 1.16.1: it is reported complete before it is stored.                *)
CompletesFirst(step, p) == CallComplete(Succeed(step, p), p)            \* BeforeStoring
AlreadyComplete(step, p) == step                                        \* AfterStoring
AbortsNothing(p) == <<>>                                                \* AbortUnstored

(* Up to 1.15: the deletion of a completed checkpoint gives no turn.         *)
NoTurnForDropped(ended, dropped) == 2 * ended                           \* TurnsAfter
DroppedAtOnce(dropped) == <<>>                                          \* TurnsOfDropped

(* Up to 1.14, SUB-11: a savepoint is stored and replaces like a checkpoint. *)
SavepointsReplace(p) == TRUE                                            \* Replaces

(* Up to 1.13: only sources must run at the start.                           *)
SourcesRun(k) == k.running /\ Sources \subseteq k.up                    \* CanStart

(* Up to 1.12: a start that finds tasks not running ends at once.            *)
LeavesTurns(k, r) == FALSE                                              \* TakesAllTurns

(* Up to 1.11: no checkpoint is kept whose addition failed, and the deletion *)
(* of state gives no turn.                                                   *)
DeletesPossiblyStored(fault) == FALSE                                   \* IsPossiblyStored
OneTurnForEach(ended, dropped) == ended                                 \* TurnsAfter

(* Up to 1.10 no request waits: above the limit it is rejected. (The         *)
(* scheduler then repeats it; here the environment requests it again.)       *)
NeverQueues(k, r) ==                                                    \* OnRequest
    IF r.forced \/ HasRoom(k)
    THEN Serve([k EXCEPT !.queue = Enqueued(@, r)], 1, <<>>)
    ELSE CoordinatorStep(k, <<Rejected(r, "TOO_MANY_CONCURRENT_CHECKPOINTS")>>)

(* Up to 1.10, COORD-19: no task is notified of an abort.                    *)
NotifiesNoTask(p) == <<>>                                               \* NotifyAbort
==============================================================================
