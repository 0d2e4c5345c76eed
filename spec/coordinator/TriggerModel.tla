---------------------------- MODULE TriggerModel -----------------------------
(***************************************************************************)
(* The master phase in its environment: requests, answers in any order,    *)
(* also without a trigger and repeated, a task that acknowledges before    *)
(* its trigger, and lost triggers.                                         *)
(***************************************************************************)
EXTENDS Trigger, CoordinatorGenerations

CONSTANT
    M               \* maximum number of requested checkpoints

VARIABLES
    phase,          \* see PhaseType
    out             \* the last event, then its effects

vars == <<phase, out>>
Ids == 1 .. M

TypeOK == phase \in PhaseType /\ \A i \in DOMAIN out : out[i] # <<>>

Init == phase = NewPhase /\ out = <<>>

------------------------------------------------------------------------------
(* System: the coordinator takes the event. *)

Take(event, step) == phase' = step.phase /\ out' = <<event>> \o step.out

(* Environment. *)

Request == phase.next + phase.waiting <= M /\ Take(<<"request", 0>>, OnRequest(phase))
Answer(hook, who, n) == n < phase.next /\ Take(<<"answer", n, hook, who>>, OnAnswer(phase, hook, who, n))
GivingUp(n) == n < phase.next /\ Take(<<"give_up", n>>, OnGivingUp(phase, n))
LostTrigger(n) == n < phase.next /\ Take(<<"lost_trigger", n>>, OnLostTrigger(phase, n))
Expiry(n) == n < phase.next /\ Take(<<"expiry", n>>, OnExpiry(phase, n))
Acknowledge(n) == n < phase.next /\ Take(<<"acknowledge", n>>, OnAcknowledge(phase, n))

Next ==
    \/ Request
    \/ \E n \in Ids :
        \/ GivingUp(n) \/ LostTrigger(n) \/ Expiry(n) \/ Acknowledge(n)
        \/ \E who \in Coordinators : Answer(FALSE, who, n)
        \/ \E who \in Hooks : Answer(TRUE, who, n)

Spec == Init /\ [][Next]_vars

------------------------------------------------------------------------------
(* Terms of the rules. *)

