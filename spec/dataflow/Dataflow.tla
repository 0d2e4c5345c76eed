------------------------------ MODULE Dataflow -------------------------------
(***************************************************************************)
(* The whole: two replayable sources, one operator that counts, and one    *)
(* transactional sink, joined by FIFO channels, with a coordinator, a      *)
(* store that can fail, and failures that restart the job, with the same   *)
(* coordinator or with a new one.                                          *)
(*                                                                         *)
(*     source 0 --channel 0--> operator --channel 2--> sink                *)
(*     source 1 --channel 1-->                                             *)
(*                                                                         *)
(* Composition.tla has the state, and makes the effects of one component   *)
(* events of the others. This module has the actions.                      *)
(*                                                                         *)
(* It implements ConsistentCut. DataflowModel.tla states ALIGN-17 and      *)
(* ONCE-01 to ONCE-06 over it. Source: Carbone et al. 2015; Flink's        *)
(* documentation of fault tolerance.                                       *)
(***************************************************************************)
EXTENDS Composition

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
        /\ LET step == ApplyEffects(tasks[s], <<<<"trigger", m[4]>>>>, <<>>)
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
           step == ApplyEffects(tasks[Operator], aligned.out, <<>>)
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
           step == ApplyEffects(tasks[SinkTask], aligned.out, <<>>)
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
RECURSIVE Notified(_, _)
Notified(s, effects) ==
    IF effects = <<>> THEN s
    ELSE Notified(CASE Head(effects)[1] = "notify_complete" -> OnNotifyComplete(s, Head(effects)[2]).sink
                   [] Head(effects)[1] = "notify_abort" -> OnNotifyAbort(s, Head(effects)[2]).sink
                   [] OTHER -> s,
                 Tail(effects))

TaskReceives ==
    \E m \in net :
        /\ m[2] \in {"notify_complete", "notify_abort"} /\ IsCurrent(m[1])
        /\ LET step == IF m[2] = "notify_complete" THEN OnCompleteNotification(tasks[m[3]], m[4])
                       ELSE OnAbortNotification(tasks[m[3]], m[4], m[5])
           IN  /\ tasks' = [tasks EXCEPT ![m[3]] = step.task]
               /\ Externally(IF m[3] = SinkTask THEN Notified(sink, step.out) ELSE sink)
        /\ net' = net \ {m}
    /\ UNCHANGED <<attempts, coordinator, offset, channel, gate, sinkGate, counted, received, snapshots>>

CoordinatorReceives ==
    \E m \in net :
        /\ m[2] \in {"acknowledge", "decline"} /\ IsCurrent(m[1])
        /\ LET step == Receive(coordinator, m)
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
    /\ \E type \in RequestedTypes :
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
(* arriving items are discarded. The restore commits the transactions of the *)
(* sink's snapshot. All other transactions are lost.                         *)
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
    /\ tasks' = [t \in Tasks |-> IF restored' = 0 THEN NewSubtask ELSE RestoredSubtask(restored')]
    /\ net' = IF Zombies THEN net ELSE {}
    /\ channel' = IF Zombies THEN channel ELSE [c \in DOMAIN channel |-> <<>>]

Next ==
    \/ \E s \in Sources : Emit(s) \/ SourceTriggered(s) \/ OperatorCounts(s) \/ OperatorAligns(s)
    \/ SinkWrites \/ SinkSnapshots \/ TaskReceives \/ CoordinatorReceives \/ DropStale
    \/ Request \/ Decline \/ StoreFails \/ Fail

Spec == Init /\ [][Next]_vars

------------------------------------------------------------------------------
(* The checkpoint of the next restore. A new coordinator finds all durable   *)
(* checkpoints.                                                              *)
Latest ==
    IF IsReplaced THEN Greatest({0} \cup {e.id : e \in Durable(coordinator)})
    ELSE LatestId(coordinator.store)

Cut == INSTANCE ConsistentCut WITH
    Inputs <- Sources, From <- Start, Upto <- [s \in Sources |-> Start[s] + MaxRecords],
    cut <- [s \in Sources |-> snapshots[Latest][s]], saved <- snapshots[Latest][Operator],
    live <- counted, output <- output

THEOREM Spec => Cut!Spec
==============================================================================
