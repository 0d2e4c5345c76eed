------------------------------ MODULE Dataflow -------------------------------
(***************************************************************************)
(* The whole: two replayable sources, one operator that counts, and one    *)
(* transactional sink, joined by FIFO channels, with a coordinator, a      *)
(* store that may fail, and failures that restart the job, with the same   *)
(* coordinator or with a new one.                                          *)
(*                                                                         *)
(*     source 0 --channel 0--> operator --channel 2--> sink                *)
(*     source 1 --channel 1-->                                             *)
(*                                                                         *)
(* This module defines no part of the protocol: gates, subtasks,           *)
(* coordinator, store and sink are those of Aligned, Subtask, Coordinator, *)
(* Store and Sink. It carries the effects of one as events to the other.   *)
(* Messages between tasks and the coordinator are a set: they arrive in    *)
(* any order, late, or never (a lost notification). Every message and      *)
(* record carries the attempt that sent it.                                *)
(*                                                                         *)
(* It implements ConsistentCut. DataflowModel.tla states ALIGN-17 and      *)
(* ONCE-01 to ONCE-06 over it. Source: Carbone et al. 2015; Flink's        *)
(* documentation of fault tolerance.                                       *)
(***************************************************************************)
EXTENDS Aligned, Subtask, Coordinator, Sink, TLC

CONSTANTS
    Start,          \* by source: its initial offset
    MaxRecords,     \* number of records that each source sends
    MaxCheckpoint,  \* checkpoints have ids 1 .. MaxCheckpoint
    MaxFailures,    \* number of failures of the job
    MaxDeclines,    \* number of snapshots that cannot be written
    Slow,           \* tasks whose answers are messages; those of the others arrive at once
    Listening,      \* tasks that notifications may reach
    Zombies         \* in-flight messages and records may still arrive after a failure

Operator == 2
SinkTask == 3
ToSink == 2         \* the channel between them
Ids == 1 .. MaxCheckpoint

(* Further events of the environment; a model replaces these. *)
AskedFor == {"checkpoint"}          \* types of requested checkpoints
WaysToFail == {}                    \* failures of the store, once
IsReplaced == FALSE                 \* a failure takes the coordinator with it

ASSUME N = 2 /\ Sources = {0, 1} /\ Tasks = {0, 1, 2, 3}

VARIABLES
    attempt,        \* number of the execution attempt; also the number of failures
    restored,       \* the checkpoint from which this attempt was restored; 0: initial state
    declined,       \* number of snapshots that could not be written
    coordinator,    \* see CoordinatorType
    net,            \* messages to and from the coordinator: <<attempt, kind, task, id, ...>>
    offset,         \* by source: its next record
    channel,        \* by channel: its items, <<attempt, kind, ...>>
    gate,           \* of the operator
    sinkGate,       \* of the sink; its channel is 0
    tasks,          \* by task: its subtask
    counted,        \* the operator's state: by source, number of counted records
    received,       \* by source, number of records that have reached the sink
    sink,           \* see SinkType
    contents,       \* in the external system: by transaction and source, records not yet committed
    output,         \* there too: by source, the committed records, in the order of commitment
    snapshots       \* durable: by checkpoint and task, the state; 0 is the initial state

attempts == <<attempt, restored, declined>>
external == <<sink, contents, output>>

vars == <<attempts, coordinator, net, offset, channel, gate, sinkGate, tasks, counted, received, external,
          snapshots>>

Empty == [s \in Sources |-> <<>>]

Beginning ==
    (0 :> Start[0]) @@ (1 :> Start[1]) @@ (2 :> Start) @@ (3 :> [received |-> Start, held |-> NothingHeld])

Init ==
    /\ attempt = 0 /\ restored = 0 /\ declined = 0
    /\ coordinator = NewCoordinator
    /\ net = {}
    /\ offset = Start
    /\ channel = [c \in 0 .. 2 |-> <<>>]
    /\ gate = NewGate({0, 1}) /\ sinkGate = NewGate({0})
    /\ tasks = [t \in Tasks |-> NewSubtask]
    /\ counted = Start /\ received = Start
    /\ sink = NewSink /\ contents = <<Empty>> /\ output = Empty
    /\ snapshots = [n \in Ids \cup {0} |-> IF n = 0 THEN Beginning ELSE <<>>]

------------------------------------------------------------------------------
(* Effects become events of other components. *)

(* ONCE-06 *)
IsCurrent(sent) == sent = attempt

(* The effects of a gate on its subtask, and the answers of that. The        *)
(* asynchronous part ends at once: a slow one is an answer in flight.        *)
RECURSIVE Obey(_, _, _)
Obey(t, orders, effects) ==
    IF orders = <<>> THEN Answer(t, effects)
    ELSE LET n == Head(orders)[2]
             step == CASE Head(orders)[1] = "trigger" -> OnCheckpoint(t, n)
                       [] Head(orders)[1] = "abort" -> OnAbortOnBarrier(t, n, Head(orders)[3])
                       [] OTHER -> Answer(t, <<>>)
             done == OnAsyncDone(step.task, n)
         IN  Obey(done.task, Tail(orders), effects \o step.out \o done.out)

Items(effects) ==
    LET sent == SelectSeq(effects, LAMBDA e : e[1] \in {"broadcast_barrier", "broadcast_cancel"})
    IN  [i \in DOMAIN sent |->
          <<attempt, IF sent[i][1] = "broadcast_barrier" THEN "barrier" ELSE "cancel", sent[i][2]>>]

(* A decline names its reason. *)
Answers(t, effects) ==
    LET sent == SelectSeq(effects, LAMBDA e : e[1] \in {"acknowledge", "decline"})
    IN  [i \in DOMAIN sent |-> <<attempt, sent[i][1], t>> \o Tail(sent[i])]

Filed(effects, t, state) ==
    [n \in DOMAIN snapshots |->
        IF <<"snapshot", n>> \in Range(effects)
        THEN (t :> state) @@ snapshots[n] ELSE snapshots[n]]

(* The states of a checkpoint that the store refused are deleted, if it was  *)
(* discarded.                                                                *)
Kept(states, effects) ==
    [n \in DOMAIN states |->
        IF {<<"fail", "CheckpointException">>, <<"discard", n>>} \subseteq Range(effects)
        THEN <<>> ELSE states[n]]

(* The messages of the coordinator: triggers, and notifications to listening *)
(* tasks. An abort carries the newest completed id.                          *)
Completed(k) == IF k.store = <<>> THEN -1 ELSE LatestId(k.store)

Sent(step) ==
    {<<attempt, e[1], e[2], e[3]>> \o (IF e[1] = "notify_abort" THEN <<Completed(step.coordinator)>> ELSE <<>>) :
        e \in {e \in Range(step.out) :
                \/ e[1] = "trigger_task"
                \/ e[1] \in {"notify_complete", "notify_abort"} /\ e[2] \in Listening}}

Hear(k, message) ==
    IF message[2] = "acknowledge" THEN OnAcknowledge(k, message[3], message[4])
    ELSE OnDecline(k, message[4], message[5])

RECURSIVE HearAll(_, _, _)
HearAll(k, messages, effects) ==
    IF messages = <<>> THEN CoordinatorStep(k, effects)
    ELSE LET step == Hear(k, Head(messages))
         IN  HearAll(step.coordinator, Tail(messages), effects \o step.out)

(* Task t answers the coordinator; the messages in `taken` were read, and    *)
(* `states` are the snapshots with its own.                                  *)
Report(t, effects, taken, states) ==
    IF t \in Slow
    THEN /\ coordinator' = coordinator /\ net' = (net \ taken) \cup Range(Answers(t, effects))
         /\ snapshots' = states
    ELSE LET step == HearAll(coordinator, Answers(t, effects), <<>>)
         IN  /\ coordinator' = step.coordinator /\ net' = (net \ taken) \cup Sent(step)
             /\ snapshots' = Kept(states, step.out)

(* The records of these transactions, in the order of writing. *)
RECURSIVE Joined(_, _)
Joined(s, transactions) ==
    IF transactions = <<>> THEN <<>>
    ELSE contents[Head(transactions)][s] \o Joined(s, Tail(transactions))

(* The sink becomes `after`: its committed records are output; of the        *)
(* others, only open and filed ones matter.                                  *)
Externally(after) ==
    LET matters == {after.open} \cup Transactions(after.pending)
    IN  /\ sink' = after
        /\ output' = [s \in Sources |-> output[s] \o Joined(s, InOrder(after.committed \ sink.committed))]
        /\ contents' = [x \in 1 .. after.next - 1 |->
                           IF x \in DOMAIN contents \cap matters THEN contents[x] ELSE Empty]

