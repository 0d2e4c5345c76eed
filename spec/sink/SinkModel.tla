------------------------------ MODULE SinkModel ------------------------------
(***************************************************************************)
(* One transactional sink in its environment: writes, snapshots with       *)
(* growing ids, completions of ids with a snapshot (their notification can *)
(* be late, repeated or lost), aborts, an end of the input, an orderly     *)
(* close, crashes, commits that fail, and restores from the newest         *)
(* completed checkpoint.                                                   *)
(*                                                                         *)
(* This module states rules SINK-01 to SINK-10 over one step: `sink`       *)
(* before and after, the event and the effects in out'.                    *)
(***************************************************************************)
EXTENDS Sink

CONSTANTS
    M,              \* checkpoint ids are 1 .. M
    MaxCrashes

VARIABLES
    sink,           \* the sink, see SinkType
    snapshots,      \* durable: by id, the contents of the snapshot; a partial function of 1 .. M
    completed,      \* the newest completed id, 0 before the first
    crashes,        \* number of crashes
    withdrawn,      \* in the external system: the transactions that were aborted
    out             \* the last event, then its effects

vars == <<sink, snapshots, completed, crashes, withdrawn, out>>
Ids == 1 .. M

EventType ==
    ({"snapshot", "notify_complete", "notify_abort", "restore"} \X (Ids \cup {0}))
    \cup ({"notify_complete_failing", "restore_failing"} \X Ids \X Nat)
    \cup {<<"write", 0>>, <<"finish">>, <<"crash">>, <<"close">>, <<"complete">>}
EffectType ==
    ({"pre_commit", "begin", "commit", "commit_failed", "abort_transaction"} \X Nat) \cup ({"write"} \X Nat \X {0})

TypeOK ==
    /\ sink \in SinkType
    /\ DOMAIN snapshots \subseteq Ids
    /\ completed \in 0 .. M
    /\ crashes \in 0 .. MaxCrashes
    /\ withdrawn \subseteq Nat
    /\ out = <<>> \/ (Head(out) \in EventType /\ Tail(out) \in Seq(EffectType))

Init ==
    /\ sink = NewSink /\ snapshots = <<>> /\ completed = 0 /\ crashes = 0 /\ withdrawn = {} /\ out = <<>>

------------------------------------------------------------------------------
(* System: the sink takes the event. *)

Aborted(effects) == {effects[i][2] : i \in {i \in DOMAIN effects : effects[i][1] = "abort_transaction"}}

Take(event, step) ==
    /\ sink' = step.sink
    /\ out' = <<event>> \o step.out
    /\ withdrawn' = withdrawn \cup Aborted(step.out)

Unmoved == UNCHANGED <<snapshots, completed, crashes>>

(* Environment. *)

Write ==
    /\ sink.running /\ ~sink.finished
    /\ Take(<<"write", 0>>, OnWrite(sink, 0)) /\ Unmoved

Newest == IF DOMAIN snapshots = {} THEN 0 ELSE Greatest(DOMAIN snapshots)

Snapshot(n) ==
    /\ sink.running /\ n > Newest /\ n > completed
    /\ LET step == OnSnapshot(sink, n)
       IN  /\ Take(<<"snapshot", n>>, step)
           /\ snapshots' = [i \in DOMAIN snapshots \cup {n} |->
                              IF i = n THEN Held(step.sink) ELSE snapshots[i]]
    /\ UNCHANGED <<completed, crashes>>

(* The coordinator completes a checkpoint. The notification can be lost. *)
Complete(n) ==
    /\ n \in DOMAIN snapshots /\ n > completed
    /\ completed' = n
    /\ out' = <<<<"complete">>>>
    /\ UNCHANGED <<sink, snapshots, crashes, withdrawn>>

NotifyComplete(n) ==
    /\ sink.running /\ n <= completed
    /\ Take(<<"notify_complete", n>>, OnNotifyComplete(sink, n)) /\ Unmoved

NotifyAbort(n) ==
    /\ sink.running
    /\ Take(<<"notify_abort", n>>, OnNotifyAbort(sink, n)) /\ Unmoved

Finish ==
    /\ sink.running /\ ~sink.finished /\ (WaitsAtTheEnd \/ crashes < MaxCrashes)
    /\ crashes' = IF WaitsAtTheEnd THEN crashes ELSE crashes + 1
    /\ Take(<<"finish">>, OnFinish(sink))
    /\ UNCHANGED <<snapshots, completed>>

Crash ==
    /\ sink.running /\ crashes < MaxCrashes
    /\ crashes' = crashes + 1
    /\ Take(<<"crash">>, OnCrash(sink))
    /\ UNCHANGED <<snapshots, completed>>

