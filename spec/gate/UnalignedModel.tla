---------------------------- MODULE UnalignedModel -----------------------------
(***************************************************************************)
(* The rules of one gate of mode unaligned or alternating, stated over one *)
(* step: `gate` before and after, the event and the effects in out'.       *)
(* UNAL-20 and UNAL-26 are stated over states.                             *)
(***************************************************************************)
EXTENDS UnalignedEnvironment, GateGenerations

------------------------------------------------------------------------------
(* Terms of the rules. The event is on EventChannel with EventId and         *)
(* EventOptions; Effects are its effects.                                    *)

EventIs(kind) == out'[1][1] = kind
EventChannel == out'[1][2]
EventId == out'[1][3]
EventOptions == [alignment |-> out'[1][4], savepoint |-> out'[1][5], timestamp |-> out'[1][6]]
Effects == Tail(out')
InEach(word, channels) == LET order == InOrder(channels) IN [i \in DOMAIN order |-> <<word, order[i]>>]
ResumeEach(channels) == InEach("resume", channels)
EffectsOf(kind) == SelectSeq(Effects, LAMBDA e : e[1] = kind)
Silent == Effects = <<>> /\ gate' = gate
Over(n) == n < gate.current \/ (n = gate.current /\ ~gate.pending)
Newer == EventId > gate.current
Halts == EventOptions.alignment # "unaligned"
EndOf(g, n) ==
    (IF g.begun /\ g.overtaking THEN <<<<"stop_persisting", n>>>> ELSE <<>>) \o ResumeEach(g.blocked)
SubsumesPending ==
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
Before == IF Newer THEN SubsumesPending ELSE <<>>
Mine == SubSeq(Effects, Len(Before) + 1, Len(Effects))        \* without the end of an older checkpoint
Blocks == IF Halts THEN <<<<"block", EventChannel>>>> ELSE <<>>
WillHold == HadBlocked \cup IF Halts THEN {EventChannel} ELSE {}
Ends == <<<<"stop_persisting", EventId>>>> \o ResumeEach(WillHold)
NothingPending(g) ==
    [g EXCEPT !.pending = FALSE, !.begun = FALSE, !.overtaking = ~Alternating, !.arrived = {}, !.blocked = {},
              !.announced = {}, !.first = Plain("aligned"), !.timer = -1]
NothingLeft(g) == g = NothingPending(g)
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
                                    \o ResumeEach(gate.blocked \ {EventChannel})
            ELSE /\ gate'.pending /\ gate'.arrived = gate.arrived \cup {EventChannel} /\ EffectsOf("abort") = <<>>]_vars

UNAL_10 == [][
    IF Reads
    THEN /\ EffectsOf("block") = Blocks /\ IsPrefixOf(Blocks, Mine)
         /\ gate'.pending => gate'.blocked = WillHold
    ELSE EffectsOf("block") = <<>>]_vars

Aligning == Reads /\ ~Overtakes /\ Halts

UNAL_11 == [][Aligning =>
    IF Last
    THEN Mine = Blocks \o <<<<"trigger", EventId>>>> \o ResumeEach(WillHold) /\ NothingLeft(gate')
    ELSE \A i \in DOMAIN Effects : Effects[i] # <<"trigger", EventId>>]_vars

Hurried == InEach("prioritise", HadAnnounced) \o FromNowOn(EventId)

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
    /\ Effects = InEach("prioritise", gate.announced)
    /\ gate' = [gate EXCEPT !.now = Later, !.timer = -1, !.announced = {}, !.overtaking = TRUE]]_vars

UNAL_17 ==
    [][/\ EventIs("advance") /\ ~Fires => Effects = <<>> /\ gate' = [gate EXCEPT !.now = Later]
       /\ Fires /\ gate.overtaking => Effects = <<>> /\ gate' = [gate EXCEPT !.now = Later, !.timer = -1]
       /\ Fires /\ gate.begun /\ ~gate.overtaking /\ Ok =>
            /\ Effects = InEach("prioritise", gate.announced) \o FromNowOn(gate.current)
            /\ gate' = [gate EXCEPT !.now = Later, !.timer = -1, !.announced = {}, !.overtaking = TRUE]]_vars

Overdue(o) == o.alignment = "timeout" /\ Timeout > 0 /\ gate.now - o.timestamp > Timeout

UNAL_18 == [][(Aligning /\ ~Last /\ Ok) =>
    /\ Mine = Blocks \o IF Overdue(EventOptions) THEN Hurried ELSE <<>>
    /\ gate'.begun /\ gate'.overtaking = Overdue(EventOptions)]_vars

UNAL_19 ==
    [][(EventIs("end_of_partition") /\ gate.pending /\ AfterFinish /\ ~gate.overtaking /\ ~EndIsLast /\ Ok) =>
        LET late == gate.begun /\ Overdue(gate.first)
        IN  /\ Effects = IF late THEN InEach("prioritise", gate.announced \ {EventChannel}) \o FromNowOn(gate.current)
                              ELSE <<>>
            /\ gate'.overtaking = late]_vars

UNAL_20 == gate.timer # -1 /\ ~gate.failed =>
    gate.pending /\ Alternating /\ Timeout > 0 /\ gate.first.alignment = "timeout"

Fits(o) == o.alignment # "forced-aligned" /\ (o.savepoint => Has("savepoints_overtake"))
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

(* An injection has no channel: its id and its options stand one place       *)
(* earlier than those of a barrier.                                          *)
InjectedId == out'[1][2]
InjectedOptions == [alignment |-> out'[1][3], savepoint |-> out'[1][4], timestamp |-> out'[1][5]]
Injected ==
    LET n == InjectedId
        o == InjectedOptions
        open == Channels \ gate.closed
        isNewer == n > gate.current
        awaited == IF isNewer THEN open ELSE open \ gate.arrived
        first == Least(open)
        halts == o.alignment # "unaligned"
        begun == ~isNewer /\ gate.begun
        overtaking == IF isNewer THEN ~Alternating ELSE gate.overtaking
        overdue == halts /\ awaited \ {first} # {} /\ Overdue(o)
        fails == ~Fits(o) /\ IF overtaking THEN ~begun ELSE overdue
        blocked == IF isNewer THEN {} ELSE gate.blocked
        announced == (IF isNewer THEN {} ELSE gate.announced) \ IF halts THEN {first} ELSE {}
        ended == IF isNewer /\ gate.pending
                 THEN Append(EndOf(gate, gate.current), <<"abort", gate.current, "SUBSUMED">>) ELSE <<>>
        starts == (IF overtaking THEN <<>> ELSE InEach("prioritise", announced))
                      \o IF fails THEN <<<<"fail", "barrier cannot become unaligned">>>>
                         ELSE IF overtaking /\ begun THEN <<>> ELSE FromNowOn(n)
        ends == IF fails THEN <<>> ELSE <<<<"stop_persisting", n>>>> \o ResumeEach(blocked)
        behind == IF fails \/ ~halts THEN {} ELSE {c \in open : \A other \in awaited : other < c}
    IN  IF Over(n) THEN IF halts THEN ResumeEach(open) ELSE <<>>
        ELSE IF open = {} THEN <<>>
        ELSE ended \o (IF overtaking \/ ~halts \/ overdue THEN starts \o ends
                       ELSE <<<<"trigger", n>>>> \o ResumeEach(blocked)) \o ResumeEach(behind)

UNAL_22 == [][EventIs("inject") =>
    /\ Effects = Injected
    /\ Ok => gate' = IF Over(InjectedId) \/ Channels = gate.closed THEN gate
                     ELSE NothingPending([gate EXCEPT !.current = InjectedId])]_vars

UNAL_23 == [][EventIs("record") =>
    LET persists == gate.begun /\ gate.overtaking /\ EventChannel \notin gate.arrived
    IN  gate' = gate /\ Effects = <<<<IF persists THEN "persist" ELSE "process", EventChannel, EventId>>>>]_vars

UNAL_24 == [][(Polled /\ out'[1][1] \notin {"inject", "advance"}) => EventChannel \notin gate.blocked]_vars

Finished(g) == {n \in Ids : n < g.current \/ (n = g.current /\ ~g.pending)}

UNAL_25 == [][
    LET aborts == EffectsOf("abort")
    IN  /\ \A i \in DOMAIN aborts : aborts[i][2] \in Finished(gate') \ Finished(gate)
        /\ Finished(gate) \subseteq Finished(gate')
        /\ Len(EffectsOf("trigger")) <= 1
        /\ \A i \in DOMAIN Effects : Effects[i][1] = "trigger" =>
              Effects[i][2] = gate'.current /\ Effects[i][2] \notin Finished(gate)
        /\ gate.pending /\ gate'.pending /\ gate'.current = gate.current => gate'.first = gate.first
        /\ ~EventIs("inject") =>
             LET onItsOwn == IF EventIs("advance") \/ EventIs("record") THEN {} ELSE {EventChannel}
                 had(channels) == IF gate'.current = gate.current THEN channels ELSE {}
             IN  /\ gate'.arrived \ had(gate.arrived) \subseteq onItsOwn
                 /\ gate'.blocked \ had(gate.blocked) \subseteq onItsOwn
                 /\ gate'.announced \ had(gate.announced) \subseteq onItsOwn
                 /\ gate'.closed \ gate.closed \subseteq onItsOwn]_vars

UNAL_26 == ~gate.failed =>
    /\ gate.blocked \subseteq gate.arrived
    /\ gate.closed \cap (gate.blocked \cup gate.announced) = {}
    /\ gate.overtaking => gate.announced = {}
    /\ ~AfterFinish => gate.arrived \cap gate.closed = {}
    /\ gate.begun => gate.arrived # {}
    /\ ~gate.begun => gate.arrived \subseteq gate.closed
    /\ IF gate.pending THEN gate.arrived \cup gate.closed # Channels
       ELSE NothingLeft(gate)
    /\ gate.pending /\ gate.first.savepoint => gate.first.alignment # "unaligned"

------------------------------------------------------------------------------
(* All effects in order, and all changes of the state.                       *)

Failing == <<<<"fail", "barrier cannot become unaligned">>>>
Hurries == ~Overtakes /\ (~Halts \/ (~Last /\ Overdue(EventOptions)))
EndsPending == EventIs("end_of_partition") /\ gate.pending
EndIsLate == gate.begun /\ ~gate.overtaking /\ ~EndIsLast /\ Overdue(gate.first)
Unexpected == gate.begun /\ ~gate.overtaking /\ gate.first.alignment = "unaligned"
GivesUp == EventIs("advance") /\ Fires /\ ~gate.overtaking

OfBarrier ==
    LET starts == IF MustRefuse THEN Failing ELSE IF Overtakes /\ Begun THEN <<>> ELSE FromNowOn(EventId)
        ends == IF Last /\ ~MustRefuse THEN Ends ELSE <<>>
    IN  Before \o Blocks
        \o IF Overtakes THEN starts \o ends
           ELSE IF Hurries THEN InEach("prioritise", HadAnnounced) \o starts \o ends
           ELSE IF Last THEN <<<<"trigger", EventId>>>> \o ResumeEach(WillHold) ELSE <<>>

OfEnd ==
    IF ~AfterFinish THEN Append(EndOf(gate, gate.current), <<"abort", gate.current, "INPUT_END_OF_STREAM">>)
    ELSE IF Unexpected THEN Failing
    ELSE IF EndIsLast
    THEN IF ~gate.begun THEN <<>>
         ELSE <<<<IF gate.overtaking THEN "stop_persisting" ELSE "trigger", gate.current>>>>
                  \o ResumeEach(gate.blocked \ {EventChannel})
    ELSE IF EndIsLate
    THEN InEach("prioritise", gate.announced \ {EventChannel})
             \o IF Fits(gate.first) THEN FromNowOn(gate.current) ELSE Failing
    ELSE <<>>

AllEffects == [][Effects =
    CASE Reads -> OfBarrier
      [] EventIs("barrier") /\ ~Reads -> IF Halts THEN <<<<"resume", EventChannel>>>> ELSE <<>>
      [] Announces -> Before \o IF Overtakes THEN <<<<"prioritise", EventChannel>>>> ELSE <<>>
      [] EventIs("cancel") /\ Counted ->
            Append(EndOf(gate, EventId), <<"abort", EventId, "ON_CANCELLATION_BARRIER">>)
      [] EndsPending -> OfEnd
      [] GivesUp ->
            InEach("prioritise", gate.announced)
                \o IF ~gate.begun THEN <<>> ELSE IF Fits(gate.first) THEN FromNowOn(gate.current) ELSE Failing
      [] EventIs("record") \/ EventIs("inject") -> Effects        \* UNAL-22, UNAL-23
      [] OTHER -> <<>>]_vars

(* The gate of the event's own checkpoint, before it counts the event.       *)
Own ==
    IF ~Newer THEN gate
    ELSE [NothingPending(gate) EXCEPT
            !.current = EventId, !.pending = TRUE, !.first = EventOptions,
            !.timer = IF ~Alternating \/ EventOptions.alignment # "timeout" \/ Timeout = 0 THEN -1
                      ELSE Greatest({EventOptions.timestamp + Timeout, gate.now})]

AfterEnd ==
    LET ended == [gate EXCEPT !.closed = @ \cup {EventChannel}]
        counted == [ended EXCEPT !.arrived = @ \cup {EventChannel}, !.blocked = @ \ {EventChannel},
                                 !.announced = @ \ {EventChannel}]
    IN  IF ~gate.pending THEN ended
        ELSE IF ~AfterFinish \/ (EndIsLast /\ ~Unexpected) THEN NothingPending(ended)
        ELSE IF EndIsLate /\ ~Unexpected THEN [counted EXCEPT !.announced = {}, !.overtaking = TRUE]
        ELSE counted

AfterBarrier ==
    LET counted == [Own EXCEPT !.arrived = @ \cup {EventChannel}, !.blocked = WillHold,
                               !.announced = HadAnnounced]
        hurried == [counted EXCEPT !.begun = TRUE, !.overtaking = Overtakes \/ Hurries,
                                   !.announced = IF Hurries THEN {} ELSE @]
    IN  IF MustRefuse THEN counted ELSE IF Last THEN NothingPending(counted) ELSE hurried

Frame == [][
    /\ out = <<>> => gate = [current |-> -1, pending |-> FALSE, begun |-> FALSE, overtaking |-> ~Alternating,
                            arrived |-> {}, blocked |-> {}, announced |-> {}, closed |-> {},
                            first |-> Plain("aligned"), now |-> 0, timer |-> -1, failed |-> FALSE]
    /\ [gate' EXCEPT !.failed = FALSE] =
        CASE Reads -> AfterBarrier
          [] Announces -> [Own EXCEPT !.announced = IF Overtakes THEN @ ELSE @ \cup {EventChannel}]
          [] EventIs("cancel") /\ Counted -> NothingPending([gate EXCEPT !.current = EventId])
          [] EventIs("end_of_partition") -> AfterEnd
          [] EventIs("advance") ->
                [gate EXCEPT !.now = Later, !.timer = IF Fires THEN -1 ELSE @,
                             !.announced = IF GivesUp THEN {} ELSE @, !.overtaking = @ \/ GivesUp]
          [] EventIs("inject") -> [gate' EXCEPT !.failed = FALSE]        \* UNAL-22
          [] OTHER -> gate]_vars

------------------------------------------------------------------------------
(* 1.13, 1.14.0: the gate can also end the alignment of a savepoint before   *)
(* it is complete. The definition replaces the operator in its comment.      *)

SavepointsMayToo(o) == o.alignment # "forced-aligned"                            \* MayOvertake

------------------------------------------------------------------------------
(* Replacements: each takes the place of the operator in its comment.        *)

TriggersFirst(n) == <<<<"trigger", n, TRUE>>, <<"start_persisting", n>>>>        \* Started
NeverStops(o) == FALSE                                                           \* Stops
LateKept(g, c, o) == Step(g, <<>>)                                               \* Late
OldNameStops(g, n) ==                                                            \* StopAndResume
    (IF g.begun /\ g.overtaking THEN <<<<"stop_persisting", g.current>>>> ELSE <<>>) \o Resumes(g.blocked)
CancelsAnnounced(g, n) == n > g.current \/ (n = g.current /\ g.pending)          \* Cancels
NeverLate(g, o) == FALSE                                                         \* TookTooLong
DueFromNow(g, o) == g.now + Timeout                                              \* Due
EverythingOvertakes(o) == TRUE                                                   \* MayOvertake
StopsInSilence(g, effects) == Step(Idle(g), effects \o Resumes(g.blocked))             \* Stop
AbortsNothing(g) == <<>>                                                         \* Subsumption
ReleasesFirst(g, effects) ==                                                        \* Complete
    Step(Idle(g), effects \o Resumes(g.blocked) \o <<<<"trigger", g.current>>>>)
PersistsNothing(g) == {}                                                         \* Persisting
BeginsUnaligned(g, n, o) ==                                                      \* Begin
    [Idle(g) EXCEPT !.current = n, !.pending = TRUE, !.first = [o EXCEPT !.alignment = "unaligned"]]
ReadsEverything(c) == TRUE                                                       \* Readable
==============================================================================
