------------------------------ MODULE Unaligned ------------------------------
(***************************************************************************)
(* Unaligned checkpoints at one input gate: barriers overtake records.     *)
(*                                                                         *)
(* A gate that aligns waits for its slowest channel. A gate whose barriers *)
(* overtake triggers at the first barrier. It stores the records that the  *)
(* other channels deliver before their barriers as in-flight data of the   *)
(* snapshot. A gate in mode alternating aligns first, until a time-out or  *)
(* an unaligned barrier. The channel announces a timed barrier that is     *)
(* still behind records, and the gate can prioritise this barrier.         *)
(*                                                                         *)
(* The module has functions only. UnalignedModel.tla puts one gate into an *)
(* environment and states rules UNAL-01 to UNAL-26.                        *)
(*                                                                         *)
(* Source: Apache Flink 1.14 and later, SingleCheckpointBarrierHandler     *)
(* with the four Alternating... states, read in the bytecode and executed. *)
(***************************************************************************)
EXTENDS Integers, Sequences, FiniteSets, Order

CONSTANTS
    N,              \* number of input channels; they are 0 .. N-1
    AfterFinish,    \* checkpoints continue after tasks have finished (FLIP-147)
    Alternating,    \* the gate aligns as long as barriers and time allow
    Timeout         \* maximum duration of a timed alignment; 0: no limit

ASSUME N \in Nat \ {0} /\ AfterFinish \in BOOLEAN /\ Alternating \in BOOLEAN /\ Timeout \in Nat

Channels == 0 .. N - 1

OptionsType ==
    [alignment : {"aligned", "unaligned", "forced-aligned", "timeout"},
     savepoint : BOOLEAN,
     timestamp : Nat]               \* when the checkpoint was triggered

NoOptions == [alignment |-> "aligned", savepoint |-> FALSE, timestamp |-> 0]

GateType ==
    [current    : Nat \cup {-1},    \* highest id begun or cancelled here; -1 before the first
     pending    : BOOLEAN,          \* `current` has begun and has not ended
     begun      : BOOLEAN,          \* a barrier of `current` was read; else it is only announced
     overtaking : BOOLEAN,          \* barriers overtake; if idle: whether they always do
     arrived    : SUBSET Channels,  \* have delivered its barrier, or have ended since it began
     blocked    : SUBSET Channels,  \* have delivered an aligned barrier and wait for the end of the alignment
     announced  : SUBSET Channels,  \* hold its barrier, which can be prioritised
     closed     : SUBSET Channels,  \* have delivered their end of partition
     first      : OptionsType,      \* of the barrier or announcement that began the pending one
     now        : Nat,              \* virtual time
     timer      : Nat \cup {-1},    \* when the alignment times out; -1: no timer runs
     failed     : BOOLEAN]          \* an event was refused with an exception

NewGate ==
    [current |-> -1, pending |-> FALSE, begun |-> FALSE, overtaking |-> ~Alternating,
     arrived |-> {}, blocked |-> {}, announced |-> {}, closed |-> {},
     first |-> NoOptions, now |-> 0, timer |-> -1, failed |-> FALSE]

------------------------------------------------------------------------------
(* The conditions of a gate. Each is an operator, so that a model can        *)
(* replace it and show which rule breaks.                                    *)

IsNewer(n, current) == n > current

IsOver(g, n) == n < g.current \/ (n = g.current /\ ~g.pending)

EveryoneArrived(g) == g.arrived \cup g.closed = Channels

Persisting(g) == IF g.begun /\ g.overtaking THEN Channels \ (g.arrived \cup g.closed) ELSE {}

(* UNAL-10: the sender of an aligned barrier stops after it. *)
Stops(o) == o.alignment # "unaligned"

(* UNAL-21 *)
MayOvertake(o) == o.alignment # "forced-aligned" /\ ~o.savepoint

IsTimed(o) == o.alignment = "timeout" /\ Timeout > 0

(* UNAL-18, UNAL-19 *)
TookTooLong(g, o) == IsTimed(o) /\ g.now - o.timestamp > Timeout

(* UNAL-15 *)
Due(g, o) == IF o.timestamp + Timeout > g.now THEN o.timestamp + Timeout ELSE g.now

