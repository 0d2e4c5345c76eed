----------------------- MODULE CoordinatorGenerations ------------------------
(***************************************************************************)
(* Generations of Flink at the checkpoint coordinator and its store: one   *)
(* protocol, and the switches in which the releases differ. A generation   *)
(* is the set of its switches, and a model selects a generation with       *)
(* CoordinatorSwitches <- Coordinator_1_11.  The rules read                *)
(* CoordinatorHas(switch). The steps of older generations are definitions  *)
(* (below, in OlderCoordinator and in TriggerModel), which                 *)
(* spec/manifests/coordinator_generations.toml puts in the place of        *)
(* operators of the newest.                                                *)
(*                                                                         *)
(* queues_requests                                                         *)
(*     a request that may not start waits (COORD-11, COORD-13); else it is *)
(*     rejected, and the scheduler repeats a periodic one                  *)
(* pauses_periodic                                                         *)
(*     the min pause applies to periodic requests (COORD-14); else to all  *)
(*     that are not forced                                                 *)
(* every_task_must_run                                                     *)
(*     every task must run, and running ones are awaited (COORD-01); else  *)
(*     sources must run, and all are awaited                               *)
(* abort_notifications                                                     *)
(*     tasks are notified of aborts (COORD-09); else not (COORD-19)        *)
(* stores_savepoints                                                       *)
(*     a savepoint is stored and replaces like a checkpoint (SUB-11); else *)
(*     it replaces none (SUB-05)                                           *)
(* completes_before_storing                                                *)
(*     a checkpoint is reported complete before it is stored               *)
(* keeps_possibly_stored                                                   *)
(*     a checkpoint that may be stored is kept (COORD-21)                  *)
(* protects_newest_checkpoint                                              *)
(*     the store keeps its newest checkpoint from savepoints (SUB-08);     *)
(*     else it drops the oldest of any type (SUB-10)                       *)
(* subsumed_notifications                                                  *)
(*     tasks are notified of dropped checkpoints (SUB-09)                  *)
(* counts_timeouts                                                         *)
(*     failed snapshots and time-outs count (COORD-15)                     *)
(* counts_io_exceptions                                                    *)
(*     failed writes of the coordinator count                              *)
(* counts_failed_finalization                                              *)
(*     a checkpoint that cannot be finished counts                         *)
(* counts_in_order                                                         *)
(*     only the newest success clears the count, and older failures do not *)
(*     count (COORD-17); else all do (COORD-18)                            *)
(* turn_after_cleaning                                                     *)
(*     waiting requests get two turns after an end                         *)
(* turn_after_deletion                                                     *)
(*     waiting requests get a turn for each dropped checkpoint (COORD-29)  *)
(* counts_empty_deletions                                                  *)
(*     the deletion of an aborted checkpoint without collected state is    *)
(*     under way, too (COORD-33); else it ends at once                     *)
(* abort_ends_master_phase                                                 *)
(*     an abort ends the master phase (COORD-30)                           *)
(* counts_failed_start                                                     *)
(*     a failure in the master phase counts again, as a failed start       *)
(*     (COORD-31)                                                          *)
(* declines_count_for_all_types                                            *)
(*     the coordinator's own failures count for checkpoints only           *)
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
(* Each definition replaces the operator in its comment, of Failures, Store  *)
(* or Requests.                                                              *)

(* Up to 1.15.1: a failed finalization does not count.                       *)
Counted_1_15_1 ==                                                   \* Counted
    {"CHECKPOINT_DECLINED", "ASYNC_EXCEPTION", "CHECKPOINT_EXPIRED", "IO_EXCEPTION"}

(* Up to 1.14: dropped checkpoints are not reported.                         *)
SubsumesSilently(deleted) == <<>>                                   \* NotifySubsumed

(* Up to 1.14.2: failures count for any type, and -1 is an id like others.   *)
EveryTypeCounts(type, reason, byTask) == TRUE                       \* Concerns
UnnamedIsAnId(n) == FALSE                                           \* IsUnnamed

(* Up to 1.13: a failed write does not count.                                *)
Counted_1_13 == {"CHECKPOINT_DECLINED", "ASYNC_EXCEPTION", "CHECKPOINT_EXPIRED"}    \* Counted

(* Up to 1.11, COORD-18: every success clears the count, and failures of any *)
(* age count. SUB-10: the store drops the oldest entry of any type.          *)
ForgetsSuccesses(n) == 0                                            \* HighestSuccess
OnlyAgeCounts(store, i) == i # Len(store)                           \* MayGo

(* Up to 1.10: only declines count, and manual requests keep the pause. *)
Counted_1_10 == {"CHECKPOINT_DECLINED"}                             \* Counted
ManualOnesPause(r) == ~r.forced                                     \* KeepsPause
=============================================================================
