----------------------------- MODULE ClaimModes ------------------------------
(***************************************************************************)
(* A job that starts from a savepoint or a retained checkpoint. This       *)
(* module states rules COORD-37, COORD-38 and SUB-13: which id comes next, *)
(* which checkpoints are full, and who deletes the savepoint. Its models   *)
(* give the savepoint the id 1. Up to 1.14 there are no claim modes, and a *)
(* job behaves as in LEGACY.                                               *)
(*                                                                         *)
(* Source: FLIP-193; Apache Flink 1.15 and later,                          *)
(* CheckpointCoordinator.restoreSavepoint.                                 *)
(***************************************************************************)
EXTENDS CoordinatorModel

COORD_37 == [][
    /\ out = <<>> => k.next = RestoredSavepoint + 1 /\ LatestId(k.store) = RestoredSavepoint
    /\ \A n \in Started : n > RestoredSavepoint
    /\ EventIs("restore") /\ IsNewestRestored(k) => Effects = <<<<"restored", RestoredSavepoint>>>>]_vars

COORD_38 == [][\A e \in Range(EffectsOf("trigger_task")) : e[4] \in {"checkpoint", "full_checkpoint"} =>
    (e[4] = "full_checkpoint") = (ClaimMode = "NO_CLAIM" /\ IsNewestRestored(k'))]_vars

SUB_13 == [][
    LET HoldsIt(c) == \E e \in Range(c.store) : e.id = RestoredSavepoint
        isOwn == ClaimMode = "CLAIM" /\ HoldsIt(k) /\ ~HoldsIt(k')
    IN  /\ isOwn = (<<"discard", RestoredSavepoint>> \in Range(Effects))
        /\ (\E e \in Range(EffectsOf("notify_subsumed")) : e[3] = RestoredSavepoint) => isOwn]_vars

------------------------------------------------------------------------------
(* Replacements: each takes the place of the operator in its comment.        *)

DrawsTheSavepointsId == RestoredSavepoint                      \* FirstId
NoneIsFull(c) == FALSE                                         \* TriggersFull
EachIsFull(c) == TRUE                                          \* TriggersFull
OwnsIt == "checkpoint"                                         \* RestoredType
NeverOwnsIt == "savepoint"                                     \* RestoredType

(* Constants of models. *)
Claims == "CLAIM"
ClaimsNot == "NO_CLAIM"
Legacy == "LEGACY"
==============================================================================
