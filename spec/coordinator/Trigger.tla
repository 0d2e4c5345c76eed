------------------------------- MODULE Trigger -------------------------------
(***************************************************************************)
(* The phase of a checkpoint before its sources: the coordinator triggers  *)
(* the operator coordinators, after all of them the master hooks, and      *)
(* after these the sources. One checkpoint at a time is in that phase.     *)
(*                                                                         *)
(* Up to 1.15 the phase outlives a checkpoint that is aborted in it: it    *)
(* lasts until all triggered operator coordinators have answered, or the   *)
(* first of the triggered hooks.                                           *)
(*                                                                         *)
(* Functions only: TriggerModel.tla puts them into an environment          *)
(* and states rules COORD-11, COORD-23, COORD-24, COORD-30 and COORD-31.   *)
(*                                                                         *)
(* Source: Apache Flink, CheckpointCoordinator.startTriggeringCheckpoint   *)
(* and triggerCheckpointRequest, 1.11 and later.                           *)
(***************************************************************************)
EXTENDS Integers, Sequences, FiniteSets, CoordinatorGenerations

CONSTANTS
    Coordinators,   \* the operator coordinators
    Hooks           \* the master hooks

BegunType ==
    [id           : Nat,
     coordinators : SUBSET Coordinators,    \* have answered
     hooks        : SUBSET Hooks,           \* have answered
     acknowledged : BOOLEAN]                \* by the single task

PhaseType ==
    [next    : Nat,                         \* id of the next checkpoint
     waiting : Nat,                         \* number of waiting requests
     pending : Seq(BegunType),              \* ascending by id
     outlived : Seq(BegunType)]             \* the aborted one whose phase continues, if any

NewPhase == [next |-> 1, waiting |-> 0, pending |-> <<>>, outlived |-> <<>>]

PhaseStep(m, effects) == [phase |-> m, out |-> effects]

------------------------------------------------------------------------------
(* The conditions are operators, so that a model can replace them. *)

HooksMayBeAsked(p) == p.coordinators = Coordinators                 \* COORD-23

IsReady(p) == p.coordinators = Coordinators /\ p.hooks = Hooks      \* COORD-23

AbortEndsPhase == CoordinatorHas("abort_ends_phase")                \* COORD-30

IsOver(p, hook) == hook \/ p.coordinators = Coordinators             \* COORD-30

CountsStart == CoordinatorHas("counts_failed_start")                \* COORD-31

IsFree(m) ==                                                        \* COORD-23
    m.outlived = <<>> /\ \A i \in DOMAIN m.pending : IsReady(m.pending[i])

IsHeard(p) == IsReady(p)                                            \* COORD-24

------------------------------------------------------------------------------
IsPendingId(m, n) == \E i \in DOMAIN m.pending : m.pending[i].id = n
PendingOf(m, n) == m.pending[CHOOSE i \in DOMAIN m.pending : m.pending[i].id = n]
Changed(m, p) ==
    [m EXCEPT !.pending = [i \in DOMAIN @ |-> IF @[i].id = p.id THEN p ELSE @[i]]]
