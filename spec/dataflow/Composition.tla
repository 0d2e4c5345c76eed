----------------------------- MODULE Composition -----------------------------
(***************************************************************************)
(* The state of the composed dataflow, and how the effects of one          *)
(* component become events of the others: a gate's trigger goes to its     *)
(* subtask, the subtask's barrier into its outputs, its answers to the     *)
(* coordinator, and the coordinator's messages to the tasks.               *)
(*                                                                         *)
(* The module defines no part of the protocol: gates, subtasks,            *)
(* coordinator, store and sink are those of Aligned, Subtask, Coordinator, *)
(* Store and Sink. Messages between tasks and the coordinator are a set:   *)
(* they arrive in any order, late, or never (a lost notification). Every   *)
(* message and record carries the attempt that sent it.                    *)
(***************************************************************************)
EXTENDS Aligned, Subtask, Coordinator, Sink, TLC

CONSTANTS
    Start,          \* by source: its initial offset
    MaxRecords,     \* number of records that each source sends
    MaxCheckpoint,  \* checkpoints have ids 1 .. MaxCheckpoint
    MaxFailures,    \* number of failures of the job
    MaxDeclines,    \* number of snapshots that cannot be written
    Slow,           \* tasks whose answers are messages; the answers of other tasks arrive at once
    Listening,      \* tasks that notifications can reach
    Zombies         \* in-flight messages and records can still arrive after a failure

Operator == 2
SinkTask == 3
ToSink == 2         \* the channel between them
Ids == 1 .. MaxCheckpoint

(* Further events of the environment; a model replaces these. *)
RequestedTypes == {"checkpoint"}    \* types of requested checkpoints
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
    output,         \* in the external system: by source, the committed records, in the order of commitment
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

(* The effects of a gate on its subtask, and the subtask's answers. The      *)
(* asynchronous part ends at once. If the task is slow, its answer stays in  *)
(* flight.                                                                   *)
RECURSIVE ApplyEffects(_, _, _)
ApplyEffects(t, orders, effects) ==
    IF orders = <<>> THEN Answer(t, effects)
    ELSE LET n == Head(orders)[2]
             step == CASE Head(orders)[1] = "trigger" -> OnTriggerAtBarrier(t, n, FALSE)
                       [] Head(orders)[1] = "abort" -> OnAbortOnBarrier(t, n, Head(orders)[3])
                       [] OTHER -> Answer(t, <<>>)
             done == OnAsyncDone(step.task, n)
         IN  ApplyEffects(done.task, Tail(orders), effects \o step.out \o done.out)

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

Receive(k, message) ==
    IF message[2] = "acknowledge" THEN OnAcknowledge(k, message[3], message[4])
    ELSE OnDecline(k, message[4], message[5])

RECURSIVE ReceiveAll(_, _, _)
ReceiveAll(k, messages, effects) ==
    IF messages = <<>> THEN CoordinatorStep(k, effects)
    ELSE LET step == Receive(k, Head(messages))
         IN  ReceiveAll(step.coordinator, Tail(messages), effects \o step.out)

(* Task t answers the coordinator; the messages in `taken` were read, and    *)
(* `states` are the snapshots with its own.                                  *)
Report(t, effects, taken, states) ==
    IF t \in Slow
    THEN /\ coordinator' = coordinator /\ net' = (net \ taken) \cup Range(Answers(t, effects))
         /\ snapshots' = states
    ELSE LET step == ReceiveAll(coordinator, Answers(t, effects), <<>>)
         IN  /\ coordinator' = step.coordinator /\ net' = (net \ taken) \cup Sent(step)
             /\ snapshots' = Kept(states, step.out)

(* The records of these transactions, in the order of writing. *)
RECURSIVE Joined(_, _)
Joined(s, transactions) ==
    IF transactions = <<>> THEN <<>>
    ELSE contents[Head(transactions)][s] \o Joined(s, Tail(transactions))

(* The sink becomes `after`: its committed records are output; of the        *)
(* others, only open and pre-committed ones matter.                          *)
Externally(after) ==
    LET matters == {after.open} \cup Transactions(after.pending)
    IN  /\ sink' = after
        /\ output' = [s \in Sources |-> output[s] \o Joined(s, InOrder(after.committed \ sink.committed))]
        /\ contents' = [x \in 1 .. after.next - 1 |->
                           IF x \in DOMAIN contents \cap matters THEN contents[x] ELSE Empty]
==============================================================================
