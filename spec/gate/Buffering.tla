------------------------------ MODULE Buffering ------------------------------
(***************************************************************************)
(* A gate that stores the items of a blocked channel: Flink up to 1.10.    *)
(*                                                                         *)
(* Up to 1.10 the network cannot hold a channel back. The gate reads every *)
(* item and stores the items of blocked channels. When an event resumes    *)
(* channels, the gate rolls the stored items over and replays them within  *)
(* that event. The gate stores a replayed item again if its channel is     *)
(* blocked again. If that alignment ends before the replay does, the gate  *)
(* first replays the items stored last, and then the rest of the older     *)
(* sequence. The gate aborts an alignment that would store more than a     *)
(* limit.                                                                  *)
(*                                                                         *)
(* Items are <<"barrier", c, n>>, <<"cancel", c, n>>,                      *)
(* <<"end_of_partition", c>> and <<"record", c>>. The effect "process" has *)
(* all further fields of its record. The module has functions only.        *)
(* BufferingModel.tla states rules ALIGN-17, ALIGN-22 and ALIGN-23.        *)
(*                                                                         *)
(* Source: CachedBufferStorage and CheckpointedInputGate of 1.9 and 1.10,  *)
(* BarrierBuffer of 1.7 and 1.8.                                           *)
(***************************************************************************)
EXTENDS Aligned

CONSTANTS
    Limit           \* items that may be stored and not yet replayed; 0 for no limit

NewBuffer == [gate |-> NewGate(Channels), stored |-> <<>>, rolled |-> <<>>]

ChannelOf(item) == item[2]

(* The gate reads one item. The operator processes a record at once. *)
AtGate(g, item) ==
    CASE item[1] = "barrier"          -> OnBarrier(g, item[2], item[3])
      [] item[1] = "cancel"           -> OnCancel(g, item[3])
      [] item[1] = "end_of_partition" -> OnEndOfPartition(g, item[2])
      [] item[1] = "record"           -> [gate |-> g, out |-> <<<<"process">> \o Tail(item)>>]

(* The stored items become the next sequence to replay. *)
RollOver(b) ==
    IF b.stored = <<>> THEN b ELSE [b EXCEPT !.stored = <<>>, !.rolled = <<b.stored>> \o @]

RECURSIVE Items(_)
Items(sequences) == IF sequences = <<>> THEN 0 ELSE Len(Head(sequences)) + Items(Tail(sequences))

IsFull(b) == Limit # 0 /\ Len(b.stored) + Items(b.rolled) > Limit

(* ALIGN-22: too many items would be stored, so the alignment ends. *)
Exceeds(b) ==
    [buffer |-> RollOver([b EXCEPT !.gate = Idle(@)]),
     out    |-> Append(Resumes(b.gate.blocked), <<"abort", b.gate.current, "ALIGNMENT_LIMIT_EXCEEDED">>)]

(* One item, new or replayed. *)
Take(b, item) ==
    IF ChannelOf(item) \in b.gate.blocked
    THEN LET kept == [b EXCEPT !.stored = Append(@, item)]
         IN  IF IsFull(kept) THEN Exceeds(kept) ELSE [buffer |-> kept, out |-> <<>>]
    ELSE LET step  == AtGate(b.gate, item)
             after == [b EXCEPT !.gate = step.gate]
         IN  [buffer |-> IF b.gate.blocked \subseteq step.gate.blocked THEN after ELSE RollOver(after),
              out    |-> step.out]

(* The oldest item of the next sequence, removed from it. *)
Next1(b) == Head(Head(b.rolled))
Without1(b) ==
    [b EXCEPT !.rolled = IF Len(Head(@)) = 1 THEN Tail(@) ELSE <<Tail(Head(@))>> \o Tail(@)]

(* ALIGN-23 *)
RECURSIVE Replay(_, _)
Replay(b, effects) ==
    IF b.rolled = <<>> THEN [buffer |-> b, out |-> effects]
    ELSE LET step == Take(Without1(b), Next1(b)) IN Replay(step.buffer, effects \o step.out)

OnArrival(b, item) == LET step == Take(b, item) IN Replay(step.buffer, step.out)
==============================================================================
