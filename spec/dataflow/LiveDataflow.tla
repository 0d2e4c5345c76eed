---------------------------- MODULE LiveDataflow -----------------------------
(***************************************************************************)
(* The dataflow with a bounded number of faults: the job fails, snapshots  *)
(* fail, messages are lost, MaxDeclines times in all. Rule LIVE-03: every  *)
(* record is committed eventually.                                         *)
(*                                                                         *)
(* A checkpoint expires when no other step is possible, because time-outs  *)
(* are long. Checkpoints are requested again and again. Ids have a bound   *)
(* in this module, so the last id represents all that follow. It is        *)
(* requested when the sources have no more records. From then on no fault  *)
(* occurs.                                                                 *)
(***************************************************************************)
EXTENDS DataflowModel

IsOver == coordinator.next > MaxCheckpoint

(* A fault can still occur. This is an operator, so that a model can replace *)
(* it.                                                                       *)
MayGoWrong == ~IsOver /\ attempt + declined < MaxDeclines

IsTime == coordinator.next = MaxCheckpoint => HasSentAll

RequestInTime == IsTime /\ Request

(* Time passes until the pending checkpoints expire. *)
TimeOut ==
    /\ coordinator.pending # <<>> /\ ~IsMoving
    /\ LET step == OnTick(coordinator)
       IN  coordinator' = step.coordinator /\ net' = net \cup Sent(step)
    /\ UNCHANGED <<attempts, offset, channel, gate, sinkGate, tasks, counted, received, external, snapshots>>

Lose ==
    /\ MayGoWrong /\ declined' = declined + 1
    /\ \E m \in net : net' = net \ {m}
    /\ UNCHANGED <<attempt, restored, coordinator, offset, channel, gate, sinkGate, tasks, counted,
                   received, external, snapshots>>

System ==
    \/ \E s \in Sources : Emit(s) \/ SourceTriggered(s) \/ OperatorCounts(s) \/ OperatorAligns(s)
    \/ SinkWrites \/ SinkSnapshots \/ TaskReceives \/ CoordinatorReceives \/ DropStale
    \/ RequestInTime \/ TimeOut

LiveNext == System \/ Lose \/ (MayGoWrong /\ (Fail \/ Decline))

(* The actions of the system, each with its source or channel. Can(a) is     *)
(* ENABLED <<Do(a)>>_vars, written out because TLC takes very long to        *)
(* compute it. FairDataflow checks that both are equal.                      *)
Actions ==
    ({"Emit", "SourceTriggered", "OperatorCounts", "OperatorAligns"} \X Sources)
    \cup ({"SinkWrites", "SinkSnapshots", "TaskReceives", "CoordinatorReceives", "DropStale", "Request",
           "TimeOut"} \X {ToSink})

HasItem(c) == channel[c] # <<>> /\ IsCurrent(Head(channel[c])[1])
HasRecord(c) == HasItem(c) /\ Head(channel[c])[2] = "record"
HasBarrier(c) == HasItem(c) /\ Head(channel[c])[2] # "record"
HasMessage(kinds) == \E m \in net : m[2] \in kinds /\ IsCurrent(m[1])

Can(a) ==
    CASE a[1] = "Emit" -> offset[a[2]] < Start[a[2]] + MaxRecords
      [] a[1] = "SourceTriggered" -> \E m \in net : m[2] = "trigger_task" /\ m[3] = a[2] /\ IsCurrent(m[1])
      [] a[1] = "OperatorCounts" -> HasRecord(a[2]) /\ Readable(gate, a[2])
      [] a[1] = "OperatorAligns" -> HasBarrier(a[2]) /\ Readable(gate, a[2])
      [] a[1] = "SinkWrites" -> HasRecord(ToSink)
      [] a[1] = "SinkSnapshots" -> HasBarrier(ToSink)
      [] a[1] = "TaskReceives" -> HasMessage({"notify_complete", "notify_abort"})
      [] a[1] = "CoordinatorReceives" -> HasMessage({"acknowledge", "decline"})
      [] a[1] = "DropStale" ->
            \/ \E m \in net : ~IsCurrent(m[1])
            \/ \E c \in DOMAIN channel : channel[c] # <<>> /\ ~IsCurrent(Head(channel[c])[1])
      [] a[1] = "Request" -> coordinator.next <= MaxCheckpoint /\ HasRoom(coordinator) /\ IsTime
      [] a[1] = "TimeOut" ->
            coordinator.pending # <<>> /\ ~IsMoving /\ OnTick(coordinator).coordinator # coordinator

HasToDo == \E a \in Actions : Can(a)

(* Weak fairness: the system stops only if no step is possible. *)
LiveSpec == Init /\ [][LiveNext]_vars /\ ([]<>~HasToDo \/ []<><<System>>_vars)

------------------------------------------------------------------------------
AllIsCommitted == \A s \in Sources : output[s] = Upwards(Start[s], MaxRecords)

LIVE_03 == <>AllIsCommitted

(* A lost message can block a channel, but only until the next checkpoint. *)
StopsOnlyAtTheEnd == HasToDo \/ AllIsCommitted

------------------------------------------------------------------------------
(* Replacements: each takes the place of the operator in its comment.        *)

ForEver == declined < MaxDeclines                                   \* MayGoWrong
NothingExpires(k) == CoordinatorStep(k, <<>>)                       \* OnTick
==============================================================================
