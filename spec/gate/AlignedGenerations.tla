-------------------------- MODULE AlignedGenerations --------------------------
(***************************************************************************)
(* The operators of older generations that replace operators of Aligned.   *)
(* Each definition replaces the operator in its comment. The table         *)
(* [generation] in spec/manifests/gate_generations.toml lists the          *)
(* definitions of each generation. GateGenerations.tla states the same     *)
(* differences as switches, with which AlignedModel.tla checks them.       *)
(*                                                                         *)
(* Source: Apache Flink, BarrierBuffer of 1.7 and 1.8,                     *)
(* CheckpointBarrierAligner of 1.9 to 1.11, and                            *)
(* SingleCheckpointBarrierHandler of 1.12 and 1.13.                        *)
(***************************************************************************)
EXTENDS Aligned, GateGenerations

(* 1.13, ALIGN-21: the gate counts barriers, so a repeated barrier counts    *)
(* for another channel.                                                      *)
CountsRepeats(g, c) == Arrive([g EXCEPT !.repeats = @ + 1], c, <<>>)        \* Repeated
CountsBarriers(g) == Cardinality(Awaited(g)) <= g.repeats                   \* IsAligned

(* Up to 1.12, ALIGN-20: a repeated barrier fails the task. *)
RefusesRepeats(g, c) ==                                                     \* Repeated
    [gate |-> [g EXCEPT !.failed = TRUE], out |-> <<<<"fail", "repeated barrier">>>>]

(* Up to 1.12, ALIGN-06: the gate resumes, then triggers. *)
ReleasesFirst(g) == Append(Resumes(g.blocked), <<"trigger", g.current>>)    \* Completion

(* Up to 1.11, ALIGN-03 and ALIGN-14: the gate aborts, then resumes. *)
AbortsFirst(g, aborts) == aborts \o Resumes(g.blocked)                      \* GivenUp

(* Up to 1.11, ALIGN-07: a gate with one channel triggers without a block. *)
PassesAlone(g, c, n) ==                                                     \* Newer
    IF N = 1
    THEN [gate |-> [g EXCEPT !.current = n], out |-> Append(Late(g, c).out, <<"trigger", n>>)]
    ELSE Arrive(Begin(g, n), c, IF g.pending THEN Subsumption(g) ELSE <<>>)

(* Up to 1.10, ALIGN-04: no sender has stopped after a barrier. *)
SendersContinue(g, c) == [gate |-> g, out |-> <<>>]                         \* Late

(* Up to 1.8, ALIGN-11: a newer cancellation aborts its own id twice. *)
CancelsTwice(g, n) ==                                                       \* AbortCancelled
    (IF g.pending /\ n > g.current THEN <<<<"abort", n, "SUBSUMED">>>> ELSE <<>>)
    \o <<<<"abort", n, "ON_CANCELLATION_BARRIER">>>>
==============================================================================
