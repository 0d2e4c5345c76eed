------------------------------- MODULE Channel -------------------------------
(***************************************************************************)
(* One channel of unaligned checkpoints, from the sender's queue to the    *)
(* receiver's.                                                             *)
(*                                                                         *)
(* An unaligned barrier overtakes all waiting records, first at the        *)
(* sender, then at the receiver. The overtaken records belong before the   *)
(* barrier, but neither task's state contains them. So both ends store     *)
(* them. The sender stores the records that the barrier overtakes in its   *)
(* queue. The receiver stores the unread records that arrived before the   *)
(* barrier, and the records that arrive until the barrier arrives. After a *)
(* restore the gate reads the receiver's part, then the sender's part.     *)
(*                                                                         *)
(* A barrier with a time-out first travels in order. If the time-out       *)
(* passes while the barrier waits at the sender, the barrier overtakes the *)
(* items before it there. If the time-out passes while it waits at the     *)
(* receiver, the gate prioritises the barrier.                             *)
(*                                                                         *)
(* The module has functions only. ChannelModel.tla puts a channel between  *)
(* two tasks and states rules UNAL-32 to UNAL-37.                          *)
(*                                                                         *)
(* Source: Apache Flink, PipelinedSubpartition, RemoteInputChannel,        *)
(* ChannelStatePersister and RecoveredInputChannel.                        *)
(***************************************************************************)
EXTENDS Integers, Sequences, FiniteSets

CONSTANTS
    CountsInOrder,      \* a barrier in order counts as arrived, and the gate can prioritise it (1.13+)
    TimesOutAtSender,   \* a barrier that waits at the sender overtakes at its time-out (1.16+)
    PassesBlock         \* urgent items leave even after an aligned barrier (2.3+)

ASSUME CountsInOrder \in BOOLEAN /\ TimesOutAtSender \in BOOLEAN /\ PassesBlock \in BOOLEAN

NoId == -1
Alignments == {"aligned", "unaligned", "timeout"}
Phases == {"idle", "awaited", "arrived"}

(* Items of a queue: a record, a barrier, the announcement of a barrier. *)
Record(v) == <<"record", v>>
Barrier(n, a) == <<"barrier", n, a>>
Notice(n) == <<"announce", n>>

IsRecord(item) == item[1] = "record"
IsBarrier(item) == item[1] = "barrier"
IsUrgent(item) == item[1] = "announce" \/ (IsBarrier(item) /\ item[3] = "unaligned")

(* The channel. The sender has promised to store what checkpoint `promised`  *)
(* overtakes. `restored` restored records are unread. `phase` is that of     *)
(* checkpoint `seen`. `before` unread records arrived before barrier `last`. *)
NewChannel ==
    [output |-> <<>>, blocked |-> FALSE, promised |-> NoId,
     input |-> <<>>, restored |-> 0, phase |-> "idle", seen |-> NoId, last |-> NoId, before |-> 0]

Step(ch, effects) == [channel |-> ch, out |-> effects]

------------------------------------------------------------------------------
(* Queues: urgent items come first. *)

UrgentOf(queue) == SelectSeq(queue, IsUrgent)
OthersOf(queue) == SelectSeq(queue, LAMBDA item : ~IsUrgent(item))

(* UNAL-32, UNAL-35: an urgent item overtakes all items that are not urgent. *)
WithUrgent(queue, item) == Append(UrgentOf(queue), item) \o OthersOf(queue)

ValuesOf(queue) ==
    LET records == SelectSeq(queue, IsRecord) IN [i \in DOMAIN records |-> records[i][2]]

Waits(queue, n) == \E i \in DOMAIN queue : queue[i] = Barrier(n, "timeout")
PlaceOf(queue, n) ==
    CHOOSE i \in DOMAIN queue :
        queue[i] = Barrier(n, "timeout") /\ \A j \in 1 .. i - 1 : queue[j] # Barrier(n, "timeout")
Without(queue, i) == SubSeq(queue, 1, i - 1) \o SubSeq(queue, i + 1, Len(queue))

(* The barrier that waits behind records becomes urgent. *)
MadeUrgent(queue, n) == WithUrgent(Without(queue, PlaceOf(queue, n)), Barrier(n, "unaligned"))

------------------------------------------------------------------------------
(* The sender.                                                               *)

OnEmit(ch, v) == Step([ch EXCEPT !.output = Append(@, Record(v))], <<>>)

(* UNAL-32: the records that an unaligned barrier overtakes. *)
Overtaken(ch) == ValuesOf(ch.output)

OnSendBarrier(ch, n, a) ==
    IF a = "unaligned"
    THEN Step([ch EXCEPT !.output = WithUrgent(@, Barrier(n, a))], <<<<"store_output", n, Overtaken(ch)>>>>)
    ELSE LET sent == [ch EXCEPT !.output = Append(@, Barrier(n, a))]
         IN  IF a = "timeout" /\ TimesOutAtSender
             THEN Step([sent EXCEPT !.promised = n],
                       IF ch.promised = NoId THEN <<>> ELSE <<<<"lose_output", ch.promised>>>>)
             ELSE Step(sent, <<>>)

(* UNAL-33: a waiting barrier overtakes the items before it. *)
PassedBy(queue, n) == ValuesOf(SubSeq(queue, 1, PlaceOf(queue, n)))

OnTimeOut(ch, n) ==
    IF ch.promised # n THEN Step(ch, <<>>)
    ELSE Step([ch EXCEPT !.output = MadeUrgent(@, n), !.promised = NoId],
              <<<<"store_output", n, PassedBy(ch.output, n)>>>>)

OnAbortAtSender(ch, n) ==
    IF ch.promised # n THEN Step(ch, <<>>)
    ELSE Step([ch EXCEPT !.promised = NoId], <<<<"lose_output", n>>>>)

OnResume(ch) == Step([ch EXCEPT !.blocked = FALSE], <<>>)

------------------------------------------------------------------------------
(* The receiver.                                                             *)

(* UNAL-34: the phase ends with the awaited barrier, or a newer one. *)
IsOld(ch, n) == IF ch.phase = "idle" THEN n <= ch.seen ELSE n < ch.seen

(* UNAL-34: a record that arrives while the barrier is awaited. *)
IsStored(ch) == ch.phase = "awaited"

AfterBarrier(ch, n, before) ==
    IF IsOld(ch, n) THEN ch
    ELSE LET arrived == [ch EXCEPT !.phase = "arrived", !.seen = n]
         IN  IF n > ch.last THEN [arrived EXCEPT !.last = n, !.before = before] ELSE arrived

Placed(queue, item) ==
    LET there == IF IsUrgent(item) THEN WithUrgent(queue, item) ELSE Append(queue, item)
    IN  IF item[3] = "timeout" THEN WithUrgent(there, Notice(item[2])) ELSE there

OnArrival(ch, item) ==
    IF IsRecord(item)
    THEN Step([ch EXCEPT !.input = Append(@, item)],
              IF IsStored(ch) THEN <<<<"store_input", ch.seen, <<item[2]>>>>>> ELSE <<>>)
    ELSE LET placed == [ch EXCEPT !.input = Placed(@, item)]
         IN  Step(IF CountsInOrder \/ IsUrgent(item)
                  THEN AfterBarrier(placed, item[2], Len(ValuesOf(ch.input))) ELSE placed,
                  <<>>)

OnTake(ch) ==
    IF ch.input = <<>> THEN Step(ch, <<>>)
    ELSE LET rest == [ch EXCEPT !.input = Tail(@)]
         IN  IF ~IsRecord(Head(ch.input)) THEN Step(rest, <<Head(ch.input)>>)
             ELSE Step([rest EXCEPT !.before = IF @ > 0 THEN @ - 1 ELSE 0,
                                    !.restored = IF @ > 0 THEN @ - 1 ELSE 0], <<Head(ch.input)>>)

(* UNAL-34: the unread records that arrived before the barrier. *)
InFlight(ch, n) ==
    LET values == ValuesOf(ch.input) IN IF ch.last = n THEN SubSeq(values, 1, ch.before) ELSE values

OnStartPersisting(ch, n) ==
    IF ch.restored > 0 THEN Step(ch, <<<<"decline", n, "TASK_NOT_READY">>>>)          \* UNAL-36
    ELSE IF n < ch.last \/ (ch.phase = "arrived" /\ n < ch.seen)
    THEN Step(ch, <<<<"decline", n, "CHECKPOINT_SUBSUMED">>>>)
    ELSE LET known == IF n > ch.last THEN [ch EXCEPT !.last = NoId, !.before = 0] ELSE ch
             begun == IF n > ch.seen THEN [known EXCEPT !.phase = "awaited", !.seen = n] ELSE known
             part == InFlight(begun, n)
         IN  Step(begun, IF part = <<>> THEN <<>> ELSE <<<<"store_input", n, part>>>>)

OnStopPersisting(ch, n) ==
    LET ended == IF n >= ch.seen \/ ch.restored > 0 THEN [ch EXCEPT !.phase = "idle", !.seen = n] ELSE ch
    IN  Step(IF ch.last = n THEN [ended EXCEPT !.last = NoId, !.before = 0] ELSE ended, <<>>)

(* UNAL-35: the gate has read the announcement, and no newer barrier has     *)
(* arrived.                                                                  *)
MayPrioritise(ch, n) ==
    /\ CountsInOrder /\ Waits(ch.input, n) /\ ch.phase = "arrived" /\ ch.last = n
    /\ \A i \in DOMAIN ch.input : ch.input[i] # Notice(n)

OnPrioritise(ch, n) == Step([ch EXCEPT !.input = MadeUrgent(@, n)], <<>>)

------------------------------------------------------------------------------
(* The network, and a new attempt.                                           *)

(* UNAL-36: no item arrives while the gate reads restored records. *)
MayTransfer(ch) ==
    /\ ch.restored = 0 /\ ch.output # <<>>
    /\ ~ch.blocked \/ (PassesBlock /\ IsUrgent(Head(ch.output)))

OnTransfer(ch) ==
    IF ~MayTransfer(ch) THEN Step(ch, <<>>)
    ELSE LET item == Head(ch.output)
             left == [ch EXCEPT !.output = Tail(@)]
             isPromised == item = Barrier(ch.promised, "timeout")
             gone == IF isPromised THEN [left EXCEPT !.promised = NoId] ELSE left
             stops == IsBarrier(item) /\ ~IsUrgent(item)
             arrived == OnArrival([gone EXCEPT !.blocked = @ \/ stops], item)
             report == IF isPromised THEN <<<<"store_output", ch.promised, <<>>>>>> ELSE <<>>
         IN  Step(arrived.channel, report \o arrived.out)

(* UNAL-36: the gate reads the receiver's part first, then the sender's. *)
OnRestore(input, output) ==
    [NewChannel EXCEPT !.input = [i \in DOMAIN input |-> Record(input[i])],
                       !.output = [i \in DOMAIN output |-> Record(output[i])],
                       !.restored = Len(input)]
==============================================================================
