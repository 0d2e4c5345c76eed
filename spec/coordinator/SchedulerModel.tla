--------------------------- MODULE SchedulerModel ----------------------------
(***************************************************************************)
(* The scheduler in its environment: the job and its tasks start and stop, *)
(* checkpoints complete, time passes.                                      *)
(***************************************************************************)
EXTENDS Scheduler

VARIABLES
    scheduler,      \* see SchedulerType
    out             \* the last event, then its effects

vars == <<scheduler, out>>

TypeOK ==
    /\ scheduler \in SchedulerType
    /\ \A i \in DOMAIN out : out[i] # <<>>

Init == scheduler = NewScheduler /\ out = <<>>

------------------------------------------------------------------------------
(* System: the scheduler takes the event. *)

Take(event, step) == scheduler' = step.scheduler /\ out' = <<event>> \o step.out

(* Environment. *)

Start == ~scheduler.runs /\ Take(<<"start">>, OnStart(scheduler))
Stop == scheduler.runs /\ Take(<<"stop">>, OnStop(scheduler))
Completion == Take(<<"completion">>, OnCompletion(scheduler))
Tick == Take(<<"tick">>, OnTick(scheduler))

Next == Start \/ Stop \/ Completion \/ Tick

Spec == Init /\ [][Next]_vars

------------------------------------------------------------------------------
(* The first request comes after the initial delay, each further one an      *)
(* interval later, and one within the pause moves to its end. Nothing else   *)
(* moves them, and a stopped scheduler makes none.                           *)
Ticks == out'[1] = <<"tick">>
IsItsTime == Ticks /\ scheduler.runs /\ scheduler.left = 1

COORD_26 == [][
    /\ Tail(out') = IF ~IsItsTime THEN <<>> ELSE IF scheduler'.pause > 0 THEN <<<<"too_early">>>> ELSE <<<<"ask">>>>
    /\ scheduler'.left =
        CASE ~scheduler'.runs -> 0
          [] ~scheduler.runs -> IF scheduler.again THEN MinPause ELSE InitialDelay
          [] IsItsTime -> IF scheduler'.pause > 0 THEN scheduler'.pause ELSE Interval
          [] OTHER -> IF Ticks THEN scheduler.left - 1 ELSE scheduler.left
    /\ scheduler'.pause =
        CASE out'[1] = <<"completion">> -> MinPause
          [] Ticks /\ scheduler.pause > 0 -> scheduler.pause - 1
          [] OTHER -> scheduler.pause
    /\ scheduler'.again = (scheduler.again \/ scheduler'.runs)]_vars

------------------------------------------------------------------------------
(* Replacements: each replaces the operator in its comment in a model that   *)
(* must fail.                                                                *)

StandsDue(s) == [s EXCEPT !.runs = FALSE]                           \* Standing
NeverDue(s) == FALSE                                                \* IsDue
WaitsALittle(s) == MinPause                                         \* FirstDelay
AsksAgainSoon == MinPause                                           \* NextDelay

(* Constants of models. *)
Three == 3
==============================================================================