Close ==
    /\ sink.running /\ crashes < MaxCrashes
    /\ crashes' = crashes + 1
    /\ Take(<<"close">>, OnSinkClose(sink))
    /\ UNCHANGED <<snapshots, completed>>

NotifyCompleteFailing(n) ==
    /\ sink.running /\ n <= completed /\ crashes < MaxCrashes
    /\ crashes' = crashes + 1
    /\ \E t \in Transactions(Covered(sink, n)) :
        Take(<<"notify_complete_failing", n, t>>, OnNotifyCompleteFailing(sink, n, t))
    /\ UNCHANGED <<snapshots, completed>>

Restored == IF completed = 0 THEN NothingHeld ELSE snapshots[completed]

Restore ==
    /\ ~sink.running
    /\ Take(<<"restore", completed>>, OnRestore(sink, Restored))
    /\ snapshots' = [n \in {n \in DOMAIN snapshots : n <= completed} |-> snapshots[n]]
    /\ UNCHANGED <<completed, crashes>>

RestoreFailing ==
    /\ ~sink.running
    /\ \E t \in Transactions(Restored.pending) :
        Take(<<"restore_failing", completed, t>>, OnRestoreFailing(sink, Restored, t))
    /\ Unmoved

Next ==
    \/ Write \/ Finish \/ Crash \/ Close \/ Restore \/ RestoreFailing
    \/ \E n \in Ids :
        Snapshot(n) \/ Complete(n) \/ NotifyComplete(n) \/ NotifyCompleteFailing(n) \/ NotifyAbort(n)

Spec == Init /\ [][Next]_vars

------------------------------------------------------------------------------
(* Terms of the rules. *)

