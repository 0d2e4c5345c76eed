---------------------------- MODULE FirstDecides -----------------------------
(***************************************************************************)
(* Unaligned checkpoints of Flink 1.11 and 1.12: the first barrier decides *)
(* whether its checkpoint aligns or overtakes. There are no announcements  *)
(* and no time-outs. Module Unaligned holds later releases.                *)
(*                                                                         *)
(* This is the gate of 1.12, where the options of the first barrier        *)
(* decide. The last section has the different operators of 1.11, where the *)
(* type of the checkpoint decides.                                         *)
(*                                                                         *)
(* The module has functions only. FirstDecidesModel.tla puts one gate into *)
(* an environment and states rules UNAL-26 to UNAL-29.                     *)
(*                                                                         *)
(* Source: Apache Flink 1.12 (AlternatingController) and 1.11              *)
(* (AlternatingCheckpointBarrierHandler, CheckpointBarrierUnaligner), read *)
(* in the bytecode and executed.                                           *)
(***************************************************************************)
EXTENDS Integers, Sequences, FiniteSets, Order, GateGenerations

CONSTANTS
    N,              \* number of input channels; they are 0 .. N-1
    Alternating     \* savepoints or aligned barriers align; else every barrier overtakes

ASSUME N \in Nat \ {0} /\ Alternating \in BOOLEAN

Channels == 0 .. N - 1
OptionsType == [alignment : {"aligned", "unaligned"}, savepoint : BOOLEAN]

GateType ==
    [current    : Nat \cup {-1},    \* highest id begun or cancelled here; -1 before the first
     pending    : BOOLEAN,          \* `current` has begun and has not ended
     overtaking : BOOLEAN,          \* its barriers overtake; if idle: the barriers of the last checkpoint did
     arrived    : SUBSET Channels,  \* have delivered its barrier
     blocked    : SUBSET Channels,  \* have delivered its barrier and wait for the end of the alignment
     closed     : SUBSET Channels,  \* have delivered their end of partition
     repeats    : Nat,              \* repeated barriers that were counted
     failed     : BOOLEAN]          \* an event was refused with an exception

NewGate ==
    [current |-> -1, pending |-> FALSE, overtaking |-> ~Alternating, arrived |-> {}, blocked |-> {},
     closed |-> {}, repeats |-> 0, failed |-> FALSE]

------------------------------------------------------------------------------
(* The conditions of a gate. *)

IsOver(g, n) == n < g.current \/ (n = g.current /\ ~g.pending)

(* The barrier belongs to a checkpoint that overtakes. *)
OfItself(o) == o.alignment = "unaligned"

(* UNAL-27: a checkpoint that begins with this barrier overtakes. *)
Decided(o) == ~Alternating \/ OfItself(o)

(* The gate counts barriers, so one channel can count for another. *)
EveryoneArrived(g) == Cardinality(Channels \ (g.arrived \cup g.closed)) <= g.repeats

