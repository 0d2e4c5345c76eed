------------------------------- MODULE Source --------------------------------
(***************************************************************************)
(* The steps of a source's task at the coordinator's trigger.              *)
(*                                                                         *)
(* A plain source begins its checkpoint. An externally induced source      *)
(* reads from a system that decides the position of the checkpoint. Its    *)
(* task only answers the trigger, and a hook of the source begins the      *)
(* checkpoint. A newer reader needs both hook and trigger. If the hook is  *)
(* called before the trigger arrives, the reader reads nothing until then, *)
(* so that no record behind the position becomes part of the checkpoint.   *)
(*                                                                         *)
(* The module has functions only. SourceModel.tla puts a source into an    *)
(* environment and states rules TASK-21 to TASK-24.                        *)
(*                                                                         *)
(* Source: Apache Flink, SourceStreamTask, SourceOperatorStreamTask,       *)
(* Task.triggerCheckpointBarrier, TaskExecutor.triggerCheckpoint.          *)
(***************************************************************************)
EXTENDS Integers, Sequences

CONSTANTS
    External,       \* an external system decides the positions of checkpoints
    Pairs,          \* a checkpoint needs both hook and trigger; else the hook begins it alone
    Declines        \* a trigger at a task that does not run is declined

ASSUME Pairs => External

SourceType ==
    [running   : BOOLEAN,               \* the task runs
     triggered : SUBSET Nat,            \* triggered; the hook has not been called
     ahead     : SUBSET Nat]            \* the hook has been called; the trigger has not arrived

NewSource == [running |-> TRUE, triggered |-> {}, ahead |-> {}]

SourceStep(s, effects) == [source |-> s, out |-> effects]

------------------------------------------------------------------------------
(* These are operators, so that a model can replace them. *)

(* TASK-21: the trigger begins the checkpoint.                              *)
TriggerBegins == ~External

(* TASK-22: the hook begins the checkpoint without the trigger. *)
HookBegins(s, n) == ~Pairs \/ n \in s.triggered

(* TASK-23: the ids that can still begin after n has begun. *)
Awaited(ids, n) == {m \in ids : m > n}

(* TASK-24: the trigger is for this task. *)
IsHere(here) == here

------------------------------------------------------------------------------
(* Reading stops when the first hook is ahead, and continues when none is. *)
Reading(s, t) ==
    IF s.ahead = {} /\ t.ahead # {} THEN <<<<"stop_reading">>>>
    ELSE IF s.ahead # {} /\ t.ahead = {} THEN <<<<"go_on_reading">>>>
    ELSE <<>>

Begin(s, n, refusal) ==
    LET t == [s EXCEPT !.triggered = Awaited(@, n), !.ahead = Awaited(@, n)]
    IN  SourceStep(t, <<<<"trigger", n>>>> \o refusal \o Reading(s, t))

(* TASK-21: a task that does not run declines the trigger. *)
Refusal(s, n) == IF s.running \/ ~Declines THEN <<>> ELSE <<<<"decline", n, "TASK_FAILURE">>>>

OnTriggerArrives(s, n, here) ==
    IF ~IsHere(here) THEN SourceStep(s, <<<<"fail", "CheckpointException">>>>)
    ELSE IF TriggerBegins THEN SourceStep(s, <<<<"trigger", n>>>> \o Refusal(s, n))
    ELSE IF n \in s.ahead THEN Begin(s, n, Refusal(s, n))
    ELSE SourceStep(
        [s EXCEPT !.triggered = IF Pairs THEN @ \cup {n} ELSE @],
        <<<<"answer", n, s.running>>>> \o Refusal(s, n))

OnInduce(s, n) ==
    LET t == [s EXCEPT !.ahead = @ \cup {n}]
    IN  IF HookBegins(s, n) THEN Begin(s, n, <<>>) ELSE SourceStep(t, Reading(s, t))

(* Aborted, subsumed or declined: the source awaits no hook and no trigger. *)
OnEnded(s, n) ==
    LET t == [s EXCEPT !.triggered = @ \ {n}, !.ahead = @ \ {n}]
    IN  SourceStep(t, Reading(s, t))

OnSourceStatus(s, running) == SourceStep([s EXCEPT !.running = running], <<>>)
==============================================================================
