-------------------------- MODULE FirstDecidesModel --------------------------
(***************************************************************************)
(* One gate of Flink 1.11 or 1.12 in mode unaligned or alternating, in its *)
(* environment: channels that deliver barriers and cancellations with ids  *)
(* that never fall, and that end. A checkpoint is a savepoint on all its   *)
(* channels or on none. The options of its barriers can differ.            *)
(***************************************************************************)
EXTENDS FirstDecides

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

TypeOK == gate \in GateType /\ last \in [0 .. N - 1 -> 0 .. M]

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

(* The state holds the decision of the first barrier, and not its options.   *)
UNAL_26 == ~gate.failed =>
    /\ gate.blocked \subseteq gate.arrived /\ gate.closed \cap gate.arrived = {}
    /\ gate.overtaking => gate.blocked = {}
    /\ gate.arrived # {} \/ gate.repeats = 0
    /\ IF gate.pending
       THEN /\ gate.arrived # {}
            /\ AllArrived \/ Cardinality(Channels \ (gate.arrived \cup gate.closed)) > gate.repeats
       ELSE gate.arrived = {}

------------------------------------------------------------------------------
(* All effects in order, and all changes of the state.                       *)

ResumeEach(channels) == LET order == InOrder(channels) IN [i \in DOMAIN order |-> <<"resume", order[i]>>]
HasNewerId == EventId > gate.current
Overtakes == IF HasNewerId THEN ~Alternating \/ IsUnaligned ELSE gate.overtaking
Refuses ==
    Reads /\ ~HasNewerId /\ (EventChannel \in gate.blocked \/ (Alternating /\ IsUnaligned # gate.overtaking))
HadArrived == IF HasNewerId THEN {} ELSE gate.arrived
Repeats == (IF HasNewerId THEN 0 ELSE gate.repeats) + IF EventChannel \in HadArrived /\ ~Typed THEN 1 ELSE 0
Last == Cardinality(Channels \ (HadArrived \cup {EventChannel} \cup gate.closed)) <= Repeats
Held == (IF HasNewerId THEN {} ELSE gate.blocked) \cup IF Overtakes THEN {} ELSE {EventChannel}

(* The pending checkpoint ends with an abort. *)
Stopped(n) == IF gate.overtaking /\ ~Typed THEN <<<<"stop_persisting", n>>>> ELSE <<>>
EndsBy(abort, abortsFirst) ==
    IF abortsFirst THEN <<abort>> \o ResumeEach(gate.blocked)
    ELSE Stopped(gate.current) \o ResumeEach(gate.blocked) \o <<abort>>
Before ==
    IF ~HasNewerId \/ ~gate.pending \/ (AllArrived /\ Overtakes) THEN <<>>
    ELSE EndsBy(<<"abort", gate.current, "SUBSUMED">>, Typed /\ Overtakes = gate.overtaking)

OfBarrier ==
    LET trigger == <<"trigger", EventId, EventOptions.alignment = "unaligned">>
        begins == IF HasNewerId THEN <<<<"start_persisting", EventId>>, trigger>> ELSE <<>>
        atLast == <<<<"trigger", EventId, FALSE>>>>
    IN  IF Overtakes THEN begins \o IF Last /\ ~Typed THEN <<<<"stop_persisting", EventId>>>> ELSE <<>>
        ELSE IF Typed /\ N = 1 THEN <<<<"resume", EventChannel>>>> \o atLast
        ELSE <<<<"block", EventChannel>>>> \o IF Last THEN ResumeEach(Held) \o atLast ELSE <<>>

Cancels == EventIs("cancel") /\ (HasNewerId \/ (EventId = gate.current /\ gate.arrived # {}))
EndsIt == EventIs("end_of_partition") /\ gate.pending

AllEffects == [][Effects =
    CASE Refuses -> <<<<"fail">>>>
      [] Reads /\ ~Refuses -> Before \o OfBarrier
      [] EventIs("barrier") /\ ~Reads -> IF Alternating /\ ~IsUnaligned THEN <<<<"resume", EventChannel>>>> ELSE <<>>
      [] Cancels ->
            Stopped(EventId) \o ResumeEach(gate.blocked) \o <<<<"abort", EventId, "ON_CANCELLATION_BARRIER">>>>
      [] EndsIt -> EndsBy(<<"abort", gate.current, "INPUT_END_OF_STREAM">>, Typed)
      [] OTHER -> <<>>]_vars

NothingPending(g) == [g EXCEPT !.pending = FALSE, !.arrived = {}, !.blocked = {}, !.repeats = 0]
Ongoing ==
    [gate EXCEPT !.current = EventId, !.pending = TRUE, !.overtaking = Overtakes, !.repeats = Repeats,
                 !.arrived = HadArrived \cup {EventChannel}, !.blocked = Held]
After(g) == IF EventIs("end_of_partition") THEN [g EXCEPT !.closed = @ \cup {EventChannel}] ELSE g

Frame == [][
    /\ out = <<>> => gate = [current |-> -1, pending |-> FALSE, overtaking |-> ~Alternating, arrived |-> {},
                            blocked |-> {}, closed |-> {}, repeats |-> 0, failed |-> FALSE]
    /\ gate' = After(
        CASE Refuses -> [gate EXCEPT !.failed = TRUE]
          [] Reads /\ ~Refuses ->
                IF IF Overtakes THEN Last /\ ~Typed ELSE Last \/ (Typed /\ N = 1) THEN NothingPending(Ongoing)
                ELSE Ongoing
          [] Cancels -> NothingPending([gate EXCEPT !.current = EventId])
          [] EndsIt -> NothingPending(gate)
          [] OTHER -> gate)]_vars

------------------------------------------------------------------------------
(* Replacements: each takes the place of the operator in its comment.        *)

AgreesAlways(g, c, o) == FALSE                                                   \* Disagrees
EverythingOvertakes(o) == TRUE                                                   \* OfItself
NothingIsWhole(g) == FALSE                                                       \* Whole
StaysBlocked(g) == [g EXCEPT !.pending = FALSE, !.arrived = {}, !.repeats = 0]   \* Idle
==============================================================================
