-------------------------------- MODULE Sink ---------------------------------
(***************************************************************************)
(* A sink that commits in two phases, with its durable snapshots and the   *)
(* external system that holds the transactions.                            *)
(*                                                                         *)
(* The sink writes to one open transaction. A snapshot pre-commits this    *)
(* transaction under the checkpoint's id and opens the next one. The sink  *)
(* commits it when this checkpoint or a later one is reported complete. A  *)
(* notification can be lost, so a restore commits again the pre-committed  *)
(* transactions of the restored snapshot.                                  *)
(*                                                                         *)
(* The module has functions only. SinkModel.tla puts a sink into an        *)
(* environment and states rules SINK-01 to SINK-10.                        *)
(*                                                                         *)
(* Source: Apache Flink, TwoPhaseCommitSinkFunction. Its releases differ   *)
(* in WaitsAtTheEnd.                                                       *)
(***************************************************************************)
EXTENDS Integers, Sequences, FiniteSets, Order

SinkType ==
    [running   : BOOLEAN,               \* not crashed
     finished  : BOOLEAN,               \* the input has ended
     open      : Nat,                   \* the open transaction; 0: none
     pending   : Seq(Nat \X Nat),       \* <<checkpoint, transaction>>, in the order of filing
     next      : Nat,                   \* id of the next transaction; never falls
     committed : SUBSET Nat]            \* in the external system: committed transactions

NewSink ==
    [running |-> TRUE, finished |-> FALSE, open |-> 1, pending |-> <<>>, next |-> 2, committed |-> {}]

(* The contents of a snapshot of the sink. *)
Held(s) == [open |-> s.open, pending |-> s.pending]
NothingHeld == [open |-> 0, pending |-> <<>>]

SinkStep(s, effects) == [sink |-> s, out |-> effects]

------------------------------------------------------------------------------
(* Phases. These are operators, so that a model can replace them. *)

(* SINK-02: closed to writes, pre-committed, not yet visible. *)
PreCommit(s, n) ==
    SinkStep([s EXCEPT !.pending = Append(@, <<n, s.open>>), !.open = 0],
             <<<<"pre_commit", s.open>>>>)

(* A finished sink waits for its last commit. Up to 1.13 the end closes the  *)
(* sink.                                                                     *)
WaitsAtTheEnd == TRUE

OpensNext(s) == ~s.finished             \* SINK-07

BeginTransaction(s) ==
    SinkStep([s EXCEPT !.open = s.next, !.next = @ + 1], <<<<"begin", s.next>>>>)

(* SINK-03: pre-committed under the completed id or a smaller one.          *)
IsCovered(entry, n) == entry[1] <= n

Covered(s, n) == SelectSeq(s.pending, LAMBDA entry : IsCovered(entry, n))

Commits(entries) == [i \in 1 .. Len(entries) |-> <<"commit", entries[i][2]>>]

Transactions(entries) == {entries[i][2] : i \in DOMAIN entries}

(* SINK-05: an aborted checkpoint's transactions wait for the next one.     *)
AfterAbort(s, n) == SinkStep(s, <<>>)

------------------------------------------------------------------------------
(* The steps of a sink. *)

OnWrite(s, value) == SinkStep(s, <<<<"write", s.open, value>>>>)

OnSnapshot(s, n) ==
    LET first == IF s.open = 0 THEN SinkStep(s, <<>>) ELSE PreCommit(s, n)
        then == IF OpensNext(s) THEN BeginTransaction(first.sink) ELSE SinkStep(first.sink, <<>>)
    IN  SinkStep(then.sink, first.out \o then.out)

(* SINK-04 *)
WithNothing(s) == SinkStep(s, <<>>)

(* SINK-03, SINK-04: without a covered transaction there is no effect. *)
OnNotifyComplete(s, n) ==
    LET entries == Covered(s, n)
    IN  IF entries = <<>> THEN WithNothing(s) ELSE SinkStep([s EXCEPT !.committed = @ \cup Transactions(entries),
                           !.pending = SelectSeq(@, LAMBDA f : f \notin Range(entries))],
                 Commits(entries))

OnNotifyAbort(s, n) == AfterAbort(s, n)

(* Only volatile state is lost. *)
OnCrash(s) ==
    SinkStep([s EXCEPT !.running = FALSE, !.finished = FALSE, !.open = 0, !.pending = <<>>], <<>>)

(* SINK-09: the sink aborts the open transaction. Pre-committed transactions *)
(* belong to their checkpoints.                                              *)
Withdrawn(s) == IF s.open = 0 THEN <<>> ELSE <<s.open>>

OnSinkClose(s) ==
    SinkStep(OnCrash(s).sink,
             [i \in DOMAIN Withdrawn(s) |-> <<"abort_transaction", Withdrawn(s)[i]>>])

OnFinish(s) == IF WaitsAtTheEnd THEN SinkStep([s EXCEPT !.finished = TRUE], <<>>) ELSE OnSinkClose(s)

(* SINK-10: the transactions that are still tried although the commit of t   *)
(* throws.                                                                   *)
TriedAlthough(entries, t) == entries

OnNotifyCompleteFailing(s, n, t) ==
    LET entries == TriedAlthough(Covered(s, n), t)
        outcomes == [i \in DOMAIN entries |-> <<IF entries[i][2] = t THEN "commit_failed" ELSE "commit", entries[i][2]>>]
        closed == OnSinkClose([s EXCEPT !.committed = @ \cup (Transactions(entries) \ {t})])
    IN  SinkStep(closed.sink, outcomes \o closed.out)

(* SINK-06: `held` is the restored snapshot, NothingHeld for the initial     *)
(* state.                                                                    *)
OnRestore(s, held) ==
    LET aborts == IF held.open = 0 THEN <<>> ELSE <<<<"abort_transaction", held.open>>>>
        restored == [s EXCEPT !.running = TRUE, !.committed = @ \cup Transactions(held.pending)]
        begun == BeginTransaction(restored)
    IN  SinkStep(begun.sink, Commits(held.pending) \o aborts \o begun.out)

(* SINK-10: the commit of t throws. The restore ends, and another one must   *)
(* follow.                                                                   *)
OnRestoreFailing(s, held, t) ==
    LET place == CHOOSE i \in DOMAIN held.pending : held.pending[i][2] = t
        before == SubSeq(held.pending, 1, place - 1)
    IN  SinkStep([s EXCEPT !.committed = @ \cup Transactions(before)],
                 Commits(before) \o <<<<"commit_failed", t>>>>)
==============================================================================
