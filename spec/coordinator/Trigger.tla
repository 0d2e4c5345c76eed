------------------------------- MODULE Trigger -------------------------------
(***************************************************************************)
(* The master phase of a checkpoint. The coordinator triggers the operator *)
(* coordinators. When all of them have answered, it triggers the master    *)
(* hooks, and when all hooks have answered, the sources. One checkpoint at *)
(* a time is in this phase, and an abort ends the phase.                   *)
(*                                                                         *)
(* The module has functions only. TriggerModel.tla puts them into an       *)
(* environment, states rules COORD-11, COORD-23, COORD-24, COORD-30 and    *)
(* COORD-31, and has the steps of older generations.                       *)
(*                                                                         *)
(* Source: Apache Flink 1.16 and later,                                    *)
(* CheckpointCoordinator.startTriggeringCheckpoint and                     *)
(* triggerCheckpointRequest.                                               *)
(***************************************************************************)
EXTENDS Integers, Sequences, FiniteSets

CONSTANTS
    Coordinators,   \* the operator coordinators
    Hooks           \* the master hooks

BegunType ==
    [id           : Nat,
     coordinators : SUBSET Coordinators,    \* those that have answered
     hooks        : SUBSET Hooks,           \* those that have answered
     acknowledged : BOOLEAN]                \* the single task has acknowledged

PhaseType ==
    [next    : Nat,                         \* id of the next checkpoint
     waiting : Nat,                         \* number of waiting requests
     pending : Seq(BegunType),              \* ascending by id
     outlived : Seq(BegunType)]             \* up to 1.15: the aborted checkpoint whose phase continues

NewPhase == [next |-> 1, waiting |-> 0, pending |-> <<>>, outlived |-> <<>>]

PhaseStep(m, effects) == [phase |-> m, out |-> effects]

------------------------------------------------------------------------------
(* The conditions are operators, so that a model can replace them. *)

MayTriggerHooks(p) == p.coordinators = Coordinators                 \* COORD-23

IsReady(p) == p.coordinators = Coordinators /\ p.hooks = Hooks      \* COORD-23

AllReady(m) == \A i \in DOMAIN m.pending : IsReady(m.pending[i])

IsFree(m) == AllReady(m)                                            \* COORD-23

NoticesLoss(p) == IsReady(p)                                        \* COORD-24

------------------------------------------------------------------------------
IsPendingId(m, n) == \E i \in DOMAIN m.pending : m.pending[i].id = n
PendingOf(m, n) == m.pending[CHOOSE i \in DOMAIN m.pending : m.pending[i].id = n]
Changed(m, p) ==
    [m EXCEPT !.pending = [i \in DOMAIN @ |-> IF @[i].id = p.id THEN p ELSE @[i]]]
Without(m, n) == [m EXCEPT !.pending = SelectSeq(@, LAMBDA p : p.id # n)]

(* The turn of waiting requests: a request starts if no checkpoint is in the *)
(* master phase.                                                             *)
Turn(m, effects) ==
    IF m.waiting = 0 \/ ~IsFree(m) THEN PhaseStep(m, effects)
    ELSE PhaseStep(
        [m EXCEPT !.next = @ + 1, !.waiting = @ - 1,
                  !.pending = Append(@,
             [id |-> m.next, coordinators |-> {}, hooks |-> {}, acknowledged |-> FALSE])],
        Append(effects, <<"trigger_coordinators", m.next>>))

Ended(m, p) == IF p.acknowledged /\ IsReady(p) THEN Without(m, p.id) ELSE Changed(m, p)

OnRequest(m) == Turn([m EXCEPT !.waiting = @ + 1], <<>>)

WithAnswer(p, hook, who) ==
    IF hook THEN [p EXCEPT !.hooks = @ \cup {who}] ELSE [p EXCEPT !.coordinators = @ \cup {who}]

(* An answer that no trigger has requested, or a repeated answer, has no     *)
(* effect.                                                                   *)
Answered(m, hook, who, n) ==
    LET p == PendingOf(m, n)
        q == WithAnswer(p, hook, who)
        hooks == IF ~hook /\ MayTriggerHooks(q) THEN <<<<"trigger_hooks", n>>>> ELSE <<>>
        begins == IF IsReady(q) THEN <<<<"trigger", n>>>> ELSE <<>>
        ends == IF IsReady(q) /\ q.acknowledged THEN <<<<"complete", n>>>> ELSE <<>>
    IN  IF ~IsPendingId(m, n) THEN PhaseStep(m, <<>>)
        ELSE IF q = p \/ (hook /\ ~MayTriggerHooks(p)) THEN PhaseStep(m, <<>>)
        ELSE Turn(Ended(m, q), hooks \o begins \o ends)

OnAnswer(m, hook, who, n) == Answered(m, hook, who, n)

(* An operator coordinator or a hook fails, or a trigger is lost. *)
TurnAfterAbort(m, effects) == Turn(m, effects)                            \* COORD-11

Abort(m, n) == TurnAfterAbort(Without(m, n), <<<<"abort", n, "TRIGGER_CHECKPOINT_FAILURE">>>>)

GivenUp(m, n) ==
    IF IsPendingId(m, n) /\ ~IsReady(PendingOf(m, n)) THEN Abort(m, n) ELSE PhaseStep(m, <<>>)

OnGivingUp(m, n) == GivenUp(m, n)

(* COORD-30: the phase ends with its checkpoint. *)
AbortStart(m, p, effects) == Turn(Without(m, p.id), effects)

(* COORD-31: the failed start counts in addition to the abort. *)
FailedStart(n) == <<<<"counted", n>>>>

(* The time-out of a checkpoint aborts it in any phase and counts as a       *)
(* failure.                                                                  *)
OnExpiry(m, n) ==
    LET p == PendingOf(m, n)
        effects == <<<<"abort", n, "CHECKPOINT_EXPIRED">>, <<"counted", n>>>>
    IN  IF ~IsPendingId(m, n) THEN PhaseStep(m, <<>>)
        ELSE IF IsReady(p) THEN Turn(Without(m, n), effects)
        ELSE AbortStart(m, p, effects \o FailedStart(n))

OnLostTrigger(m, n) ==
    IF IsPendingId(m, n) /\ NoticesLoss(PendingOf(m, n)) THEN Abort(m, n) ELSE PhaseStep(m, <<>>)

(* The task can acknowledge before its trigger. Then the last answer         *)
(* completes the checkpoint.                                                 *)
OnAcknowledge(m, n) ==
    LET p == [PendingOf(m, n) EXCEPT !.acknowledged = TRUE]
    IN  IF ~IsPendingId(m, n) THEN PhaseStep(m, <<>>)
        ELSE IF IsReady(p) THEN Turn(Without(m, n), <<<<"complete", n>>>>)
        ELSE PhaseStep(Changed(m, p), <<>>)
==============================================================================
