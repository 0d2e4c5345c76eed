----------------------- MODULE CoordinatorGenerations ------------------------
(***************************************************************************)
(* Generations of Flink at the checkpoint coordinator and its store: one   *)
(* protocol, and the switches in which the releases differ. A generation   *)
(* is the set of its switches, and a model selects a generation with       *)
(* CoordinatorSwitches <- Coordinator_1_11.  The rules read                *)
(* CoordinatorHas(switch). The steps of older generations are separate     *)
(* definitions: in this module, in OlderCoordinator and in TriggerModel.   *)
(* The manifest spec/manifests/coordinator_generations.toml substitutes    *)
(* them for the operators of the newest generation.                        *)
(*                                                                         *)
(* In this list, "counts" means: toward the number of failures that the    *)
(* job tolerates. "Else" states what holds in a generation without the     *)
(* switch.                                                                 *)
(*                                                                         *)
(* queues_requests                                                         *)
(*     a request that is not allowed to start is queued (COORD-11,         *)
(*     COORD-13); else it is rejected, and the scheduler repeats a         *)
(*     periodic request                                                    *)
(* pauses_periodic                                                         *)
(*     the minimum pause applies to periodic requests (COORD-14); else to  *)
(*     every request that is not forced                                    *)
(* every_task_must_run                                                     *)
(*     a checkpoint starts only if every unfinished task runs, and it      *)
(*     needs the acknowledgements of the running tasks (COORD-01); else it *)
(*     starts if the sources run, and it needs the acknowledgements of all *)
(*     tasks                                                               *)
(* abort_notifications                                                     *)
(*     tasks are notified of aborts (COORD-09); else they are not          *)
(*     (COORD-19)                                                          *)
(* stores_savepoints                                                       *)
(*     a savepoint is stored, and subsumes older checkpoints as a          *)
(*     checkpoint does (SUB-11); else it is not stored and subsumes none   *)
(*     (SUB-05)                                                            *)
(* completes_before_storing                                                *)
(*     a checkpoint is reported complete before it is stored               *)
(* keeps_possibly_stored                                                   *)
(*     a checkpoint is kept if it is unknown whether the store has stored  *)
(*     it (COORD-21)                                                       *)
(* protects_newest_checkpoint                                              *)
(*     the store never drops its newest checkpoint because a savepoint is  *)
(*     added, unless the job stops with this savepoint (SUB-08); else it   *)
(*     drops the oldest entry of any type (SUB-10)                         *)
(* subsumed_notifications                                                  *)
(*     tasks are notified of the checkpoints that the store drops (SUB-09) *)
(* counts_timeouts                                                         *)
(*     failed snapshots and time-outs count (COORD-15)                     *)
(* counts_io_exceptions                                                    *)
(*     failed writes of the coordinator count                              *)
(* counts_failed_finalization                                              *)
(*     a checkpoint that cannot be finalized counts                        *)
(* counts_in_order                                                         *)
(*     only a success newer than all earlier ones clears the count, and a  *)
(*     failure of a checkpoint up to the newest success does not count     *)
(*     (COORD-17); else every success clears the count, and failures of    *)
(*     any checkpoint count (COORD-18)                                     *)
(* turn_after_cleaning                                                     *)
(*     waiting requests get two turns when a checkpoint ends: the first    *)
(*     follows its end, the second follows the deletion of its state; else *)
(*     they get only the first                                             *)
(* turn_after_deletion                                                     *)
(*     waiting requests get a turn for each checkpoint that the store      *)
(*     drops (COORD-29)                                                    *)
(* counts_empty_deletions                                                  *)
(*     the deletion of an aborted checkpoint is under way even if no state *)
(*     was collected (COORD-33); else such a deletion ends at once         *)
(* abort_ends_master_phase                                                 *)
(*     an abort ends the master phase (COORD-30); else the phase lasts     *)
(*     until the awaited masters have answered                             *)
(* counts_failed_start                                                     *)
(*     a checkpoint that is aborted in its master phase counts a second    *)
(*     time, as a failed start (COORD-31)                                  *)
(* declines_count_for_all_types                                            *)
(*     failures that tasks report count for checkpoints and savepoints,    *)
(*     and the coordinator's own failures only for checkpoints; else every *)
(*     failure counts for both types                                       *)
(*                                                                         *)
(* Source: bytecode of the released jars 1.9.3 to 2.3.0,                   *)
(* CheckpointCoordinator, CheckpointFailureManager,                        *)
(* DefaultCompletedCheckpointStore.                                        *)
(***************************************************************************)
EXTENDS Sequences

Coordinator_1_9 == {"stores_savepoints", "completes_before_storing"}
Coordinator_1_11 ==
    Coordinator_1_9 \cup {"queues_requests", "pauses_periodic", "abort_notifications", "counts_timeouts"}
Coordinator_1_12 ==
    Coordinator_1_11
    \cup {"keeps_possibly_stored", "protects_newest_checkpoint", "counts_in_order", "turn_after_cleaning",
          "counts_empty_deletions"}
Coordinator_1_13 == Coordinator_1_12
Coordinator_1_14_0 == Coordinator_1_13 \cup {"counts_io_exceptions", "every_task_must_run"}
Coordinator_1_14 == Coordinator_1_14_0 \cup {"declines_count_for_all_types"}       \* from 1.14.3 on
Coordinator_1_15_0 == (Coordinator_1_14 \ {"stores_savepoints"}) \cup {"subsumed_notifications"}
Coordinator_1_15 == Coordinator_1_15_0 \cup {"counts_failed_finalization"}         \* from 1.15.2 on
Coordinator_1_16_0 ==
    Coordinator_1_15 \cup {"abort_ends_master_phase", "counts_failed_start", "turn_after_deletion"}
Coordinator_1_17 == Coordinator_1_16_0 \ {"completes_before_storing"}              \* from 1.16.2 on
Coordinator_1_18 == Coordinator_1_17
Coordinator_1_19 == Coordinator_1_18 \ {"counts_empty_deletions"}

CoordinatorSwitches == Coordinator_1_19

CoordinatorHas(switch) == switch \in CoordinatorSwitches

------------------------------------------------------------------------------
(* The comment at the end of a definition names the operator that it         *)
(* replaces. These operators are in the modules Failures, Store and          *)
(* Requests.                                                                 *)

(* Up to 1.15.1: a checkpoint that cannot be finalized does not count.       *)
Counted_1_15_1 ==                                                   \* Counted
    {"CHECKPOINT_DECLINED", "ASYNC_EXCEPTION", "CHECKPOINT_EXPIRED", "IO_EXCEPTION"}

(* Up to 1.14: the store does not report the checkpoints that it drops.      *)
SubsumesSilently(deleted) == <<>>                                   \* NotifySubsumed

(* Up to 1.14.2: failures of checkpoints and savepoints count, whoever       *)
(* reports them. A failure without a checkpoint has the id -1, and this id   *)
(* counts like any other: once, and not after a success that the count       *)
(* remembers.                                                                *)
EveryTypeCounts(type, reason, byTask) == TRUE                       \* Concerns
UnnamedIsAnId(n) == FALSE                                           \* IsUnnamed

(* Up to 1.13: a failed write of the coordinator does not count.             *)
Counted_1_13 == {"CHECKPOINT_DECLINED", "ASYNC_EXCEPTION", "CHECKPOINT_EXPIRED"}    \* Counted

(* Up to 1.11, COORD-18: every success clears the count, and failures of any *)
(* checkpoint count. SUB-10: the store drops the oldest entry of any type.   *)
ForgetsSuccesses(n) == 0                                            \* HighestSuccess
OnlyAgeCounts(store, i) == i # Len(store)                           \* MayGo

(* Up to 1.10: only declines count, and manual requests wait for the pause.  *)
Counted_1_10 == {"CHECKPOINT_DECLINED"}                             \* Counted
ManualOnesPause(r) == ~r.forced                                     \* KeepsPause
=============================================================================
