--------------------------- MODULE UnalignedModel ----------------------------
(***************************************************************************)
(* One gate of mode unaligned or alternating in its environment: channels  *)
(* that deliver barriers, announcements and cancellations with ids that    *)
(* never fall, and that end; a coordinator that triggers the task; time.   *)
(* The Python reference model describes the same closed model; both graphs *)
(* are compared state for state and edge for edge.                         *)
(***************************************************************************)
EXTENDS Unaligned

CONSTANTS
    M,              \* checkpoint ids are 1 .. M
    Until,          \* time passes up to here, one unit at a time
    Rare,           \* channels also deliver barriers that may not overtake
    Announced,      \* barriers may be announced, and the task may be triggered
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

TypeOK == gate \in GateType /\ last \in [Channels -> 0 .. M]

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

(* Nothing stays blocked: without a next step, all input has been read. *)
StuckOnlyAtTheEnd == gate.failed \/ gate.closed = Channels \/ ENABLED Next

------------------------------------------------------------------------------
(* Terms of the rules. The event is on EventChannel with EventId and         *)
(* EventOptions; Effects are its effects.                                    *)

EventIs(kind) == out'[1][1] = kind
EventChannel == out'[1][2]
EventId == out'[1][3]
EventOptions == [alignment |-> out'[1][4], savepoint |-> out'[1][5], timestamp |-> out'[1][6]]
Effects == Tail(out')
EffectsOf(kind) == SelectSeq(Effects, LAMBDA e : e[1] = kind)
Silent == Effects = <<>> /\ gate' = gate
Over(n) == n < gate.current \/ (n = gate.current /\ ~gate.pending)
Newer == EventId > gate.current
Halts == EventOptions.alignment # "unaligned"
EndOf(g, n) ==
    (IF g.begun /\ g.overtaking THEN <<<<"stop_persisting", n>>>> ELSE <<>>) \o Resumes(g.blocked)
Cut ==
    IF gate.pending THEN Append(EndOf(gate, gate.current), <<"abort", gate.current, "SUBSUMED">>) ELSE <<>>
FromNowOn(n) == <<<<"start_persisting", n>>, <<"trigger", n, TRUE>>>>

(* A barrier or announcement that is not late, with the state of its own     *)
(* checkpoint.                                                               *)
Reads == EventIs("barrier") /\ ~Over(EventId)
Announces == EventIs("announce") /\ ~Over(EventId)
Overtakes == IF Newer THEN ~Alternating ELSE gate.overtaking
Begun == ~Newer /\ gate.begun
HadArrived == IF Newer THEN {} ELSE gate.arrived
HadBlocked == IF Newer THEN {} ELSE gate.blocked
HadAnnounced == (IF Newer THEN {} ELSE gate.announced) \ IF Reads /\ Halts THEN {EventChannel} ELSE {}
Last == Channels \ gate.closed \subseteq HadArrived \cup {EventChannel}
Before == IF Newer THEN Cut ELSE <<>>
Mine == SubSeq(Effects, Len(Before) + 1, Len(Effects))        \* without the end of an older checkpoint
Blocks == IF Halts THEN <<<<"block", EventChannel>>>> ELSE <<>>
WillHold == HadBlocked \cup IF Halts THEN {EventChannel} ELSE {}
Ends == <<<<"stop_persisting", EventId>>>> \o Resumes(WillHold)
NothingLeft(g) ==
    ~g.pending /\ ~g.begun /\ g.arrived \cup g.blocked \cup g.announced = {} /\ g.timer = -1
        /\ g.overtaking = ~Alternating
Ok == ~gate'.failed

UNAL_01 == [][(Reads /\ Overtakes /\ ~Begun /\ Ok) =>
    /\ IsPrefixOf(Blocks \o FromNowOn(EventId), Mine)
    /\ Len(EffectsOf("trigger")) = 1 /\ gate'.current = EventId]_vars

UNAL_02 == [][(Reads /\ Overtakes /\ Begun) =>
    /\ EffectsOf("trigger") = <<>> /\ EffectsOf("abort") = <<>>
    /\ ~Last => Effects = Blocks /\ gate'.pending /\ gate'.arrived = HadArrived \cup {EventChannel}]_vars

UNAL_03 == [][(Reads /\ Overtakes /\ Ok) =>
    IF Last
    THEN /\ Len(EffectsOf("stop_persisting")) = 1 + Len(SelectSeq(Before, LAMBDA e : e[1] = "stop_persisting"))
         /\ SubSeq(Mine, Len(Mine) - Len(Ends) + 1, Len(Mine)) = Ends
         /\ NothingLeft(gate')
    ELSE gate'.pending /\ \A i \in DOMAIN Mine : Mine[i][1] # "stop_persisting"]_vars

UNAL_04 == [][(EventIs("barrier") \/ EventIs("announce")) =>
    IF Newer /\ gate.pending
    THEN /\ IsPrefixOf(Append(EndOf(gate, gate.current), <<"abort", gate.current, "SUBSUMED">>), Effects)
         /\ Len(EffectsOf("abort")) = 1 /\ gate'.current = EventId
    ELSE EffectsOf("abort") = <<>>]_vars

UNAL_05 ==
    [][/\ EventIs("barrier") /\ Over(EventId) =>
            gate' = gate /\ Effects = IF Halts THEN <<<<"resume", EventChannel>>>> ELSE <<>>
       /\ EventIs("announce") /\ Over(EventId) => Silent]_vars

Counted == EventId > gate.current \/ (EventId = gate.current /\ gate.arrived # {})

UNAL_06 == [][(EventIs("cancel") /\ Counted) =>
    /\ Effects = Append(EndOf(gate, EventId), <<"abort", EventId, "ON_CANCELLATION_BARRIER">>)
    /\ gate'.current = EventId /\ NothingLeft(gate')]_vars

UNAL_07 == [][(EventIs("cancel") /\ ~Counted) => Silent]_vars

UNAL_08 == [][(EventIs("end_of_partition") /\ gate.pending /\ ~AfterFinish) =>
    /\ Effects = Append(EndOf(gate, gate.current), <<"abort", gate.current, "INPUT_END_OF_STREAM">>)
    /\ NothingLeft(gate') /\ gate'.closed = gate.closed \cup {EventChannel}]_vars

EndIsLast == Channels \ (gate.closed \cup {EventChannel}) \subseteq gate.arrived

UNAL_09 ==
    [][/\ EventIs("end_of_partition") /\ ~gate.pending =>
            Effects = <<>> /\ gate' = [gate EXCEPT !.closed = @ \cup {EventChannel}]
       /\ EventIs("end_of_partition") /\ gate.pending /\ AfterFinish /\ Ok =>
            IF EndIsLast
            THEN /\ NothingLeft(gate')
                 /\ Effects = IF ~gate.begun THEN <<>>
                           ELSE <<IF gate.overtaking THEN <<"stop_persisting", gate.current>>
                                                     ELSE <<"trigger", gate.current>>>>
                                    \o Resumes(gate.blocked \ {EventChannel})
            ELSE /\ gate'.pending /\ gate'.arrived = gate.arrived \cup {EventChannel} /\ EffectsOf("abort") = <<>>]_vars

UNAL_10 == [][
    IF Reads
    THEN /\ EffectsOf("block") = Blocks /\ IsPrefixOf(Blocks, Mine)
         /\ gate'.pending => gate'.blocked = WillHold
    ELSE EffectsOf("block") = <<>>]_vars

Aligning == Reads /\ ~Overtakes /\ Halts

UNAL_11 == [][Aligning =>
    IF Last
    THEN Mine = Blocks \o <<<<"trigger", EventId>>>> \o Resumes(WillHold) /\ NothingLeft(gate')
    ELSE \A i \in DOMAIN Effects : Effects[i] # <<"trigger", EventId>>]_vars

Hurried == EachOf("prioritise", HadAnnounced) \o FromNowOn(EventId)

UNAL_12 == [][(Reads /\ ~Overtakes /\ ~Halts) =>
    /\ Mine = Hurried \o IF Last THEN Ends ELSE <<>>
    /\ ~Last => gate'.begun /\ gate'.overtaking /\ gate'.announced = {}]_vars

UNAL_13 == [][Announces =>
    /\ gate'.pending /\ gate'.current = EventId
    /\ gate'.arrived = HadArrived /\ gate'.blocked = HadBlocked /\ gate'.begun = Begun
    /\ ~Overtakes => Mine = <<>> /\ gate'.announced = HadAnnounced \cup {EventChannel}]_vars

UNAL_14 == [][(Announces /\ Overtakes) => Mine = <<<<"prioritise", EventChannel>>>>]_vars

Sets == (Reads \/ Announces) /\ Newer /\ gate'.pending /\ Ok

UNAL_15 ==
    [][/\ Sets => gate'.timer = IF Alternating /\ EventOptions.alignment = "timeout" /\ Timeout > 0
                                THEN IF EventOptions.timestamp + Timeout >= gate.now
                                     THEN EventOptions.timestamp + Timeout ELSE gate.now
                                ELSE -1
       /\ gate'.pending /\ Ok /\ ~Sets /\ ~EventIs("advance") /\ ~EventIs("inject") =>
            gate'.timer = gate.timer]_vars

Later == gate.now + out'[1][2]
Fires == EventIs("advance") /\ gate.timer # -1 /\ gate.timer <= Later

UNAL_16 == [][(Fires /\ ~gate.begun /\ ~gate.overtaking) =>
    /\ Effects = EachOf("prioritise", gate.announced)
    /\ gate' = [gate EXCEPT !.now = Later, !.timer = -1, !.announced = {}, !.overtaking = TRUE]]_vars

UNAL_17 ==
    [][/\ EventIs("advance") /\ ~Fires => Effects = <<>> /\ gate' = [gate EXCEPT !.now = Later]
       /\ Fires /\ gate.overtaking => Effects = <<>> /\ gate' = [gate EXCEPT !.now = Later, !.timer = -1]
       /\ Fires /\ gate.begun /\ ~gate.overtaking /\ Ok =>
            /\ Effects = EachOf("prioritise", gate.announced) \o FromNowOn(gate.current)
            /\ gate' = [gate EXCEPT !.now = Later, !.timer = -1, !.announced = {}, !.overtaking = TRUE]]_vars

Overdue(o) == o.alignment = "timeout" /\ Timeout > 0 /\ gate.now - o.timestamp > Timeout

UNAL_18 == [][(Aligning /\ ~Last /\ Ok) =>
    /\ Mine = Blocks \o IF Overdue(EventOptions) THEN Hurried ELSE <<>>
    /\ gate'.begun /\ gate'.overtaking = Overdue(EventOptions)]_vars

UNAL_19 ==
    [][(EventIs("end_of_partition") /\ gate.pending /\ AfterFinish /\ ~gate.overtaking /\ ~EndIsLast /\ Ok) =>
        LET late == gate.begun /\ Overdue(gate.first)
        IN  /\ Effects = IF late THEN EachOf("prioritise", gate.announced \ {EventChannel}) \o FromNowOn(gate.current)
                              ELSE <<>>
            /\ gate'.overtaking = late]_vars

UNAL_20 == gate.timer # -1 /\ ~gate.failed =>
    gate.pending /\ Alternating /\ Timeout > 0 /\ gate.first.alignment = "timeout"

Fits(o) == o.alignment # "forced-aligned" /\ ~o.savepoint
MustRefuse ==
    \/ Reads /\ ~Fits(EventOptions) /\ IF Overtakes THEN ~Begun ELSE ~Last /\ Overdue(EventOptions)
    \/ Fires /\ gate.begun /\ ~gate.overtaking /\ ~Fits(gate.first)
    \/ /\ EventIs("end_of_partition") /\ AfterFinish /\ gate.begun /\ ~gate.overtaking
       /\ \/ gate.first.alignment = "unaligned"
          \/ ~EndIsLast /\ Overdue(gate.first) /\ ~Fits(gate.first)

UNAL_21 == [][
    /\ gate'.failed = (EffectsOf("fail") # <<>>)
    /\ gate'.failed => Effects[Len(Effects)][1] = "fail"
    /\ ~EventIs("inject") => gate'.failed = MustRefuse]_vars

UNAL_22 == [][(EventIs("inject") /\ Ok) =>
    LET n == out'[1][2]
        unaligned == out'[1][3] = "unaligned"
        open == Channels \ gate.closed
        running == n = gate.current /\ gate.begun /\ gate.overtaking
    IN  /\ EffectsOf("block") = <<>>
        /\ IF Over(n) THEN gate' = gate /\ Effects = IF unaligned THEN <<>> ELSE Resumes(open)
           ELSE IF open = {} THEN Silent
           ELSE NothingLeft(gate') /\ Len(EffectsOf("trigger")) = IF running THEN 0 ELSE 1]_vars

UNAL_23 == [][EventIs("record") =>
    LET wanted == gate.begun /\ gate.overtaking /\ EventChannel \notin gate.arrived
    IN  gate' = gate /\ Effects = <<<<IF wanted THEN "persist" ELSE "process", EventChannel, EventId>>>>]_vars

UNAL_24 == [][(Polled /\ out'[1][1] \notin {"inject", "advance"}) => EventChannel \notin gate.blocked]_vars

Finished(g) == {n \in Ids : n < g.current \/ (n = g.current /\ ~g.pending)}

UNAL_25 == [][
    LET aborts == EffectsOf("abort")
    IN  /\ \A i \in DOMAIN aborts : aborts[i][2] \in Finished(gate') \ Finished(gate)
        /\ Finished(gate) \subseteq Finished(gate')
        /\ Len(EffectsOf("trigger")) <= 1
        /\ \A i \in DOMAIN Effects : Effects[i][1] = "trigger" =>
              Effects[i][2] = gate'.current /\ Effects[i][2] \notin Finished(gate)]_vars

UNAL_26 == ~gate.failed =>
    /\ gate.blocked \subseteq gate.arrived
    /\ gate.closed \cap (gate.blocked \cup gate.announced) = {}
    /\ gate.overtaking => gate.announced = {}
    /\ ~AfterFinish => gate.arrived \cap gate.closed = {}
    /\ gate.begun => gate.arrived # {}
    /\ ~gate.begun => gate.arrived \subseteq gate.closed
    /\ IF gate.pending THEN gate.arrived \cup gate.closed # Channels
       ELSE NothingLeft(gate) /\ gate.first = NoOptions

------------------------------------------------------------------------------
(* Replacements: each replaces the operator in its comment in a model that   *)
(* must fail.                                                                *)

TriggersFirst(n) == <<<<"trigger", n, TRUE>>, <<"start_persisting", n>>>>        \* Started
NeverStops(o) == FALSE                                                           \* Stops
LateKept(g, c, o) == Step(g, <<>>)                                               \* Late
OldNameStops(g, n) ==                                                            \* LetGo
    (IF g.begun /\ g.overtaking THEN <<<<"stop_persisting", g.current>>>> ELSE <<>>) \o Resumes(g.blocked)
CancelsAnnounced(g, n) == n > g.current \/ (n = g.current /\ g.pending)          \* Cancels
NeverLate(g, o) == FALSE                                                         \* TookTooLong
DueFromNow(g, o) == g.now + Timeout                                              \* Due
EverythingOvertakes(o) == TRUE                                                   \* MayOvertake
StopsInSilence(g, effects) == Step(Idle(g), effects \o Resumes(g.blocked))             \* Stop
AbortsNothing(g) == <<>>                                                         \* Overtaken
ReleasesFirst(g, effects) ==                                                        \* Complete
    Step(Idle(g), effects \o Resumes(g.blocked) \o <<<<"trigger", g.current>>>>)
PersistsNothing(g) == {}                                                         \* Persisting
ReadsEverything(c) == TRUE                                                       \* Readable
==============================================================================
