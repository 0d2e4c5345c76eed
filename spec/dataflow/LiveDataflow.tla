---------------------------- MODULE LiveDataflow -----------------------------
(***************************************************************************)
(* The dataflow with a bounded number of faults: the job fails, snapshots  *)
(* fail, messages are lost, MaxDeclines times in all. Rule LIVE-03: every  *)
(* record is committed eventually.                                         *)
(*                                                                         *)
(* A checkpoint expires when no other step is possible: time-outs are that *)
(* long. Checkpoints are requested again and again. As ids are bounded     *)
(* here, the last one represents all that follow, and is requested when    *)
(* the sources have no more records. From then on no fault occurs.         *)
(***************************************************************************)
EXTENDS DataflowModel

IsOver == coordinator.next > MaxCheckpoint

(* A fault may still occur. This is an operator, so that a model can replace *)
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

(* The system can take a step: ENABLED <<System>>_vars, written out, because *)
(* TLC takes very long to compute it.                                        *)
HasToDo ==
    \/ IsMoving \/ ~HasSentAll
    \/ coordinator.next <= MaxCheckpoint /\ HasRoom(coordinator) /\ IsTime
    \/ coordinator.pending # <<>> /\ OnTick(coordinator).coordinator # coordinator

(* Weak fairness: the system stops only if no step is possible. *)
LiveSpec == Init /\ [][LiveNext]_vars /\ ([]<>~HasToDo \/ []<><<System>>_vars)

------------------------------------------------------------------------------
AllIsCommitted == \A s \in Sources : output[s] = Upwards(Start[s], MaxRecords)

LIVE_03 == <>AllIsCommitted

(* A lost message may hold up a channel, but only until the next checkpoint. *)
StopsOnlyAtTheEnd == HasToDo \/ AllIsCommitted

------------------------------------------------------------------------------
(* Replacements: each replaces the operator in its comment in a model that   *)
(* must fail.                                                                *)

ForEver == declined < MaxDeclines                                   \* MayGoWrong
NothingExpires(k) == CoordinatorStep(k, <<>>)                       \* OnTick
==============================================================================
