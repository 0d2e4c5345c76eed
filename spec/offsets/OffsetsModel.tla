---------------------------- MODULE OffsetsModel -----------------------------
(***************************************************************************)
(* One reader in its environment: snapshots with growing ids and any       *)
(* offsets, completions and aborts of any ids (late, repeated, lost, of    *)
(* ids without a snapshot), crashes and restores. The Python reference     *)
(* model describes the same closed model. The triangle compares both       *)
(* graphs state for state and edge for edge.                               *)
(*                                                                         *)
(* This module states rules OFFSET-01 to OFFSET-07 over one step: `reader` *)
(* before and after, the event and the effects in out'.                    *)
(***************************************************************************)
EXTENDS Offsets

CONSTANTS
    M,              \* checkpoint ids are 1 .. M
    Offsets         \* offsets are 0 .. Offsets - 1

VARIABLES
    reader,         \* see ReaderType
    out             \* the last event, then its effects

vars == <<reader, out>>
Ids == 1 .. M
Positions == 0 .. Offsets - 1

EventType ==
    ({"snapshot"} \X Ids \X Positions) \cup ({"notify_complete", "notify_abort"} \X Ids)
    \cup ({"restore"} \X Positions) \cup {<<"crash">>}
EffectType == ({"commit_offsets"} \X Ids \X Positions) \cup ({"ignored"} \X Ids) \cup ({"seek"} \X Positions)

TypeOK ==
    /\ reader \in ReaderType
    /\ out = <<>> \/ (Head(out) \in EventType /\ Tail(out) \in Seq(EffectType))

Init == reader = NewReader /\ out = <<>>

------------------------------------------------------------------------------
(* System and environment together: the reader takes the event.              *)

Take(event, step) == reader' = step.reader /\ out' = <<event>> \o step.out

Snapshot(n, offsets) ==
    reader.running /\ n > reader.newest /\ Take(<<"snapshot", n, offsets>>, OnSnapshot(reader, n, offsets))

NotifyComplete(n) == reader.running /\ Take(<<"notify_complete", n>>, OnNotifyComplete(reader, n))

NotifyAbort(n) == reader.running /\ Take(<<"notify_abort", n>>, OnNotifyAbort(reader, n))

Crash == reader.running /\ Take(<<"crash">>, OnCrash(reader))

Restore(offsets) == ~reader.running /\ Take(<<"restore", offsets>>, OnRestore(reader, offsets))

Next ==
    \/ Crash
    \/ \E n \in Ids : NotifyComplete(n) \/ NotifyAbort(n)
    \/ \E offsets \in Positions : Restore(offsets) \/ \E n \in Ids : Snapshot(n, offsets)

Spec == Init /\ [][Next]_vars

------------------------------------------------------------------------------
(* Terms of the rules. *)

EventIs(kind) == out'[1][1] = kind
EventId == out'[1][2]
Effects == Tail(out')
Old == reader.remembered
New == reader'.remembered
IsKnown == \E i \in DOMAIN Old : Old[i][1] = EventId

OFFSET_01 == [][
    /\ out = <<>> => reader = [running |-> TRUE, newest |-> -1, remembered |-> <<>>, committed |-> <<-1, 0>>]
    /\ EventIs("snapshot") =>
        /\ New # <<>> /\ New[Len(New)] = <<EventId, out'[1][3]>> /\ Effects = <<>>
        /\ reader' = [reader EXCEPT !.newest = EventId, !.remembered = New]
    /\ reader'.committed # reader.committed => EventIs("notify_complete")]_vars

OFFSET_02 == [][EventIs("snapshot") =>
    /\ Len(New) <= Bound
    /\ SubSeq(New, 1, Len(New) - 1) = IF Len(Old) < Bound THEN Old ELSE Tail(Old)]_vars

OFFSET_03 == [][(EventIs("notify_complete") /\ IsKnown) =>
    \E i \in DOMAIN Old :
        /\ Old[i][1] = EventId
        /\ Effects = <<<<"commit_offsets", EventId, Old[i][2]>>>>
        /\ reader'.committed = Old[i]
        /\ New = SubSeq(Old, i + 1, Len(Old))
        /\ reader' = [reader EXCEPT !.committed = Old[i], !.remembered = New]]_vars

OFFSET_04 == [][(EventIs("notify_complete") /\ ~IsKnown) =>
    Effects = <<<<"ignored", EventId>>>> /\ reader' = reader]_vars

OFFSET_05 == [][EventIs("notify_abort") => Effects = <<>> /\ reader' = reader]_vars

OFFSET_06 == [][
    /\ EventIs("restore") => Effects = <<<<"seek", EventId>>>> /\ reader'.running
    /\ EventIs("crash") => Effects = <<>> /\ ~reader'.running
    /\ (EventIs("restore") \/ EventIs("crash")) =>
        New = <<>> /\ reader' = [reader EXCEPT !.running = reader'.running, !.remembered = <<>>]]_vars

(* The remembered offsets are newer than the committed ones, oldest first.   *)
OFFSET_07 == [][
    /\ reader'.committed # reader.committed => reader'.committed[1] > reader.committed[1]
    /\ \A i \in DOMAIN Effects : Effects[i][1] = "commit_offsets" =>
        Effects[i][2] > reader.committed[1] /\ Effects[i][2] >= 0
    /\ \A i \in DOMAIN New : New[i][1] \in reader'.committed[1] + 1 .. reader'.newest /\ New[i][1] >= 0
    /\ \A i, j \in DOMAIN New : i < j => New[i][1] < New[j][1]
    /\ reader'.committed[1] <= reader'.newest]_vars

------------------------------------------------------------------------------
(* Replacements: each takes the place of the operator in its comment.        *)

ForgetsTheNewest(entries) == SubSeq(entries, 1, IF Len(entries) > Bound THEN Bound ELSE Len(entries))  \* Trimmed
ForgetsNothing(entries) == entries                                      \* Trimmed
MeansAllUpTo(entry, n) == entry[1] <= n                                 \* IsMeant
OnlyItself(entry, n) == entry[1] = n                                    \* IsOver
OnlyOlderOnes(entry, n) == entry[1] < n                                 \* IsOver
ForgetsOnAbort(r, n) ==                                                 \* AfterAbort
    ReaderStep([r EXCEPT !.remembered = SelectSeq(@, LAMBDA entry : entry[1] # n)], <<>>)
FromTheCommitted(r, offsets) ==                                         \* From
    IF r.committed = Nothing THEN offsets ELSE r.committed[2]
==============================================================================
