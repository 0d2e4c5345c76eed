----------------------------- MODULE SourceModel -----------------------------
(***************************************************************************)
(* A source's task in its environment: triggers, also for a task at        *)
(* another place, calls of the hook and ends of any checkpoint, in any     *)
(* order and number; the task stops and runs. The Python reference model   *)
(* describes the same closed model; both graphs are compared state for     *)
(* state and edge for edge.                                                *)
(*                                                                         *)
(* Rules TASK-21 to TASK-24 are stated here over one step: `source` before *)
(* and after, the event and the effects in out'.                           *)
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
(* System and environment in one: the task takes the event.                 *)

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
(* Terms of the rules. *)

Comes(kind) == out'[1][1] = kind
Which == out'[1][2]
Arrives == Comes("trigger") /\ out'[1][3]
Effects == Tail(out')
EffectsOf(kind) == SelectSeq(Effects, LAMBDA e : e[1] = kind)

TASK_21 == [][
    /\ (Arrives /\ ~External) => Effects = <<<<"trigger", Which>>>> /\ source' = source
    /\ (Arrives /\ External /\ Which \notin source.ahead) =>
        /\ Head(Effects) = <<"answer", Which, source.running>>
        /\ Tail(Effects) = IF Declines /\ ~source.running THEN <<<<"decline", Which, "TASK_FAILURE">>>> ELSE <<>>
        /\ source' = [source EXCEPT !.told = IF Pairs THEN @ \cup {Which} ELSE @]
    /\ EffectsOf("answer") # <<>> => Arrives
    /\ source'.running = IF Comes("status") THEN Which ELSE source.running]_vars

(* The half of the checkpoint that must have arrived before. *)
TheOtherHalf == IF Arrives THEN source.ahead ELSE IF Pairs THEN source.told ELSE Ids

TASK_22 == [][External =>
    IF (Arrives \/ Comes("induce")) /\ Which \in TheOtherHalf
    THEN Head(Effects) = <<"trigger", Which>> /\ Len(EffectsOf("trigger")) = 1
    ELSE /\ EffectsOf("trigger") = <<>>
         /\ Comes("induce") => source' = [source EXCEPT !.ahead = @ \cup {Which}]]_vars

TASK_23 == [][
    /\ EffectsOf("stop_reading") = IF source.ahead = {} /\ source'.ahead # {} THEN <<<<"stop_reading">>>> ELSE <<>>
    /\ EffectsOf("go_on_reading") = IF source.ahead # {} /\ source'.ahead = {} THEN <<<<"go_on_reading">>>> ELSE <<>>
    /\ (External /\ EffectsOf("trigger") # <<>>) =>
        /\ \A n \in source'.told \cup source'.ahead : n > Which
        /\ \A n \in source.told \cup source.ahead : n > Which => n \in source'.told \cup source'.ahead
    /\ Comes("ended") =>
        source' = [source EXCEPT !.told = @ \ {Which}, !.ahead = @ \ {Which}]
    /\ source'.told \cap source'.ahead = {}]_vars

TASK_24 == [][
    /\ (Comes("trigger") /\ ~out'[1][3]) => Effects = <<<<"fail", "CheckpointException">>>> /\ source' = source
    /\ EffectsOf("fail") # <<>> => Comes("trigger") /\ ~out'[1][3]]_vars

------------------------------------------------------------------------------
(* Replacements: each replaces the operator in its comment in a model that   *)
(* must fail.                                                                *)

ObeysAnyway == TRUE                                                 \* IsObeyed
HookBeginsAlone(s, n) == TRUE                                       \* HookBegins
ForgetsOnlyItself(ids, n) == ids \ {n}                              \* Awaited
EverybodyIsHere(here) == TRUE                                       \* IsHere
==============================================================================
