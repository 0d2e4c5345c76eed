------------------------- MODULE SubtaskGenerations --------------------------
(***************************************************************************)
(* Generations of Flink at the snapshot steps of one subtask: one          *)
(* protocol, and the switches in which the releases differ. A generation   *)
(* is the set of its switches; Subtask reads TaskHas(switch), and a model  *)
(* selects a generation with                                               *)
(* TaskSwitches <- Task_1_11.                                              *)
(*                                                                         *)
(* orders_triggers        a trigger not above the last one is ignored;     *)
(*                        else every trigger is taken (TASK-02, TASK-11)   *)
(* hears_aborts           the coordinator notifies of aborts (TASK-05,     *)
(*                        TASK-12)                                         *)
(* broken_snapshot_fails  a synchronous part that throws fails the task    *)
(*                        (TASK-13); else it is declined (TASK-14)         *)
(* declines_with_cause    a decline names the cause (TASK-15)              *)
(* stopped_says_nothing   a failure after the task has stopped has no      *)
(*                        effect (TASK-16)                                 *)
(* completes_in_order     only newer completions are passed on (TASK-06,   *)
(*                        TASK-17)                                         *)
(* hears_subsumed         the coordinator notifies of dropped checkpoints  *)
(*                        (TASK-18)                                        *)
(* infers_aborts          an id far below the highest abort is aborted     *)
(*                        (TASK-19)                                        *)
(*                                                                         *)
(* The constant MaxRemembered is the number of remembered aborts: 128 from *)
(* 1.11 on, and the number of concurrent checkpoints from 1.17 on.         *)
(*                                                                         *)
(* Source: bytecode of the released jars 1.9.3 to 2.3.0,                   *)
(* SubtaskCheckpointCoordinatorImpl, StreamTask, AsyncCheckpointRunnable.  *)
(***************************************************************************)

Task_1_9 == {}
Task_1_11 ==
    {"orders_triggers", "hears_aborts", "broken_snapshot_fails", "declines_with_cause",
     "stopped_says_nothing"}
Task_1_14 == Task_1_11 \cup {"completes_in_order"}
Task_1_15 == Task_1_14 \cup {"hears_subsumed"}
Task_1_17 == Task_1_15 \cup {"infers_aborts"}

TaskSwitches == Task_1_17

TaskHas(switch) == switch \in TaskSwitches
=============================================================================