EventIs(kind) == out'[1][1] = kind
Which == out'[1][2]
Effects == Tail(out')
HasEffect(kind, n) == \E i \in DOMAIN Effects : Effects[i][1] = kind /\ Effects[i][2] = n
AllDone(p) == p.coordinators = Coordinators /\ p.hooks = Hooks
Busy(m) == {i \in DOMAIN m.pending : ~AllDone(m.pending[i])}

(* The answers received after this one, if it was triggered. *)
After(p, hook, who) ==
    IF ~hook THEN [p EXCEPT !.coordinators = @ \cup {who}]
    ELSE IF p.coordinators = Coordinators THEN [p EXCEPT !.hooks = @ \cup {who}]
    ELSE p

(* A request waits only for a master: no request waits while no checkpoint   *)
(* is in the master phase.                                                   *)
COORD_11 == phase.waiting > 0 => Busy(phase) # {} \/ phase.outlived # <<>>

COORD_23 == [][
    /\ Cardinality(Busy(phase')) <= 1
    /\ \A n \in Ids :
        /\ HasEffect("trigger", n) => EventIs("answer") /\ Which = n
        /\ HasEffect("trigger_hooks", n) => EventIs("answer") /\ Which = n /\ ~out'[1][3]
    /\ (EventIs("answer") /\ IsPendingId(phase, Which)) =>
        LET p == PendingOf(phase, Which)
            q == After(p, out'[1][3], out'[1][4])
        IN  /\ HasEffect("trigger", Which) = (q # p /\ AllDone(q))
            /\ HasEffect("trigger_hooks", Which) = (q.coordinators # p.coordinators /\ q.coordinators = Coordinators)
    ]_vars

COORD_24 == [][EventIs("lost_trigger") =>
    IF IsPendingId(phase, Which) /\ AllDone(PendingOf(phase, Which))
    THEN Effects # <<>> /\ Head(Effects) = <<"abort", Which, "TRIGGER_CHECKPOINT_FAILURE">> /\ ~IsPendingId(phase', Which)
    ELSE Effects = <<>> /\ phase' = phase]_vars

(* The phase ends with its checkpoint, or no checkpoint starts before the    *)
(* end of the phase.                                                         *)
InPhase(m, n) == IsPendingId(m, n) /\ ~AllDone(PendingOf(m, n))

COORD_30 == [][
    /\ EventIs("expiry") /\ InPhase(phase, Which) =>
        /\ ~IsPendingId(phase', Which)
        /\ IF CoordinatorHas("abort_ends_master_phase")
           THEN phase'.outlived = <<>> /\ (phase.waiting > 0 => phase'.next = phase.next + 1)
           ELSE phase'.outlived = <<PendingOf(phase, Which)>> /\ phase'.next = phase.next
    /\ phase'.outlived # <<>> => phase'.next = phase.next
    /\ (phase.outlived # <<>> /\ EventIs("answer") /\ Which = Head(phase.outlived).id) =>
        LET p == Head(phase.outlived)
            who == out'[1][4]
        IN  (phase'.outlived = <<>>) = IF p.coordinators = Coordinators THEN out'[1][3] /\ who \notin p.hooks
                                       ELSE ~out'[1][3] /\ p.coordinators \cup {who} = Coordinators
    /\ phase.outlived # <<>> /\ phase'.outlived = <<>> =>
        /\ (EventIs("answer") \/ EventIs("give_up")) /\ Which = Head(phase.outlived).id
        /\ ~HasEffect("trigger", Which) /\ ~HasEffect("trigger_hooks", Which)]_vars

COORD_31 == [][EventIs("expiry") /\ IsPendingId(phase, Which) =>
    Len(SelectSeq(Effects, LAMBDA e : e[1] = "counted"))
        = IF ~AllDone(PendingOf(phase, Which)) /\ CoordinatorHas("counts_failed_start") THEN 2 ELSE 1]_vars

------------------------------------------------------------------------------
(* All effects in order, and all changes of the state.                       *)

Known == \E i \in DOMAIN phase.pending : phase.pending[i].id = Which
Old == phase.pending[CHOOSE i \in DOMAIN phase.pending : phase.pending[i].id = Which]
New == IF EventIs("answer") THEN After(Old, out'[1][3], out'[1][4])
       ELSE IF EventIs("acknowledge") THEN [Old EXCEPT !.acknowledged = TRUE] ELSE Old
Aborts ==
    \/ EventIs("expiry") \/ (EventIs("give_up") /\ ~AllDone(Old)) \/ (EventIs("lost_trigger") /\ AllDone(Old))
Completes == New # Old /\ AllDone(New) /\ New.acknowledged
AbortsOfIt ==
    IF ~EventIs("expiry") THEN <<<<"abort", Which, "TRIGGER_CHECKPOINT_FAILURE">>>>
    ELSE <<<<"abort", Which, "CHECKPOINT_EXPIRED">>, <<"counted", Which>>>>
         \o IF ~AllDone(Old) /\ CoordinatorHas("counts_failed_start") THEN <<<<"counted", Which>>>> ELSE <<>>
EffectsOfIt ==
    IF ~Known THEN <<>> ELSE IF Aborts THEN AbortsOfIt
    ELSE (IF New.coordinators # Old.coordinators /\ New.coordinators = Coordinators
          THEN <<<<"trigger_hooks", Which>>>> ELSE <<>>)
         \o (IF AllDone(New) /\ ~AllDone(Old) THEN <<<<"trigger", Which>>>> ELSE <<>>)
         \o (IF Completes THEN <<<<"complete", Which>>>> ELSE <<>>)
Begins == phase'.next # phase.next
Begun == [id |-> phase.next, coordinators |-> {}, hooks |-> {}, acknowledged |-> FALSE]

AllEffects == [][
    Effects = EffectsOfIt \o IF Begins THEN <<<<"trigger_coordinators", phase.next>>>> ELSE <<>>]_vars

Stays(p) == p.id # Which \/ ~(Aborts \/ Completes)
Remaining ==
    LET kept == IF Known THEN SelectSeq(phase.pending, Stays) ELSE phase.pending
    IN  [i \in DOMAIN kept |-> IF kept[i].id = Which THEN New ELSE kept[i]]
Outliving ==
    LET p == Head(phase.outlived)
        q == After(p, out'[1][3], out'[1][4])
    IN  IF EventIs("expiry") /\ Known /\ ~AllDone(Old) /\ ~CoordinatorHas("abort_ends_master_phase") THEN <<Old>>
        ELSE IF phase.outlived = <<>> \/ p.id # Which THEN phase.outlived
        ELSE IF EventIs("give_up") THEN <<>>
        ELSE IF ~EventIs("answer") \/ q = p THEN phase.outlived
        ELSE IF out'[1][3] \/ q.coordinators = Coordinators THEN <<>> ELSE <<q>>

Frame == [][
    /\ out = <<>> => phase = [next |-> 1, waiting |-> 0, pending |-> <<>>, outlived |-> <<>>]
    /\ phase'.next \in {phase.next, phase.next + 1}
    /\ phase'.waiting = phase.waiting + (IF EventIs("request") THEN 1 ELSE 0) - (phase'.next - phase.next)
    /\ phase'.pending = Remaining \o IF Begins THEN <<Begun>> ELSE <<>>
    /\ Begins => \A i \in DOMAIN Remaining : AllDone(Remaining[i])
    /\ phase'.outlived = Outliving /\ (Begins => Outliving = <<>>)]_vars

------------------------------------------------------------------------------
(* Up to 1.15, COORD-30: the phase outlives a checkpoint that is aborted in  *)
(* it. The phase lasts until all triggered operator coordinators or the      *)
(* first triggered hook have answered. Each definition replaces the operator *)
(* in its comment.                                                           *)

Outlives(m, p, effects) == PhaseStep([Without(m, p.id) EXCEPT !.outlived = <<p>>], effects)  \* AbortStart
CountsOnce(n) == <<>>                                               \* FailedStart
IsFreeOfBoth(m) == m.outlived = <<>> /\ AllReady(m)                 \* IsFree

IsOutlived(m, n) == m.outlived # <<>> /\ Head(m.outlived).id = n

IsOver(p, hook) == hook \/ p.coordinators = Coordinators

(* For an aborted checkpoint an answer can only end the phase. *)
OnLateAnswer(m, hook, who) ==
    LET p == Head(m.outlived)
        q == WithAnswer(p, hook, who)
    IN  IF hook # MayTriggerHooks(p) \/ q = p THEN PhaseStep(m, <<>>)
        ELSE IF IsOver(q, hook) THEN Turn([m EXCEPT !.outlived = <<>>], <<>>)
        ELSE PhaseStep([m EXCEPT !.outlived = <<q>>], <<>>)

AnsweredLate(m, hook, who, n) ==                                    \* OnAnswer
    IF IsOutlived(m, n) THEN OnLateAnswer(m, hook, who) ELSE Answered(m, hook, who, n)

GivenUpLate(m, n) ==                                                \* OnGivingUp
    IF IsOutlived(m, n) THEN Turn([m EXCEPT !.outlived = <<>>], <<>>) ELSE GivenUp(m, n)

------------------------------------------------------------------------------
(* Replacements: each takes the place of the operator in its comment.        *)

HooksDoNotMatter(p) == p.coordinators = Coordinators                \* IsReady
AllAtOnce(m) == TRUE                                          \* IsFree
AllMustAnswer(p, hook) ==                                           \* IsOver
    IF hook THEN p.hooks = Hooks ELSE p.coordinators = Coordinators
NoticesNothing(p) == FALSE                                          \* NoticesLoss
StartsNothing(m, effects) == PhaseStep(m, effects)                        \* TurnAfterAbort
==============================================================================
