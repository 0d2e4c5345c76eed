----------------------------- MODULE AnyDataflow ------------------------------
(***************************************************************************)
(* Barrier snapshots on a dataflow that is an input: any tasks, joined by  *)
(* channels without a cycle. A task without an input reads numbers, a task *)
(* without an output writes transactions.                                  *)
(*                                                                         *)
(* An operator is its history: the sequence of what it read, from whom.    *)
(* What it sends for a record is its history, so that a record shows all   *)
(* that it depends on, also the order in which channels were read. The     *)
(* histories of all tasks are a failure-free run if each task has read     *)
(* only what the others send (see AnyDataflowModel). A subtask can hold    *)
(* several tasks, then called key groups (see KeyGroups).                  *)
(*                                                                         *)
(* Each thing that can be late is a step of its own: a snapshot is taken,  *)
(* stored, acknowledged; a checkpoint begins, completes, is aborted; a     *)
(* task is notified, commits; the job crashes, and is restored.            *)
(*                                                                         *)
(* Source: Carbone et al. 2015; Flink's documentation of fault tolerance.  *)
(***************************************************************************)
EXTENDS KeyGroups, TLC

CONSTANTS
    MaxRecords,     \* number of records that each source reads
    Capacity,       \* number of records and barriers that a channel holds
    MaxCheckpoint,  \* checkpoints have ids 1 .. MaxCheckpoint; 0 is the start of the job
    MaxConcurrent,  \* number of checkpoints in flight
    MaxFailures,    \* number of crashes
    MaxAborts,      \* number of checkpoints that time out or are declined
    Slow            \* tasks whose snapshots take time; the others store and acknowledge at once

Ids == 1 .. MaxCheckpoint

Unaligned == {}     \* checkpoints whose barriers overtake records; a model replaces it

Ends == FALSE       \* inputs end, and tasks finish; a model replaces it

Stops == {}         \* savepoints with which the job stops; a model replaces it

(* Unaligned checkpoints come one after the other, and their snapshots take  *)
(* time.                                                                     *)
ASSUME Unaligned # {} => MaxConcurrent = 1 /\ Tasks \subseteq Slow
ASSUME Unaligned \cap Stops = {}

(* Rescaling is here without channel state, and without tasks that finish.   *)
ASSUME Ends \/ Unaligned # {} => \A t \in Tasks : \A k \in 0 .. MaxFailures : GroupAt(k, t) = {t}

VARIABLES
    up,             \* the tasks run
    failures,       \* number of crashes so far
    aborts,         \* number of checkpoints that were aborted
    next,           \* the coordinator's next id
    pending,        \* ids of the checkpoints in flight
    latest,         \* the latest completed checkpoint
    task,           \* by task: its state, see NewTask
    channel,        \* by channel: its items, <<"record", history>>, <<"barrier", id>> or <<"end">>
    captured,       \* by id and task: what the synchronous part of the snapshot took
    stored,         \* by id: tasks whose snapshot is stored
    acknowledged,   \* by id: tasks that have acknowledged
    kept,           \* by id and channel: the records that a barrier has overtaken
    output,         \* by sink: the committed records
    committed       \* by sink: the latest transaction that is committed

coordinator == <<next, pending, latest, aborts>>
snapshots == <<captured, stored, acknowledged, kept>>
outside == <<output, committed>>
vars == <<up, failures, coordinator, task, channel, snapshots, outside>>

NewTask ==
    [history |-> <<>>,      \* what it has read: numbers, or <<channel, record>>
     written |-> <<>>,      \* of a sink: the open transaction
     prepared |-> <<>>,     \* of a sink: pre-committed transactions, <<id, records>>
     passed |-> 0,          \* the latest checkpoint of which it took a snapshot, or which it gave up
     aligning |-> 0,        \* the checkpoint whose barriers it collects; 0: none
     arrived |-> {},        \* the channels that have delivered its barrier
     ended |-> {},          \* the channels on which nothing follows
     finished |-> FALSE]    \* it has read all of its input and has finished

Groups == [k \in 0 .. MaxFailures |-> [t \in Tasks |-> GroupAt(k, t)]]

(* The key groups of the task's subtask. One of them stands for all.         *)
Group(t) == Groups[failures][t]
IsFirst(t) == t = Least(Group(t))

(* The channels between two subtasks: a barrier comes on all of them.        *)
Bundle(c) ==
    {d \in Channels : From(d) \in Group(From(c)) /\ To(d) \in Group(To(c)) /\ Copy(d) = Copy(c)}

StateOf(t, prepared) ==
    [history |-> task[t].history, prepared |-> prepared, finished |-> task[t].finished]

Init ==
    /\ up = TRUE /\ failures = 0 /\ aborts = 0 /\ next = 1 /\ pending = {} /\ latest = 0
    /\ task = [t \in Tasks |-> NewTask]
    /\ channel = [c \in Channels |-> <<>>]
    /\ captured = [n \in Ids \cup {0} |->
                    IF n = 0 THEN [t \in Tasks |-> [history |-> <<>>, prepared |-> <<>>, finished |-> FALSE]]
                    ELSE <<>>]
    /\ stored = [n \in Ids \cup {0} |-> IF n = 0 THEN Tasks ELSE {}]
    /\ acknowledged = stored
    /\ kept = [n \in Ids \cup {0} |-> [c \in Channels |-> <<>>]]
    /\ output = [t \in Sinks |-> <<>>] /\ committed = [t \in Sinks |-> 0]

------------------------------------------------------------------------------
(* System: records. *)

(* Credit: the reader of the channel has a buffer for one more item. *)
HasCredit(c) == Len(channel[c]) < Capacity

CanSend(t) == up /\ \A c \in Outputs(t) : HasCredit(c)

Sent(group, item, channels) ==
    [c \in Channels |-> IF From(c) \in group THEN Append(channels[c], item) ELSE channels[c]]

Without(cs) == [c \in Channels |-> IF c \in cs THEN Tail(channel[c]) ELSE channel[c]]

Process(t, entry, channels) ==
    LET history == Append(task[t].history, entry)
    IN  /\ task' = [task EXCEPT ![t].history = history,
                                ![t].written = IF t \in Sinks THEN Append(@, entry) ELSE @]
        /\ channel' = Sent({t}, <<"record", history>>, channels)

(* A task that has passed a savepoint with which the job stops waits for its *)
(* completion, which ends the job, or for its abort.                         *)
Suspended(t) == task[t].passed \in Stops /\ task[t].passed \in pending \cup {latest}

ReadInput(t) ==
    /\ CanSend(t) /\ ~Suspended(t) /\ Len(task[t].history) < MaxRecords
    /\ Process(t, Len(task[t].history) + 1, channel)
    /\ UNCHANGED <<up, failures, coordinator, snapshots, outside>>

(* The snapshot is taken, and records of channels without a barrier are kept. *)
Recording(t) == task[t].aligning # 0 /\ task[t].aligning = task[t].passed

(* A channel whose barrier waits for others is blocked, unless the snapshot  *)
(* is taken already.                                                         *)
Readable(c) == c \notin task[To(c)].arrived \/ Recording(To(c))

Kept(c, records) ==
    LET t == To(c)
    IN  IF Recording(t) /\ c \notin task[t].arrived
        THEN [kept EXCEPT ![task[t].aligning][c] = @ \o records] ELSE kept

ReadRecord(c) ==
    /\ CanSend(To(c)) /\ channel[c] # <<>> /\ Head(channel[c])[1] = "record" /\ Readable(c)
    /\ Process(To(c), <<c, Head(channel[c])[2]>>, Without({c}))
    /\ kept' = Kept(c, <<Head(channel[c])>>)
    /\ UNCHANGED <<up, failures, coordinator, captured, stored, acknowledged, outside>>

------------------------------------------------------------------------------
(* System: barriers and snapshots. *)

(* What a sink has to commit after its snapshot of checkpoint n. *)
PreCommitted(t, n) ==
    IF task[t].written = <<>> THEN task[t].prepared
    ELSE Append(task[t].prepared, <<n, task[t].written>>)

(* The synchronous part: the state of the subtask's key groups is captured,  *)
(* the barrier goes on. From the channels `awaited` a barrier is still to    *)
(* come; others have `ended`.                                                *)
SnapshotBefore(t, n, channels, awaited, ended) ==
    LET group == Group(t)
        at_once == n \in pending /\ group \cap Slow = {}
        After(u) == [task[u] EXCEPT !.written = <<>>, !.prepared = PreCommitted(u, n), !.passed = n,
                                    !.ended = ended \cap Inputs(u),
                                    !.aligning = IF awaited = {} THEN 0 ELSE n,
                                    !.arrived = IF awaited = {} THEN {} ELSE Inputs(u) \ awaited]
    IN  /\ \A u \in group : CanSend(u)
        /\ channel' = Sent(group, <<"barrier", n>>, channels)
        /\ task' = [u \in Tasks |-> IF u \in group THEN After(u) ELSE task[u]]
        /\ captured' = IF n \in pending
                       THEN [captured EXCEPT ![n] = [u \in group |-> StateOf(u, PreCommitted(u, n))] @@ @]
                       ELSE captured
        /\ stored' = IF at_once THEN [stored EXCEPT ![n] = @ \cup group] ELSE stored
        /\ acknowledged' = IF at_once THEN [acknowledged EXCEPT ![n] = @ \cup group] ELSE acknowledged

Snapshot(t, n, channels) ==
    SnapshotBefore(t, n, channels, {}, UNION {task[u].ended : u \in Group(t)}) /\ kept' = kept

(* The coordinator's trigger arrives at a task without a running predecessor. *)
Trigger(t) ==
    LET due == {n \in pending : n > task[t].passed}
    IN  /\ IsFirst(t) /\ \A u \in Group(t) : Inputs(u) = task[u].ended /\ ~task[u].finished
        /\ due # {} /\ Snapshot(t, Least(due), channel)
        /\ UNCHANGED <<up, failures, coordinator, outside>>

(* All barriers have arrived; an ended channel counts. *)
Counted(t) == task[t].ended
IsAligned(t, arrived) == \A u \in Group(t) : Inputs(u) \subseteq arrived \cup Counted(u)

(* Barriers of a newer checkpoint end the alignment of an older one. *)
ReadBarrier(c) ==
    /\ up /\ c = Least(Bundle(c)) /\ channel[c] # <<>> /\ Head(channel[c])[1] = "barrier"
    /\ \A d \in Bundle(c) : Readable(d) /\ channel[d] # <<>> /\ Head(channel[d]) = Head(channel[c])
    /\ Head(channel[c])[2] \notin Unaligned
    /\ LET group == Group(To(c))
           n == Head(channel[c])[2]
           is_new == n > task[To(c)].passed /\ n >= task[To(c)].aligning
           before == IF n = task[To(c)].aligning THEN UNION {task[u].arrived : u \in group} ELSE {}
           arrived == Bundle(c) \cup before
       IN  IF is_new /\ IsAligned(To(c), arrived)
           THEN Snapshot(To(c), n, Without(Bundle(c)))
           ELSE /\ channel' = Without(Bundle(c)) /\ UNCHANGED snapshots
                /\ task' = [u \in Tasks |->
                     IF is_new /\ u \in group
                     THEN [task[u] EXCEPT !.aligning = n, !.arrived = arrived \cap Inputs(u)] ELSE task[u]]
    /\ UNCHANGED <<up, failures, coordinator, outside>>

(* The first barrier of an unaligned checkpoint is the moment of the         *)
(* snapshot, wherever in the channel it is; what each barrier overtakes is   *)
(* kept.                                                                     *)
Overtake(c) ==
    /\ up /\ \E k \in DOMAIN channel[c] :
        /\ channel[c][k][1] = "barrier" /\ channel[c][k][2] \in Unaligned
        /\ \A i \in 1 .. k - 1 : channel[c][i][1] = "record"
        /\ LET t == To(c)
               n == channel[c][k][2]
               ahead == SubSeq(channel[c], 1, k - 1)
               rest == [channel EXCEPT ![c] = ahead \o SubSeq(@, k + 1, Len(@))]
               open == (Inputs(t) \ {c}) \ task[t].ended
               awaited == open \ (IF Recording(t) THEN task[t].arrived ELSE {})
           IN  CASE n > task[t].passed ->
                        /\ SnapshotBefore(t, n, rest, open, task[t].ended)
                        /\ kept' = IF n \in pending THEN [kept EXCEPT ![n][c] = ahead] ELSE kept
                 [] n = task[t].passed /\ Recording(t) ->
                        /\ task' = [task EXCEPT ![t].aligning = IF awaited = {} THEN 0 ELSE n,
                                                ![t].arrived = IF awaited = {} THEN {} ELSE @ \cup {c}]
                        /\ channel' = rest /\ kept' = IF n \in pending THEN Kept(c, ahead) ELSE kept
                        /\ UNCHANGED <<captured, stored, acknowledged>>
                 [] OTHER -> channel' = rest /\ UNCHANGED <<task, snapshots>>
    /\ UNCHANGED <<up, failures, coordinator, outside>>

(* Nothing follows on the channel: an alignment can be complete with that,   *)
(* or the state of all channels of an unaligned checkpoint.                  *)
ReadEnd(c) ==
    /\ up /\ channel[c] # <<>> /\ Head(channel[c])[1] = "end" /\ Readable(c)
    /\ LET t == To(c)
           n == task[t].aligning
           ended == task[t].ended \cup {c}
           delivered == task[t].arrived \cup ended = Inputs(t)
       IN  IF n # 0 /\ delivered /\ ~Recording(t)
           THEN SnapshotBefore(t, n, Without({c}), {}, ended) /\ kept' = kept
           ELSE /\ channel' = Without({c}) /\ UNCHANGED snapshots
                /\ task' = [task EXCEPT ![t] =
                     [@ EXCEPT !.ended = ended,
                               !.aligning = IF delivered THEN 0 ELSE @,
                               !.arrived = IF delivered THEN {} ELSE @]]
    /\ UNCHANGED <<up, failures, coordinator, outside>>

