------------------------------ MODULE Requests -------------------------------
(***************************************************************************)
(* Waiting requests: their order, and the conditions under which they      *)
(* wait.                                                                   *)
(*                                                                         *)
(* A forced request starts whatever else is pending; savepoints are        *)
(* forced, unless unaligned checkpoints make them cheap. A periodic        *)
(* request keeps a pause after the last completion. A manual request never *)
(* waits for a pause.                                                      *)
(*                                                                         *)
(* Functions only: Coordinator.tla serves the queue, and states rules      *)
(* COORD-13 and COORD-14 in CoordinatorModel.tla.                          *)
(*                                                                         *)
(* Source: Apache Flink, CheckpointRequestDecider,                         *)
(* CheckpointTriggerRequest.                                               *)
(***************************************************************************)
EXTENDS Integers, Sequences

(* Units of time between a completion and a start. A model replaces it by    *)
(* another number.                                                           *)
MinPause == 0

RequestTypes == {"checkpoint", "savepoint"}

RequestType == [type : RequestTypes, forced : BOOLEAN, periodic : BOOLEAN]

(* A manual request. *)
ByHand(type) == [type |-> type, forced |-> type = "savepoint", periodic |-> FALSE]

(* A request of the scheduler. *)
Periodic == [type |-> "checkpoint", forced |-> FALSE, periodic |-> TRUE]

------------------------------------------------------------------------------
(* These are operators, so that a model can replace them. *)

(* COORD-13: savepoints before checkpoints, then forced before not forced,   *)
(* then manual before periodic.                                              *)
GoesBefore(r, other) ==
    IF r.type # other.type THEN r.type = "savepoint"
    ELSE IF r.forced # other.forced THEN r.forced
    ELSE ~r.periodic /\ other.periodic

(* COORD-14 *)
KeepsPause(r) == ~r.forced /\ r.periodic

------------------------------------------------------------------------------
(* Behind all more urgent requests, and behind its equals. *)
Enqueued(queue, r) ==
    LET stay == {i \in DOMAIN queue : ~GoesBefore(r, queue[i])}
        place == IF \A i \in DOMAIN queue : i \in stay THEN Len(queue)
                 ELSE (CHOOSE i \in DOMAIN queue \ stay : \A j \in DOMAIN queue \ stay : i <= j) - 1
    IN  SubSeq(queue, 1, place) \o <<r>> \o SubSeq(queue, place + 1, Len(queue))
=============================================================================
