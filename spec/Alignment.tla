------------------------------ MODULE Alignment ------------------------------
(***************************************************************************)
(* Alignment of checkpoint barriers at one input gate, exactly-once mode.  *)
(*                                                                         *)
(* A gate reads N channels. Barrier n splits each channel into what        *)
(* belongs to checkpoint n and what does not. The gate blocks a channel    *)
(* that has delivered barrier n until every open channel has, so that the  *)
(* snapshot taken then holds all that came before barrier n and nothing    *)
(* that came after it.                                                     *)
(*                                                                         *)
(* The module holds functions, no behaviour: OnX(g, ...) is what gate g    *)
(* becomes and says when X happens. models/GateModel.tla puts one gate     *)
(* into an environment and states rules ALIGN-01 to ALIGN-19 and SUB-01;   *)
(* Dataflow.tla composes gates with the rest of the protocol.              *)
(*                                                                         *)
(* Source: Apache Flink 1.14 and later, SingleCheckpointBarrierHandler     *)
(* with AbstractAlignedBarrierHandlerState; the algorithm is that of       *)
(* Carbone et al. 2015, after Chandy and Lamport 1985.                     *)
(***************************************************************************)
EXTENDS Integers, Sequences, FiniteSets, Order

CONSTANTS
    N,              \* number of input channels; they are 0 .. N-1
    AfterFinish     \* checkpoints go on after tasks have finished (FLIP-147)

ASSUME N \in Nat \ {0} /\ AfterFinish \in BOOLEAN

Channels == 0 .. N - 1

GateType ==
    [current : Nat \cup {-1},       \* highest id begun or cancelled here; -1 before the first
     pending : BOOLEAN,             \* barriers of `current` came, but not from every open channel
     blocked : SUBSET Channels,     \* delivered barrier `current` and wait for the others
     closed  : SUBSET Channels]     \* reached their end

(* A gate that reads only `channels`: those it does not have count as ended. *)
NewGate(channels) ==
    [current |-> -1, pending |-> FALSE, blocked |-> {}, closed |-> Channels \ channels]

------------------------------------------------------------------------------
(* The questions a gate asks. Each is an operator so that a model can       *)
(* replace it, and show what breaks when it is answered wrongly.            *)

IsNewer(n, current) == n > current

IsPending(g, n) == g.pending /\ n = g.current

OpenChannels(g) == Channels \ g.closed

Awaited(g) == OpenChannels(g) \ g.blocked

IsAligned(g) == Awaited(g) = {}

(* ALIGN-17: what follows a barrier on a blocked channel waits. *)
Readable(g, c) == c \notin g.blocked

------------------------------------------------------------------------------
(* Effects: sequences of tuples, in the order in which they are made.       *)

Resumes(channels) ==
    LET order == InOrder(channels)
    IN [i \in 1 .. Len(order) |-> <<"resume", order[i]>>]

(* ALIGN-03, SUB-01: the older checkpoint ends here, once. *)
AbortSubsumed(g) == <<<<"abort", g.current, "SUBSUMED">>>>

Overtaken(g) == Resumes(g.blocked) \o AbortSubsumed(g)

------------------------------------------------------------------------------
(* The phases of an alignment.                                              *)

Begin(g, n) == [g EXCEPT !.current = n, !.pending = TRUE, !.blocked = {}]

Blocks(g, c) == [g EXCEPT !.blocked = @ \cup {c}]

Idle(g) == [g EXCEPT !.pending = FALSE, !.blocked = {}]

(* ALIGN-06: trigger first, then let go. *)
Completion(g) == <<<<"trigger", g.current>>>> \o Resumes(g.blocked)

(* ALIGN-05: the alignment completes when no channel is awaited any more. *)
Settle(g, said) ==
    IF IsAligned(g)
    THEN [gate |-> Idle(g), out |-> said \o Completion(g)]
    ELSE [gate |-> g, out |-> said]

Arrive(g, c, said) == Settle(Blocks(g, c), Append(said, <<"block", c>>))

(* ALIGN-04: the sender stopped after its barrier, so its channel may go on; *)
(* the alignment of a newer checkpoint is none of its business.              *)
Late(g, c) == [gate |-> g, out |-> <<<<"resume", c>>>>]

------------------------------------------------------------------------------
(* What a gate does.                                                        *)

(* ALIGN-01, ALIGN-02, ALIGN-03, ALIGN-04, ALIGN-07, ALIGN-16 *)
OnBarrier(g, c, n) ==
    IF IsNewer(n, g.current)
    THEN Arrive(Begin(g, n), c, IF g.pending THEN Overtaken(g) ELSE <<>>)
    ELSE IF IsPending(g, n) THEN Arrive(g, c, <<>>)
    ELSE Late(g, c)

(* ALIGN-09 (the pending id), ALIGN-10 and ALIGN-11 (a newer one), ALIGN-12 *)
Cancels(g, n) == IsPending(g, n) \/ n > g.current

OnCancel(g, n) ==
    IF Cancels(g, n)
    THEN [gate |-> Idle([g EXCEPT !.current = n]),
          out  |-> Resumes(g.blocked) \o <<<<"abort", n, "ON_CANCELLATION_BARRIER">>>>]
    ELSE [gate |-> g, out |-> <<>>]

(* ALIGN-13, and ALIGN-14 or ALIGN-15 when something is pending *)
OnEndOfPartition(g, c) ==
    LET closed == [g EXCEPT !.closed = @ \cup {c}]
    IN  IF ~g.pending THEN [gate |-> closed, out |-> <<>>]
        ELSE IF AfterFinish THEN Settle([closed EXCEPT !.blocked = @ \ {c}], <<>>)
        ELSE [gate |-> Idle(closed),
              out  |-> Resumes(g.blocked) \o <<<<"abort", g.current, "INPUT_END_OF_STREAM">>>>]
==============================================================================
