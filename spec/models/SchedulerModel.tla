--------------------------- MODULE SchedulerModel ----------------------------
(***************************************************************************)
(* The scheduler in its environment: the job and its tasks come and go,    *)
(* checkpoints complete, time passes.                                      *)
(***************************************************************************)
EXTENDS Scheduler

VARIABLES
    scheduler,      \* see SchedulerType
    since,          \* time since it last asked, or since it started; at most Interval
    out             \* the last event, then the effects that it had

vars == <<scheduler, since, out>>

TypeOK ==
    /\ scheduler \in SchedulerType
    /\ since \in 0 .. Interval + MinPause
    /\ \A i \in DOMAIN out : out[i] # <<>>

Init == scheduler = NewScheduler /\ since = 0 /\ out = <<>>

------------------------------------------------------------------------------
(* System: the scheduler takes the event. *)

Take(event, step) == scheduler' = step.scheduler /\ out' = <<event>> \o step.out

(* Environment. *)

Start == ~scheduler.runs /\ since' = 0 /\ Take(<<"start">>, OnStart(scheduler))
Stop == scheduler.runs /\ since' = 0 /\ Take(<<"stop">>, OnStop(scheduler))
Completion == UNCHANGED since /\ Take(<<"completion">>, OnCompletion(scheduler))
Tick ==
    /\ Take(<<"tick">>, OnTick(scheduler))
    /\ since' = IF <<"ask">> \in {out'[i] : i \in DOMAIN out'} THEN 0
                ELSE IF scheduler.runs /\ since < Interval + MinPause THEN since + 1 ELSE since

Next == Start \/ Stop \/ Completion \/ Tick

Spec == Init /\ [][Next]_vars

------------------------------------------------------------------------------
Asks == \E i \in 2 .. Len(out') : out'[i] = <<"ask">>
TooEarly == \E i \in 2 .. Len(out') : out'[i] = <<"too_early">>

(* It asks only while it runs, never within the pause, never less than the   *)
(* pause after it asked before, and never waits longer than an interval and  *)
(* the pause that came between.                                              *)
COORD_26 == [][
    /\ (Asks \/ TooEarly) => scheduler.runs /\ out'[1] = <<"tick">>
    /\ Asks => scheduler'.pause = 0
    /\ (scheduler.left = 1 /\ scheduler.runs /\ out'[1] = <<"tick">>) => Asks \/ TooEarly
    /\ ~scheduler'.runs => scheduler'.left = 0
    /\ scheduler'.runs => scheduler'.left > 0
    /\ since' <= Interval + MinPause]_vars

------------------------------------------------------------------------------
(* Replacements: each is put in the place of the operator in its comment by  *)
(* a model that must fail.                                                   *)

StandsDue(s) == [s EXCEPT !.runs = FALSE]                           \* Standing
NeverDue(s) == FALSE                                                \* IsDue

(* Constants of models. *)
Three == 3
==============================================================================
