----------------------- MODULE CoordinatorGenerations ------------------------
(***************************************************************************)
(* Generations of Flink at the checkpoint coordinator and its store: one   *)
(* protocol, and the switches in which the releases differ. A generation   *)
(* is the set of its switches; the modules read CoordinatorHas(switch),    *)
(* and a model selects one with                                            *)
(* CoordinatorSwitches <- Coordinator_1_11.                                *)
(*                                                                         *)
(* queues           a request that may not start waits (COORD-11,          *)
(*                  COORD-13); else it is rejected, and the scheduler      *)
(*                  repeats one                                            *)
(* pauses_periodic  the min pause applies to periodic requests             *)
(*                  (COORD-14); else to all that are not forced            *)
(* awaits_running   every task must run, and running ones are awaited      *)
(*                  (COORD-01); else sources must run, and all are         *)
(*                  awaited                                                *)
(* tells_of_aborts  tasks are notified of aborts (COORD-09); else not      *)
(*                  (COORD-19)                                             *)
(* stores_savepoints   a savepoint is stored and replaces like a           *)
(*                  checkpoint (SUB-11); else it replaces none (SUB-05)    *)
(* completes_first  a checkpoint is reported complete before it is         *)
(*                  stored                                                 *)
(* success_first    a checkpoint clears the count of failures before it is *)
(*                  stored                                                 *)
(* doubts_the_store a checkpoint that may be stored is kept (COORD-21)     *)
(* protects_newest  the store keeps its newest checkpoint from savepoints  *)
(*                  (SUB-08); else it drops the oldest of any type         *)
(*                  (SUB-10)                                               *)
(* tells_of_subsumed   tasks are notified of dropped checkpoints (SUB-09)  *)
(* counts_snapshots    failed snapshots and time-outs count (COORD-15)     *)
(* counts_io        failed writes of the coordinator count                 *)
(* counts_finalization a checkpoint that cannot be finished counts         *)
(* counts_failed_store ... also if the store has failed                    *)
(* counts_in_order  only the newest success clears the count, and older    *)
(*                  failures do not count (COORD-17); else all do          *)
(*                  (COORD-18)                                             *)
(* turn_after_cleaning   waiting requests get two turns after an end       *)
(* turn_after_drop  ... and one more for each deleted checkpoint           *)
(*                  (COORD-29)                                             *)
(* plans_later      a start that finds tasks missing takes as long as one  *)
(*                  that succeeds: further turns have no effect            *)
(* abort_ends_phase an abort ends the phase before the sources (COORD-30)  *)
(* counts_failed_start   a failure in that phase counts again, as that of  *)
(*                  the start (COORD-31)                                   *)
(* savepoints_apart the coordinator's own failures count for checkpoints   *)
(*                  only                                                   *)
(*                                                                         *)
(* Source: bytecode of the released jars 1.9.3 to 2.3.0,                   *)
(* CheckpointCoordinator, CheckpointFailureManager,                        *)
(* DefaultCompletedCheckpointStore.                                        *)
(***************************************************************************)

Coordinator_1_9 == {"stores_savepoints", "completes_first", "success_first"}
Coordinator_1_11 ==
    Coordinator_1_9 \cup {"queues", "pauses_periodic", "tells_of_aborts", "counts_snapshots"}
Coordinator_1_12 ==
    Coordinator_1_11
    \cup {"doubts_the_store", "protects_newest", "counts_in_order", "turn_after_cleaning"}
Coordinator_1_13 == Coordinator_1_12 \cup {"plans_later"}
Coordinator_1_14 == Coordinator_1_13 \cup {"counts_io", "awaits_running", "savepoints_apart"}
Coordinator_1_15 ==
    (Coordinator_1_14 \ {"stores_savepoints"})
    \cup {"tells_of_subsumed", "counts_finalization"}
Coordinator_1_17 ==                                                 \* 1.16 too
    (Coordinator_1_15 \ {"completes_first"})
    \cup {"abort_ends_phase", "counts_failed_start", "turn_after_drop"}
Coordinator_1_18 == (Coordinator_1_17 \ {"success_first"}) \cup {"counts_failed_store"}

CoordinatorSwitches == Coordinator_1_18

CoordinatorHas(switch) == switch \in CoordinatorSwitches
=============================================================================
