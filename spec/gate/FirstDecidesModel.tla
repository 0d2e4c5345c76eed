-------------------------- MODULE FirstDecidesModel --------------------------
(***************************************************************************)
(* One gate of Flink 1.11 or 1.12 in mode unaligned or alternating, in its *)
(* environment: channels that deliver barriers and cancellations with ids  *)
(* that never fall, and that end. A checkpoint is a savepoint on all its   *)
(* channels or on none; the options of its barriers may differ.            *)
(***************************************************************************)
EXTENDS TypeDecides

CONSTANTS
    M               \* checkpoint ids are 1 .. M, the even ones savepoints

VARIABLES
    gate,           \* the gate, see GateType
    last,           \* by channel: the highest id it delivered, 0 at first
    out             \* the last event, then its effects

vars == <<gate, last, out>>
Ids == 1 .. M
Options(n) ==
    {[alignment |-> "aligned", savepoint |-> n % 2 = 0]}
        \cup IF n % 2 = 0 THEN {} ELSE {[alignment |-> "unaligned", savepoint |-> FALSE]}

TypeOK == gate \in GateType /\ last \in [Channels -> 0 .. M]

Init ==
    /\ gate = NewGate
    /\ last = [c \in Channels |-> 0]
    /\ out = <<>>

Take(event, step) == gate' = step.gate /\ out' = <<event>> \o step.out
Delivers(c) == ~gate.failed /\ c \notin gate.closed
Delivered(c, n) == n >= last[c] /\ last' = [last EXCEPT ![c] = n]

Barrier(c, n, o) ==
    /\ Delivers(c) /\ Delivered(c, n)
    /\ Take(<<"barrier", c, n, o>>, OnBarrier(gate, c, n, o))

Cancel(c, n) ==
    /\ Delivers(c) /\ Delivered(c, n)
    /\ Take(<<"cancel", c, n>>, OnCancel(gate, n))

EndOfPartition(c) ==
    /\ Delivers(c) /\ last' = last
    /\ Take(<<"end_of_partition", c>>, OnEndOfPartition(gate, c))

Next == \E c \in Channels :
    \/ \E n \in Ids : Cancel(c, n) \/ \E o \in Options(n) : Barrier(c, n, o)
    \/ EndOfPartition(c)

Spec == Init /\ [][Next]_vars

(* Nothing stays blocked: without a next step, all input has been read. *)
StuckOnlyAtTheEnd == gate.failed \/ gate.closed = Channels \/ ENABLED Next

------------------------------------------------------------------------------
(* Rules. The event is on EventChannel with EventId and EventOptions;       *)
(* Effects are its effects.                                                 *)

EventIs(kind) == out'[1][1] = kind
EventChannel == out'[1][2]
EventId == out'[1][3]
EventOptions == out'[1][4]
Effects == Tail(out')
Count(kind) == Len(SelectSeq(Effects, LAMBDA e : e[1] = kind))
Reads == EventIs("barrier") /\ (EventId > gate.current \/ (EventId = gate.current /\ gate.pending))
Typed == "type_decides" \in Switches
IsUnaligned == IF Typed THEN ~EventOptions.savepoint ELSE EventOptions.alignment = "unaligned"

UNAL_27 == [][Reads =>
    IF EventId = gate.current
    THEN /\ gate'.overtaking = gate.overtaking
         /\ gate'.failed = ((Alternating /\ IsUnaligned # gate.overtaking) \/ EventChannel \in gate.blocked)
    ELSE ~gate'.failed /\ (Typed \/ gate'.overtaking = (~Alternating \/ IsUnaligned))]_vars

UNAL_28 == [][(Reads /\ EventId > gate.current /\ Alternating /\ Typed) =>
    /\ Count("start_persisting") = IF EventOptions.savepoint THEN 0 ELSE 1
    /\ gate'.overtaking = ~EventOptions.savepoint]_vars

AllArrived ==
    /\ "whole_stays_pending" \in Switches /\ gate.pending /\ gate.overtaking
    /\ Channels \subseteq gate.arrived \cup gate.closed

UNAL_29 == [][(AllArrived /\ ~gate'.failed) =>
    IF EventIs("barrier")
    THEN IF EventId <= gate.current THEN gate'.pending /\ Count("trigger") = 0
         ELSE Count("abort") = IF Alternating /\ ~IsUnaligned THEN 1 ELSE 0
    ELSE IF EventIs("cancel") /\ EventId < gate.current THEN Effects = <<>> /\ gate' = gate
    ELSE EventIs("cancel") \/ EventIs("end_of_partition") => Count("abort") = 1 /\ ~gate'.pending]_vars

------------------------------------------------------------------------------
(* Replacements: each replaces the operator in its comment in a model that   *)
(* must fail.                                                                *)

AgreesAlways(g, c, o) == FALSE                                                   \* Disagrees
EverythingOvertakes(o) == TRUE                                                   \* OfItself
NothingIsWhole(g) == FALSE                                                       \* Whole
==============================================================================