(* UNAL-27: the barrier is not of the first barrier's kind, or an alignment  *)
(* gets it twice.                                                            *)
Disagrees(g, c, o) == c \in g.blocked \/ (Alternating /\ OfItself(o) # g.overtaking)

(* UNAL-23: channels whose records the running snapshot stores. *)
Persisting(g) == IF g.pending /\ g.overtaking THEN Channels \ (g.arrived \cup g.closed) ELSE {}

------------------------------------------------------------------------------
(* Effects: sequences of tuples, in order. *)

Resumes(channels) ==
    LET order == InOrder(channels)
    IN  [i \in 1 .. Len(order) |-> <<"resume", order[i]>>]

Step(g, effects) == [gate |-> g, out |-> effects]

Idle(g) == [g EXCEPT !.pending = FALSE, !.arrived = {}, !.blocked = {}, !.repeats = 0]

StopAndResume(g, n) ==
    (IF g.overtaking THEN <<<<"stop_persisting", n>>>> ELSE <<>>) \o Resumes(g.blocked)

(* The pending checkpoint ends before it is complete. *)
AbortsPending(g, reason) == Append(StopAndResume(g, g.current), <<"abort", g.current, reason>>)

(* A checkpoint with these options begins. *)
Subsumption(g, o) == IF g.pending THEN AbortsPending(g, "SUBSUMED") ELSE <<>>

Persists(n, o) == <<<<"start_persisting", n>>, <<"trigger", n, o.alignment = "unaligned">>>>

(* The last barrier has overtaken. *)
Stop(g, effects) ==
    Step(Idle(g), effects \o <<<<"stop_persisting", g.current>>>> \o Resumes(g.blocked))

------------------------------------------------------------------------------
(* The steps of a gate. *)

Begin(g, n, o) == [Idle(g) EXCEPT !.current = n, !.pending = TRUE, !.overtaking = Decided(o)]

Counted(g, c) ==
    IF c \in g.arrived THEN [g EXCEPT !.repeats = @ + 1] ELSE [g EXCEPT !.arrived = @ \cup {c}]

Collect(g, c, o, first) ==
    LET went == Counted(g, c)
        begins == IF first THEN Persists(g.current, o) ELSE <<>>
    IN  IF EveryoneArrived(went) THEN Stop(went, begins) ELSE Step(went, begins)

Align(g, c) ==
    LET went  == [Counted(g, c) EXCEPT !.blocked = @ \cup {c}]
        first == <<<<"block", c>>>>
    IN  IF ~EveryoneArrived(went) THEN Step(went, first)
        ELSE Step(Idle(went), first \o Resumes(went.blocked) \o <<<<"trigger", g.current, FALSE>>>>)

Read(g, c, o, first) == IF g.overtaking THEN Collect(g, c, o, first) ELSE Align(g, c)

Late(g, c, o) == Step(g, IF Alternating /\ ~OfItself(o) THEN <<<<"resume", c>>>> ELSE <<>>)

OnBarrier(g, c, n, o) ==
    IF IsOver(g, n) THEN Late(g, c, o)
    ELSE IF n > g.current
    THEN LET step == Read(Begin(g, n, o), c, o, TRUE)
         IN  Step(step.gate, Subsumption(g, o) \o step.out)
    ELSE IF Disagrees(g, c, o) THEN Step([g EXCEPT !.failed = TRUE], <<<<"fail">>>>)
    ELSE Read(g, c, o, FALSE)

OnCancel(g, n) ==
    IF n > g.current \/ (n = g.current /\ g.arrived # {})
    THEN Step([Idle(g) EXCEPT !.current = n], Append(StopAndResume(g, n), <<"abort", n, "ON_CANCELLATION_BARRIER">>))
    ELSE Step(g, <<>>)

OnEndOfPartition(g, c) ==
    LET closed == [g EXCEPT !.closed = @ \cup {c}]
    IN  IF ~g.pending THEN Step(closed, <<>>)
        ELSE Step(Idle(closed), AbortsPending(g, "INPUT_END_OF_STREAM"))

------------------------------------------------------------------------------
(* Flink 1.11: each definition replaces the operator in its comment          *)
(* (spec/manifests/gate_generations.toml). A checkpoint whose barriers have  *)
(* all overtaken stays pending: an end, a cancellation or a savepoint still  *)
(* aborts it.                                                                *)

(* UNAL-28: savepoints align, all other checkpoints overtake. *)
NotASavepoint(o) == ~o.savepoint                                            \* OfItself

CountsOnce(g, c) == [g EXCEPT !.arrived = @ \cup {c}]                       \* Counted

(* UNAL-29: all barriers of the pending checkpoint have overtaken. *)
Whole(g) == g.pending /\ g.overtaking /\ EveryoneArrived(g)

StaysPending(g, effects) == Step(g, effects)                                \* Stop

(* Persisting ends without an effect. *)
OnlyResumes(g, n) == Resumes(g.blocked)                                     \* StopAndResume

AbortsFirst(g, reason) ==                                                   \* AbortsPending
    <<<<"abort", g.current, reason>>>> \o StopAndResume(g, g.current)

(* A pending checkpoint whose barriers have all overtaken ends without an    *)
(* effect. If the kind changes, the gate resumes the channels before the     *)
(* abort.                                                                    *)
SubsumptionUnlessWhole(g, o) ==                                               \* Subsumption
    LET changes == Decided(o) # g.overtaking
    IN  IF ~g.pending \/ (Whole(g) /\ ~changes) THEN <<>>
        ELSE IF changes THEN Append(StopAndResume(g, g.current), <<"abort", g.current, "SUBSUMED">>)
        ELSE AbortsPending(g, "SUBSUMED")

(* A gate with one channel never blocks it. *)
PassesAlone(g, c) ==                                                        \* Align
    LET went  == [Counted(g, c) EXCEPT !.blocked = @ \cup {c}]
        first == <<<<"block", c>>>>
    IN  IF N = 1 THEN Step(Idle(g), <<<<"resume", c>>, <<"trigger", g.current, FALSE>>>>)
        ELSE IF ~EveryoneArrived(went) THEN Step(went, first)
        ELSE Step(Idle(went), first \o Resumes(went.blocked) \o <<<<"trigger", g.current, FALSE>>>>)
==============================================================================
