-------------------------------- MODULE Order --------------------------------
(***************************************************************************)
(* Sets of ids, read in ascending order. Channels, tasks and checkpoints   *)
(* are numbered, and the protocol orders effects on them ("in channel      *)
(* order", "oldest first"): these operators define the orders once. The    *)
(* module states no rule.                                                  *)
(***************************************************************************)
EXTENDS Integers, Sequences, FiniteSets

(* The least and the greatest element of a set that is not empty. *)
Least(S) == CHOOSE x \in S : \A y \in S : x <= y
Greatest(S) == CHOOSE x \in S : \A y \in S : x >= y

(* The elements of S, ascending. *)
RECURSIVE InOrder(_)
InOrder(S) == IF S = {} THEN <<>> ELSE <<Least(S)>> \o InOrder(S \ {Least(S)})

(* The elements of a sequence that satisfy Keep, in their order. *)
Those(seq, Keep(_)) == SelectSeq(seq, LAMBDA x : Keep(x))

(* The set of a sequence's elements. *)
Range(seq) == {seq[i] : i \in DOMAIN seq}

(* `short` is a prefix of `long`. *)
IsPrefixOf(short, long) ==
    Len(short) <= Len(long) /\ SubSeq(long, 1, Len(short)) = short
==============================================================================
