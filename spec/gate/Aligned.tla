------------------------------- MODULE Aligned -------------------------------
(***************************************************************************)
(* Alignment of checkpoint barriers at one input gate, exactly-once mode.  *)
(*                                                                         *)
(* A gate reads N channels. Barrier n splits each channel into what        *)
(* belongs to checkpoint n and what does not. The gate blocks a channel    *)
(* that has delivered barrier n until every open channel has delivered it. *)
(* The snapshot taken then holds everything before barrier n and nothing   *)
(* after it.                                                               *)
(*                                                                         *)
(* The module has functions only: OnX(g, ...) is the state of gate g after *)
(* event X, with its effects. AlignedGenerations.tla has the steps of      *)
(* older generations. AlignedModel.tla puts one gate into an environment   *)
(* and states most rules ALIGN and SUB-01. Dataflow.tla composes gates     *)
(* with the rest of the protocol.                                          *)
(*                                                                         *)
(* Source: Apache Flink 1.14 and later, SingleCheckpointBarrierHandler     *)
(* with AbstractAlignedBarrierHandlerState; the algorithm is that of       *)
(* Carbone et al. 2015, after Chandy and Lamport 1985.                     *)
(***************************************************************************)
EXTENDS Integers, Sequences, FiniteSets, Order

CONSTANTS
    N,              \* number of input channels; they are 0 .. N-1
    AfterFinish     \* checkpoints continue after tasks have finished (FLIP-147)

ASSUME N \in Nat \ {0} /\ AfterFinish \in BOOLEAN

Channels == 0 .. N - 1

GateType ==
    [current : Nat \cup {-1},       \* highest id begun or cancelled here; -1 before the first
     pending : BOOLEAN,             \* barriers of `current` have arrived, but not from every open channel
     blocked : SUBSET Channels,     \* have delivered barrier `current` and wait for the others
     closed  : SUBSET Channels,     \* have delivered their end of partition
     repeats : Nat,                 \* repeated barriers of `current` that were counted (ALIGN-21)
     failed  : BOOLEAN]             \* has refused an event and accepts no further event (ALIGN-20)

(* A gate that reads only `channels`; the other channels count as ended. *)
NewGate(channels) ==
    [current |-> -1, pending |-> FALSE, blocked |-> {}, closed |-> Channels \ channels,
     repeats |-> 0, failed |-> FALSE]

------------------------------------------------------------------------------
(* The conditions of a gate. Each is an operator, so that a model can        *)
(* replace it and show which rule breaks.                                    *)

IsNewer(n, current) == n > current

IsPending(g, n) == g.pending /\ n = g.current

OpenChannels(g) == Channels \ g.closed

Awaited(g) == OpenChannels(g) \ g.blocked

IsAligned(g) == Awaited(g) = {}

(* ALIGN-17: items behind a barrier on a blocked channel wait. *)
Readable(g, c) == c \notin g.blocked

------------------------------------------------------------------------------
(* Effects: sequences of tuples, in order. *)

Resumes(channels) ==
    LET order == InOrder(channels)
    IN [i \in 1 .. Len(order) |-> <<"resume", order[i]>>]

(* ALIGN-03, SUB-01: the older checkpoint ends, once. *)
AbortSubsumed(g) == <<<<"abort", g.current, "SUBSUMED">>>>

(* ALIGN-03, ALIGN-14: an alignment ends without a snapshot. *)
GivenUp(g, aborts) == Resumes(g.blocked) \o aborts

Subsumption(g) == GivenUp(g, AbortSubsumed(g))

AbortCancelled(g, n) == <<<<"abort", n, "ON_CANCELLATION_BARRIER">>>>

------------------------------------------------------------------------------
(* The phases of an alignment.                                              *)

Begin(g, n) == [g EXCEPT !.current = n, !.pending = TRUE, !.blocked = {}, !.repeats = 0]

Blocks(g, c) == [g EXCEPT !.blocked = @ \cup {c}]