(* UNAL-06, UNAL-07: a checkpoint that is only announced is not cancelled. *)
Cancels(g, n) == n > g.current \/ (n = g.current /\ g.arrived # {})

------------------------------------------------------------------------------
(* Effects: sequences of tuples, in order. A step is a gate with its         *)
(* effects.                                                                  *)

EachOf(word, channels) ==
    LET order == InOrder(channels)
    IN [i \in 1 .. Len(order) |-> <<word, order[i]>>]

Resumes(channels) == EachOf("resume", channels)

Step(g, effects) == [gate |-> g, out |-> effects]

(* The first step's effects, then the second's. *)
After(effects, step) == Step(step.gate, effects \o step.out)

(* UNAL-01: the gate first persists, then triggers. *)
Started(n) == <<<<"start_persisting", n>>, <<"trigger", n, TRUE>>>>

Refused(g, effects) == Step([g EXCEPT !.failed = TRUE], Append(effects, <<"fail", "barrier cannot become unaligned">>))

(* UNAL-20, UNAL-26 *)
Idle(g) ==
    [g EXCEPT !.pending = FALSE, !.begun = FALSE, !.overtaking = ~Alternating,
              !.arrived = {}, !.blocked = {}, !.announced = {}, !.first = NoOptions, !.timer = -1]

(* The pending checkpoint ends before it is complete, because of n, which is *)
(* its own id or a newer one.                                                *)
StopAndResume(g, n) ==
    (IF g.begun /\ g.overtaking THEN <<<<"stop_persisting", n>>>> ELSE <<>>) \o Resumes(g.blocked)

------------------------------------------------------------------------------
(* Barriers overtake.                                                       *)

(* UNAL-03 *)
Stop(g, effects) == Step(Idle(g), effects \o <<<<"stop_persisting", g.current>>>> \o Resumes(g.blocked))

(* UNAL-01, UNAL-02: c has delivered its barrier. The first barrier          *)
(* triggers, the last one ends the checkpoint.                               *)
Collect(g, c, o, stops) ==
    LET held == IF stops THEN [g EXCEPT !.blocked = @ \cup {c}] ELSE g
        effects == IF stops THEN <<<<"block", c>>>> ELSE <<>>
        more == IF g.begun THEN effects ELSE effects \o Started(g.current)
        went == [held EXCEPT !.begun = TRUE]
    IN  IF ~g.begun /\ ~MayOvertake(o) THEN Refused(held, effects)
        ELSE IF EveryoneArrived(went) THEN Stop(went, more)
        ELSE Step(went, more)

(* UNAL-12, UNAL-16 to UNAL-19: the aligned phase ends. *)
GiveUp(g, o) ==
    LET effects == EachOf("prioritise", g.announced)
        went == [g EXCEPT !.announced = {}, !.overtaking = TRUE]
    IN  IF ~g.begun THEN Step(went, effects)
        ELSE IF ~MayOvertake(o) THEN Refused(went, effects)
        ELSE Step(went, effects \o Started(g.current))

(* The aligned phase ends because of a barrier on c, which is the first      *)
(* barrier to overtake, or a further one.                                    *)
Overtake(g, c, o) ==
    LET given == GiveUp(g, o)
    IN  After(given.out, Collect(given.gate, c, o, FALSE))

------------------------------------------------------------------------------
(* The gate aligns.                                                         *)

(* UNAL-11: the gate triggers, then resumes. *)
Complete(g, effects) == Step(Idle(g), effects \o <<<<"trigger", g.current>>>> \o Resumes(g.blocked))

(* UNAL-11 before UNAL-18: the last barrier is never late. *)
Align(g, c, o, stops) ==
    LET quiet == [g EXCEPT !.announced = @ \ {c}]
        held == IF stops THEN [quiet EXCEPT !.blocked = @ \cup {c}] ELSE quiet
        effects == IF stops THEN <<<<"block", c>>>> ELSE <<>>
    IN  IF EveryoneArrived(held) THEN Complete(held, effects)
        ELSE IF TookTooLong(held, o)
        THEN IF MayOvertake(o)
             THEN After(effects, Overtake(held, c, [o EXCEPT !.alignment = "unaligned"]))
             ELSE Refused(held, effects \o EachOf("prioritise", held.announced))
        ELSE Step([held EXCEPT !.begun = TRUE], effects)

------------------------------------------------------------------------------
(* The steps of a gate. *)

(* UNAL-04: the pending checkpoint ends, once. *)
Subsumption(g) == IF g.pending THEN Append(StopAndResume(g, g.current), <<"abort", g.current, "SUBSUMED">>) ELSE <<>>

(* UNAL-15 *)
Begin(g, n, o) ==
    [Idle(g) EXCEPT !.current = n, !.pending = TRUE, !.first = o,
                    !.timer = IF Alternating /\ IsTimed(o) THEN Due(g, o) ELSE -1]

BeginIfNewer(g, n, o) ==
    IF IsNewer(n, g.current) THEN Step(Begin(g, n, o), Subsumption(g)) ELSE Step(g, <<>>)

(* UNAL-05: a sender that stopped can continue. *)
Late(g, c, o) == Step(g, IF Stops(o) THEN <<<<"resume", c>>>> ELSE <<>>)

Read(g, c, n, o, stops) ==
    IF IsOver(g, n) THEN Late(g, c, o)
    ELSE LET begun == BeginIfNewer(g, n, o)
             here == [begun.gate EXCEPT !.arrived = @ \cup {c}]
         IN  After(begun.out,
                   IF here.overtaking THEN Collect(here, c, o, stops)
                   ELSE IF o.alignment = "unaligned" THEN Overtake(here, c, o)
                   ELSE Align(here, c, o, stops))

OnBarrier(g, c, n, o) == Read(g, c, n, o, Stops(o))

(* UNAL-22: the barrier counts on every open channel, and no sender stops. *)
RECURSIVE InjectFrom(_, _, _, _)
InjectFrom(c, g, n, o) ==
    IF c = N THEN Step(g, <<>>)
    ELSE LET here == IF c \in g.closed \/ g.failed THEN Step(g, <<>>) ELSE Read(g, c, n, o, FALSE)
         IN  After(here.out, InjectFrom(c + 1, here.gate, n, o))

OnInject(g, n, o) == InjectFrom(0, g, n, o)

(* UNAL-13, UNAL-14 *)
OnAnnounce(g, c, n, o) ==
    IF IsOver(g, n) THEN Step(g, <<>>)
    ELSE LET begun == BeginIfNewer(g, n, o)
         IN  IF begun.gate.overtaking
             THEN Step(begun.gate, Append(begun.out, <<"prioritise", c>>))
             ELSE Step([begun.gate EXCEPT !.announced = @ \cup {c}], begun.out)

(* UNAL-06: the effects name the cancelled id. *)
OnCancel(g, n) ==
    IF Cancels(g, n)
    THEN Step([Idle(g) EXCEPT !.current = n], Append(StopAndResume(g, n), <<"abort", n, "ON_CANCELLATION_BARRIER">>))
    ELSE Step(g, <<>>)

(* UNAL-09, UNAL-19: an ended channel counts as one that has delivered its   *)
(* barrier.                                                                  *)
Ended(g) ==
    IF g.begun /\ ~g.overtaking /\ g.first.alignment = "unaligned" THEN Refused(g, <<>>)
    ELSE IF EveryoneArrived(g)
    THEN IF ~g.begun THEN Step(Idle(g), <<>>)
         ELSE IF g.overtaking THEN Stop(g, <<>>) ELSE Complete(g, <<>>)
    ELSE IF g.begun /\ ~g.overtaking /\ TookTooLong(g, g.first) THEN GiveUp(g, g.first)
    ELSE Step(g, <<>>)

OnEndOfPartition(g, c) ==
    LET closed == [g EXCEPT !.closed = @ \cup {c}]
    IN  IF ~g.pending THEN Step(closed, <<>>)
        ELSE IF AfterFinish
        THEN Ended([closed EXCEPT !.arrived = @ \cup {c}, !.blocked = @ \ {c}, !.announced = @ \ {c}])
        ELSE Step(Idle(closed), Append(StopAndResume(g, g.current), <<"abort", g.current, "INPUT_END_OF_STREAM">>))

(* UNAL-16, UNAL-17: a timer fires only when time passes. *)
OnAdvance(g, ms) ==
    LET later == [g EXCEPT !.now = @ + ms]
        fired == [later EXCEPT !.timer = -1]
    IN  IF g.timer = -1 \/ g.timer > later.now THEN Step(later, <<>>)
        ELSE IF g.overtaking THEN Step(fired, <<>>)
        ELSE GiveUp(fired, g.first)

(* UNAL-23: a record of a channel whose barrier the running snapshot awaits. *)
OnRecord(g, c, v) == Step(g, <<<<IF c \in Persisting(g) THEN "persist" ELSE "process", c, v>>>>)
==============================================================================
