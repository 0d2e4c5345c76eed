----------------------------- MODULE SourceModel -----------------------------
(***************************************************************************)
(* The closed model of a source's task. Its environment sends any of these *)
(* events in any order and any number of times: a trigger, which can be    *)
(* meant for another task; a call of the hook; the end of a checkpoint;    *)
(* a change of the task's status. The Python reference model has the same  *)
(* closed model, and the triangle compares both graphs edge for edge.      *)
(*                                                                         *)
(* Rules TASK-21 to TASK-24 are predicates of one step. They read source,  *)
(* source', and the event and its effects in out'.                         *)
(***************************************************************************)
EXTENDS Source

CONSTANT
    M               \* checkpoint ids are 1 .. M

VARIABLES
    source,         \* see SourceType
    out             \* the last event, then its effects

vars == <<source, out>>
Ids == 1 .. M

EventType ==
    ({"trigger"} \X Ids \X BOOLEAN) \cup ({"induce", "ended"} \X Ids) \cup ({"status"} \X BOOLEAN)
EffectType ==
    ({"trigger"} \X Ids) \cup ({"answer"} \X Ids \X BOOLEAN) \cup ({"decline"} \X Ids \X {"TASK_FAILURE"})
    \cup {<<"stop_reading">>, <<"go_on_reading">>, <<"fail", "CheckpointException">>}

TypeOK ==
    /\ source \in SourceType
    /\ out = <<>> \/ (Head(out) \in EventType /\ Tail(out) \in Seq(EffectType))

Init == source = NewSource /\ out = <<>>

------------------------------------------------------------------------------
(* One action for each event: the environment sends the event, and the task  *)
(* takes it.                                                                 *)

Take(event, step) == source' = step.source /\ out' = <<event>> \o step.out

TriggerArrives(n, here) == here \in BOOLEAN /\ Take(<<"trigger", n, here>>, OnTriggerArrives(source, n, here))
Induce(n) == External /\ Take(<<"induce", n>>, OnInduce(source, n))
Ended(n) == n \in Ids /\ Take(<<"ended", n>>, OnEnded(source, n))
Status(running) == running # source.running /\ Take(<<"status", running>>, OnSourceStatus(source, running))

Next ==
    \/ Status(~source.running)
    \/ \E n \in Ids :
        \/ Induce(n) \/ Ended(n)
        \/ \E here \in BOOLEAN : TriggerArrives(n, here)

Spec == Init /\ [][Next]_vars

------------------------------------------------------------------------------
(* Operators of the rules. *)

EventIs(kind) == out'[1][1] = kind
EventId == out'[1][2]
Arrives == EventIs("trigger") /\ out'[1][3]
Effects == Tail(out')
EffectsOf(kind) == SelectSeq(Effects, LAMBDA e : e[1] = kind)

Declined == IF Declines /\ ~source.running THEN <<<<"decline", EventId, "TASK_FAILURE">>>> ELSE <<>>

TASK_21 == [][
    /\ (Arrives /\ ~External) => Effects = <<<<"trigger", EventId>>>> \o Declined /\ source' = source
    /\ EffectsOf("decline") = IF Arrives THEN Declined ELSE <<>>
    /\ (Arrives /\ External /\ EventId \notin source.ahead) =>
        /\ Head(Effects) = <<"answer", EventId, source.running>>
        /\ Tail(Effects) = Declined
        /\ source' = [source EXCEPT !.triggered = IF Pairs THEN @ \cup {EventId} ELSE @]
    /\ EffectsOf("answer") # <<>> => Arrives
    /\ out = <<>> => source = [running |-> TRUE, triggered |-> {}, ahead |-> {}]
    /\ source'.running = IF EventIs("status") THEN EventId ELSE source.running]_vars

(* A checkpoint begins with a trigger and a call of the hook. These are the *)
(* ids of which the other of the two has arrived already.                   *)
TheOtherHalf == IF Arrives THEN source.ahead ELSE IF Pairs THEN source.triggered ELSE Ids

TASK_22 == [][External =>
    IF (Arrives \/ EventIs("induce")) /\ EventId \in TheOtherHalf
    THEN Head(Effects) = <<"trigger", EventId>> /\ Len(EffectsOf("trigger")) = 1
    ELSE /\ EffectsOf("trigger") = <<>>
         /\ EventIs("induce") => source' = [source EXCEPT !.ahead = @ \cup {EventId}]]_vars

TASK_23 == [][
    /\ EffectsOf("stop_reading") = IF source.ahead = {} /\ source'.ahead # {} THEN <<<<"stop_reading">>>> ELSE <<>>
    /\ EffectsOf("go_on_reading") = IF source.ahead # {} /\ source'.ahead = {} THEN <<<<"go_on_reading">>>> ELSE <<>>
    /\ (External /\ EffectsOf("trigger") # <<>>) =>
        /\ \A n \in source'.triggered \cup source'.ahead : n > EventId
        /\ \A n \in source.triggered \cup source.ahead : n > EventId => n \in source'.triggered \cup source'.ahead
    /\ EventIs("ended") =>
        source' = [source EXCEPT !.triggered = @ \ {EventId}, !.ahead = @ \ {EventId}]
    /\ source'.triggered \cap source'.ahead = {}]_vars

TASK_24 == [][
    /\ (EventIs("trigger") /\ ~out'[1][3]) => Effects = <<<<"fail", "CheckpointException">>>> /\ source' = source
    /\ EffectsOf("fail") # <<>> => EventIs("trigger") /\ ~out'[1][3]]_vars

------------------------------------------------------------------------------
(* Mutants: a model that must fail substitutes each for the operator that    *)
(* its comment names.                                                        *)

TriggerAlwaysBegins == TRUE                                              \* TriggerBegins
HookBeginsAlone(s, n) == TRUE                                       \* HookBegins
ForgetsOnlyItself(ids, n) == ids \ {n}                              \* Awaited
AlwaysHere(here) == TRUE                                            \* IsHere
==============================================================================
