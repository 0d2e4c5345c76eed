----------------------------- MODULE SharedState -----------------------------
(***************************************************************************)
(* Files that several checkpoints use. The registry stores, for each file, *)
(* the newest checkpoint that uses it, even one that never completes,      *)
(* because a task may build its next checkpoint on it. When a checkpoint   *)
(* is complete and stored, files whose newest user is older than all       *)
(* retained checkpoints are deleted, whether or not the store has dropped  *)
(* one.                                                                    *)
(*                                                                         *)
(* Functions only: SharedStateModel.tla puts them into an environment      *)
(* and states rule SUB-12.                                                 *)
(*                                                                         *)
(* Source: Apache Flink, SharedStateRegistryImpl, 1.15 and later.          *)
(***************************************************************************)
EXTENDS Integers, Sequences, FiniteSets, Order

CONSTANTS
    Files,          \* all files
    Retain          \* number of completed checkpoints to keep

(* last: the newest user of each file, 0 if it is not registered; store: the *)
(* completed checkpoints in the order of additions; uses: of each            *)
(* checkpoint.                                                               *)
NewFiles(ids) == [last |-> [f \in Files |-> 0], store |-> <<>>, uses |-> [n \in ids |-> {}]]

FilesStep(r, effects) == [files |-> r, out |-> effects]

Retained(store) == {store[i] : i \in DOMAIN store}

------------------------------------------------------------------------------
(* The conditions are operators, so that a model can replace them. *)

IsNewer(n, last) == n > last                                        \* SUB-12

IsNeeded(last, retained) == \E n \in retained : last >= n           \* SUB-12

------------------------------------------------------------------------------
(* A task acknowledges n with files that it uses.                            *)
OnUse(r, n, used) ==
    FilesStep(
        [r EXCEPT !.last = [f \in Files |-> IF f \in used /\ IsNewer(n, @[f]) THEN n ELSE @[f]],
                  !.uses[n] = @ \cup used],
        <<>>)

Delete(f) == <<"delete", f>>

OnComplete(r, n) ==
    LET all == Append(r.store, n)
        kept == IF Len(all) > Retain THEN Tail(all) ELSE all
        idle == {f \in Files : r.last[f] > 0 /\ ~IsNeeded(r.last[f], Retained(kept))}
        order == InOrder(idle)
    IN  FilesStep(
            [r EXCEPT !.store = kept, !.last = [f \in Files |-> IF f \in idle THEN 0 ELSE @[f]]],
            [i \in 1 .. Len(order) |-> Delete(order[i])])
==============================================================================
