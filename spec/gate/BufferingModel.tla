--------------------------- MODULE BufferingModel ----------------------------
(***************************************************************************)
(* A gate that stores items, in the environment of AlignedModel with       *)
(* records added. The Python reference model describes the same closed     *)
(* model.                                                                  *)
(*                                                                         *)
(* ALIGN-23 states the purpose of the store: the task sees the same as     *)
(* behind a network that holds back the blocked channels and releases the  *)
(* oldest item first.                                                      *)
(***************************************************************************)
EXTENDS Buffering, AlignedGenerations, PolledGate

CONSTANTS
    M,              \* checkpoint ids are 1 .. M
    Room            \* maximum number of items stored in this model

VARIABLES
    buffer,         \* the gate and its stored items
    last,           \* by channel: the highest id it delivered, 0 at first
    out             \* the last event, then its effects

vars == <<buffer, last, out>>
Ids == 1 .. M

ItemType ==
    ({"barrier", "cancel"} \X Channels \X Ids) \cup ({"end_of_partition", "record"} \X Channels)

TypeOK ==
    /\ buffer.gate \in GateType
    /\ \A i \in DOMAIN buffer.stored : buffer.stored[i] \in ItemType
    /\ last \in [0 .. N - 1 -> 0 .. M]

Init ==
    /\ buffer = NewBuffer
    /\ last = [c \in Channels |-> 0]
    /\ out = <<>>

(* Another initial state: every channel but the last has delivered barrier 1 *)
(* and continues with id 2. In the models that use it no channel ends, and   *)
(* stored items of several channels are replayed through a further           *)
(* alignment.                                                                *)
Aligning ==
    /\ buffer = [NewBuffer EXCEPT !.gate = [Begin(@, 1) EXCEPT !.blocked = 0 .. N - 2]]
    /\ last = [c \in Channels |-> IF c < N - 1 THEN 2 ELSE 0]
    /\ out = <<>>

NeverEnds(c) == FALSE

------------------------------------------------------------------------------
Ended(c) == c \in buffer.gate.closed \/ HasEnded(buffer.stored, c)

Delivers(c) ==
    /\ ~buffer.gate.failed
    /\ ~Ended(c)
    /\ c \in buffer.gate.blocked => Len(buffer.stored) < Room

OnItem(item) ==
    LET step == OnArrival(buffer, item)
    IN  buffer' = step.buffer /\ out' = <<item>> \o step.out

Barrier(c, n) ==
    /\ Delivers(c) /\ n >= last[c]
    /\ last' = [last EXCEPT ![c] = n]
    /\ OnItem(<<"barrier", c, n>>)

Cancel(c, n) ==
    /\ Delivers(c) /\ n >= last[c]
    /\ last' = [last EXCEPT ![c] = n]
    /\ OnItem(<<"cancel", c, n>>)

EndOfPartition(c) == Delivers(c) /\ UNCHANGED last /\ OnItem(<<"end_of_partition", c>>)

Record(c) == Delivers(c) /\ UNCHANGED last /\ OnItem(<<"record", c>>)

Next ==
    \E c \in Channels :
        \/ \E n \in Ids : Barrier(c, n) \/ Cancel(c, n)
        \/ EndOfPartition(c)
        \/ Record(c)

Spec == Init /\ [][Next]_vars

(* Nothing stays blocked: without a next step, all input has been read. A    *)
(* record is always taken, so Next is enabled where a channel delivers.      *)
StuckOnlyAtTheEnd == buffer.gate.failed \/ buffer.gate.closed = Channels \/ \E c \in Channels : Delivers(c)

------------------------------------------------------------------------------
Item == out'[1]
Effects == Tail(out')
LimitAborts == SelectSeq(Effects, LAMBDA e : e[1] = "abort" /\ e[3] = "ALIGNMENT_LIMIT_EXCEEDED")

ALIGN_22 ==
    [][IF Limit # 0 /\ ChannelOf(Item) \in buffer.gate.blocked /\ Len(buffer.stored) >= Limit
       THEN /\ Len(LimitAborts) = 1
            /\ IsPrefixOf(Append(Resumes(buffer.gate.blocked),
                                 <<"abort", buffer.gate.current, "ALIGNMENT_LIMIT_EXCEEDED">>), Effects)
       ELSE LimitAborts = <<>>]_vars

(* A network that holds back what the gate has blocked. *)
Blocked(g, held, effects) == g.blocked

ALIGN_23 ==
    [][LimitAborts = <<>> =>
        LET twin == Arrives(AtGate, Blocked, buffer.gate, buffer.stored, buffer.gate.blocked, Item)
        IN  /\ Effects = twin.out /\ buffer'.gate = twin.gate /\ buffer'.stored = twin.waiting
            /\ (Item[1] = "record" /\ ChannelOf(Item) \notin buffer.gate.blocked) =>
                Effects = <<<<"process", ChannelOf(Item)>>>> /\ buffer' = buffer
            /\ AfterEffects(buffer.gate.blocked, Effects) = buffer'.gate.blocked]_vars

ALIGN_23_Stored ==
    /\ buffer.rolled = <<>>
    /\ \A i \in DOMAIN buffer.stored : ChannelOf(buffer.stored[i]) \in buffer.gate.blocked

------------------------------------------------------------------------------
(* Replacements, each for the operator in its comment. *)

NeverFull(b) == FALSE                                           \* IsFull
RollsBehind(b) ==                                               \* RollOver
    IF b.stored = <<>> THEN b ELSE [b EXCEPT !.stored = <<>>, !.rolled = Append(@, b.stored)]
===============================================================================
