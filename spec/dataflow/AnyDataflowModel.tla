--------------------------- MODULE AnyDataflowModel ---------------------------
(***************************************************************************)
(* What must hold of barrier snapshots on any dataflow. Channels, records, *)
(* checkpoints, failures and aborts come from the configuration.           *)
(*                                                                         *)
(* A failure-free run is one history for each task: every record in it is  *)
(* the next one that its sender sends. The dataflow has no cycle, so the   *)
(* tasks can take these steps one after the other. The rules need only the *)
(* histories, so TLC explores no second run beside the job.                *)
(***************************************************************************)
EXTENDS AnyDataflow

(* What a task with this history has sent on each channel. *)
SentBy(history) == [i \in DOMAIN history |-> SubSeq(history, 1, i)]

(* What a history has read of a channel. *)
ReadOf(history, c) ==
    LET read == SelectSeq(history, LAMBDA entry : entry[1] = c)
    IN  [i \in DOMAIN read |-> read[i][2]]

Records(items) ==
    LET found == SelectSeq(items, LAMBDA item : item[1] = "record")
    IN  [i \in DOMAIN found |-> found[i][2]]

(* Records read before a cut or kept in the channel are exactly the records  *)
(* sent before it, in order.                                                 *)
Follows(c, history, in_flight) ==
    ReadOf(history[To(c)], c) \o in_flight = SentBy(history[From(c)])

TypeOK ==
    /\ failures \in 0 .. MaxFailures /\ aborts \in 0 .. MaxAborts
    /\ next \in 1 .. MaxCheckpoint + 1 /\ pending \subseteq 1 .. next - 1 /\ latest \in 0 .. next - 1
    /\ \A c \in Channels : Len(channel[c]) <= Capacity * Cardinality(Inputs(To(c)))
    /\ \A n \in DOMAIN captured :
        acknowledged[n] \subseteq stored[n] /\ stored[n] \subseteq DOMAIN captured[n]

(* A completed checkpoint holds the state of a failure-free run, with the    *)
(* records that it keeps in flight. If it is aligned, there are none.        *)
ConsistentCut ==
    /\ stored[latest] = Tasks
    /\ LET history == [t \in Tasks |-> captured[latest][t].history]
       IN  \A c \in Channels : Follows(c, history, Records(kept[latest][c]))
    /\ latest \notin Unaligned => \A c \in Channels : kept[latest][c] = <<>>

(* The job itself is at a state of a failure-free run, with its records in   *)
(* flight, however often it was restored.                                    *)
EachRecordOnce ==
    up => LET history == [t \in Tasks |-> task[t].history]
          IN  \A c \in Channels : Follows(c, history, Records(channel[c]))

(* The latest completed checkpoint is a cut of a failure-free run. The       *)
(* output is a prefix of the output of that run.                             *)
OutputOfTheRun == \A t \in Sinks : IsPrefixOf(output[t], captured[latest][t].history)

(* What a sink has read is committed, pre-committed or in its open           *)
(* transaction, each record once.                                            *)
NothingLeftOut ==
    up => \A t \in Sinks :
        LET uncommitted == SelectSeq(task[t].prepared, LAMBDA p : p[1] > committed[t])
        IN  task[t].history = output[t] \o Joined(uncommitted) \o task[t].written

(* A task that is finished in the latest completed checkpoint has read all   *)
(* of its input, and so have the tasks that it reads from.                   *)
FinishedForGood ==
    \A t \in DOMAIN captured[latest] : captured[latest][t].finished =>
        /\ t \in Sources => Len(captured[latest][t].history) = MaxRecords
        /\ \A c \in Inputs(t) : captured[latest][From(c)].finished /\ kept[latest][c] = <<>>

(* When all tasks have finished, the whole output of the run is visible.     *)
CompleteAtTheEnd ==
    (\A t \in Tasks : task[t].finished) =>
        /\ \A s \in Sources : Len(task[s].history) = MaxRecords
        /\ \A c \in Channels : Records(channel[c]) = <<>>
        /\ \A t \in Sinks : output[t] = task[t].history

(* When a savepoint with which the job stops is complete, no record behind   *)
(* it is read or sent. In the end all that it holds is visible.              *)
StopsAtTheSavepoint ==
    /\ (\E t \in Tasks : task[t].passed \in Stops /\ task[t].passed = latest) =>
        /\ \A t \in Tasks : task[t].history = captured[latest][t].history
        /\ \A c \in Channels : Records(channel[c]) = <<>>
    /\ HasStopped => \A t \in Sinks : output[t] = task[t].history

------------------------------------------------------------------------------
(* Replacements: each takes the place of the operator in its comment.        *)

Both == Ids                                                         \* Unaligned
OnlyFirst == {1}                                                    \* Unaligned
SecondStops == {2}                                                  \* Stops
FirstStops == {1}                                                   \* Stops
NeverSuspended(t) == FALSE                                          \* Suspended
SuspendedForGood(t) == task[t].passed \in Stops                     \* Suspended
Out(attempt, groups) == IF attempt = 0 THEN 1 ELSE groups           \* Parallelism
In(attempt, groups) ==                                              \* Parallelism
    IF attempt = 0 \/ groups = 1 THEN groups ELSE groups - 1
Even(subtask, subtasks, groups) ==                                  \* RangeOf
    (subtask * groups) \div subtasks .. ((subtask + 1) * groups) \div subtasks - 1
InputsEnd == TRUE                                                   \* Ends
NoneCounted(t) == {}                                                \* Counted
WaitsForNothing(t) == TRUE                                          \* IsSettled
NoEnd(t) == FALSE                                                   \* EndsAgain
KeepsNothing(c, records) == kept                                    \* Kept
NeverBlocked(c) == TRUE                                             \* Readable
OneBarrier(t, arrived) == TRUE                                      \* IsAligned
OneMissing(n) == Cardinality(Tasks \ acknowledged[n]) <= 1          \* Enough
Early(n) == TRUE                                                    \* MayCommit
AllSurvive == pending                                               \* Surviving
FirstCheckpoint(t) == 0                                             \* RestoredFrom
OnlyWithInputs(t) == IF t \in Sources THEN 0 ELSE latest            \* RestoredFrom

(* HasCredit: all channels of a reader take their buffers from one pool.     *)
RECURSIVE Total(_)
Total(cs) == IF cs = {} THEN 0 ELSE LET c == Least(cs) IN Len(channel[c]) + Total(cs \ {c})

SharedPool(c) ==
    LET gate == Inputs(To(c)) IN Total(gate) < Capacity * Cardinality(gate)
==============================================================================
