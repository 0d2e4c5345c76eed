------------------------------ MODULE Requests -------------------------------
(***************************************************************************)
(* Waiting requests: their order, and the conditions under which they      *)
(* wait.                                                                   *)
(*                                                                         *)
(* A forced request also starts while other checkpoints are pending. A     *)
(* savepoint is forced, except in a job with unaligned checkpoints. A      *)
(* periodic request waits until the minimum pause after the last           *)
(* completion has passed. A manual request never waits for the pause.      *)
(*                                                                         *)
(* This module has operators only. Coordinator.tla takes requests from the *)
(* queue. CoordinatorModel.tla states rules COORD-13 and COORD-14.         *)
(*                                                                         *)
(* Source: Apache Flink, CheckpointRequestDecider,                         *)
(* CheckpointTriggerRequest.                                               *)
(***************************************************************************)
EXTENDS Integers, Sequences

(* The minimum time from a completion to the next start of a request that    *)
(* pauses. A model substitutes another number.                               *)
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
(* The queue with r after all requests of higher or equal priority. *)
Enqueued(queue, r) ==
    LET stay == {i \in DOMAIN queue : ~GoesBefore(r, queue[i])}
        place == IF \A i \in DOMAIN queue : i \in stay THEN Len(queue)
                 ELSE (CHOOSE i \in DOMAIN queue \ stay : \A j \in DOMAIN queue \ stay : i <= j) - 1
    IN  SubSeq(queue, 1, place) \o <<r>> \o SubSeq(queue, place + 1, Len(queue))
=============================================================================
