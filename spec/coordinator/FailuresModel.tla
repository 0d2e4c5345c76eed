---------------------------- MODULE FailuresModel ----------------------------
(***************************************************************************)
(* The count of failing checkpoints in its environment. Any checkpoint can *)
(* fail or succeed at any time, for any reason, repeatedly and out of      *)
(* order. The Python reference model describes the same closed model. The  *)
(* triangle compares both graphs state for state and edge for edge.        *)
(*                                                                         *)
(* This module states rules COORD-15 to COORD-18 over one step: `failures` *)
(* before and after, the event and the effects in out'.                    *)
(***************************************************************************)
EXTENDS Failures, Order, CoordinatorGenerations

CONSTANT
    M               \* checkpoint ids are 1 .. M

VARIABLES
    failures,       \* see FailuresType
    succeeded,      \* the checkpoints that have succeeded
    out             \* the last event, then its effects

vars == <<failures, succeeded, out>>
Ids == 1 .. M
Types == {"checkpoint", "savepoint"}
Reasons ==
    {"CHECKPOINT_DECLINED", "ASYNC_EXCEPTION", "CHECKPOINT_EXPIRED", "IO_EXCEPTION",
     "FINALIZE_CHECKPOINT_FAILURE", "CHECKPOINT_SUBSUMED"}

TypeOK ==
    /\ failures \in FailuresType /\ failures.counted \subseteq Ids \cup {NoCheckpoint}
    /\ succeeded \subseteq Ids
    /\ \/ out = <<>>
       \/ Head(out)[1] \in {"fail", "succeed"} /\ Tail(out) \in Seq({"fail_job"} \X Reasons)

Init == failures = NoFailures /\ succeeded = {} /\ out = <<>>

------------------------------------------------------------------------------
(* System and environment together: a task reports a failure, or the         *)
(* coordinator itself fails a checkpoint.                                    *)

Fail(n, type, reason, byTask) ==
    /\ succeeded' = succeeded
    /\ LET step == OnFailure(failures, n, type, reason, byTask)
       IN  failures' = step.failures /\ out' = <<<<"fail", n, type, reason, byTask>>>> \o step.out

Succeed(n) ==
    /\ succeeded' = succeeded \cup {n}
    /\ failures' = OnSuccess(failures, n)
    /\ out' = <<<<"succeed", n>>>>

Next ==
    \/ \E n \in Ids :
        \/ Succeed(n)
        \/ \E type \in Types, reason \in Reasons, byTask \in BOOLEAN : Fail(n, type, reason, byTask)
    \/ \E reason \in Reasons : Fail(NoCheckpoint, "checkpoint", reason, FALSE)

Spec == Init /\ [][Next]_vars

------------------------------------------------------------------------------
(* Terms of the rules. *)

Fails == out'[1][1] = "fail"
Which == out'[1][2]
Reason == out'[1][4]
Effects == Tail(out')
Newest == IF succeeded = {} THEN 0 ELSE Greatest(succeeded)
InOrderOnly == CoordinatorHas("counts_in_order")

(* The releases from which each reason counts. *)
CountsHere ==
    CASE Reason = "CHECKPOINT_DECLINED" -> TRUE
      [] Reason \in {"ASYNC_EXCEPTION", "CHECKPOINT_EXPIRED"} -> CoordinatorHas("counts_timeouts")
      [] Reason = "IO_EXCEPTION" -> CoordinatorHas("counts_io_exceptions")
      [] Reason = "FINALIZE_CHECKPOINT_FAILURE" -> CoordinatorHas("counts_failed_finalization")
      [] OTHER -> FALSE

(* The coordinator's own failure of a savepoint does not count for the job. *)
ConcernsTheJob ==
    \/ out'[1][3] = "checkpoint" \/ ~CoordinatorHas("declines_count_for_all_types")
    \/ out'[1][5] /\ Reason # "IO_EXCEPTION"

(* From 1.14.3 on each failure without a checkpoint is a new failure. *)
IsNew == Fails /\ Which = NoCheckpoint /\ CoordinatorHas("declines_count_for_all_types")
HasSucceeded == succeeded # {}
IsPast == InOrderOnly /\ ~IsNew /\ HasSucceeded /\ Which <= Newest
IsCountedNow == IsNew \/ Which \in failures'.counted

COORD_15 == [][Fails =>
    IF CountsHere /\ ConcernsTheJob
    THEN IsPast \/ IsCountedNow \/ Effects = <<<<"fail_job", Reason>>>>
    ELSE failures' = failures /\ Effects = <<>>]_vars

COORD_16 == [][
    LET counts == /\ Fails /\ CountsHere /\ ConcernsTheJob /\ ~IsPast
                  /\ IsNew \/ Which \notin failures.counted
        more == Cardinality(failures.counted) + 1
    IN  IF ~counts THEN Effects = <<>> /\ (Fails => failures' = failures)
        ELSE IF more > Tolerable
        THEN Effects = <<<<"fail_job", Reason>>>> /\ failures'.counted = {}
        ELSE /\ Effects = <<>> /\ Cardinality(failures'.counted) = more
             /\ failures.counted \subseteq failures'.counted /\ (IsNew \/ Which \in failures'.counted)]_vars

COORD_17 == [][InOrderOnly =>
    /\ (Fails /\ ~IsNew /\ HasSucceeded /\ Which <= Newest) => failures' = failures /\ Effects = <<>>
    /\ (~Fails /\ Which > Newest) => failures'.counted = {}
    /\ (~Fails /\ Which <= Newest) => failures' = failures]_vars

COORD_18 == [][~InOrderOnly =>
    /\ ~Fails => failures'.counted = {}
    /\ (Fails /\ CountsHere /\ ConcernsTheJob) => Effects # <<>> \/ Which \in failures'.counted]_vars

------------------------------------------------------------------------------
(* Replacements: each takes the place of the operator in its comment.        *)

OnlyDeclines(reason) == reason = "CHECKPOINT_DECLINED"      \* IsCounted
CountsAgain(f, n) == FALSE                                  \* HasCounted
OneMore(counted) == Cardinality(counted) > Tolerable + 1    \* IsTooMany
NothingIsOlder(f, n) == FALSE                               \* IsOlder
OnceWithoutAnId(n) == FALSE                                 \* IsUnnamed
EverySuccess(f, n) == TRUE                                  \* Clears
OnlyTheNewest(f, n) == f.counted = {} \/ n > Greatest(f.counted)    \* Clears

(* Constants of models. *)
One == 1
==============================================================================
