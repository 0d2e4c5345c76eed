---------------------------- MODULE LivenessModel ----------------------------
(***************************************************************************)
(* What a coordinator comes to at last, if time goes on and a stopped job  *)
(* starts again: rules LIVE-01 and LIVE-02.                                *)
(*                                                                         *)
(* Nothing else is fair: tasks need not answer, nobody need ask again, and *)
(* the job may fail for ever. So it is the time-out that ends what nobody  *)
(* acknowledges, and its end that lets the next one start.                 *)
(***************************************************************************)
EXTENDS CoordinatorModel

Fair ==
    /\ WF_vars(Tick)
    /\ WF_vars(EnterRunning)
    /\ \A t \in Failing : WF_vars(TaskStatus(t))

FairSpec == Spec /\ Fair

------------------------------------------------------------------------------
LIVE_01 == \A n \in Ids : n \in PendingIds(k) ~> n \notin PendingIds(k)

(* The request in front starts, or is rejected; and so the queue empties.    *)
LIVE_02 ==
    /\ \A n \in Ids : (k.queue # <<>> /\ k.next = n) ~> (k.queue = <<>> \/ k.next > n)
    /\ k.queue # <<>> ~> k.queue = <<>>

------------------------------------------------------------------------------
(* Replacements: each is put in the place of the operator in its comment by  *)
(* a model that must fail.                                                   *)

NothingExpires(c) == CoordinatorStep(c, <<>>)                       \* OnTick
NobodyFollows(c, said) ==                                           \* Expire
    LET due == SelectSeq(c.pending, LAMBDA p : IsExpired(p))
    IN  AbortAll(c, LAMBDA p : p \in Range(due), "CHECKPOINT_EXPIRED", said)
==============================================================================