(* A task that has read all of its input finishes. A sink waits until all    *)
(* that it wrote is committed: it waits for the final checkpoint.            *)
IsSettled(t) == task[t].written = <<>> /\ task[t].prepared = <<>>

Finish(t) ==
    /\ Ends /\ ~task[t].finished /\ CanSend(t) /\ ~Suspended(t)
    /\ Inputs(t) = task[t].ended /\ IsSettled(t)
    /\ t \in Sources => Len(task[t].history) = MaxRecords
    /\ task' = [task EXCEPT ![t].finished = TRUE]
    /\ channel' = Sent({t}, <<"end">>, channel)
    /\ UNCHANGED <<up, failures, coordinator, snapshots, outside>>

(* A task is notified that the checkpoint is aborted. *)
GiveUp(t) ==
    /\ up /\ IsFirst(t) /\ task[t].aligning \notin pending \cup {0}
    /\ task' = [u \in Tasks |->
         IF u \in Group(t)
         THEN [task[u] EXCEPT !.passed = task[u].aligning, !.aligning = 0, !.arrived = {}] ELSE task[u]]
    /\ UNCHANGED <<up, failures, coordinator, channel, snapshots, outside>>

(* The asynchronous part ends. *)
Store(t, n) ==
    /\ up /\ IsFirst(t) /\ t \in DOMAIN captured[n] \ stored[n] /\ task[t].aligning # n
    /\ stored' = [stored EXCEPT ![n] = @ \cup Group(t)]
    /\ UNCHANGED <<up, failures, coordinator, task, channel, captured, acknowledged, kept, outside>>