------------------------------------------------------------------------------
(* System: the sources. *)

Emit(s) ==
    /\ offset[s] < Start[s] + MaxRecords
    /\ offset' = [offset EXCEPT ![s] = @ + 1]
    /\ channel' = [channel EXCEPT ![s] = Append(@, <<attempt, "record", s, offset[s]>>)]
    /\ UNCHANGED <<attempts, coordinator, net, gate, sinkGate, tasks, counted, received, external,
                   snapshots>>

SourceTriggered(s) ==
    \E m \in net :
        /\ m[2] = "trigger_task" /\ m[3] = s /\ IsCurrent(m[1])
        /\ LET step == Obey(tasks[s], <<<<"trigger", m[4]>>>>, <<>>)
           IN  /\ tasks' = [tasks EXCEPT ![s] = step.task]
               /\ channel' = [channel EXCEPT ![s] = @ \o Items(step.out)]
               /\ Report(s, step.out, {m}, Filed(step.out, s, offset[s]))
    /\ UNCHANGED <<attempts, offset, gate, sinkGate, counted, received, external>>

(* System: the operator. *)

OperatorCounts(c) ==
    /\ channel[c] # <<>> /\ Readable(gate, c) /\ Head(channel[c])[2] = "record"
    /\ IsCurrent(Head(channel[c])[1])
    /\ counted' = [counted EXCEPT ![c] = @ + 1]
    /\ channel' = [channel EXCEPT ![c] = Tail(@),
                                  ![ToSink] = Append(@, <<attempt, "record", c, Head(channel[c])[4]>>)]
    /\ UNCHANGED <<attempts, coordinator, net, offset, gate, sinkGate, tasks, received, external,
                   snapshots>>

