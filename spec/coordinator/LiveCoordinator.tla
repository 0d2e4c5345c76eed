--------------------------- MODULE LiveCoordinator ---------------------------
(***************************************************************************)
(* The progress of a coordinator, if time passes and a stopped job         *)
(* restarts: rules LIVE-01 and LIVE-02.                                    *)
(*                                                                         *)
(* No other step is fair: tasks need not answer, no further request need   *)
(* arrive, and the job may fail for ever. So the time-out ends a           *)
(* checkpoint that is not acknowledged, and its end lets the next one      *)
(* start.                                                                  *)
(***************************************************************************)
EXTENDS CoordinatorModel

Fair ==
    /\ WF_vars(Tick)
    /\ WF_vars(EnterRunning)
    /\ \A t \in Failing : WF_vars(TaskStatus(t))

FairSpec == Spec /\ Fair

------------------------------------------------------------------------------
LIVE_01 == \A n \in Ids : n \in PendingIds(k) ~> n \notin PendingIds(k)

(* The request at the head starts, or is rejected; therefore the queue       *)
(* empties.                                                                  *)
LIVE_02 ==
    /\ \A n \in Ids : (k.queue # <<>> /\ k.next = n) ~> (k.queue = <<>> \/ k.next > n)
    /\ k.queue # <<>> ~> k.queue = <<>>

------------------------------------------------------------------------------
(* Replacements: each replaces the operator in its comment in a model that   *)
(* must fail.                                                                *)

NothingExpires(c) == CoordinatorStep(c, <<>>)                       \* OnTick
StartsNothing(c, effects) ==                                           \* Expire
    LET due == SelectSeq(c.pending, LAMBDA p : IsExpired(p))
    IN  AbortAll(c, LAMBDA p : p \in Range(due), "CHECKPOINT_EXPIRED", effects)
==============================================================================
