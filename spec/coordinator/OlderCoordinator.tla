-------------------------- MODULE OlderCoordinator ---------------------------
(***************************************************************************)
(* The operators of older generations that replace operators of            *)
(* Coordinator and Completion. Each definition replaces the operator in    *)
(* its comment. spec/manifests/coordinator_generations.toml lists the      *)
(* definitions of each generation. CoordinatorGenerations.tla has the      *)
(* definitions for the modules that Coordinator extends, and states all    *)
(* differences as switches.                                                *)
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

(* Up to 1.16.1: a checkpoint is reported complete before it is stored.      *)
CompletesFirst(step, p) == CallComplete(Succeed(step, p), p)            \* BeforeStoring
AlreadyComplete(step, p) == step                                        \* AfterStoring
AbortsNothing(p) == <<>>                                                \* AbortUnstored

(* Up to 1.15: the deletion of a completed checkpoint gives no turn.         *)
NoTurnForDropped(ended, dropped) == 2 * ended                           \* TurnsAfter
DroppedAtOnce(dropped) == <<>>                                          \* TurnsOfDropped

(* Up to 1.14, SUB-11: a savepoint is stored, and subsumes older checkpoints *)
(* as a checkpoint does.                                                     *)
SavepointsReplace(p) == TRUE                                            \* Replaces

(* Up to 1.13: of the tasks, only the sources must run at the start.         *)
SourcesRun(k) == k.running /\ Sources \subseteq k.up                    \* CanStart

(* Up to 1.12: a start that fails because tasks do not run leaves the        *)
(* further turns to other requests.                                          *)
LeavesTurns(k, r) == FALSE                                              \* TakesAllTurns

(* Up to 1.11: a checkpoint whose addition has failed is deleted even if it  *)
(* is unknown whether the store has stored it. The deletion of state gives   *)
(* no turn.                                                                  *)
DeletesPossiblyStored(fault) == FALSE                                   \* IsPossiblyStored
OneTurnForEach(ended, dropped) == ended                                 \* TurnsAfter

(* Up to 1.10 no request waits. Above the limit a request is rejected. In    *)
(* Flink the scheduler then repeats it; in this model the environment makes  *)
(* another request.                                                          *)
NeverQueues(k, r) ==                                                    \* OnRequest
    IF r.forced \/ HasRoom(k)
    THEN Serve([k EXCEPT !.queue = Enqueued(@, r)], 1, <<>>)
    ELSE CoordinatorStep(k, <<Rejected(r, "TOO_MANY_CONCURRENT_CHECKPOINTS")>>)

(* Up to 1.10, COORD-19: no task is notified of an abort.                    *)
NotifiesNoTask(p) == <<>>                                               \* NotifyAbort
==============================================================================
