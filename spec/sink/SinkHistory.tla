------------------------------ MODULE SinkHistory -------------------------------
(***************************************************************************)
(* SINK-11, the meaning of a commit. The rule compares the committed       *)
(* transactions with a history of the messages of the sink. The events and *)
(* effects determine the history, and no step reads it.                    *)
(***************************************************************************)
EXTENDS SinkModel

VARIABLES
    belongs         \* <<transaction, id>>: pre-committed under this id; a restore of an older one undoes it

historyVars == <<vars, belongs>>

HistoryInit == Init /\ belongs = {}

PreCommitted == {out'[i][2] : i \in {i \in DOMAIN out' : i > 1 /\ out'[i][1] = "pre_commit"}}

HistoryNext ==
    /\ Next
    /\ belongs' =
        CASE out'[1][1] = "snapshot" -> belongs \cup (PreCommitted \X {out'[1][2]})
          [] out'[1][1] = "restore"  -> {one \in belongs : one[2] <= completed}
          [] OTHER                   -> belongs

HistorySpec == HistoryInit /\ [][HistoryNext]_historyVars

CommittedNow == {Effects[i][2] : i \in {i \in DOMAIN Effects : Effects[i][1] = "commit"}}

SINK_11 == [][
    /\ \A t \in CommittedNow \cup sink'.committed : \E n \in 1 .. completed' : <<t, n>> \in belongs'
    /\ \A one, other \in belongs' : one[1] = other[1] => one = other
    /\ EventIs("restore") \/ EventIs("restore_failing") \/ CommittedNow \cap sink.committed = {}
    /\ \A i, j \in DOMAIN Effects :
        i # j /\ Effects[i][1] = "commit" /\ Effects[j][1] = "commit" => Effects[i][2] # Effects[j][2]]_historyVars
===============================================================================