GateStep(g, c, item) == IF item[2] = "barrier" THEN OnBarrier(g, c, item[3]) ELSE OnCancel(g, item[3])

OperatorAligns(c) ==
    /\ channel[c] # <<>> /\ Readable(gate, c) /\ Head(channel[c])[2] # "record"
    /\ IsCurrent(Head(channel[c])[1])
    /\ LET aligned == GateStep(gate, c, Head(channel[c]))
           step == Obey(tasks[Operator], aligned.out, <<>>)
       IN  /\ gate' = aligned.gate
           /\ tasks' = [tasks EXCEPT ![Operator] = step.task]
           /\ channel' = [channel EXCEPT ![c] = Tail(@), ![ToSink] = @ \o Items(step.out)]
           /\ Report(Operator, step.out, {}, Filed(step.out, Operator, counted))
    /\ UNCHANGED <<attempts, offset, sinkGate, counted, received, external>>

(* System: the sink. *)

SinkWrites ==
    /\ channel[ToSink] # <<>> /\ Head(channel[ToSink])[2] = "record" /\ IsCurrent(Head(channel[ToSink])[1])
    /\ LET s == Head(channel[ToSink])[3]
       IN  /\ received' = [received EXCEPT ![s] = @ + 1]
           /\ contents' = [contents EXCEPT ![sink.open][s] = Append(@, Head(channel[ToSink])[4])]
    /\ channel' = [channel EXCEPT ![ToSink] = Tail(@)]
    /\ UNCHANGED <<attempts, coordinator, net, offset, gate, sinkGate, tasks, counted, sink, output,
                   snapshots>>

