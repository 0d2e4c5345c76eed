------------------------------ MODULE Scheduler ------------------------------
(***************************************************************************)
(* The scheduler of the coordinator. While the job and its tasks run, it   *)
(* requests a checkpoint every interval. A request within the min pause    *)
(* after a completion is rejected, and the next request moves to the end   *)
(* of the pause. Rule COORD-26.                                            *)
(*                                                                         *)
(* First come the functions, then the environment: the job and its tasks   *)
(* start and stop, checkpoints complete, time passes.                      *)
(*                                                                         *)
(* Source: Apache Flink, CheckpointCoordinator.startCheckpointScheduler,   *)
(* ScheduledTrigger, rescheduleTrigger.                                    *)
(***************************************************************************)
EXTENDS Integers, Sequences

CONSTANTS
    Interval,       \* units of time from one request to the next
    InitialDelay,   \* units of time before the first request
    MinPause        \* units of time of the pause after a completion, at most Interval

ASSUME Interval > 0 /\ InitialDelay \in 1 .. Interval /\ MinPause \in 1 .. Interval

SchedulerType ==
    [runs  : BOOLEAN,
     left  : 0 .. Interval,             \* time to the next request; 0 while the scheduler is stopped
     pause : 0 .. MinPause,             \* time left of the pause
     again : BOOLEAN]                   \* the scheduler has run before

NewScheduler == [runs |-> FALSE, left |-> 0, pause |-> 0, again |-> FALSE]

SchedulerStep(s, effects) == [scheduler |-> s, out |-> effects]

------------------------------------------------------------------------------
(* The conditions are operators, so that a model can replace them. *)

IsDue(s) == s.runs /\ s.left = 1                                    \* COORD-26

Standing(s) == [s EXCEPT !.runs = FALSE, !.left = 0]                \* COORD-26

FirstDelay(s) == IF s.again THEN MinPause ELSE InitialDelay         \* COORD-26

NextDelay == Interval                                               \* COORD-26

------------------------------------------------------------------------------
OnStart(s) ==
    SchedulerStep([s EXCEPT !.runs = TRUE, !.again = TRUE, !.left = FirstDelay(s)], <<>>)

OnStop(s) == SchedulerStep(Standing(s), <<>>)

OnCompletion(s) == SchedulerStep([s EXCEPT !.pause = MinPause], <<>>)

(* One unit passes. At its end the scheduler makes a request if one is due. *)
OnTick(s) ==
    LET later == [s EXCEPT !.left = IF @ > 1 THEN @ - 1 ELSE 0, !.pause = IF @ > 0 THEN @ - 1 ELSE 0]
    IN  IF ~IsDue(s) THEN SchedulerStep(later, <<>>)
        ELSE IF later.pause > 0
        THEN SchedulerStep([later EXCEPT !.left = later.pause], <<<<"too_early">>>>)
        ELSE SchedulerStep([later EXCEPT !.left = NextDelay], <<<<"request">>>>)

------------------------------------------------------------------------------
(* The scheduler in its environment. *)

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
Completion == TRUE /\ Take(<<"completion">>, OnCompletion(scheduler))   \* TLC labels it Completion, not Take
Tick == TRUE /\ Take(<<"tick">>, OnTick(scheduler))

Next == Start \/ Stop \/ Completion \/ Tick

Spec == Init /\ [][Next]_vars

------------------------------------------------------------------------------
(* The first request comes after the initial delay, and each further request *)
(* an interval later. A request within the pause moves to the end of the     *)
(* pause. Nothing else moves requests, and a stopped scheduler makes none.   *)
Ticks == out'[1] = <<"tick">>
IsItsTime == Ticks /\ scheduler.runs /\ scheduler.left = 1

COORD_26 == [][
    /\ Tail(out') = IF ~IsItsTime THEN <<>> ELSE IF scheduler'.pause > 0 THEN <<<<"too_early">>>> ELSE <<<<"request">>>>
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
(* Replacements: each takes the place of the operator in its comment.        *)

StandsDue(s) == [s EXCEPT !.runs = FALSE]                           \* Standing
NeverDue(s) == FALSE                                                \* IsDue
AlwaysMinPause(s) == MinPause                                         \* FirstDelay
RepeatsAfterPause == MinPause                                           \* NextDelay

(* Constants of models. *)
Three == 3
==============================================================================
