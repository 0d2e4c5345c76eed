----------------------------- MODULE StoringModel -----------------------------
(***************************************************************************)
(* A gate that stores, in the environment of GateModel with records added. *)
(* The Python reference model describes the same closed system.            *)
(*                                                                         *)
(* ALIGN-23 says what the store is for: the task sees what it would see    *)
(* behind a network that holds the blocked channels back and lets the      *)
(* oldest item go first.                                                   *)
(***************************************************************************)
EXTENDS Storing

CONSTANTS
    M,              \* checkpoint ids are 1 .. M
    Room            \* items that are ever stored in this model

VARIABLES
    buffer,         \* the gate and its store
    last,           \* by channel: the highest id it delivered, 0 at first
    out             \* the last event, then the effects that it had

vars == <<buffer, last, out>>
Ids == 1 .. M

ItemType ==
    ({"barrier", "cancel"} \X Channels \X Ids) \cup ({"end_of_partition", "record"} \X Channels)

TypeOK ==
    /\ buffer.gate \in GateType
    /\ \A i \in DOMAIN buffer.stored : buffer.stored[i] \in ItemType
    /\ last \in [Channels -> 0 .. M]

Init ==
    /\ buffer = NewBuffer
    /\ last = [c \in Channels |-> 0]
    /\ out = <<>>

(* Another start: every channel but the last has delivered barrier 1 and goes *)
(* on with id 2. The models that use it let no channel end, and see stored    *)
(* items of several channels replayed through a further alignment.            *)
Aligning ==
    /\ buffer = [NewBuffer EXCEPT !.gate = [Begin(@, 1) EXCEPT !.blocked = 0 .. N - 2]]
    /\ last = [c \in Channels |-> IF c < N - 1 THEN 2 ELSE 0]
    /\ out = <<>>

NeverEnds(c) == FALSE

------------------------------------------------------------------------------
HasEnded(c) ==
    \/ c \in buffer.gate.closed
    \/ \E i \in DOMAIN buffer.stored : buffer.stored[i] = <<"end_of_partition", c>>

Delivers(c) ==
    /\ ~buffer.gate.failed
    /\ ~HasEnded(c)
    /\ c \in buffer.gate.blocked => Len(buffer.stored) < Room

Arrives(item) ==
    LET step == OnArrival(buffer, item)
    IN  buffer' = step.buffer /\ out' = <<item>> \o step.out

Barrier(c, n) ==
    /\ Delivers(c) /\ n >= last[c]
    /\ last' = [last EXCEPT ![c] = n]
    /\ Arrives(<<"barrier", c, n>>)

Cancel(c, n) ==
    /\ Delivers(c) /\ n >= last[c]
    /\ last' = [last EXCEPT ![c] = n]
    /\ Arrives(<<"cancel", c, n>>)

EndOfPartition(c) == Delivers(c) /\ UNCHANGED last /\ Arrives(<<"end_of_partition", c>>)

Record(c) == Delivers(c) /\ UNCHANGED last /\ Arrives(<<"record", c>>)

Next ==
    \E c \in Channels :
        \/ \E n \in Ids : Barrier(c, n) \/ Cancel(c, n)
        \/ EndOfPartition(c)
        \/ Record(c)

Spec == Init /\ [][Next]_vars

------------------------------------------------------------------------------
Item == out'[1]
Said == Tail(out')
LimitAborts == SelectSeq(Said, LAMBDA e : e[1] = "abort" /\ e[3] = "ALIGNMENT_LIMIT_EXCEEDED")

ALIGN_22 ==
    [][IF Limit # 0 /\ ChannelOf(Item) \in buffer.gate.blocked /\ Len(buffer.stored) >= Limit
       THEN /\ Len(LimitAborts) = 1
            /\ IsPrefixOf(Append(Resumes(buffer.gate.blocked),
                                 <<"abort", buffer.gate.current, "ALIGNMENT_LIMIT_EXCEEDED">>), Said)
       ELSE LimitAborts = <<>>]_vars

(* A network that holds back: the oldest item whose channel is open goes on. *)
Released(g, held) == {i \in DOMAIN held : ChannelOf(held[i]) \notin g.blocked}
Oldest(numbers) == CHOOSE i \in numbers : \A j \in numbers : i <= j
Remove(held, i) == SubSeq(held, 1, i - 1) \o SubSeq(held, i + 1, Len(held))

RECURSIVE HandOn(_, _, _)
HandOn(g, held, said) ==
    IF Released(g, held) = {} THEN [gate |-> g, held |-> held, out |-> said]
    ELSE LET i    == Oldest(Released(g, held))
             step == AtGate(g, held[i])
         IN  HandOn(step.gate, Remove(held, i), said \o step.out)

HeldBack(g, held, item) ==
    IF ChannelOf(item) \in g.blocked
    THEN [gate |-> g, held |-> Append(held, item), out |-> <<>>]
    ELSE LET step == AtGate(g, item) IN HandOn(step.gate, held, step.out)

ALIGN_23 ==
    [][LimitAborts = <<>> =>
        LET twin == HeldBack(buffer.gate, buffer.stored, Item)
        IN  Said = twin.out /\ buffer'.gate = twin.gate /\ buffer'.stored = twin.held]_vars

ALIGN_23_Stored ==
    /\ buffer.rolled = <<>>
    /\ \A i \in DOMAIN buffer.stored : ChannelOf(buffer.stored[i]) \in buffer.gate.blocked

------------------------------------------------------------------------------
(* Replacements, each for the operator in its comment. *)

NeverFull(b) == FALSE                                           \* IsFull
RollsBehind(b) ==                                               \* RollOver
    IF b.stored = <<>> THEN b ELSE [b EXCEPT !.stored = <<>>, !.rolled = Append(@, b.stored)]
===============================================================================
