------------------------- MODULE CheckpointRequests -------------------------
(***************************************************************************)
(* Requests that wait for their turn: in which order, and what they wait   *)
(* for.                                                                    *)
(*                                                                         *)
(* A forced request starts whatever else is pending; savepoints are        *)
(* forced, unless unaligned checkpoints make them cheap. A periodic one    *)
(* keeps a pause after the last completion. Whoever asks by hand never     *)
(* waits for a pause.                                                      *)
(*                                                                         *)
(* Functions only: Coordinator.tla serves the queue, and states rules      *)
(* COORD-13 and COORD-14 in models/CoordinatorModel.tla.                   *)
(*                                                                         *)
(* Source: Apache Flink, CheckpointRequestDecider, CheckpointTriggerRequest.*)
(***************************************************************************)
EXTENDS Integers, Sequences, CoordinatorGenerations

(* Units of time between a completion and a start. A model puts another      *)
(* number in its place.                                                      *)
MinPause == 0

RequestTypes == {"checkpoint", "savepoint"}

RequestType == [type : RequestTypes, forced : BOOLEAN, periodic : BOOLEAN]

(* Somebody asks for one by hand. *)
ByHand(type) == [type |-> type, forced |-> type = "savepoint", periodic |-> FALSE]

(* The scheduler asks. *)
Periodic == [type |-> "checkpoint", forced |-> FALSE, periodic |-> TRUE]

------------------------------------------------------------------------------
(* Operators of their own, so that a model can replace them.                 *)

(* COORD-13: savepoints before checkpoints, then forced before not forced,   *)
(* then by hand before periodic.                                             *)
GoesBefore(r, other) ==
    IF r.type # other.type THEN r.type = "savepoint"
    ELSE IF r.forced # other.forced THEN r.forced
    ELSE ~r.periodic /\ other.periodic

(* COORD-14 *)
KeepsPause(r) == ~r.forced /\ (CoordinatorHas("pauses_periodic") => r.periodic)

------------------------------------------------------------------------------
(* Behind all that goes before it, and behind its equals. *)
Enqueued(queue, r) ==
    LET stay == {i \in DOMAIN queue : ~GoesBefore(r, queue[i])}
        place == IF \A i \in DOMAIN queue : i \in stay THEN Len(queue)
                 ELSE (CHOOSE i \in DOMAIN queue \ stay : \A j \in DOMAIN queue \ stay : i <= j) - 1
    IN  SubSeq(queue, 1, place) \o <<r>> \o SubSeq(queue, place + 1, Len(queue))
=============================================================================