Without(m, n) == [m EXCEPT !.pending = SelectSeq(@, LAMBDA p : p.id # n)]

(* The turn of waiting requests: one starts if no checkpoint is in that      *)
(* phase.                                                                    *)
Turn(m, effects) ==
    IF m.waiting = 0 \/ ~IsFree(m) THEN PhaseStep(m, effects)
    ELSE PhaseStep(
        [m EXCEPT !.next = @ + 1, !.waiting = @ - 1,
                  !.pending = Append(@,
             [id |-> m.next, coordinators |-> {}, hooks |-> {}, acknowledged |-> FALSE])],
        Append(effects, <<"ask_coordinators", m.next>>))

Ended(m, p) == IF p.acknowledged /\ IsReady(p) THEN Without(m, p.id) ELSE Changed(m, p)

OnRequest(m) == Turn([m EXCEPT !.waiting = @ + 1], <<>>)

(* An answer without a trigger, or a repeated one, has no effect. *)
IsOutlived(m, n) == m.outlived # <<>> /\ Head(m.outlived).id = n

(* For an aborted checkpoint an answer can only end the phase. *)
OnLateAnswer(m, hook, who) ==
    LET p == Head(m.outlived)
        q == IF hook THEN [p EXCEPT !.hooks = @ \cup {who}] ELSE [p EXCEPT !.coordinators = @ \cup {who}]
    IN  IF hook # HooksMayBeAsked(p) \/ q = p THEN PhaseStep(m, <<>>)
        ELSE IF IsOver(q, hook) THEN Turn([m EXCEPT !.outlived = <<>>], <<>>)
        ELSE PhaseStep([m EXCEPT !.outlived = <<q>>], <<>>)

OnAnswer(m, hook, who, n) ==
    IF IsOutlived(m, n) THEN OnLateAnswer(m, hook, who)
    ELSE
    LET p == PendingOf(m, n)
        q == IF hook THEN [p EXCEPT !.hooks = @ \cup {who}] ELSE [p EXCEPT !.coordinators = @ \cup {who}]
        asks == IF ~hook /\ HooksMayBeAsked(q) THEN <<<<"ask_hooks", n>>>> ELSE <<>>
        begins == IF IsReady(q) THEN <<<<"trigger", n>>>> ELSE <<>>
        ends == IF IsReady(q) /\ q.acknowledged THEN <<<<"complete", n>>>> ELSE <<>>
    IN  IF ~IsPendingId(m, n) THEN PhaseStep(m, <<>>)
        ELSE IF q = p \/ (hook /\ ~HooksMayBeAsked(p)) THEN PhaseStep(m, <<>>)
        ELSE Turn(Ended(m, q), asks \o begins \o ends)

(* An operator coordinator or a hook fails, or a trigger is lost. *)
TurnAfterAbort(m, effects) == Turn(m, effects)                            \* COORD-11

Abort(m, n) == TurnAfterAbort(Without(m, n), <<<<"abort", n, "TRIGGER_CHECKPOINT_FAILURE">>>>)

OnGivingUp(m, n) ==
    IF IsOutlived(m, n) THEN Turn([m EXCEPT !.outlived = <<>>], <<>>)
    ELSE IF IsPendingId(m, n) /\ ~IsReady(PendingOf(m, n)) THEN Abort(m, n) ELSE PhaseStep(m, <<>>)

(* Its time-out aborts it in any phase and counts as a failure; so does the  *)
(* start that fails by it.                                                   *)
OnExpiry(m, n) ==
    LET p == PendingOf(m, n)
        effects == <<<<"abort", n, "CHECKPOINT_EXPIRED">>, <<"counted", n>>>>
        again == IF CountsStart THEN <<<<"counted", n>>>> ELSE <<>>
    IN  IF ~IsPendingId(m, n) THEN PhaseStep(m, <<>>)
        ELSE IF IsReady(p) THEN Turn(Without(m, n), effects)
        ELSE IF AbortEndsPhase THEN Turn(Without(m, n), effects \o again)
        ELSE PhaseStep([Without(m, n) EXCEPT !.outlived = <<p>>], effects \o again)

OnLostTrigger(m, n) ==
    IF IsPendingId(m, n) /\ IsHeard(PendingOf(m, n)) THEN Abort(m, n) ELSE PhaseStep(m, <<>>)

(* The task may be faster than its trigger; the last answer completes it. *)
OnAcknowledge(m, n) ==
    LET p == [PendingOf(m, n) EXCEPT !.acknowledged = TRUE]
    IN  IF ~IsPendingId(m, n) THEN PhaseStep(m, <<>>)
        ELSE IF IsReady(p) THEN Turn(Without(m, n), <<<<"complete", n>>>>)
        ELSE PhaseStep(Changed(m, p), <<>>)
==============================================================================
