---------------------------- MODULE DataflowModel ----------------------------
(***************************************************************************)
(* The dataflow with constants for TLC, and the rules of the whole:        *)
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

(* The checkpoints that a restore may read now or, with a new coordinator,   *)
(* later.                                                                    *)
CompletedIds == {e.id : e \in Durable(coordinator)} \cup {0}

(* The records of source s between source and operator, sent in this attempt. *)
InFlight(s) == SelectSeq(channel[s], LAMBDA item : item[1] = attempt /\ item[2] = "record")

(* The first record of source s that the operator has not processed. *)
NextDue(s) == IF InFlight(s) = <<>> THEN offset[s] ELSE Head(InFlight(s))[4]

Upwards(from, n) == [i \in 1 .. n |-> from + i - 1]

(* The sequence of records has no duplicate and no gap. *)
IsGapless(s, records) == records = Upwards(Start[s], Len(records))

(* A message is under way, or a channel delivers.                            *)
IsMoving ==
    \/ net # {}
    \/ \E c \in DOMAIN channel : channel[c] # <<>> /\ (c = ToSink \/ Readable(gate, c))

HasSentAll == \A s \in Sources : offset[s] = Start[s] + MaxRecords

(* Nothing stays blocked: when nothing moves any more, all has been read.    *)
StuckOnlyAtTheEnd == IsMoving \/ ~HasSentAll \/ \A c \in DOMAIN channel : channel[c] = <<>>

------------------------------------------------------------------------------
ALIGN_17 == [][attempt' = attempt => \A c \in Sources :
    /\ c \in gate.blocked => IsPrefixOf(channel[c], channel'[c])
    /\ counted'[c] # counted[c] => channel'[c] = Tail(channel[c])]_vars

ONCE_01 == \A n \in CompletedIds :
    /\ DOMAIN snapshots[n] = Tasks
    /\ \A s \in Sources :
        /\ snapshots[n][Operator][s] = snapshots[n][s]
        /\ snapshots[n][SinkTask].received[s] = snapshots[n][s]

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

------------------------------------------------------------------------------
(* Replacements: each replaces the operator in its comment in a model that   *)
(* must fail.                                                                *)

NeverWaits(g, c) == TRUE                                        \* Readable
AnyAttempt(sent) == TRUE                                        \* IsCurrent
NewestSnapshot(k, t) == Greatest({n \in DOMAIN snapshots : t \in DOMAIN snapshots[n]})    \* RestoreFrom
FromTheBeginning(k, t) == IF t \in Sources THEN 0 ELSE Latest      \* RestoreFrom
CommitsAtOnce(s, n) ==                                          \* PreCommit
    SinkStep([s EXCEPT !.committed = @ \cup {s.open}, !.open = 0], <<<<"commit", s.open>>>>)
CommitsNothing(filed) == {}                                     \* Transactions
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
