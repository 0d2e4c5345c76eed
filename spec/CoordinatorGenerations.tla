----------------------- MODULE CoordinatorGenerations -----------------------
(***************************************************************************)
(* Generations of Flink at the checkpoint coordinator and its store: one   *)
(* protocol, and the switches in which the releases differ. A generation   *)
(* is the set of its switches; the modules ask CoordinatorHas(switch), and *)
(* a model picks one with  CoordinatorSwitches <- Coordinator_1_11.        *)
(*                                                                         *)
(* queues           a request that may not start waits (COORD-11,          *)
(*                  COORD-13); else it is sent away, and the scheduler     *)
(*                  makes up for one                                       *)
(* pauses_periodic  the min pause is meant for periodic requests           *)
(*                  (COORD-14); else for all that are not forced           *)
(* awaits_running   every task must run, and those that run are awaited    *)
(*                  (COORD-01); else sources must, and all are             *)
(* tells_of_aborts  tasks are told of aborts (COORD-09); else not          *)
(*                  (COORD-19)                                             *)
(* stores_savepoints   a savepoint is stored and replaces as a checkpoint  *)
(*                  does (SUB-11); else it replaces nothing (SUB-05)       *)
(* completes_first  a checkpoint is called complete before it is stored    *)
(* success_first    a checkpoint clears the count of failures before it is *)
(*                  stored                                                 *)
(* doubts_the_store what may be stored is kept (COORD-21)                  *)
(* protects_newest  the store keeps its newest checkpoint from savepoints  *)
(*                  (SUB-08); else whatever is oldest goes (SUB-10)        *)
(* tells_of_subsumed   tasks are told what the store has dropped (SUB-09)  *)
(* counts_snapshots    failed snapshots and time-outs count (COORD-15)     *)
(* counts_io        failed writes of the coordinator count                 *)
(* counts_finalization a checkpoint that cannot be finished counts         *)
(* counts_failed_store ... also if it is the store's failure               *)
(* counts_in_order  only the newest success clears the count, and older    *)
(*                  failures do not count (COORD-17); else all do          *)
(*                  (COORD-18)                                             *)
(* turn_after_cleaning   what waits gets its turn twice after an end       *)
(* turn_after_drop  ... and once more for each deleted checkpoint          *)
(*                  (COORD-29)                                             *)
(* plans_later      a start that finds tasks missing is as long as one     *)
(*                  that succeeds: further turns come to nothing           *)
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
