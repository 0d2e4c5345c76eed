--------------------------- MODULE BufferingModel ----------------------------
(***************************************************************************)
(* A gate that stores items, in the environment of AlignedModel with       *)
(* records added. The Python reference model describes the same closed     *)
(* model.                                                                  *)
(*                                                                         *)
(* ALIGN-23 states the purpose of the stored items: the effects are the    *)
(* same as with a network that holds back the blocked channels and         *)
(* releases the oldest item first.                                         *)
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

Held == buffer.gate.blocked

(* ALIGN-17, stated without the steps of the gate. `items` can be read. The  *)
(* gate processes the records of a channel in order, and none while the      *)
(* channel is held. Of two records that can be read, the older comes first.  *)
Places(items, c) == InOrder({i \in DOMAIN items : items[i][1] = "record" /\ ChannelOf(items[i]) = c})
ProcessedBefore(effects, p) ==
    Len(SelectSeq(SubSeq(effects, 1, p), LAMBDA e : e[1] = "process" /\ e[2] = effects[p][2]))
Of(items, c) == SelectSeq(items, LAMBDA item : ChannelOf(item) = c)
IsReadInOrder(items, held, effects, left) ==
    LET processed == {p \in DOMAIN effects : effects[p][1] = "process"}
        place(p) == Places(items, effects[p][2])[ProcessedBefore(effects, p)]
        heldAt(p) == AfterEffects(held, SubSeq(effects, 1, p - 1))
    IN  /\ \A c \in Channels :
            /\ LET rest == Of(left, c)  all == Of(items, c)
               IN  Len(rest) <= Len(all) /\ rest = SubSeq(all, Len(all) - Len(rest) + 1, Len(all))
            /\ Len(Places(items, c)) - Len(Places(left, c)) = Cardinality({p \in processed : effects[p][2] = c})
        /\ \A p \in processed : effects[p][2] \notin heldAt(p)
        /\ \A p, q \in processed : p < q /\ place(q) < place(p) => effects[q][2] \in heldAt(p)

(* A network that holds back what the gate has blocked. *)
Blocked(g, held, effects) == g.blocked

(* The alignment is aborted. The gate reads the stored items as from a       *)
(* network, oldest item first.                                               *)
AbortsOverLimit ==
    LET order == InOrder(Held)
    IN  Append([i \in DOMAIN order |-> <<"resume", order[i]>>],
               <<"abort", buffer.gate.current, "ALIGNMENT_LIMIT_EXCEEDED">>)
ReadAgain ==
    LET idle == [buffer.gate EXCEPT !.pending = FALSE, !.blocked = {}, !.repeats = 0]
    IN  ReadReleased(AtGate, Blocked, [gate |-> idle, out |-> AbortsOverLimit], Append(buffer.stored, Item), {})

ALIGN_22 ==
    [][IF Limit # 0 /\ ChannelOf(Item) \in Held /\ Len(buffer.stored) >= Limit
       THEN /\ Len(LimitAborts) = 1 /\ IsPrefixOf(AbortsOverLimit, Effects)
            /\ Effects = ReadAgain.out /\ buffer'.gate = ReadAgain.gate /\ buffer'.stored = ReadAgain.waiting
            /\ LET again == SubSeq(Effects, Len(AbortsOverLimit) + 1, Len(Effects))
               IN  IsReadInOrder(Append(buffer.stored, Item), {}, again, buffer'.stored)
       ELSE LimitAborts = <<>>]_vars

ALIGN_23 ==
    [][LimitAborts = <<>> =>
        LET twin == Arrives(AtGate, Blocked, buffer.gate, buffer.stored, buffer.gate.blocked, Item)
        IN  /\ Effects = twin.out /\ buffer'.gate = twin.gate /\ buffer'.stored = twin.waiting
            /\ (Item[1] = "record" /\ ChannelOf(Item) \notin buffer.gate.blocked) =>
                Effects = <<<<"process", ChannelOf(Item)>>>> /\ buffer' = buffer
            /\ AfterEffects(buffer.gate.blocked, Effects) = buffer'.gate.blocked]_vars

ALIGN_17 ==
    [][/\ \A i \in DOMAIN buffer'.stored :
            /\ ChannelOf(buffer'.stored[i]) \in buffer'.gate.blocked
            /\ \A j \in 1 .. i - 1 : buffer'.stored[j] # <<"end_of_partition", ChannelOf(buffer'.stored[i])>>
       /\ LimitAborts = <<>> =>
            IF ChannelOf(Item) \in Held
            THEN Effects = <<>> /\ buffer' = [buffer EXCEPT !.stored = Append(@, Item)]
            ELSE /\ Item[1] = "record" => Effects = <<<<"process", ChannelOf(Item)>>>> /\ buffer' = buffer
                 /\ Item[1] # "record" => IsReadInOrder(buffer.stored, Held, Effects, buffer'.stored)]_vars

ALIGN_23_Stored ==
    /\ buffer.rolled = <<>>
    /\ \A i \in DOMAIN buffer.stored : ChannelOf(buffer.stored[i]) \in buffer.gate.blocked

------------------------------------------------------------------------------
(* From 1.11 on the network holds a blocked channel back: `stored` is what   *)
(* waits in the network. It replaces OnArrival.                              *)

HoldsBack(b, item) ==
    LET step == Arrives(AtGate, Blocked, b.gate, b.stored, b.gate.blocked, item)
    IN  [buffer |-> [b EXCEPT !.gate = step.gate, !.stored = step.waiting], out |-> step.out]

------------------------------------------------------------------------------
(* Replacements, each for the operator in its comment. *)

NeverFull(b) == FALSE                                           \* IsFull
LosesWhatIsStored(b) ==                                         \* Exceeds
    [buffer |-> [b EXCEPT !.gate = Idle(@), !.stored = <<>>],
     out    |-> Append(Resumes(b.gate.blocked), <<"abort", b.gate.current, "ALIGNMENT_LIMIT_EXCEEDED">>)]
Newest(places) == CHOOSE i \in places : \A j \in places : j <= i      \* Oldest
RollsBehind(b) ==                                               \* RollOver
    IF b.stored = <<>> THEN b ELSE [b EXCEPT !.stored = <<>>, !.rolled = Append(@, b.stored)]
===============================================================================