SinkSnapshots ==
    /\ channel[ToSink] # <<>> /\ Head(channel[ToSink])[2] # "record" /\ IsCurrent(Head(channel[ToSink])[1])
    /\ LET item == Head(channel[ToSink])
           aligned == GateStep(sinkGate, 0, item)
           step == Obey(tasks[SinkTask], aligned.out, <<>>)
           taken == <<"snapshot", item[3]>> \in Range(step.out)
           after == IF taken THEN OnSnapshot(sink, item[3]).sink ELSE sink
       IN  /\ sinkGate' = aligned.gate
           /\ tasks' = [tasks EXCEPT ![SinkTask] = step.task]
           /\ Externally(after)
           /\ Report(SinkTask, step.out, {},
                     Filed(step.out, SinkTask, [received |-> received, held |-> Held(after)]))
    /\ channel' = [channel EXCEPT ![ToSink] = Tail(@)]
    /\ UNCHANGED <<attempts, offset, gate, counted, received>>

(* System: messages arrive. *)

(* The effects that its subtask passes to the sink. *)
RECURSIVE Heard(_, _)
Heard(s, effects) ==
    IF effects = <<>> THEN s
    ELSE Heard(CASE Head(effects)[1] = "notify_complete" -> OnNotifyComplete(s, Head(effects)[2]).sink
                [] Head(effects)[1] = "notify_abort" -> OnNotifyAbort(s, Head(effects)[2]).sink
                [] OTHER -> s,
              Tail(effects))

TaskHears ==
    \E m \in net :
        /\ m[2] \in {"notify_complete", "notify_abort"} /\ IsCurrent(m[1])
        /\ LET step == IF m[2] = "notify_complete" THEN OnCompleteNotification(tasks[m[3]], m[4])
                       ELSE OnAbortNotification(tasks[m[3]], m[4], m[5])
           IN  /\ tasks' = [tasks EXCEPT ![m[3]] = step.task]
               /\ Externally(IF m[3] = SinkTask THEN Heard(sink, step.out) ELSE sink)
        /\ net' = net \ {m}
    /\ UNCHANGED <<attempts, coordinator, offset, channel, gate, sinkGate, counted, received, snapshots>>

CoordinatorHears ==
    \E m \in net :
        /\ m[2] \in {"acknowledge", "decline"} /\ IsCurrent(m[1])
        /\ LET step == Hear(coordinator, m)
           IN  /\ coordinator' = step.coordinator /\ net' = (net \ {m}) \cup Sent(step)
               /\ snapshots' = Kept(snapshots, step.out)
    /\ UNCHANGED <<attempts, offset, channel, gate, sinkGate, tasks, counted, received, external>>

(* System: items of an ended attempt are discarded (ONCE-06). *)
DropStale ==
    /\ \/ \E c \in DOMAIN channel :
            /\ channel[c] # <<>> /\ ~IsCurrent(Head(channel[c])[1])
            /\ channel' = [channel EXCEPT ![c] = Tail(@)] /\ net' = net
       \/ \E m \in net : ~IsCurrent(m[1]) /\ net' = net \ {m} /\ channel' = channel
    /\ UNCHANGED <<attempts, coordinator, offset, gate, sinkGate, tasks, counted, received, external,
                   snapshots>>

------------------------------------------------------------------------------
(* Environment: a checkpoint is requested; a snapshot cannot be written; the *)
(* store fails; the job fails.                                               *)

