-------------------------- MODULE CoordinatorHistory ---------------------------
(***************************************************************************)
(* COORD-32, the meaning of a completed checkpoint, stated over the        *)
(* messages of the coordinator, and not over its state. In this model      *)
(* every task takes part in every checkpoint.                              *)
(*                                                                         *)
(* No step reads these variables. Events and effects determine them.       *)
(***************************************************************************)
EXTENDS CoordinatorModel

VARIABLES
    running,            \* the ids triggered in this attempt that have not ended
    acknowledgements    \* <<task, id>>: acknowledged since the id was triggered

historyVars == <<vars, running, acknowledgements>>

HistoryTypeOK == running \subseteq Ids /\ acknowledgements \subseteq Tasks \X running

HistoryInit == Init /\ running = {} /\ acknowledgements = {}

EndsAttempt == out'[1][1] \in {"fail_tasks", "coordinator_restart"} \/ out'[1] = <<"job_status", FALSE>>
AcknowledgementsNow ==
    acknowledgements \cup
        IF out'[1][1] = "acknowledge" THEN {<<out'[1][2], out'[1][3]>>} \cap (Tasks \X running) ELSE {}
Named(kinds) == {Effects[i][IF Effects[i][1] = "trigger_task" THEN 3 ELSE 2] :
                    i \in {i \in DOMAIN Effects : Effects[i][1] \in kinds}}

HistoryNext ==
    /\ Next
    /\ running' = IF EndsAttempt THEN {} ELSE (running \cup Named({"trigger_task"})) \ Named({"abort", "complete"})
    /\ acknowledgements' = {one \in AcknowledgementsNow : one[2] \in running'}

HistorySpec == HistoryInit /\ [][HistoryNext]_historyVars

COORD_32 == [][
    /\ \A n \in Named({"complete"}) : n \in running /\ \A t \in Tasks : <<t, n>> \in AcknowledgementsNow
    /\ \A n \in running' : \E t \in Tasks : <<t, n>> \notin acknowledgements']_historyVars
===============================================================================
