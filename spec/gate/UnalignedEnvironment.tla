------------------------- MODULE UnalignedEnvironment -------------------------
(***************************************************************************)
(* One gate of mode unaligned or alternating in its environment: channels  *)
(* that deliver barriers, announcements and cancellations with ids that    *)
(* never fall, and that end; a coordinator that triggers the task; time.   *)
(* The Python reference model describes the same closed model. The         *)
(* triangle compares both graphs state for state and edge for edge.        *)
(* UnalignedModel.tla states the rules.                                    *)
(***************************************************************************)
EXTENDS Unaligned

CONSTANTS
    M,              \* checkpoint ids are 1 .. M
    Until,          \* time passes up to here, one unit at a time
    Rare,           \* channels also deliver barriers that must not overtake
    Announced,      \* barriers can be announced, and the task can be triggered
    Polled          \* a blocked channel delivers nothing, and channels deliver records

VARIABLES
    gate,           \* the gate, see GateType
    last,           \* by channel: the highest id it delivered, 0 at first
    out             \* the last event, then its effects

vars == <<gate, last, out>>
Ids == 1 .. M

Plain(alignment) == [alignment |-> alignment, savepoint |-> FALSE, timestamp |-> 0]
Options ==
    {Plain("aligned"), Plain("unaligned"), Plain("timeout")}
        \cup IF Rare THEN {Plain("forced-aligned"), [Plain("timeout") EXCEPT !.savepoint = TRUE]} ELSE {}
Timed == {o \in Options : o.alignment = "timeout"}

TypeOK == gate \in GateType /\ last \in [0 .. N - 1 -> 0 .. M]

Init ==
    /\ gate = NewGate
    /\ last = [c \in Channels |-> 0]
    /\ out = <<>>

------------------------------------------------------------------------------
(* System: the gate takes the event. *)

Take(event, step) == gate' = step.gate /\ out' = <<event>> \o step.out

Word(kind, where, n, o) == <<kind>> \o where \o <<n, o.alignment, o.savepoint, o.timestamp>>

(* UNAL-24: items of a blocked channel wait. *)
Readable(c) == c \notin gate.blocked

(* Environment: the items of a channel, and the events of the task. *)

Delivers(c) == ~gate.failed /\ c \notin gate.closed /\ (Polled => Readable(c))

Delivered(c, n) == n >= last[c] /\ last' = [last EXCEPT ![c] = n]

Barrier(c, n, o) ==
    /\ Delivers(c) /\ Delivered(c, n)
    /\ Take(Word("barrier", <<c>>, n, o), OnBarrier(gate, c, n, o))

Announce(c, n, o) ==
    /\ Announced /\ Delivers(c) /\ Delivered(c, n)
    /\ Take(Word("announce", <<c>>, n, o), OnAnnounce(gate, c, n, o))

Cancel(c, n) ==
    /\ Delivers(c) /\ Delivered(c, n)
    /\ Take(<<"cancel", c, n>>, OnCancel(gate, n))

EndOfPartition(c) ==
    /\ Delivers(c) /\ last' = last
    /\ Take(<<"end_of_partition", c>>, OnEndOfPartition(gate, c))

Record(c) ==
    /\ Polled /\ Delivers(c) /\ last' = last
    /\ Take(<<"record", c, 7>>, OnRecord(gate, c, 7))

Inject(n, o) ==
    /\ Announced /\ ~gate.failed /\ last' = last
    /\ Take(Word("inject", <<>>, n, o), OnInject(gate, n, o))

Advance ==
    /\ ~gate.failed /\ gate.now < Until /\ last' = last
    /\ Take(<<"advance", 1>>, OnAdvance(gate, 1))

Next ==
    \/ \E c \in Channels :
        \/ \E n \in Ids : Cancel(c, n) \/ \E o \in Options : Barrier(c, n, o)
        \/ \E n \in Ids : \E o \in Timed : Announce(c, n, o)
        \/ EndOfPartition(c)
        \/ Record(c)
    \/ \E n \in Ids : \E o \in Options : Inject(n, o)
    \/ Advance

Spec == Init /\ [][Next]_vars

(* If no step is possible, the gate has failed or all channels have ended. *)
StuckOnlyAtTheEnd == gate.failed \/ gate.closed = Channels \/ ENABLED Next
==============================================================================