Idle(g) == [g EXCEPT !.pending = FALSE, !.blocked = {}, !.repeats = 0]

(* ALIGN-06: the gate triggers, then resumes. *)
Completion(g) == <<<<"trigger", g.current>>>> \o Resumes(g.blocked)

(* ALIGN-05: the alignment completes when the gate awaits no channel. *)
Settle(g, effects) ==
    IF IsAligned(g)
    THEN [gate |-> Idle(g), out |-> effects \o Completion(g)]
    ELSE [gate |-> g, out |-> effects]

Arrive(g, c, effects) == Settle(Blocks(g, c), Append(effects, <<"block", c>>))

(* ALIGN-01, and ALIGN-03 if an older checkpoint is pending *)
Newer(g, c, n) == Arrive(Begin(g, n), c, IF g.pending THEN Subsumption(g) ELSE <<>>)

(* ALIGN-04: the sender has stopped after its barrier, so its channel        *)
(* resumes. The alignment of a newer checkpoint does not change.             *)
Late(g, c) == [gate |-> g, out |-> <<<<"resume", c>>>>]

(* ALIGN-16: a repeated barrier of the pending checkpoint on one channel. *)
Repeated(g, c) == Arrive(g, c, <<>>)

------------------------------------------------------------------------------
(* The steps of a gate. *)

(* ALIGN-01, ALIGN-02, ALIGN-03, ALIGN-04, ALIGN-07 *)
OnBarrier(g, c, n) ==
    IF IsNewer(n, g.current) THEN Newer(g, c, n)
    ELSE IF IsPending(g, n) THEN IF c \in g.blocked THEN Repeated(g, c) ELSE Arrive(g, c, <<>>)
    ELSE Late(g, c)

(* ALIGN-09 (the pending id), ALIGN-10 and ALIGN-11 (a newer id), ALIGN-12 *)
Cancels(g, n) == IsPending(g, n) \/ n > g.current

OnCancel(g, n) ==
    IF Cancels(g, n)
    THEN [gate |-> Idle([g EXCEPT !.current = n]), out |-> Resumes(g.blocked) \o AbortCancelled(g, n)]
    ELSE [gate |-> g, out |-> <<>>]

(* ALIGN-13, and ALIGN-14 or ALIGN-15 if a checkpoint is pending *)
OnEndOfPartition(g, c) ==
    LET closed == [g EXCEPT !.closed = @ \cup {c}]
    IN  IF ~g.pending THEN [gate |-> closed, out |-> <<>>]
        ELSE IF AfterFinish THEN Settle([closed EXCEPT !.blocked = @ \ {c}], <<>>)
        ELSE [gate |-> Idle(closed),
              out  |-> GivenUp(g, <<<<"abort", g.current, "INPUT_END_OF_STREAM">>>>)]

(* ALIGN-24: the coordinator triggers the task itself, because the tasks     *)
(* before it have finished. Each open channel counts in turn, and the gate   *)
(* blocks none. The checkpoint completes at the last awaited channel. When   *)
(* the blocked channels after that one are counted, the checkpoint has       *)
(* already ended.                                                            *)
BehindAwaited(g) == {c \in g.blocked : \A other \in Awaited(g) : other < c}

OnInject(g, n) ==
    IF OpenChannels(g) = {} THEN [gate |-> g, out |-> <<>>]
    ELSE IF n < g.current \/ (n = g.current /\ ~g.pending)
    THEN [gate |-> g, out |-> Resumes(OpenChannels(g))]
    ELSE LET newer == n > g.current
             begun == IF newer THEN Begin(g, n) ELSE g
             first == IF newer /\ g.pending THEN Subsumption(g) ELSE <<>>
             late  == IF newer THEN {} ELSE BehindAwaited(g)
         IN  [gate |-> Idle(begun), out |-> first \o Completion(begun) \o Resumes(late)]
==============================================================================
