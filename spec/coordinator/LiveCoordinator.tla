--------------------------- MODULE LiveCoordinator ---------------------------
(***************************************************************************)
(* The progress of a coordinator, if time passes: rules LIVE-01, LIVE-02    *)
(* and LIVE-05.                                                            *)
(*                                                                         *)
(* No other step is fair: tasks need not answer, no further request need   *)
(* arrive, and a job that has left RUNNING need not restart. So the        *)
(* time-out ends a checkpoint that is not acknowledged, and after its end  *)
(* the next checkpoint starts.                                             *)
(***************************************************************************)
EXTENDS CoordinatorModel

(* This is ENABLED <<Tick>>_vars, written out. TLC takes long to compute      *)
(* ENABLED, because it evaluates each LET in it again and again.              *)
CanTick == k.pending # <<>> \/ k.pause > 0
CanTickExactly == CanTick <=> ENABLED <<Tick>>_vars

(* Weak fairness. This is an operator, so that a model can replace it.       *)
TimePasses == []<>~CanTick \/ []<><<Tick>>_vars

FairSpec == Spec /\ TimePasses

------------------------------------------------------------------------------
LIVE_01 == \A n \in Ids : n \in PendingIds(k) ~> n \notin PendingIds(k)

(* The request at the head starts or is rejected, so the queue becomes       *)
(* empty.                                                                    *)
LIVE_02 ==
    /\ \A n \in Ids : (k.queue # <<>> /\ k.next = n) ~> (k.queue = <<>> \/ k.next > n)
    /\ k.queue # <<>> ~> k.queue = <<>>

(* A user who requests a savepoint gets an answer. The request leaves the    *)
(* queue, and a started savepoint is reported as complete or aborted.        *)
WaitingSavepoints == Cardinality({i \in DOMAIN k.queue : k.queue[i].type = "savepoint"})
IsPendingSavepoint(n) == \E p \in Range(k.pending) : p.id = n /\ p.type = "savepoint"
IsReported(n) == \E i \in DOMAIN out : out[i][1] \in {"complete", "abort"} /\ out[i][2] = n

LIVE_05 ==
    /\ \A n \in Ids : WaitingSavepoints = n ~> WaitingSavepoints < n
    /\ \A n \in Ids : IsPendingSavepoint(n) ~> IsReported(n)

------------------------------------------------------------------------------
(* Replacements: each takes the place of the operator in its comment.        *)

TimeMayStop == TRUE                                                 \* TimePasses
NeverTicks == FALSE                                                 \* CanTick
NothingExpires(c) == CoordinatorStep(c, <<>>)                       \* OnTick
StartsNothing(c, effects) ==                                           \* Expire
    LET due == SelectSeq(c.pending, LAMBDA p : IsExpired(p))
    IN  AbortAll(c, LAMBDA p : p \in Range(due), "CHECKPOINT_EXPIRED", effects)
==============================================================================
