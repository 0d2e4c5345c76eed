----------------------------- MODULE TwoThreads ------------------------------
(***************************************************************************)
(* The two threads at the unaligned gate of Flink 1.11. The network thread *)
(* reports a barrier to the gate when a channel has received it. The task  *)
(* thread reads the barrier later. Either thread can start the checkpoint. *)
(* The network thread leaves its effects for the task thread in a mailbox. *)
(*                                                                         *)
(* Both threads share the gate of FirstDecides, whose current id is the    *)
(* highest id that either thread has started or cancelled. A separate      *)
(* state records what the task has read.                                   *)
(*                                                                         *)
(* The module has functions only. TwoThreadsModel.tla puts the gate        *)
(* between a network and a task and states UNAL-30 and UNAL-31.            *)
(*                                                                         *)
(* Source: Apache Flink 1.11 (CheckpointBarrierUnaligner and its           *)
(* ThreadSafeUnaligner), read in the bytecode and executed.                *)
(***************************************************************************)
EXTENDS FirstDecides

ThreadsType ==
    [gate    : GateType,            \* the state that both threads share
     read    : Nat \cup {-1},       \* highest id that the task has read or cancelled
     reading : BOOLEAN]             \* the task has read a barrier of this id, and no cancellation or end after it

NewThreads == [gate |-> NewGate, read |-> -1, reading |-> FALSE]

(* A barrier that overtakes, like nearly all barriers of these models. *)
Unaligned == [alignment |-> "unaligned", savepoint |-> FALSE]

------------------------------------------------------------------------------
(* A step of one thread: the threads after it, its immediate effects, and    *)
(* the effects left for the task thread.                                     *)

Done(t, effects, left) == [threads |-> t, out |-> effects, left |-> left]

AtOnce(effects) == SelectSeq(effects, LAMBDA e : e[1] = "start_persisting")
Later(effects) == SelectSeq(effects, LAMBDA e : e[1] # "start_persisting")

(* UNAL-30: an id starts now if it is above all ids that were started or     *)
(* cancelled.                                                                *)
Receive(t, c, n, o) ==
    LET step == OnBarrier(t.gate, c, n, o)
    IN  Done([t EXCEPT !.gate = step.gate], AtOnce(step.out), Later(step.out))

(* The barrier is out of date: the task has read a newer barrier or          *)
(* cancellation, or the cancellation or an end after barrier n.              *)
IsBehind(t, n) == n < t.read \/ (n = t.read /\ ~t.reading)

ReadBarrier(t, c, n, o) ==
    LET step == OnBarrier(t.gate, c, n, o)
    IN  IF IsBehind(t, n) THEN Done(t, <<>>, <<>>)
        ELSE Done([gate |-> step.gate, read |-> n, reading |-> TRUE], step.out, <<>>)

ReadCancel(t, n) ==
    LET step == OnCancel(t.gate, n)
        after == [t EXCEPT !.gate = step.gate]
    IN  Done(IF n >= t.read THEN [after EXCEPT !.read = n, !.reading = FALSE] ELSE after, step.out, <<>>)

ReadEnd(t, c) ==
    LET step == OnEndOfPartition(t.gate, c)
    IN  Done([t EXCEPT !.gate = step.gate, !.reading = FALSE], step.out, <<>>)

(* UNAL-31: a snapshot is out of date once a newer id has started or was     *)
(* cancelled.                                                                *)
IsOutdated(t, left) == left[1] = "trigger" /\ left[2] < t.gate.current

RunMail(t, mail) == SelectSeq(mail, LAMBDA left : ~IsOutdated(t, left))
==============================================================================
