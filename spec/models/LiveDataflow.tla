----------------------------- MODULE LiveDataflow -----------------------------
(***************************************************************************)
(* The dataflow in a bad time that ends: the job fails, snapshots fail,    *)
(* messages are lost, MaxDeclines times in all. Rule LIVE-03: every record *)
(* is committed at last.                                                   *)
(*                                                                         *)
(* A checkpoint expires when nothing moves any more, so long are time-outs.*)
(* Checkpoints are asked for again and again; as ids are bounded here, the *)
(* last one stands for all that follow, and is asked for when the sources  *)
(* have nothing more to send. From then on nothing goes wrong any more.    *)
(***************************************************************************)
EXTENDS DataflowModel

IsOver == coordinator.next > MaxCheckpoint

(* Whether something may still go wrong. An operator of its own, so that a   *)
(* model can replace it.                                                     *)
MayGoWrong == ~IsOver /\ attempt + declined < MaxDeclines

HasSentAll == \A s \in Sources : offset[s] = Start[s] + MaxRecords

IsTime == coordinator.next = MaxCheckpoint => HasSentAll

IsMoving ==
    \/ net # {}
    \/ \E c \in DOMAIN channel : channel[c] # <<>> /\ (c = ToSink \/ Readable(gate, c))

Ask == IsTime /\ Request

(* So much time passes that what is pending expires. *)
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
    \/ SinkWrites \/ SinkSnapshots \/ TaskHears \/ CoordinatorHears \/ DropStale
    \/ Ask \/ TimeOut

LiveNext == System \/ Lose \/ (MayGoWrong /\ (Fail \/ Decline))

(* When the system can do something: ENABLED <<System>>_vars, written out,    *)
(* because TLC takes very long to find it out by itself.                     *)
HasToDo ==
    \/ IsMoving \/ ~HasSentAll
    \/ coordinator.next <= MaxCheckpoint /\ HasRoom(coordinator) /\ IsTime
    \/ coordinator.pending # <<>> /\ OnTick(coordinator).coordinator # coordinator

(* Weak fairness: the system stands still only where there is nothing to do. *)
LiveSpec == Init /\ [][LiveNext]_vars /\ ([]<>~HasToDo \/ []<><<System>>_vars)

------------------------------------------------------------------------------
LIVE_03 == <>(\A s \in Sources : output[s] = Upwards(Start[s], MaxRecords))

------------------------------------------------------------------------------
(* Replacements: each is put in the place of the operator in its comment by  *)
(* a model that must fail.                                                   *)

ForEver == declined < MaxDeclines                                   \* MayGoWrong
NothingExpires(k) == CoordinatorStep(k, <<>>)                       \* OnTick
==============================================================================