------------------------------------------------------------------------------
(* System: the coordinator, and the commits. *)

(* The job stops with a savepoint that is in flight, or complete. *)
Stopping == Stops \cap pending # {} \/ \E t \in Tasks : Suspended(t)

Begin ==
    /\ up /\ ~Stopping /\ next <= MaxCheckpoint /\ Cardinality(pending) < MaxConcurrent
    /\ next' = next + 1 /\ pending' = pending \cup {next}
    /\ UNCHANGED <<up, failures, latest, aborts, task, channel, snapshots, outside>>

Acknowledge(t, n) ==
    /\ n \in pending /\ IsFirst(t) /\ t \in stored[n] \ acknowledged[n]
    /\ acknowledged' = [acknowledged EXCEPT ![n] = @ \cup Group(t)]
    /\ UNCHANGED <<up, failures, coordinator, task, channel, captured, stored, kept, outside>>

(* The coordinator counts a finished task: the task's part is its final      *)
(* state. The parts of the tasks that it has read from come first.           *)
MayCount(t, n) == \A c \in Inputs(t) : From(c) \in DOMAIN captured[n] /\ captured[n][From(c)].finished

Count(t, n) ==
    /\ up /\ n \in pending /\ task[t].finished /\ t \notin DOMAIN captured[n] /\ MayCount(t, n)
    /\ captured' = [captured EXCEPT ![n] = (t :> StateOf(t, task[t].prepared)) @@ @]
    /\ stored' = [stored EXCEPT ![n] = @ \cup {t}]
    /\ acknowledged' = [acknowledged EXCEPT ![n] = @ \cup {t}]
    /\ UNCHANGED <<up, failures, coordinator, task, channel, kept, outside>>

(* What is left of the snapshots when only these checkpoints matter. *)
Keep(ids) ==
    /\ captured' = [n \in DOMAIN captured |-> IF n \in ids THEN captured[n] ELSE <<>>]
    /\ stored' = [n \in DOMAIN stored |-> IF n \in ids THEN stored[n] ELSE {}]
    /\ acknowledged' = [n \in DOMAIN stored |-> IF n \in ids THEN acknowledged[n] ELSE {}]
    /\ kept' = [n \in DOMAIN stored |-> IF n \in ids THEN kept[n] ELSE [c \in Channels |-> <<>>]]

Enough(n) == acknowledged[n] = Tasks

Complete(n) ==
    /\ n \in pending /\ Enough(n)
    /\ latest' = n /\ pending' = {m \in pending : m > n}
    /\ Keep(pending' \cup {0, n})
    /\ UNCHANGED <<up, failures, next, aborts, task, channel, outside>>

(* A sink is notified of the latest completed checkpoint. The external       *)
(* system ignores a second commit of a transaction.                          *)
MayCommit(n) == n <= latest

RECURSIVE Joined(_)
Joined(parts) == IF parts = <<>> THEN <<>> ELSE Head(parts)[2] \o Joined(Tail(parts))

Commit(t) ==
    LET due == SelectSeq(task[t].prepared, LAMBDA p : MayCommit(p[1]))
        new == SelectSeq(due, LAMBDA p : p[1] > committed[t])
    IN  /\ up /\ due # <<>>
        /\ task' = [task EXCEPT ![t].prepared = SelectSeq(@, LAMBDA p : ~MayCommit(p[1]))]
        /\ output' = [output EXCEPT ![t] = @ \o Joined(new)]
        /\ committed' = [committed EXCEPT ![t] = Greatest({@} \cup {p[1] : p \in Range(new)})]
        /\ UNCHANGED <<up, failures, coordinator, channel, snapshots>>

------------------------------------------------------------------------------
(* Environment: a checkpoint times out or is declined; the job crashes, and  *)
(* is restored.                                                              *)

Abort(n) ==
    /\ n \in pending /\ aborts < MaxAborts
    /\ aborts' = aborts + 1 /\ pending' = pending \ {n}
    /\ Keep(pending' \cup {0, latest})
    /\ UNCHANGED <<up, failures, next, latest, task, channel, outside>>

(* The checkpoints in flight end with the attempt. Later acknowledgements of *)
(* its tasks have no effect.                                                 *)
Surviving == {}

Crash ==
    /\ up /\ failures < MaxFailures
    /\ up' = FALSE /\ failures' = failures + 1 /\ pending' = Surviving
    /\ task' = [t \in Tasks |-> NewTask]
    /\ channel' = [c \in Channels |-> <<>>]
    /\ Keep(Surviving \cup {0, latest})
    /\ UNCHANGED <<next, latest, aborts, outside>>

(* The one completed checkpoint that every task reads.                       *)
RestoredFrom(t) == latest

(* A task that had finished there stays finished, and its channels end again. *)
StaysFinished(t) == captured[latest][t].finished

EndsAgain(t) == StaysFinished(t)

(* A key group that the subtask does not hold has the state of a new task.   *)
Part(t) == captured[IF Holds(failures, t) THEN RestoredFrom(t) ELSE 0][t]

Restore ==
    /\ ~up /\ up' = TRUE
    /\ task' = [t \in Tasks |-> [NewTask EXCEPT !.history = Part(t).history, !.prepared = Part(t).prepared,
                                                !.finished = StaysFinished(t)]]
    /\ channel' = [c \in Channels |-> IF EndsAgain(From(c)) THEN Append(kept[latest][c], <<"end">>)
                                      ELSE kept[latest][c]]
    /\ UNCHANGED <<failures, coordinator, snapshots, outside>>

