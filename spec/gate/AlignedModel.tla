---------------------------- MODULE AlignedModel -----------------------------
(***************************************************************************)
(* One input gate in its environment. The channels deliver barriers and    *)
(* cancellations. The ids of each channel never fall, and a channel can    *)
(* end. The Python reference model describes the same closed model. The    *)
(* triangle compares both graphs state for state and edge for edge.        *)
(*                                                                         *)
(* This module states rules ALIGN-01 to ALIGN-16, ALIGN-18 to ALIGN-21,    *)
(* ALIGN-24, ALIGN-25 and SUB-01. ALIGN-08 and ALIGN-19 are predicates of  *)
(* one state. The others are about one step: `gate` before and after, and  *)
(* the event and its effects in out'. ALIGN-17 is about records:           *)
(* DataflowModel.tla and BufferingModel.tla state it.                      *)
(***************************************************************************)
EXTENDS AlignedGenerations

CONSTANTS
    M,              \* checkpoint ids are 1 .. M
    Polled          \* TRUE: a blocked channel delivers nothing; FALSE: the gate takes every item at once

VARIABLES
    gate,           \* the gate, see GateType
    last,           \* by channel: the highest id it delivered, 0 at first
    out             \* the last event, then its effects

vars == <<gate, last, out>>
Ids == 1 .. M

Reasons == {"SUBSUMED", "ON_CANCELLATION_BARRIER", "INPUT_END_OF_STREAM"}

EventType ==
    ({"barrier", "cancel"} \X Channels \X Ids) \cup ({"end_of_partition"} \X Channels)
    \cup ({"inject"} \X Ids)
EffectType ==
    ({"block", "resume"} \X Channels) \cup ({"trigger"} \X Ids) \cup ({"abort"} \X Ids \X Reasons)
    \cup {<<"fail", "repeated barrier">>}

TypeOK ==
    /\ gate \in GateType
    /\ last \in [0 .. N - 1 -> 0 .. M]
    /\ out = <<>> \/ (Head(out) \in EventType /\ Tail(out) \in Seq(EffectType))

Init ==
    /\ gate = NewGate(Channels)
    /\ last = [c \in Channels |-> 0]
    /\ out = <<>>

------------------------------------------------------------------------------
(* System: the gate takes the event. *)

Take(event, step) == gate' = step.gate /\ out' = <<event>> \o step.out

(* Environment: what a channel can deliver. *)

Delivers(c) == ~gate.failed /\ c \notin gate.closed /\ (Polled => c \notin gate.blocked)

Barrier(c, n) ==
    /\ Delivers(c) /\ n >= last[c]
    /\ last' = [last EXCEPT ![c] = n]
    /\ Take(<<"barrier", c, n>>, OnBarrier(gate, c, n))

Cancel(c, n) ==
    /\ Delivers(c) /\ n >= last[c]
    /\ last' = [last EXCEPT ![c] = n]
    /\ Take(<<"cancel", c, n>>, OnCancel(gate, n))

EndOfPartition(c) ==
    /\ Delivers(c)
    /\ last' = last
    /\ Take(<<"end_of_partition", c>>, OnEndOfPartition(gate, c))

(* In models with Injects <- Yes, the task itself can be triggered at any    *)
(* time, with any id.                                                        *)
Injects == FALSE
Yes == TRUE

Inject(n) ==
    /\ Injects
    /\ last' = last
    /\ Take(<<"inject", n>>, OnInject(gate, n))

Next ==
    \/ \E n \in Ids : Inject(n)
    \/ \E c \in Channels :
        \/ \E n \in Ids : Barrier(c, n) \/ Cancel(c, n)
        \/ EndOfPartition(c)

Spec == Init /\ [][Next]_vars

(* Without a next step, all channels have ended, or the gate has failed. *)
StuckOnlyAtTheEnd == gate.failed \/ OpenChannels(gate) = {} \/ ENABLED Next

------------------------------------------------------------------------------
(* Terms of the rules. The event is on EventChannel with EventId; Effects    *)
(* are its effects.                                                          *)

EventIs(kind) == out'[1][1] = kind
EventChannel == out'[1][2]
EventId == out'[1][3]
Effects == Tail(out')
Silent == Effects = <<>> /\ gate' = gate
EffectsOf(kind) == SelectSeq(Effects, LAMBDA e : e[1] = kind)
OpenNow == Channels \ gate.closed
ResumeEach(channels) == LET order == InOrder(channels) IN [i \in DOMAIN order |-> <<"resume", order[i]>>]
Obsolete(n) == n < gate.current \/ (n = gate.current /\ ~gate.pending)

Repeats == EventIs("barrier") /\ gate.pending /\ EventId = gate.current /\ EventChannel \in gate.blocked

(* The effects of an alignment that ends without a snapshot. *)
GivesUp(abort) ==
    IF Has("releases_first") THEN Append(ResumeEach(gate.blocked), abort) ELSE <<abort>> \o ResumeEach(gate.blocked)

(* The channels that have delivered the barrier of this checkpoint. *)
Delivered == {EventChannel} \cup IF EventId = gate.current THEN gate.blocked ELSE {}

(* Every id that can no longer be triggered or aborted. *)
Ended(g) == {n \in Ids : n < g.current \/ (n = g.current /\ ~g.pending)}

(* Up to 1.11 a single channel is never blocked. *)
Alone == Has("passes_alone") /\ N = 1

ALIGN_01 == [][(EventIs("barrier") /\ ~gate.pending /\ EventId > gate.current /\ ~Alone) =>
    /\ gate'.current = EventId
    /\ Head(Effects) = <<"block", EventChannel>>
    /\ OpenNow # {EventChannel} => gate'.pending /\ gate'.blocked = {EventChannel}]_vars

ALIGN_02 == [][(EventIs("barrier") /\ gate.pending /\ EventId = gate.current /\ ~(OpenNow \subseteq Delivered)
                /\ ~Repeats /\ gate.repeats = 0) =>
    /\ gate' = [gate EXCEPT !.blocked = Delivered]
    /\ Effects = <<<<"block", EventChannel>>>>]_vars

ALIGN_03 == [][(EventIs("barrier") /\ gate.pending /\ EventId > gate.current) =>
    /\ IsPrefixOf(Append(GivesUp(<<"abort", gate.current, "SUBSUMED">>), <<"block", EventChannel>>), Effects)
    /\ Len(EffectsOf("abort")) = 1
    /\ gate'.current = EventId
    /\ OpenNow # {EventChannel} => gate'.pending /\ gate'.blocked = {EventChannel}]_vars

ALIGN_04 == [][(EventIs("barrier") /\ Obsolete(EventId)) =>
    gate' = gate /\ Effects = IF Has("resumes_late") THEN <<<<"resume", EventChannel>>>> ELSE <<>>]_vars

Completes ==
    \/ EventIs("barrier") /\ ~Obsolete(EventId) /\ OpenNow \subseteq Delivered
    \/ EventIs("end_of_partition") /\ AfterFinish /\ gate.pending /\ OpenNow \ {EventChannel} \subseteq gate.blocked

ALIGN_05 == [][(~Repeats /\ gate.repeats = 0 /\ ~EventIs("inject")) => EffectsOf("trigger") = IF Completes THEN <<<<"trigger", gate'.current>>>> ELSE <<>>]_vars

ALIGN_06 == [][(EffectsOf("trigger") # <<>> /\ ~Alone /\ ~EventIs("inject")) =>
    LET at == CHOOSE i \in DOMAIN Effects : Effects[i][1] = "trigger"
        released == IF EventIs("barrier") THEN Delivered ELSE gate.blocked \ {EventChannel}
        held == ResumeEach(released)
    IN  /\ IF Has("triggers_first")
           THEN SubSeq(Effects, at + 1, Len(Effects)) = held /\ \A i \in 1 .. at : Effects[i][1] # "resume"
           ELSE at = Len(Effects) /\ SubSeq(Effects, at - Len(held), at - 1) = held
        /\ gate'.blocked = {}]_vars

ALIGN_07 == [][(EventIs("barrier") /\ OpenNow = {EventChannel} /\ EventId > gate.current) =>
    /\ EffectsOf("trigger") = <<<<"trigger", EventId>>>>
    /\ Alone => EffectsOf("block") = <<>> /\ gate'.blocked = {}
                /\ EffectsOf("resume") = IF Has("resumes_late") THEN <<<<"resume", EventChannel>>>> ELSE <<>>]_vars

(* Two barriers whose ids are both above the current id, or both below it,   *)
(* have the same effects except for the id.                                  *)
Unnumbered(step, n) ==
    [gate |-> [step.gate EXCEPT !.current = IF @ = n THEN -2 ELSE @],
     out  |-> [i \in DOMAIN step.out |->
                 IF step.out[i] = <<"trigger", n>> THEN <<"trigger">> ELSE step.out[i]]]

ALIGN_08 == \A c \in OpenNow : \A m, n \in Ids \ {gate.current} :
    (m > gate.current) = (n > gate.current) =>
        Unnumbered(OnBarrier(gate, c, m), m) = Unnumbered(OnBarrier(gate, c, n), n)

Cancellation == <<"abort", EventId, "ON_CANCELLATION_BARRIER">>
NothingPending(g) == [g EXCEPT !.pending = FALSE, !.blocked = {}, !.repeats = 0]

CancelsAlignment ==
    /\ Effects = Append(ResumeEach(gate.blocked), Cancellation)
    /\ gate' = NothingPending([gate EXCEPT !.current = EventId])

ALIGN_09 == [][(EventIs("cancel") /\ gate.pending /\ EventId = gate.current) => CancelsAlignment]_vars

ALIGN_10 == [][(EventIs("cancel") /\ ~gate.pending /\ EventId > gate.current) => CancelsAlignment]_vars

ALIGN_11 == [][(EventIs("cancel") /\ gate.pending /\ EventId > gate.current) =>
    IF Has("cancels_twice")
    THEN Effects = ResumeEach(gate.blocked) \o <<<<"abort", EventId, "SUBSUMED">>, Cancellation>>
         /\ gate' = NothingPending([gate EXCEPT !.current = EventId])
    ELSE CancelsAlignment]_vars

ALIGN_12 == [][(EventIs("cancel") /\ Obsolete(EventId)) => Silent]_vars

ALIGN_13 == [][(EventIs("end_of_partition") /\ ~gate.pending) =>
    Effects = <<>> /\ gate' = [gate EXCEPT !.closed = @ \cup {EventChannel}]]_vars

ALIGN_14 == [][(EventIs("end_of_partition") /\ gate.pending /\ ~AfterFinish) =>
    /\ Effects = GivesUp(<<"abort", gate.current, "INPUT_END_OF_STREAM">>)
    /\ gate' = NothingPending([gate EXCEPT !.closed = @ \cup {EventChannel}])]_vars

ALIGN_15 == [][(EventIs("end_of_partition") /\ gate.pending /\ AfterFinish) =>
    /\ gate'.current = gate.current
    /\ gate'.closed = gate.closed \cup {EventChannel}
    /\ gate'.pending = (OpenNow \ gate.blocked # {EventChannel})
    /\ gate'.blocked = IF gate'.pending THEN gate.blocked \ {EventChannel} ELSE {}
    /\ EffectsOf("abort") = <<>>]_vars

ALIGN_16 == [][(Repeats /\ ~Has("repeats_fail") /\ ~Has("repeats_count")) =>
    gate' = gate /\ Effects = <<<<"block", EventChannel>>>>]_vars

ALIGN_18 == [][
    LET ends == SelectSeq(Effects, LAMBDA e : e[1] \in {"trigger", "abort"})
    IN  /\ \A i \in DOMAIN ends : ends[i][2] \in Ended(gate') \ Ended(gate)
        /\ \A i, j \in DOMAIN ends :
             i < j => ends[i][2] < ends[j][2] \/ (Has("cancels_twice") /\ EventIs("cancel"))
        /\ Ended(gate) \subseteq Ended(gate')]_vars

(* Without Polled, the only blocked channel can end. Then the alignment      *)
(* continues although no channel is blocked.                                 *)
ALIGN_19 ==
    /\ gate.pending => Cardinality(OpenNow \ gate.blocked) > gate.repeats /\ (Polled => gate.blocked # {})
    /\ ~gate.pending => gate.blocked = {}
    /\ gate.blocked \cap gate.closed = {}

(* The gate's part of the rule. CoordinatorModel has the coordinator's part. *)
SUB_01 == [][\A n \in Ids :
    LET ended == SelectSeq(Effects, LAMBDA e : e = <<"abort", n, "SUBSUMED">>)
    IN  ended # <<>> => \/ Len(ended) = 1 /\ gate.pending /\ gate.current = n /\ gate'.current > n
                        \/ (Has("cancels_twice") /\ EventIs("cancel"))]_vars

(* An injection has its id in the position of the channel of other events. *)
Injected(id) ==
    LET held == IF id = gate.current THEN gate.blocked ELSE {}
        late == {c \in held : \A other \in Channels : other > c => other \notin (OpenNow \ gate.blocked)}
        over == IF gate.pending /\ id > gate.current
                THEN GivesUp(<<"abort", gate.current, "SUBSUMED">>) ELSE <<>>
    IN  IF OpenNow = {} THEN [gate |-> gate, out |-> <<>>]
        ELSE IF Obsolete(id) THEN [gate |-> gate, out |-> ResumeEach(OpenNow)]
        ELSE [gate |-> NothingPending([gate EXCEPT !.current = id]),
              out  |-> over \o <<<<"trigger", id>>>> \o ResumeEach(held) \o ResumeEach(late)]

ALIGN_24 == [][EventIs("inject") => [gate |-> gate', out |-> Effects] = Injected(EventChannel)]_vars

(* ALIGN-24 over states, for the models in which nothing is injected. *)
ALIGN_24_Anywhere ==
    Has("triggers_first") /\ Has("releases_first") /\ ~Has("repeats_count") =>
        \A id \in Ids : OnInject(gate, id) = Injected(id)

(* Up to 1.12 a repeated barrier fails the task, and nothing else does. *)
ALIGN_20 ==
    [][IF Repeats /\ Has("repeats_fail")
       THEN Effects = <<<<"fail", "repeated barrier">>>> /\ gate' = [gate EXCEPT !.failed = TRUE]
       ELSE EffectsOf("fail") = <<>> /\ gate'.failed = gate.failed]_vars

(* In 1.13 the gate counts barriers. A repeated barrier counts for a channel *)
(* that has delivered none, and the gate triggers too early.                 *)
Counted == IF EventIs("barrier") /\ gate.pending /\ EventId = gate.current
           THEN gate.repeats + (IF EventChannel \in gate.blocked THEN 1 ELSE 0) ELSE 0

ALIGN_21 ==
    [][IF Has("repeats_count") /\ Counted > 0
       THEN IF Cardinality(OpenNow \ Delivered) > Counted
            THEN EffectsOf("trigger") = <<>> /\ gate'.repeats = Counted
            ELSE EffectsOf("trigger") = <<<<"trigger", EventId>>>> /\ gate'.repeats = 0
       ELSE gate'.repeats \in {0, gate.repeats}]_vars

(* A task that polls takes its snapshot after it has read each channel       *)
(* exactly to the barrier, or to the end. last' is the id that each channel  *)
(* delivered last. A cancellation may have delivered it, but then this id is *)
(* not triggered (ALIGN-18).                                                 *)
ALIGN_25 == [][(Polled /\ ~EventIs("inject")) =>
    /\ \A i \in DOMAIN EffectsOf("trigger") : \A c \in OpenChannels(gate') : last'[c] = EffectsOf("trigger")[i][2]
    /\ \A c \in gate'.blocked : last'[c] = gate'.current]_vars

------------------------------------------------------------------------------
(* All effects in order, and all changes of the state.                       *)

Counts == EventIs("barrier") /\ ~Obsolete(EventId)
Refuses == Repeats /\ Has("repeats_fail")
HasNewerId == EventId > gate.current
Last ==
    IF EventIs("barrier") THEN Cardinality(OpenNow \ Delivered) <= (IF Has("repeats_count") THEN Counted ELSE 0)
    ELSE Cardinality(OpenNow \ (gate.blocked \cup {EventChannel})) <= gate.repeats
CancelsIt == EventIs("cancel") /\ ~Obsolete(EventId)
EndsPending == EventIs("end_of_partition") /\ gate.pending

CompletedBy(n, channels) ==
    IF Has("triggers_first") THEN <<<<"trigger", n>>>> \o ResumeEach(channels)
    ELSE Append(ResumeEach(channels), <<"trigger", n>>)

OfBarrier ==
    IF Alone THEN (IF Has("resumes_late") THEN <<<<"resume", EventChannel>>>> ELSE <<>>) \o <<<<"trigger", EventId>>>>
    ELSE (IF gate.pending /\ HasNewerId THEN GivesUp(<<"abort", gate.current, "SUBSUMED">>) ELSE <<>>)
         \o <<<<"block", EventChannel>>>> \o IF Last THEN CompletedBy(EventId, Delivered) ELSE <<>>

AllEffects == [][Effects =
    CASE Refuses -> <<<<"fail", "repeated barrier">>>>
      [] Counts /\ ~Refuses -> OfBarrier
      [] EventIs("barrier") /\ ~Counts -> IF Has("resumes_late") THEN <<<<"resume", EventChannel>>>> ELSE <<>>
      [] CancelsIt ->
            ResumeEach(gate.blocked)
                \o (IF Has("cancels_twice") /\ gate.pending /\ HasNewerId THEN <<<<"abort", EventId, "SUBSUMED">>>>
                    ELSE <<>>) \o <<Cancellation>>
      [] EndsPending ->
            IF ~AfterFinish THEN GivesUp(<<"abort", gate.current, "INPUT_END_OF_STREAM">>)
            ELSE IF Last THEN CompletedBy(gate.current, gate.blocked \ {EventChannel}) ELSE <<>>
      [] EventIs("inject") -> Injected(EventChannel).out
      [] OTHER -> <<>>]_vars

AfterEnd ==
    LET ended == [gate EXCEPT !.closed = @ \cup {EventChannel}]
    IN  IF gate.pending /\ (~AfterFinish \/ Last) THEN NothingPending(ended)
        ELSE [ended EXCEPT !.blocked = @ \ {EventChannel}]

Frame == [][
    /\ out = <<>> => gate = [current |-> -1, pending |-> FALSE, blocked |-> {}, closed |-> {}, repeats |-> 0,
                            failed |-> FALSE]
    /\ gate' =
        CASE Refuses -> [gate EXCEPT !.failed = TRUE]
          [] Counts /\ ~Refuses ->
                IF Alone \/ Last THEN NothingPending([gate EXCEPT !.current = EventId])
                ELSE [gate EXCEPT !.current = EventId, !.pending = TRUE, !.blocked = Delivered,
                                  !.repeats = IF Has("repeats_count") THEN Counted ELSE 0]
          [] CancelsIt -> NothingPending([gate EXCEPT !.current = EventId])
          [] EventIs("end_of_partition") -> AfterEnd
          [] EventIs("inject") -> Injected(EventChannel).gate
          [] OTHER -> gate]_vars

------------------------------------------------------------------------------
(* Replacements: each takes the place of the operator in its comment.        *)

NotOlder(n, current) == n >= current                            \* IsNewer
OnlyTheNext(n, current) == n > current /\ (current = -1 \/ n = current + 1)  \* IsNewer
AbortsNothing(g) == <<>>                                        \* AbortSubsumed
LateReleasesAll(g, c) == [gate |-> Idle(g), out |-> <<<<"resume", c>>>>]    \* Late
NeverCancels(g, n) == FALSE                                     \* Cancels
CancelsEverything(g, n) == TRUE                                 \* Cancels
OneIsEnough(g) == g.blocked # {}                                \* IsAligned
IgnoresInjections(g, n) == [gate |-> g, out |-> <<>>]           \* OnInject
RefusesNothing(g, c) == Arrive(g, c, <<>>)                      \* Repeated, up to 1.13
==============================================================================