EventIs(kind) == out'[1][1] = kind
EventId == out'[1][2]
Effects == Tail(out')
EffectsOf(kind) == SelectSeq(Effects, LAMBDA e : e[1] = kind)
Committed == {Effects[i][2] : i \in {i \in DOMAIN Effects : Effects[i][1] = "commit"}}
CommitEach(entries) == [i \in DOMAIN entries |-> <<"commit", entries[i][2]>>]
IdsOf(entries) == {entries[i][2] : i \in DOMAIN entries}
AbortOpen == IF sink.open = 0 THEN <<>> ELSE <<<<"abort_transaction", sink.open>>>>

SINK_01 == [][
    /\ (sink'.running /\ ~sink'.finished) => sink'.open \in 1 .. sink'.next - 1
    /\ out = <<>> => sink = [running |-> TRUE, finished |-> FALSE, open |-> 1, pending |-> <<>>, next |-> 2,
                            committed |-> {}]
    /\ EventIs("write") => Effects = <<<<"write", sink.open, EventId>>>> /\ sink' = sink]_vars

SINK_02 == [][EventIs("snapshot") =>
    /\ EffectsOf("pre_commit") = IF sink.open = 0 THEN <<>> ELSE <<<<"pre_commit", sink.open>>>>
    /\ sink'.pending =
        IF sink.open = 0 THEN sink.pending ELSE Append(sink.pending, <<EventId, sink.open>>)
    /\ (sink.open # 0 /\ ~sink.finished) => Effects = <<<<"pre_commit", sink.open>>, <<"begin", sink'.open>>>>
    /\ Effects = EffectsOf("pre_commit") \o EffectsOf("begin")
    /\ sink' = [sink EXCEPT !.pending = sink'.pending, !.open = sink'.open, !.next = sink'.next]
    /\ snapshots'[EventId] = [open |-> sink'.open, pending |-> sink'.pending]]_vars

OldEnough == SelectSeq(sink.pending, LAMBDA entry : entry[1] <= EventId)

SINK_03 == [][
    /\ EventIs("notify_complete") =>
        /\ Effects = CommitEach(OldEnough)
        /\ sink' = [sink EXCEPT !.pending = sink'.pending, !.committed = sink'.committed]
        /\ sink'.pending = SelectSeq(sink.pending, LAMBDA entry : entry[1] > EventId)
    /\ sink'.committed = sink.committed \cup Committed
    /\ sink'.committed # sink.committed =>
        out'[1][1] \in {"notify_complete", "notify_complete_failing", "restore", "restore_failing"}]_vars

SINK_04 == [][(EventIs("notify_complete") /\ OldEnough = <<>>) => Effects = <<>> /\ sink' = sink]_vars

SINK_05 == [][EventIs("notify_abort") => Effects = <<>> /\ sink' = sink]_vars

SINK_06 == [][EventIs("restore") =>
    LET held == IF EventId = 0 THEN [open |-> 0, pending |-> <<>>] ELSE snapshots[EventId]
        again == CommitEach(held.pending)
        aborts == IF held.open = 0 THEN <<>> ELSE <<<<"abort_transaction", held.open>>>>
    IN  /\ Effects = again \o aborts \o <<<<"begin", sink'.open>>>>
        /\ sink' = [running |-> TRUE, finished |-> FALSE, open |-> sink'.open, pending |-> <<>>,
                    next |-> sink'.next, committed |-> sink.committed \cup IdsOf(held.pending)]]_vars

SINK_07 == [][
    /\ sink.finished => EffectsOf("begin") = <<>> /\ (EventIs("snapshot") => sink'.open = 0)
    /\ (EventIs("finish") /\ WaitsAtTheEnd) => Effects = <<>> /\ sink' = [sink EXCEPT !.finished = TRUE]]_vars

SINK_08 == [][
    /\ \A i \in DOMAIN Effects : Effects[i][1] = "begin" => Effects[i][2] = sink.next /\ sink'.next = sink.next + 1
    /\ sink.next <= sink'.next
    /\ sink.committed \subseteq sink'.committed
    /\ sink'.committed \cap withdrawn' = {}
    /\ sink'.open \notin sink'.committed
    /\ \A t \in sink'.committed \ sink.committed :
        \/ \E i \in DOMAIN sink.pending : sink.pending[i][2] = t
        \/ \E n \in DOMAIN snapshots : t \in IdsOf(snapshots[n].pending)]_vars

(* A sink that no longer runs keeps only its next id and the committed       *)
(* transactions.                                                             *)
Over == [sink EXCEPT !.running = FALSE, !.finished = FALSE, !.open = 0, !.pending = <<>>]

SINK_09 == [][
    /\ EventIs("crash") => Effects = <<>> /\ sink' = Over
    /\ (EventIs("close") \/ (EventIs("finish") /\ ~WaitsAtTheEnd)) => Effects = AbortOpen /\ sink' = Over]_vars

Throwing == out'[1][3]
Outcome(t) == <<IF t = Throwing THEN "commit_failed" ELSE "commit", t>>

SINK_10 == [][
    /\ EventIs("notify_complete_failing") =>
        /\ Effects = [i \in DOMAIN OldEnough |-> Outcome(OldEnough[i][2])] \o AbortOpen
        /\ sink' = [Over EXCEPT !.committed = @ \cup (IdsOf(OldEnough) \ {Throwing})]
    /\ EventIs("restore_failing") =>
        LET entries == snapshots[EventId].pending
            first == CHOOSE i \in DOMAIN entries : entries[i][2] = Throwing
        IN  /\ Effects = [i \in 1 .. first |-> Outcome(entries[i][2])]
            /\ sink' = [sink EXCEPT !.committed = @ \cup {entries[i][2] : i \in 1 .. first - 1}]]_vars

------------------------------------------------------------------------------
(* Replacements: each takes the place of the operator in its comment.        *)

CoversAll(entry, n) == TRUE                                             \* IsCovered
CoversOnlyItsOwn(entry, n) == entry[1] = n                              \* IsCovered
AlwaysOpens(s) == TRUE                                                  \* OpensNext
NeverOpens(s) == FALSE                                                  \* OpensNext
PreCommitsNothing(s, n) == SinkStep([s EXCEPT !.open = 0], <<<<"pre_commit", s.open>>>>)  \* PreCommit
ForgetsAtRestore(s, held) == BeginTransaction([s EXCEPT !.running = TRUE])              \* OnRestore
OnlyReports(s, n) ==                                                    \* OnNotifyComplete
    SinkStep([s EXCEPT !.pending = SelectSeq(@, LAMBDA f : f \notin Range(Covered(s, n)))],
             Commits(Covered(s, n)))
KeepsWhatIsCommitted(s, n) ==                                           \* OnNotifyComplete
    SinkStep([s EXCEPT !.committed = @ \cup Transactions(Covered(s, n))], Commits(Covered(s, n)))
CommitsOnAbort(s, n) == OnNotifyComplete(s, n)                          \* AfterAbort
FailsWithNothing(s) == OnSinkClose(s)                                       \* WithNothing
Never == FALSE                                                          \* WaitsAtTheEnd
WithdrawsAll(s) ==                                                      \* Withdrawn
    [i \in DOMAIN s.pending |-> s.pending[i][2]] \o (IF s.open = 0 THEN <<>> ELSE <<s.open>>)
StopsAtTheFirst(entries, t) ==                                          \* TriedAlthough
    SubSeq(entries, 1, CHOOSE i \in DOMAIN entries : entries[i][2] = t)
ReusesIds(s) ==                                                         \* BeginTransaction
    LET free == IF s.pending = <<>> THEN 1 ELSE s.next
    IN  SinkStep([s EXCEPT !.open = free, !.next = free + 1], <<<<"begin", free>>>>)
CommitsAtOnce(s, n) ==                                                  \* PreCommit
    SinkStep([s EXCEPT !.committed = @ \cup {s.open}, !.open = 0], <<<<"commit", s.open>>>>)
==============================================================================
