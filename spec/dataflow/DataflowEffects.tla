--------------------------- MODULE DataflowEffects ---------------------------
(***************************************************************************)
(* The dataflow, and the effects of its last step: the messages of the     *)
(* coordinator, what the sink does with transactions, and the answers and  *)
(* barriers of the tasks. Each of the three is in its order.               *)
(*                                                                         *)
(* The comparison with the Python model needs this module, which states no *)
(* rule. The effects are those of the components' steps.                   *)
(***************************************************************************)
EXTENDS DataflowModel

VARIABLE did        \* the effects of the last step

IsMessage(e) == e[1] = "trigger_task" \/ (e[1] \in {"notify_complete", "notify_abort"} /\ Len(e) = 3)
IsOfSink(e) == e[1] \in {"pre_commit", "begin", "commit", "abort_transaction"}
IsOfTask(e) == e[1] \in {"acknowledge", "decline", "broadcast_barrier", "broadcast_cancel"}

Did(effects) ==
    did' = SelectSeq(effects, IsMessage) \o SelectSeq(effects, IsOfSink) \o SelectSeq(effects, IsOfTask)

(* The effects of a task, and those of the coordinator that reads them at once. *)
Reported(t, effects) ==
    effects \o IF t \in Slow THEN <<>> ELSE ReceiveAll(coordinator, Answers(t, effects), <<>>).out

Read == CHOOSE m \in net : m \notin net'

RECURSIVE OfSink(_, _)
OfSink(s, effects) ==
    IF effects = <<>> THEN <<>>
    ELSE LET step == CASE Head(effects)[1] = "notify_complete" -> OnNotifyComplete(s, Head(effects)[2])
                       [] Head(effects)[1] = "notify_abort" -> OnNotifyAbort(s, Head(effects)[2])
                       [] OTHER -> SinkStep(s, <<>>)
         IN  step.out \o OfSink(step.sink, Tail(effects))

------------------------------------------------------------------------------
EmitSeen(s) == Emit(s) /\ Did(<<>>)
SourceTriggeredSeen(s) ==
    SourceTriggered(s) /\ Did(Reported(s, ApplyEffects(tasks[s], <<<<"trigger", Read[4]>>>>, <<>>).out))
OperatorCountsSeen(c) == OperatorCounts(c) /\ Did(<<>>)
OperatorAlignsSeen(c) ==
    /\ OperatorAligns(c)
    /\ LET aligned == GateStep(gate, c, Head(channel[c]))
       IN  Did(Reported(Operator, ApplyEffects(tasks[Operator], aligned.out, <<>>).out))
SinkWritesSeen == SinkWrites /\ Did(<<>>)
SinkSnapshotsSeen ==
    /\ SinkSnapshots
    /\ LET item == Head(channel[ToSink])
           step == ApplyEffects(tasks[SinkTask], GateStep(sinkGate, 0, item).out, <<>>)
           taken == <<"snapshot", item[3]>> \in Range(step.out)
       IN  Did((IF taken THEN OnSnapshot(sink, item[3]).out ELSE <<>>) \o Reported(SinkTask, step.out))
TaskReceivesSeen ==
    /\ TaskReceives
    /\ LET m == Read
           step == IF m[2] = "notify_complete" THEN OnCompleteNotification(tasks[m[3]], m[4])
                   ELSE OnAbortNotification(tasks[m[3]], m[4], m[5])
       IN  Did(IF m[3] = SinkTask THEN OfSink(sink, step.out) ELSE <<>>)
CoordinatorReceivesSeen == CoordinatorReceives /\ Did(Receive(coordinator, Read).out)
DropStaleSeen == DropStale /\ Did(<<>>)
RequestSeen ==
    /\ Request
    /\ \E type \in RequestedTypes :
        LET step == OnRequest(coordinator, ByHand(type)) IN coordinator' = step.coordinator /\ Did(step.out)
DeclineSeen == Decline /\ Did(OnDecline(coordinator, Head(coordinator.pending).id, "ASYNC_EXCEPTION").out)
StoreFailsSeen == StoreFails /\ Did(<<>>)
FailSeen ==
    /\ Fail
    /\ LET held == snapshots[RestoreFrom(Survivor, SinkTask)][SinkTask].held
           ended == IF IsReplaced THEN OnCoordinatorRestart(coordinator) ELSE OnFailTasks(coordinator, Tasks)
       IN  Did(ended.out \o OnRestore(OnCrash(sink).sink, held).out)

NextSeen ==
    \/ \E s \in Sources :
        EmitSeen(s) \/ SourceTriggeredSeen(s) \/ OperatorCountsSeen(s) \/ OperatorAlignsSeen(s)
    \/ SinkWritesSeen \/ SinkSnapshotsSeen \/ TaskReceivesSeen \/ CoordinatorReceivesSeen \/ DropStaleSeen
    \/ RequestSeen \/ DeclineSeen \/ StoreFailsSeen \/ FailSeen

Observed == Init /\ did = <<>> /\ [][NextSeen]_<<vars, did>>
==============================================================================