Request ==
    /\ coordinator.next <= MaxCheckpoint /\ coordinator.queue = <<>>
    /\ \E type \in AskedFor :
        /\ type = "savepoint" \/ HasRoom(coordinator)
        /\ LET step == OnRequest(coordinator, ByHand(type))
           IN  coordinator' = step.coordinator /\ net' = net \cup Sent(step)
    /\ UNCHANGED <<attempts, offset, channel, gate, sinkGate, tasks, counted, received, external,
                   snapshots>>

Decline ==
    /\ declined < MaxDeclines /\ coordinator.pending # <<>>
    /\ declined' = declined + 1
    /\ LET step == OnDecline(coordinator, Head(coordinator.pending).id, "ASYNC_EXCEPTION")
       IN  coordinator' = step.coordinator /\ net' = net \cup Sent(step)
    /\ UNCHANGED <<attempt, restored, offset, channel, gate, sinkGate, tasks, counted, received,
                   external, snapshots>>

StoreFails ==
    /\ coordinator.fault = "none" /\ coordinator.unseen = {}
    /\ \E when \in WaysToFail : coordinator' = OnStoreFails(coordinator, when).coordinator
    /\ UNCHANGED <<attempts, net, offset, channel, gate, sinkGate, tasks, counted, received, external,
                   snapshots>>

(* ONCE-04: the one completed checkpoint that every task reads.              *)
RestoreFrom(k, t) == LatestId(k.store)

(* The coordinator after a failure. *)
Survivor ==
    IF IsReplaced THEN OnCoordinatorRestart(coordinator).coordinator
    ELSE OnFailTasks(coordinator, Tasks).coordinator

(* The job fails and restarts in one step: between the two no task runs, and *)
(* arriving items are discarded. The restored snapshot commits the sink's    *)
(* transactions that it holds; the others are lost.                          *)
Fail ==
    /\ attempt < MaxFailures
    /\ attempt' = attempt + 1 /\ declined' = declined
    /\ restored' = LatestId(Survivor.store)
    /\ LET state == [t \in Tasks |-> snapshots[RestoreFrom(Survivor, t)][t]]
       IN  /\ offset' = [s \in Sources |-> state[s]]
           /\ counted' = state[Operator]
           /\ received' = state[SinkTask].received
           /\ Externally(OnRestore(OnCrash(sink).sink, state[SinkTask].held).sink)
    /\ coordinator' = [Survivor EXCEPT !.running = TRUE, !.up = Tasks]
    /\ snapshots' = [n \in DOMAIN snapshots |->
                        IF n = 0 \/ n \in {e.id : e \in Durable(coordinator)} THEN snapshots[n] ELSE <<>>]
    /\ gate' = NewGate({0, 1}) /\ sinkGate' = NewGate({0})
    /\ tasks' = [t \in Tasks |-> NewSubtask]
    /\ net' = IF Zombies THEN net ELSE {}
    /\ channel' = IF Zombies THEN channel ELSE [c \in DOMAIN channel |-> <<>>]

Next ==
    \/ \E s \in Sources : Emit(s) \/ SourceTriggered(s) \/ OperatorCounts(s) \/ OperatorAligns(s)
    \/ SinkWrites \/ SinkSnapshots \/ TaskHears \/ CoordinatorHears \/ DropStale
    \/ Request \/ Decline \/ StoreFails \/ Fail

Spec == Init /\ [][Next]_vars

------------------------------------------------------------------------------
(* The checkpoint of the next restore; a new coordinator finds all durable   *)
(* ones.                                                                     *)
Latest ==
    IF IsReplaced THEN Greatest({0} \cup {e.id : e \in Durable(coordinator)})
    ELSE LatestId(coordinator.store)

Cut == INSTANCE ConsistentCut WITH
    Inputs <- Sources, From <- Start, Upto <- [s \in Sources |-> Start[s] + MaxRecords],
    cut <- [s \in Sources |-> snapshots[Latest][s]], saved <- snapshots[Latest][Operator],
    live <- counted, output <- output

THEOREM Spec => Cut!Spec
==============================================================================
