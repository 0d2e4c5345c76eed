---------------------------- MODULE FirstDecides -----------------------------
(***************************************************************************)
(* Unaligned checkpoints of Flink 1.11 and 1.12: the first barrier decides *)
(* whether its checkpoint aligns or overtakes. There are no announcements  *)
(* and no time-outs; module Unaligned holds later releases.                *)
(*                                                                         *)
(* In 1.12 the options of the first barrier decide. In 1.11 the type of    *)
(* the checkpoint does, and one that overtook ends without an effect.      *)
(*                                                                         *)
(* The module holds functions, no behaviour. FirstDecidesModel.tla puts    *)
(* one gate into an environment and states rules UNAL-27 to UNAL-29.       *)
(*                                                                         *)
(* Source: Apache Flink 1.11 (AlternatingCheckpointBarrierHandler,         *)
(* CheckpointBarrierUnaligner) and 1.12 (AlternatingController), read in   *)
(* the bytecode and executed.                                              *)
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
     overtaking : BOOLEAN,          \* its barriers overtake; idle: those of the last one did
     arrived    : SUBSET Channels,  \* have delivered its barrier
     blocked    : SUBSET Channels,  \* have delivered it and wait for the end
     closed     : SUBSET Channels,  \* have delivered their end of partition
     repeats    : Nat,              \* repeated barriers that were counted
     failed     : BOOLEAN]          \* an event was refused with an exception

NewGate ==
    [current |-> -1, pending |-> FALSE, overtaking |-> ~Alternating, arrived |-> {}, blocked |-> {},
     closed |-> {}, repeats |-> 0, failed |-> FALSE]

------------------------------------------------------------------------------
(* The conditions of a gate. *)

IsOver(g, n) == n < g.current \/ (n = g.current /\ ~g.pending)

(* UNAL-28: the barrier belongs to a checkpoint that overtakes. *)
OfItself(o) == IF Has("type_decides") THEN ~o.savepoint ELSE o.alignment = "unaligned"

(* UNAL-27: a checkpoint that begins with this barrier overtakes. *)
Decided(o) == ~Alternating \/ OfItself(o)

(* 1.12 counts barriers, so one channel can count for another. *)
EveryoneArrived(g) == Cardinality(Channels \ (g.arrived \cup g.closed)) <= g.repeats

(* UNAL-29 *)
StaysPending == Has("whole_stays_pending")
Whole(g) == StaysPending /\ g.pending /\ g.overtaking /\ EveryoneArrived(g)

(* UNAL-27: another kind than the first, or a repeated one in an alignment. *)
Disagrees(g, c, o) == c \in g.blocked \/ (Alternating /\ OfItself(o) # g.overtaking)

(* UNAL-23: channels whose records the running snapshot stores. *)
Persisting(g) == IF g.pending /\ g.overtaking THEN Channels \ (g.arrived \cup g.closed) ELSE {}

IsLone(g) == Has("passes_alone") /\ N = 1 /\ ~g.overtaking

------------------------------------------------------------------------------
(* Effects: sequences of tuples, in order. *)

Resumes(channels) ==
    LET order == InOrder(channels)
    IN  [i \in 1 .. Len(order) |-> <<"resume", order[i]>>]

Step(g, said) == [gate |-> g, out |-> said]

Idle(g) == [g EXCEPT !.pending = FALSE, !.arrived = {}, !.blocked = {}, !.repeats = 0]

LetGo(g, n) ==
    (IF g.overtaking /\ Has("tells_stop") THEN <<<<"stop_persisting", n>>>> ELSE <<>>) \o Resumes(g.blocked)

(* The pending checkpoint ends unfinished; the order differs. *)
Cut(g, reason, lets) ==
    IF lets THEN Append(LetGo(g, g.current), <<"abort", g.current, reason>>)
    ELSE <<<<"abort", g.current, reason>>>> \o LetGo(g, g.current)

Overtaken(g, o) ==
    LET changes == Decided(o) # g.overtaking
    IN  IF ~g.pending \/ (Whole(g) /\ ~changes) THEN <<>>
        ELSE Cut(g, "SUBSUMED", changes \/ Has("releases_first"))

Persists(n, o) == <<<<"start_persisting", n>>, <<"trigger", n, o.alignment = "unaligned">>>>

(* The last barrier has overtaken. *)
Stop(g, said) ==
    IF StaysPending THEN Step(g, said)
    ELSE Step(Idle(g), said \o <<<<"stop_persisting", g.current>>>> \o Resumes(g.blocked))

------------------------------------------------------------------------------
(* The steps of a gate. *)

Begin(g, n, o) == [Idle(g) EXCEPT !.current = n, !.pending = TRUE, !.overtaking = Decided(o)]

Counted(g, c) ==
    IF c \in g.arrived /\ Has("overtaking_counts_repeats")
    THEN [g EXCEPT !.repeats = @ + 1] ELSE [g EXCEPT !.arrived = @ \cup {c}]

Collect(g, c, o, first) ==
    LET went == Counted(g, c)
        said == IF first THEN Persists(g.current, o) ELSE <<>>
    IN  IF EveryoneArrived(went) THEN Stop(went, said) ELSE Step(went, said)

Align(g, c) ==
    LET went == [Counted(g, c) EXCEPT !.blocked = @ \cup {c}]
        said == <<<<"block", c>>>>
    IN  IF IsLone(g) THEN Step(Idle(g), <<<<"resume", c>>, <<"trigger", g.current, FALSE>>>>)
        ELSE IF ~EveryoneArrived(went) THEN Step(went, said)
        ELSE Step(Idle(went), said \o Resumes(went.blocked) \o <<<<"trigger", g.current, FALSE>>>>)

Read(g, c, o, first) == IF g.overtaking THEN Collect(g, c, o, first) ELSE Align(g, c)

Late(g, c, o) == Step(g, IF Alternating /\ ~OfItself(o) THEN <<<<"resume", c>>>> ELSE <<>>)

OnBarrier(g, c, n, o) ==
    IF IsOver(g, n) THEN Late(g, c, o)
    ELSE IF n > g.current
    THEN LET step == Read(Begin(g, n, o), c, o, TRUE)
         IN  Step(step.gate, Overtaken(g, o) \o step.out)
    ELSE IF Disagrees(g, c, o) THEN Step([g EXCEPT !.failed = TRUE], <<<<"fail">>>>)
    ELSE Read(g, c, o, FALSE)

OnCancel(g, n) ==
    IF n > g.current \/ (n = g.current /\ g.arrived # {})
    THEN Step([Idle(g) EXCEPT !.current = n], Append(LetGo(g, n), <<"abort", n, "ON_CANCELLATION_BARRIER">>))
    ELSE Step(g, <<>>)

OnEndOfPartition(g, c) ==
    LET closed == [g EXCEPT !.closed = @ \cup {c}]
    IN  IF ~g.pending THEN Step(closed, <<>>)
        ELSE Step(Idle(closed), Cut(g, "INPUT_END_OF_STREAM", Has("releases_first")))
==============================================================================
