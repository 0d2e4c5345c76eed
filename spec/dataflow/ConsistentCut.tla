---------------------------- MODULE ConsistentCut ----------------------------
(***************************************************************************)
(* The purpose of checkpointing, without its mechanism.                    *)
(*                                                                         *)
(* A cut names, for each source, the number of its records before it. A    *)
(* completed checkpoint is a consistent cut of the dataflow: its saved     *)
(* state is the state of a machine without failures after exactly the      *)
(* records before the cut. The live state is ahead of the newest completed *)
(* cut; a failure resets it to that cut. The committed output is that of a *)
(* completed cut, never of an incomplete one.                              *)
(*                                                                         *)
(* Dataflow.tla implements this with sources, channels, barriers, gates, a *)
(* coordinator, transactions and failures.                                 *)
(*                                                                         *)
(* Rules: ONCE-01 to ONCE-05 as one machine. Source: Chandy and Lamport,   *)
(* Distributed Snapshots, 1985; Carbone et al., Lightweight Asynchronous   *)
(* Snapshots for Distributed Dataflows, 2015.                              *)
(***************************************************************************)
EXTENDS Integers, Sequences

CONSTANTS
    Inputs,         \* the sources
    From,           \* the cut at which the job starts
    Upto            \* the cut at which all sources have ended

VARIABLES
    cut,            \* the newest completed checkpoint, as a cut
    saved,          \* the state that it holds
    live,           \* the state of the operator now
    output          \* by source: the records in the committed output, as committed

vars == <<cut, saved, live, output>>

------------------------------------------------------------------------------
(* Cuts, and functions of a cut. *)

Cuts == {c \in [Inputs -> Nat] : \A s \in Inputs : From[s] <= c[s] /\ c[s] <= Upto[s]}

IsBefore(a, b) == \A s \in Inputs : a[s] <= b[s]

(* The cuts between two; finite, so that TLC can choose one. *)
Between(a, b) ==
    LET reach == UNION {a[s] .. b[s] : s \in Inputs}
    IN  {c \in [Inputs -> reach] : IsBefore(a, c) /\ IsBefore(c, b)}

(* The state counts, for each source, the records before the cut: once each. *)
StateOf(c) == c

(* The output holds the records before the cut, each once, none left out. *)
OutputOf(c) == [s \in Inputs |-> [i \in 1 .. c[s] - From[s] |-> From[s] + i - 1]]

------------------------------------------------------------------------------
Init ==
    /\ cut = From
    /\ saved = StateOf(From)
    /\ live = StateOf(From)
    /\ output = OutputOf(From)

(* System: the operator processes the next record of one source. *)
Process(s) ==
    /\ live[s] < Upto[s]
    /\ live' = [live EXCEPT ![s] = @ + 1]
    /\ UNCHANGED <<cut, saved, output>>

(* System: a checkpoint completes. Its cut lies between the previous cut and *)
(* the present.                                                              *)
Complete ==
    \E c \in Between(cut, live) :
        /\ cut' = c
        /\ saved' = StateOf(c)
        /\ UNCHANGED <<live, output>>

(* System: output becomes visible, up to a completed cut. *)
Commit ==
    \E c \in Between(From, cut) :
        /\ \A s \in Inputs : Len(output[s]) <= c[s] - From[s]
        /\ output' = OutputOf(c)
        /\ UNCHANGED <<cut, saved, live>>

(* Environment: all live state fails and restarts at the cut. *)
Fail ==
    /\ live' = saved
    /\ output' = OutputOf(cut)
    /\ UNCHANGED <<cut, saved>>

Next == Complete \/ Commit \/ Fail \/ \E s \in Inputs : Process(s)

Spec == Init /\ [][Next]_vars

------------------------------------------------------------------------------
(* Consequences. *)

StateIsOfTheCut == saved = StateOf(cut)

OutputIsOfACut == \E c \in Between(From, cut) : output = OutputOf(c)

THEOREM Spec => [](StateIsOfTheCut /\ OutputIsOfACut)
==============================================================================
