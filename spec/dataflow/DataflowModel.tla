---------------------------- MODULE DataflowModel ----------------------------
(***************************************************************************)
(* The dataflow with constants for TLC, and the rules of the composition:  *)
(* ALIGN-17 and ONCE-01 to ONCE-06.                                        *)
(*                                                                         *)
(* State and output are compared only with the sources' offsets, so that   *)
(* "exactly once" is a plain equation. Refines checks that the dataflow    *)
(* implements ConsistentCut.                                               *)
(***************************************************************************)
EXTENDS Dataflow, OlderCoordinator

(* The initial offsets of the sources. *)
FromZero == [s \in Sources |-> 0]
Story == (0 :> 100) @@ (1 :> 105)

Vectors == [Sources -> Nat]

TypeOK ==
    /\ attempt \in 0 .. MaxFailures
    /\ restored \in Ids \cup {0}
    /\ declined \in 0 .. MaxDeclines
    /\ coordinator \in CoordinatorType
    /\ \A m \in net : m[1] \in 0 .. attempt /\ m[3] \in Tasks /\ m[4] \in Ids
    /\ offset \in Vectors /\ counted \in Vectors /\ received \in Vectors
    /\ \A c \in DOMAIN channel : \A i \in DOMAIN channel[c] :
        channel[c][i][1] \in 0 .. attempt /\ channel[c][i][2] \in {"record", "barrier", "cancel"}
    /\ gate \in GateType /\ sinkGate \in GateType
    /\ tasks \in [Tasks -> SubtaskType]
    /\ sink \in SinkType
    /\ DOMAIN contents = 1 .. sink.next - 1
    /\ DOMAIN output = Sources
    /\ \A n \in DOMAIN snapshots : DOMAIN snapshots[n] \subseteq Tasks

------------------------------------------------------------------------------
(* Terms of the rules. *)

(* The checkpoints that a restore can read now or, with a new coordinator,   *)
(* later.                                                                    *)
CompletedIds == {e.id : e \in Durable(coordinator)} \cup {0}

(* The records of source s between source and operator, sent in this attempt. *)
InFlight(s) == SelectSeq(channel[s], LAMBDA item : item[1] = attempt /\ item[2] = "record")

(* The first record of source s that the operator has not processed. *)
NextDue(s) == IF InFlight(s) = <<>> THEN offset[s] ELSE Head(InFlight(s))[4]

Upwards(from, n) == [i \in 1 .. n |-> from + i - 1]

(* The sequence of records has no duplicate and no gap. *)
IsGapless(s, records) == records = Upwards(Start[s], Len(records))

(* A message is in flight, or a channel delivers.                            *)
IsMoving ==
    \/ net # {}
    \/ \E c \in DOMAIN channel : channel[c] # <<>> /\ (c = ToSink \/ Readable(gate, c))

HasSentAll == \A s \in Sources : offset[s] = Start[s] + MaxRecords

MayBegin(type) ==
    coordinator.next <= MaxCheckpoint /\ (type = "savepoint" \/ Len(coordinator.pending) < MaxConcurrent)
MayFail == coordinator.fault = "none" /\ coordinator.unseen = {}
IsBegun(type) == \E p \in Range(coordinator'.pending) : p.id = coordinator.next /\ p.type = type

(* Nothing stays blocked: when nothing can move, all has been read.          *)
(* Every event of the environment can come that the limits allow, and no     *)
(* request waits.                                                            *)
StuckOnlyAtTheEnd ==
    /\ IsMoving \/ ~HasSentAll \/ \A c \in DOMAIN channel : channel[c] = <<>>
    /\ \A s \in Sources : offset[s] < Start[s] + MaxRecords => ENABLED Emit(s)
    /\ coordinator.queue = <<>>
    /\ \A type \in RequestedTypes : MayBegin(type) <=> ENABLED (Request /\ IsBegun(type))
    /\ \A when \in WaysToFail : MayFail <=> ENABLED (StoreFails /\ coordinator'.fault = when)

------------------------------------------------------------------------------
ALIGN_17 == [][attempt' = attempt => \A c \in Sources :
    /\ c \in gate.blocked => IsPrefixOf(channel[c], channel'[c])
    /\ counted'[c] # counted[c] => channel'[c] = Tail(channel[c])]_vars

IsConsistent(states) ==
    /\ DOMAIN states = Tasks
    /\ \A s \in Sources : states[Operator][s] = states[s] /\ states[SinkTask].received[s] = states[s]

ONCE_01 == \A n \in CompletedIds : IsConsistent(snapshots[n])

ONCE_02 == \A s \in Sources : counted[s] = NextDue(s)

(* The newest committed checkpoint is the newest one reported to the sink;   *)
(* after a restore it is the restored one.                                   *)
NewestReported == Greatest({tasks[SinkTask].completed, restored})

ONCE_03 == \A s \in Sources :
    /\ IsGapless(s, output[s])
    /\ NewestReported \in CompletedIds => Start[s] + Len(output[s]) >= snapshots[NewestReported][s]

ONCE_04 == [][attempt' # attempt =>
    LET n == LatestId(coordinator'.store)
    IN  /\ restored' = n
        /\ n = IF IsReplaced THEN Greatest(CompletedIds) ELSE LatestId(coordinator.store)
        /\ DOMAIN snapshots[n] = Tasks
        /\ \A s \in Sources : offset'[s] = snapshots[n][s]
        /\ counted' = snapshots[n][Operator]
        /\ received' = snapshots[n][SinkTask].received
        /\ sink'.committed = sink.committed \cup Transactions(snapshots[n][SinkTask].held.pending)]_vars

ONCE_05 == \A s \in Sources : \A i \in DOMAIN output[s] : output[s][i] < snapshots[Latest][s]

StaleIsTaken ==
    \/ \E c \in DOMAIN channel :
        channel[c] # <<>> /\ Head(channel[c])[1] # attempt /\ Len(channel'[c]) < Len(channel[c])
    \/ \E m \in net \ net' : m[1] # attempt

ONCE_06 == [][(attempt' = attempt /\ StaleIsTaken) =>
    UNCHANGED <<coordinator, offset, gate, sinkGate, tasks, counted, received, external, snapshots>>]_vars

Refines == Cut!Spec

Consequences == Cut!StateIsOfTheCut /\ Cut!OutputIsOfACut

------------------------------------------------------------------------------
(* What one step may change. It takes one item, one message, or neither.     *)

Taken == {c \in DOMAIN channel : Len(channel'[c]) < Len(channel[c])}
Message == CHOOSE m \in net \ net' : TRUE
Rest(c) == IF c \in Taken THEN Tail(channel[c]) ELSE channel[c]
Added(c) == SubSeq(channel'[c], Len(Rest(c)) + 1, Len(channel'[c]))
OnlyAdded(c) == \A d \in DOMAIN channel \ {c} : Added(d) = <<>>
OnlyTask(t) == \A other \in Tasks \ {t} : tasks'[other] = tasks[other]
OnlyCoordinator ==
    UNCHANGED <<attempt, restored, offset, channel, gate, sinkGate, tasks, counted, received, external>>

(* Task t stores this state of a checkpoint and sends its barrier, or it     *)
(* stores nothing and can send a cancellation. What the coordinator discards *)
(* is no completed checkpoint.                                               *)
TakesPart(t, n) ==
    n > tasks[t].last /\ n \notin Range(tasks[t].aborted) /\ n + MaxRemembered >= tasks[t].highest
Stores(t, n, state) == snapshots'[n] = (t :> state) @@ snapshots[n]
Discards(n) == snapshots'[n] = <<>> /\ n \notin {e.id : e \in Durable(coordinator')}
StoresOnly(t, n, state) == \A m \in Ids \cup {0} :
    snapshots'[m] = snapshots[m] \/ Discards(m) \/ (m = n /\ Stores(t, n, state))
Sends(t, c, n, state, complete) ==
    /\ OnlyTask(t) /\ OnlyAdded(c)
    /\ \A i \in DOMAIN Added(c) : Added(c)[i] \in {attempt} \X {"barrier", "cancel"} \X Ids
    /\ StoresOnly(t, n, state)
    /\ LET barriers == SelectSeq(Added(c), LAMBDA item : item[2] = "barrier")
       IN  IF complete /\ TakesPart(t, n)
          THEN barriers = <<<<attempt, "barrier", n>>>> /\ (Stores(t, n, state) \/ Discards(n))
           ELSE barriers = <<>> /\ \A m \in Ids : snapshots'[m] = snapshots[m] \/ Discards(m)

(* A gate that reads these channels and has read nothing.                    *)
Opened(channels) ==
    [current |-> -1, pending |-> FALSE, blocked |-> {}, closed |-> {0, 1} \ channels, repeats |-> 0, failed |-> FALSE]

(* A barrier has come on each channel of the gate that is open.              *)
Completes(g, c, item) ==
    /\ item[2] = "barrier" /\ (item[3] > g.current \/ (item[3] = g.current /\ g.pending))
    /\ {0, 1} \ g.closed \subseteq {c} \cup IF item[3] = g.current THEN g.blocked ELSE {}

AfterItem(g, c, item) ==
    LET n == item[3]
        idle == [g EXCEPT !.current = n, !.pending = FALSE, !.blocked = {}]
    IN  IF n < g.current \/ (n = g.current /\ ~g.pending) THEN g
        ELSE IF item[2] = "cancel" \/ Completes(g, c, item) THEN idle
        ELSE [g EXCEPT !.current = n, !.pending = TRUE,
                       !.blocked = {c} \cup IF n = g.current THEN @ ELSE {}]

OfRecord(c, item) ==
    IF c = ToSink
    THEN /\ received' = [received EXCEPT ![item[3]] = @ + 1]
         /\ contents' = [contents EXCEPT ![sink.open] = [@ EXCEPT ![item[3]] = Append(@, item[4])]]
         /\ UNCHANGED <<attempts, coordinator, net, offset, gate, sinkGate, tasks, counted, sink, output, snapshots>>
    ELSE /\ counted' = [counted EXCEPT ![c] = @ + 1] /\ OnlyAdded(ToSink) /\ Added(ToSink) = <<item>>
         /\ UNCHANGED <<attempts, coordinator, net, offset, gate, sinkGate, tasks, received, external, snapshots>>

OfBarrier(c, item) ==
    IF c = ToSink
    THEN /\ sinkGate' = AfterItem(sinkGate, 0, item) /\ OnlyTask(SinkTask) /\ OnlyAdded(ToSink)
         /\ StoresOnly(SinkTask, item[3],
                       [received |-> received, held |-> [open |-> sink'.open, pending |-> sink'.pending]])
         /\ (Completes(sinkGate, 0, item) /\ TakesPart(SinkTask, item[3])) =>
                sink'.pending = Append(sink.pending, <<item[3], sink.open>>)
         /\ UNCHANGED <<attempts, offset, gate, counted, received, output>>
    ELSE /\ gate' = AfterItem(gate, c, item)
         /\ Sends(Operator, ToSink, item[3], counted, Completes(gate, c, item))
         /\ UNCHANGED <<attempts, offset, sinkGate, counted, received, external>>

OfMessage(m) ==
    CASE m[2] = "trigger_task" ->
            /\ Sends(m[3], m[3], m[4], offset[m[3]], TRUE)
            /\ UNCHANGED <<attempts, offset, gate, sinkGate, counted, received, external>>
      [] m[2] \in {"notify_complete", "notify_abort"} ->
            /\ net' = net \ {m} /\ OnlyTask(m[3]) /\ (m[3] = SinkTask \/ UNCHANGED external)
            /\ m[2] = "notify_complete" =>
                /\ tasks'[m[3]].completed = Greatest({m[4], tasks[m[3]].completed})
                /\ m[3] = SinkTask => \A i \in DOMAIN sink'.pending : sink'.pending[i][1] > m[4]
            /\ UNCHANGED <<attempts, coordinator, offset, channel, gate, sinkGate, counted, received, snapshots>>
      [] OTHER ->
            OnlyCoordinator /\ declined' = declined /\ \A n \in Ids \cup {0} : snapshots'[n] = snapshots[n] \/ Discards(n)

OfNothing ==
    \/ /\ \E s \in Sources : /\ Added(s) = <<<<attempt, "record", s, offset[s]>>>> /\ OnlyAdded(s)
                             /\ offset' = [offset EXCEPT ![s] = @ + 1]
       /\ UNCHANGED <<attempts, coordinator, net, gate, sinkGate, tasks, counted, received, external, snapshots>>
    \/ OnlyCoordinator /\ declined' \in {declined, declined + 1} /\ UNCHANGED snapshots

(* What the coordinator starts, completes and ends becomes messages: triggers *)
(* to the sources, and notifications to the tasks that listen. Of a savepoint *)
(* that completes no task is notified (SUB-05). It is no longer pending, and  *)
(* not stored: it has completed if its one missing task acknowledges it.      *)
PendingIds(k) == {k.pending[i].id : i \in DOMAIN k.pending}
NewestIn(k) == IF k.store = <<>> THEN -1 ELSE LatestId(k.store)
Done == IF NewestIn(coordinator') = NewestIn(coordinator) THEN {} ELSE {NewestIn(coordinator')}
Acknowledges(t, n) ==
    IF t \in Slow THEN <<attempt, "acknowledge", t, n>> \in net \ net'
    ELSE t \in DOMAIN snapshots'[n] \ DOMAIN snapshots[n]
DoneSavepoints == {p.id : p \in {p \in Range(coordinator.pending) :
    p.type = "savepoint" /\ \E t \in Tasks : p.missing = {t} /\ Acknowledges(t, p.id)}}
Given == PendingIds(coordinator) \ (PendingIds(coordinator') \cup Done \cup DoneSavepoints)
Posted ==
    {<<attempt, "trigger_task", s, n>> : s \in Sources, n \in PendingIds(coordinator') \ PendingIds(coordinator)}
        \cup {<<attempt, "notify_complete", t, n>> : t \in Listening, n \in Done}
        \cup {<<attempt, "notify_abort", t, n, NewestIn(coordinator')>> : t \in Listening, n \in Given}
Answered(m) == m[1] = attempt /\ m[2] \in {"acknowledge", "decline"} /\ m[3] \in Slow

Frame == [][
    IF attempt' # attempt
    THEN /\ attempt' = attempt + 1 /\ declined' = declined
         /\ gate' = Opened({0, 1}) /\ sinkGate' = Opened({0})
         /\ tasks' = [t \in Tasks |-> [NewSubtask EXCEPT !.completed = IF restored' = 0 THEN -1 ELSE restored']]
         /\ <<net', channel'>> = IF Zombies THEN <<net, channel>> ELSE <<{}, [c \in 0 .. 2 |-> <<>>]>>
         /\ \A n \in Ids \cup {0} : snapshots'[n] = IF n \in CompletedIds THEN snapshots[n] ELSE <<>>
    ELSE /\ \A c \in DOMAIN channel : IsPrefixOf(Rest(c), channel'[c])
         /\ Posted \subseteq net' /\ \A m \in net' \ net : m \in Posted \/ Answered(m)
         /\ \A n \in DoneSavepoints : n \notin PendingIds(coordinator') /\ IsConsistent(snapshots'[n])
         /\ Cardinality(Taken) + Cardinality(net \ net') <= 1
         /\ IF Taken # {}
            THEN LET c == CHOOSE c \in Taken : TRUE
                     item == Head(channel[c])
                 IN  item[1] = attempt => IF item[2] = "record" THEN OfRecord(c, item) ELSE OfBarrier(c, item)
            ELSE IF net \ net' # {} THEN Message[1] = attempt => OfMessage(Message)
            ELSE OfNothing]_vars

------------------------------------------------------------------------------
(* Replacements: each takes the place of the operator in its comment.        *)

NeverWaits(g, c) == TRUE                                        \* Readable
AnyAttempt(sent) == TRUE                                        \* IsCurrent
NewestSnapshot(k, t) == Greatest({n \in DOMAIN snapshots : t \in DOMAIN snapshots[n]})    \* RestoreFrom
FromTheBeginning(k, t) == IF t \in Sources THEN 0 ELSE Latest      \* RestoreFrom
CommitsAtOnce(s, n) ==                                          \* PreCommit
    SinkStep([s EXCEPT !.committed = @ \cup {s.open}, !.open = 0], <<<<"commit", s.open>>>>)
CommitsNothing(entries) == {}                                           \* Transactions
OneMayBeMissing(p) == Cardinality(p.missing) <= 1               \* IsFullyAcknowledged
OnlyCheckpoints(p) == p.type = "checkpoint"                     \* GoesToStore

(* Constants of models. *)
BothTypes == {"checkpoint", "savepoint"}
OnlySavepoints == {"savepoint"}
SavepointFirst == IF coordinator.next = 1 THEN {"savepoint"} ELSE {"checkpoint"}
BeforeAndMaybe == {"before", "maybe"}
Maybe == {"maybe"}
Yes == TRUE
==============================================================================
