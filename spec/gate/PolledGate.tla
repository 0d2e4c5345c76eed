----------------------------- MODULE PolledGate ------------------------------
(***************************************************************************)
(* The network before a gate that a task polls. It delivers nothing on a   *)
(* *held* channel, whose items wait. When an event resumes channels, the   *)
(* gate reads the waiting items within that event, after the event's own   *)
(* effects, in the order of arrival over all channels. An item continues   *)
(* to wait if its channel is held again. Rules ALIGN-17 and UNAL-24.       *)
(*                                                                         *)
(* Items are tuples <<kind, channel, ...>>. Two operators represent a      *)
(* gate. AtGate(gate, item) is the step for one item: the gate after it    *)
(* and its effects, [gate, out]. Holds(gate, held, effects) is the set of  *)
(* the channels that are held after a step.                                *)
(*                                                                         *)
(* The module has no variables. BufferingModel.tla compares it with a      *)
(* gate that stores items (ALIGN-23). The suite replays a divergence at    *)
(* level `polled` with it.                                                 *)
(***************************************************************************)
EXTENDS Integers, Sequences

HasEnded(waiting, c) == \E i \in DOMAIN waiting : waiting[i] = <<"end_of_partition", c>>

(* The simplest Holds: a channel is held from its block to its resume. *)
RECURSIVE AfterEffects(_, _)
AfterEffects(held, effects) ==
    IF effects = <<>> THEN held
    ELSE LET word == Head(effects)
         IN  AfterEffects(CASE word[1] = "block"  -> held \cup {word[2]}
                             [] word[1] = "resume" -> held \ {word[2]}
                             [] OTHER              -> held, Tail(effects))

Released(gate, waiting, held) ==
    IF gate.failed THEN {} ELSE {i \in DOMAIN waiting : waiting[i][2] \notin held}

Oldest(places) == CHOOSE i \in places : \A j \in places : i <= j

(* After a step: delivers the oldest waiting item of a channel that is not held, until there is none. *)
RECURSIVE ReadReleased(_, _, _, _, _)
ReadReleased(AtGate(_, _), Holds(_, _, _), step, waiting, held) ==
    LET holds == Holds(step.gate, held, step.out)
        released == Released(step.gate, waiting, holds)
    IN  IF released = {} THEN [gate |-> step.gate, waiting |-> waiting, held |-> holds, out |-> step.out]
        ELSE LET i    == Oldest(released)
                 next == AtGate(step.gate, waiting[i])
                 rest == SubSeq(waiting, 1, i - 1) \o SubSeq(waiting, i + 1, Len(waiting))
                 done == ReadReleased(AtGate, Holds, next, rest, holds)
             IN  [done EXCEPT !.out = step.out \o @]

(* An item arrives. *)
Arrives(AtGate(_, _), Holds(_, _, _), gate, waiting, held, item) ==
    IF item[2] \in held
    THEN [gate |-> gate, waiting |-> Append(waiting, item), held |-> held, out |-> <<>>]
    ELSE ReadReleased(AtGate, Holds, AtGate(gate, item), waiting, held)
==============================================================================
