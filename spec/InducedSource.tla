---------------------------- MODULE InducedSource ----------------------------
(***************************************************************************)
(* What a source's task does with the coordinator's trigger.               *)
(*                                                                         *)
(* A plain source begins its checkpoint. One that is externally induced    *)
(* reads from a system that decides itself where the checkpoint is: its    *)
(* task only answers the trigger, and a hook of the source's own begins    *)
(* the checkpoint. A newer reader needs both halves; where its hook is     *)
(* ahead of the trigger it reads nothing more, lest records behind the     *)
(* place get into the checkpoint.                                          *)
(*                                                                         *)
(* Functions only: models/SourceModel.tla puts a source into an            *)
(* environment and states rules TASK-21 to TASK-24.                        *)
(*                                                                         *)
(* Source: Apache Flink, SourceStreamTask, SourceOperatorStreamTask,       *)
(* Task.triggerCheckpointBarrier, TaskExecutor.triggerCheckpoint.          *)
(***************************************************************************)
EXTENDS Integers, Sequences

CONSTANTS
    External,       \* somebody else decides where checkpoints are
    Pairs,          \* the hook and the trigger have both to come; else the hook begins alone
    Declines        \* a task that answers that it does not run declines

ASSUME Pairs => External

SourceType ==
    [running : BOOLEAN,                 \* the task runs
     told    : SUBSET Nat,              \* triggered, the hook has not come
     ahead   : SUBSET Nat]              \* the hook has come, the trigger has not

NewSource == [running |-> TRUE, told |-> {}, ahead |-> {}]

SourceStep(s, said) == [source |-> s, out |-> said]

------------------------------------------------------------------------------
(* Operators of their own, so that a model can replace them.                *)

(* TASK-21: the trigger begins the checkpoint.                              *)
IsObeyed == ~External

(* TASK-22: nothing else has to come before the hook begins.                *)
HookBegins(s, n) == ~Pairs \/ n \in s.told

(* TASK-23: what may still begin when n has begun.                          *)
Awaited(ids, n) == {m \in ids : m > n}

(* TASK-24: the task that the trigger is for is this one.                   *)
IsHere(here) == here

------------------------------------------------------------------------------
(* Reading stops with the first hook that is ahead, and goes on with the    *)
(* last one that is not any more.                                           *)
Reading(s, t) ==
    IF s.ahead = {} /\ t.ahead # {} THEN <<<<"stop_reading">>>>
    ELSE IF s.ahead # {} /\ t.ahead = {} THEN <<<<"go_on_reading">>>>
    ELSE <<>>

Begin(s, n) ==
    LET t == [s EXCEPT !.told = Awaited(@, n), !.ahead = Awaited(@, n)]
    IN  SourceStep(t, <<<<"trigger", n>>>> \o Reading(s, t))

Refusal(s, n) == IF s.running \/ ~Declines THEN <<>> ELSE <<<<"decline", n, "TASK_FAILURE">>>>

OnTriggerArrives(s, n, here) ==
    IF ~IsHere(here) THEN SourceStep(s, <<<<"fail", "CheckpointException">>>>)
    ELSE IF IsObeyed THEN SourceStep(s, <<<<"trigger", n>>>>)
    ELSE IF n \in s.ahead THEN Begin(s, n)
    ELSE SourceStep(
        [s EXCEPT !.told = IF Pairs THEN @ \cup {n} ELSE @],
        <<<<"answer", n, s.running>>>> \o Refusal(s, n))

OnInduce(s, n) ==
    LET t == [s EXCEPT !.ahead = @ \cup {n}]
    IN  IF HookBegins(s, n) THEN Begin(s, n) ELSE SourceStep(t, Reading(s, t))

(* Aborted, subsumed or declined: neither half is awaited any more.         *)
OnEnded(s, n) ==
    LET t == [s EXCEPT !.told = @ \ {n}, !.ahead = @ \ {n}]
    IN  SourceStep(t, Reading(s, t))

OnSourceStatus(s, running) == SourceStep([s EXCEPT !.running = running], <<>>)
==============================================================================
