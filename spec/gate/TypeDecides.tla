----------------------------- MODULE TypeDecides -----------------------------
(***************************************************************************)
(* What Flink 1.11 does in the place of operators of FirstDecides. Each    *)
(* definition here replaces the operator in its comment; the table         *)
(* [generation] in spec/manifests/gate_generations.toml lists them.        *)
(*                                                                         *)
(* The type of the checkpoint decides. A checkpoint whose barriers have    *)
(* all overtaken stays pending: an end, a cancellation or a savepoint      *)
(* still aborts it.                                                        *)
(*                                                                         *)
(* Source: Apache Flink 1.11 (AlternatingCheckpointBarrierHandler,         *)
(* CheckpointBarrierUnaligner), read in the bytecode and executed.         *)
(***************************************************************************)
EXTENDS FirstDecides, GateGenerations

(* UNAL-28: savepoints align, all others overtake. *)
NotASavepoint(o) == ~o.savepoint                                            \* OfItself

CountsOnce(g, c) == [g EXCEPT !.arrived = @ \cup {c}]                       \* Counted

(* UNAL-29: all barriers of the pending checkpoint have overtaken. *)
Whole(g) == g.pending /\ g.overtaking /\ EveryoneArrived(g)

StaysPending(g, effects) == Step(g, effects)                                \* Stop

(* Persisting ends without an effect. *)
OnlyResumes(g, n) == Resumes(g.blocked)                                     \* LetGo

AbortsFirst(g, reason) ==                                                   \* Cut
    <<<<"abort", g.current, reason>>>> \o LetGo(g, g.current)

(* A whole checkpoint ends without an effect, and a change of kind resumes   *)
(* the channels before the abort.                                            *)
OvertakenUnlessWhole(g, o) ==                                               \* Overtaken
    LET changes == Decided(o) # g.overtaking
    IN  IF ~g.pending \/ (Whole(g) /\ ~changes) THEN <<>>
        ELSE IF changes THEN Append(LetGo(g, g.current), <<"abort", g.current, "SUBSUMED">>)
        ELSE Cut(g, "SUBSUMED")

(* A gate with one channel never blocks it. *)
PassesAlone(g, c) ==                                                        \* Align
    LET went  == [Counted(g, c) EXCEPT !.blocked = @ \cup {c}]
        first == <<<<"block", c>>>>
    IN  IF N = 1 THEN Step(Idle(g), <<<<"resume", c>>, <<"trigger", g.current, FALSE>>>>)
        ELSE IF ~EveryoneArrived(went) THEN Step(went, first)
        ELSE Step(Idle(went), first \o Resumes(went.blocked) \o <<<<"trigger", g.current, FALSE>>>>)
==============================================================================