(* All input is read, every checkpoint has ended, and no commit is due. *)
HasEnded ==
    /\ up /\ pending = {} /\ next > MaxCheckpoint
    /\ \A s \in Sources : Len(task[s].history) = MaxRecords
    /\ \A c \in Channels : channel[c] = <<>> /\ (Ends => c \in task[To(c)].ended)
    /\ \A t \in Sinks : \A i \in DOMAIN task[t].prepared : task[t].prepared[i][1] > latest

(* The job has stopped: the savepoint is complete, and what it holds is      *)
(* committed.                                                                *)
HasStopped ==
    /\ up /\ latest \in Stops /\ \A t \in Tasks : Suspended(t) \/ task[t].finished
    /\ \A t \in Sinks : task[t].prepared = <<>>

(* Only in these states the job stops. In others TLC reports a deadlock.     *)
Ended == (HasEnded \/ HasStopped) /\ UNCHANGED vars

Next ==
    \/ \E t \in Tasks : GiveUp(t) \/ Trigger(t) \/ Finish(t)
    \/ \E t \in Tasks : \E n \in Ids : Store(t, n) \/ Acknowledge(t, n) \/ Count(t, n)
    \/ \E s \in Sources : ReadInput(s)
    \/ \E c \in Channels : ReadRecord(c) \/ ReadBarrier(c) \/ Overtake(c) \/ ReadEnd(c)
    \/ \E n \in Ids : Complete(n) \/ Abort(n)
    \/ \E t \in Sinks : Commit(t)
    \/ Begin \/ Crash \/ Restore \/ Ended

Spec == Init /\ [][Next]_vars
==============================================================================
