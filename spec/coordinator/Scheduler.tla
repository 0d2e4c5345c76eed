------------------------------ MODULE Scheduler ------------------------------
(***************************************************************************)
(* The scheduler of the coordinator: while the job and its tasks run it    *)
(* requests a checkpoint every interval. A request within the min pause    *)
(* after a completion is rejected, and the next one moves to the end of    *)
(* the pause.                                                              *)
(*                                                                         *)
(* Functions only: SchedulerModel.tla puts it into an environment          *)
(* and states rule COORD-26.                                               *)
(*                                                                         *)
(* Source: Apache Flink, CheckpointCoordinator.startCheckpointScheduler,   *)
(* ScheduledTrigger, rescheduleTrigger.                                    *)
(***************************************************************************)
EXTENDS Integers, Sequences

CONSTANTS
    Interval,       \* units of time from one request to the next
    InitialDelay,   \* units of time before the first one
    MinPause        \* units of time after a completion, less than Interval

ASSUME Interval > 0 /\ InitialDelay \in 1 .. Interval /\ MinPause \in 1 .. Interval

SchedulerType ==
    [runs  : BOOLEAN,
     left  : 0 .. Interval,             \* time to the next request; 0 while it is stopped
     pause : 0 .. MinPause,             \* time left of the pause
     again : BOOLEAN]                   \* it has run before

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

(* One unit passes; at its end the scheduler may make a request. *)
OnTick(s) ==
    LET later == [s EXCEPT !.left = IF @ > 1 THEN @ - 1 ELSE 0, !.pause = IF @ > 0 THEN @ - 1 ELSE 0]
    IN  IF ~IsDue(s) THEN SchedulerStep(later, <<>>)
        ELSE IF later.pause > 0
        THEN SchedulerStep([later EXCEPT !.left = later.pause], <<<<"too_early">>>>)
        ELSE SchedulerStep([later EXCEPT !.left = NextDelay], <<<<"ask">>>>)
==============================================================================
