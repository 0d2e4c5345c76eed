---------------------------- MODULE ChannelModel -----------------------------
(***************************************************************************)
(* A channel between two tasks. The sender writes the records 1, 2, 3, ... *)
(* and the receiver counts them. A checkpoint stores both counts and the   *)
(* records in flight. The receiver's snapshot can begin before this        *)
(* channel's barrier arrives, because another channel's barrier has        *)
(* arrived. It can be aborted. The job can fail and restart from any       *)
(* complete checkpoint. The Python reference model describes the same      *)
(* system (model.channel.exchange).                                        *)
(***************************************************************************)
EXTENDS Channel

CONSTANTS
    R,              \* number of records that the sender writes
    M,              \* checkpoint ids are 1 .. M
    F               \* maximum number of failures of the job

VARIABLES
    channel,        \* see NewChannel
    sent,           \* number of records that the sender has written
    read,           \* number of records that the receiver has read
    begun,          \* the newest checkpoint that the receiver has begun; 0 for none
    stored,         \* by checkpoint: its stored data
    failed,         \* number of failures of the job
    out             \* the last event, then its effects

vars == <<channel, sent, read, begun, stored, failed, out>>
Ids == 1 .. M

NothingStored ==
    [sent |-> NoId, output |-> <<>>, owed |-> FALSE, read |-> NoId, input |-> <<>>, receiver |-> "open"]

TypeOK ==
    /\ sent \in 0 .. R /\ read \in 0 .. R /\ begun \in 0 .. M /\ failed \in 0 .. F
    /\ channel.phase \in Phases /\ channel.blocked \in BOOLEAN
    /\ channel.restored \in 0 .. Len(channel.input) /\ channel.before \in 0 .. Len(channel.input)
    /\ \A n \in Ids : stored[n].receiver \in {"open", "done", "given up"}

Init ==
    /\ channel = NewChannel
    /\ sent = 0 /\ read = 0 /\ begun = 0 /\ failed = 0
    /\ stored = [n \in Ids |-> NothingStored]
    /\ out = <<>>

------------------------------------------------------------------------------
(* The effects of the channel are stored with the checkpoints, and read by   *)
(* the receiver.                                                             *)

Exchange(ch, r, b, bk, effects) == [channel |-> ch, read |-> r, begun |-> b, stored |-> bk, out |-> effects]

EndPersisting(w, n) ==
    [w EXCEPT !.channel = OnStopPersisting(@, n).channel, !.out = Append(@, <<"stop_persisting", n>>)]

GiveUp(w) == EndPersisting([w EXCEPT !.stored[w.begun].receiver = "given up"], w.begun)

IsOpen(w, n) == n > 0 /\ w.stored[n].receiver = "open"

RECURSIVE Noted(_, _)
RECURSIVE Begin(_, _, _)
RECURSIVE Aligned(_, _, _)

(* One effect of the channel after the other. *)
Noted(w, effects) ==
    IF effects = <<>> THEN w
    ELSE LET e == Head(effects)
             next ==
                CASE e[1] = "store_output" ->
                        [w EXCEPT !.stored[e[2]].output = e[3], !.stored[e[2]].owed = FALSE]
                  [] e[1] = "lose_output" -> [w EXCEPT !.stored[e[2]].receiver = "given up"]
                  [] e[1] = "store_input" -> [w EXCEPT !.stored[e[2]].input = @ \o e[3]]
                  [] e[1] = "record" -> [w EXCEPT !.read = @ + 1]
                  [] e[1] = "barrier" -> Aligned(w, e[2], e[3])
                  [] OTHER -> w
         IN  Noted(next, Tail(effects))

(* The receiver takes its snapshot. An older open snapshot ends. *)
Begin(w, n, persists) ==
    LET ended == IF IsOpen(w, w.begun) THEN GiveUp(w) ELSE w
        known == [ended EXCEPT !.begun = n, !.stored[n].read = w.read]
        step == OnStartPersisting(known.channel, n)
        started == [known EXCEPT !.channel = step.channel, !.out = @ \o <<<<"start_persisting", n>>>> \o step.out]
    IN  IF ~persists THEN known
        ELSE IF step.out # <<>> /\ Head(step.out)[1] = "decline"
        THEN [started EXCEPT !.stored[n].receiver = "given up"]
        ELSE Noted(started, step.out)

(* The sender continues once the barrier behind which it stopped is read.    *)
Continued(w) ==
    IF SelectSeq(w.channel.input, LAMBDA item : IsBarrier(item) /\ ~IsUrgent(item)) # <<>> THEN w
    ELSE [w EXCEPT !.channel = OnResume(@).channel]

(* The receiver reads a barrier.                                             *)
Aligned(before, n, a) ==
    LET w == Continued(before)
    IN  IF n < w.begun \/ ~IsOpen(w, n) THEN w
        ELSE LET started == IF n > w.begun THEN Begin(w, n, a = "unaligned") ELSE w
                 done == IF IsOpen(started, n) THEN [started EXCEPT !.stored[n].receiver = "done"] ELSE started
             IN  EndPersisting(done, n)

Become(w, event) ==
    /\ channel' = w.channel /\ read' = w.read /\ begun' = w.begun /\ stored' = w.stored
    /\ out' = <<event>> \o w.out

(* An event of the channel, followed by the storage of its effects. *)
Happens(event, step) ==
    Become(Noted(Exchange(step.channel, read, begun, stored, step.out), step.out), event)

------------------------------------------------------------------------------
(* System and environment.                                                   *)

Emit ==
    /\ sent < R /\ sent' = sent + 1 /\ UNCHANGED failed
    /\ Happens(<<"emit", sent + 1>>, OnEmit(channel, sent + 1))

NextBarrier == 1 + Cardinality({n \in Ids : stored[n].sent # NoId})

SendBarrier(a) ==
    LET n == NextBarrier
        step == OnSendBarrier(channel, n, a)
        after == [stored EXCEPT ![n].sent = sent, ![n].owed = (a = "timeout" /\ TimesOutAtSender)]
    IN  /\ n \in Ids
        /\ Become(Noted(Exchange(step.channel, read, begun, after, step.out), step.out), <<"send_barrier", n, a>>)
        /\ UNCHANGED <<sent, failed>>

TimeOut ==
    /\ channel.promised # NoId /\ UNCHANGED <<sent, failed>>
    /\ Happens(<<"time_out", channel.promised>>, OnTimeOut(channel, channel.promised))

Abort ==
    /\ channel.promised # NoId /\ UNCHANGED <<sent, failed>>
    /\ Happens(<<"abort", channel.promised>>, OnAbortAtSender(channel, channel.promised))

Transfer ==
    /\ MayTransfer(channel) /\ UNCHANGED <<sent, failed>>
    /\ Happens(<<"transfer">>, OnTransfer(channel))

Take ==
    /\ channel.input # <<>> /\ UNCHANGED <<sent, failed>>
    /\ Happens(<<"take">>, OnTake(channel))

(* Another channel's barrier begins the receiver's snapshot.                 *)
BeginBefore(n) ==
    /\ n > begun /\ UNCHANGED <<sent, failed>>
    /\ Become(Begin(Exchange(channel, read, begun, stored, <<>>), n, TRUE), <<"start_persisting", n>>)

GivesUp ==
    /\ begun > 0 /\ stored[begun].receiver = "open" /\ UNCHANGED <<sent, failed>>
    /\ Become(GiveUp(Exchange(channel, read, begun, stored, <<>>)), <<"stop_persisting", begun>>)

Prioritise(n) ==
    /\ MayPrioritise(channel, n) /\ n >= begun /\ UNCHANGED <<sent, failed>>
    /\ Happens(<<"prioritise", n>>, OnPrioritise(channel, n))

(* UNAL-36, UNAL-37 *)
IsComplete(n) == stored[n].sent # NoId /\ ~stored[n].owed /\ stored[n].receiver = "done"

Recover(n) ==
    /\ failed < F /\ failed' = failed + 1
    /\ IF n = 0 THEN TRUE ELSE IsComplete(n)
    /\ LET from == IF n = 0 THEN [NothingStored EXCEPT !.sent = 0, !.read = 0] ELSE stored[n]
       IN  /\ channel' = OnRestore(from.input, from.output)
           /\ sent' = from.sent /\ read' = from.read
    /\ begun' = n
    /\ stored' = [m \in Ids |-> IF m <= n THEN stored[m] ELSE NothingStored]
    /\ out' = <<<<"recover", n>>>>

Next ==
    \/ Emit \/ TimeOut \/ Abort \/ Transfer \/ Take \/ GivesUp
    \/ \E a \in Alignments : SendBarrier(a)
    \/ \E n \in Ids : BeginBefore(n) \/ Prioritise(n)
    \/ \E n \in 0 .. M : Recover(n)

Spec == Init /\ [][Next]_vars

(* Nothing stays blocked: without a next step, all input has been read. *)
StuckOnlyAtTheEnd == (sent = R /\ channel.input = <<>>) \/ ENABLED Next

------------------------------------------------------------------------------
(* Rules. The event's kind is Kind, its checkpoint EventId; Effects are its  *)
(* effects. This module defines urgent items, others and values of a queue   *)
(* again: the rules share no operator with the channel that they check.      *)

Event == out'[1]
Kind == Event[1]
EventId == Event[2]
Effects == Tail(out')
Of(kind) == SelectSeq(Effects, LAMBDA e : e[1] = kind)
Leaves == Kind = "transfer" /\ Len(channel'.output) < Len(channel.output)
NextItem == Head(channel.output)
FirstItem == Head(channel.input)
Is(item, kind) == item[1] = kind
Hurries(item) == Is(item, "announce") \/ (Is(item, "barrier") /\ item[3] = "unaligned")
Urgents(queue) == SelectSeq(queue, Hurries)
Others(queue) == SelectSeq(queue, LAMBDA item : ~Hurries(item))
Values(queue) ==
    LET records == SelectSeq(queue, LAMBDA item : Is(item, "record")) IN [i \in 1 .. Len(records) |-> records[i][2]]
Overtaking(queue, item) == Urgents(queue) \o <<item>> \o Others(queue)
Timed(n) == <<"barrier", n, "timeout">>
Places(queue, n) == {i \in 1 .. Len(queue) : queue[i] = Timed(n)}
Place(queue, n) == CHOOSE i \in Places(queue, n) : \A j \in Places(queue, n) : i <= j
Ahead(queue, n) == SubSeq(queue, 1, Place(queue, n) - 1)
Hurried(queue, n) ==
    Overtaking(Ahead(queue, n) \o SubSeq(queue, Place(queue, n) + 1, Len(queue)), <<"barrier", n, "unaligned">>)

(* A record joins the end of the sender's queue. An unaligned barrier        *)
(* overtakes all but urgent items. The overtaken items are stored.           *)
UNAL_32 == [][
    /\ Kind = "emit" =>
        channel' = [channel EXCEPT !.output = Append(@, <<"record", EventId>>)] /\ Effects = <<>>
    /\ Kind = "send_barrier" /\ Event[3] = "unaligned" =>
        /\ channel' = [channel EXCEPT !.output = Overtaking(@, <<"barrier", EventId, "unaligned">>)]
        /\ Effects = <<<<"store_output", EventId, Values(channel.output)>>>>]_vars

(* A promised part is stored once, at the time-out or when the barrier       *)
(* leaves, or it is lost.                                                    *)
UNAL_33 == [][
    LET owed == channel.promised
        promises == Event[3] = "timeout" /\ TimesOutAtSender
        report == Of("store_output") \o Of("lose_output")
    IN  CASE Kind = "send_barrier" /\ Event[3] # "unaligned" ->
                /\ channel' = [channel EXCEPT !.output = Append(@, <<"barrier", EventId, Event[3]>>),
                                              !.promised = IF promises THEN EventId ELSE @]
                /\ Effects = IF promises /\ owed # -1 THEN <<<<"lose_output", owed>>>> ELSE <<>>
          [] Kind = "time_out" ->
                /\ channel' = [channel EXCEPT !.output = Hurried(@, owed), !.promised = -1]
                /\ Effects = <<<<"store_output", owed, Values(Ahead(channel.output, owed))>>>>
          [] Kind = "abort" ->
                channel' = [channel EXCEPT !.promised = -1] /\ Effects = <<<<"lose_output", owed>>>>
          [] Leaves /\ NextItem = Timed(owed) ->
                channel'.promised = -1 /\ report = <<<<"store_output", owed, <<>>>>>>
          [] Kind \in {"send_barrier", "recover"} -> TRUE                          \* UNAL_32, UNAL_36
          [] OTHER -> channel'.promised = owed /\ report = <<>>]_vars

UNAL_33_Owed ==
    channel.promised # -1 => TimesOutAtSender /\ Places(channel.output, channel.promised) # {}

(* The receiver stores the unread records before the barrier, then each      *)
(* record that arrives while the barrier is awaited, and none behind it.     *)
NewerArrived(n) == n < channel.last \/ (channel.phase = "arrived" /\ n < channel.seen)
Unread(n) ==
    LET values == Values(channel.input)
    IN  IF channel.last = n THEN SubSeq(values, 1, channel.before) ELSE values
Starting(n) ==
    IF channel.restored > 0 THEN <<<<"decline", n, "TASK_NOT_READY">>>>                  \* UNAL-36
    ELSE IF NewerArrived(n) THEN <<<<"decline", n, "CHECKPOINT_SUBSUMED">>>>
    ELSE IF Unread(n) = <<>> THEN <<>> ELSE <<<<"store_input", n, Unread(n)>>>>
Declines(n) == channel.restored > 0 \/ NewerArrived(n)
Counts == Is(NextItem, "barrier") /\ (CountsInOrder \/ Hurries(NextItem))
Repeats(n) == n < channel.seen \/ (n = channel.seen /\ channel.phase = "idle")

UNAL_34 == [][
    /\ Leaves =>
        /\ Len(Effects) <= 1
        /\ Of("store_input") = IF Is(NextItem, "record") /\ channel.phase = "awaited"
                               THEN <<<<"store_input", channel.seen, <<NextItem[2]>>>>>> ELSE <<>>
        /\ <<channel'.phase, channel'.seen>> =
               IF Counts /\ ~Repeats(NextItem[2]) THEN <<"arrived", NextItem[2]>> ELSE <<channel.phase, channel.seen>>
        /\ <<channel'.last, channel'.before>> =
               IF Counts /\ ~Repeats(NextItem[2]) /\ NextItem[2] > channel.last
               THEN <<NextItem[2], Len(Values(channel.input))>> ELSE <<channel.last, channel.before>>
    /\ Kind = "start_persisting" => Of("decline") \o Of("store_input") = Starting(EventId)]_vars

(* What a barrier has counted is the number of unread records before it.     *)
UNAL_34_Places ==
    /\ channel.before \in 0 .. Len(Values(channel.input))
    /\ channel.last = -1 => channel.before = 0
    /\ \A i \in DOMAIN channel.input :
          LET item == channel.input[i]
          IN  Is(item, "barrier") /\ ~Hurries(item) /\ item[2] = channel.last =>
                  channel.before = Len(Values(SubSeq(channel.input, 1, i)))

(* The gate begins a snapshot, gives one up, or reads the last barrier that  *)
(* it awaits: the older snapshot ends, the newer one begins, then it ends.   *)
ReadsId == FirstItem[2]
ReadsBarrier == Kind = "take" /\ Is(FirstItem, "barrier")
Completes ==
    ReadsBarrier /\ ReadsId >= begun /\ stored[ReadsId].receiver = "open"
StartsAt == IF Kind = "start_persisting" THEN EventId
            ELSE IF Completes /\ ReadsId > begun /\ FirstItem[3] = "unaligned" THEN ReadsId ELSE -1
IsNewer == Kind = "start_persisting" \/ (Completes /\ ReadsId > begun)
EndsBegun == begun > 0 /\ stored[begun].receiver = "open" /\ (IsNewer \/ Kind = "stop_persisting")
EndsAt == (IF EndsBegun THEN {begun} ELSE {}) \cup (IF Completes THEN {ReadsId} ELSE {})
Ends(n) == <<<<"stop_persisting", n>>>>

UNAL_34_Ends == [][(Kind \in {"take", "start_persisting", "stop_persisting"}) =>
    LET begins == StartsAt # -1 /\ ~Declines(StartsAt)
        ended == {n \in EndsAt : n >= channel.seen \/ channel.restored > 0}
    IN  /\ Effects = (IF Kind = "take" THEN <<FirstItem>> ELSE <<>>)
                        \o (IF EndsBegun THEN Ends(begun) ELSE <<>>)
                        \o (IF StartsAt = -1 THEN <<>> ELSE <<<<"start_persisting", StartsAt>>>> \o Starting(StartsAt))
                        \o (IF Completes THEN Ends(ReadsId) ELSE <<>>)
        /\ <<channel'.phase, channel'.seen>> =
               IF begins /\ ~Completes /\ StartsAt > channel.seen THEN <<"awaited", StartsAt>>
               ELSE IF ended = {} THEN <<channel.phase, channel.seen>>
               ELSE <<"idle", CHOOSE n \in ended : \A m \in ended : m <= n>>
        /\ <<channel'.last, channel'.before>> =
               IF channel.last \in EndsAt \/ (begins /\ channel.last < StartsAt) THEN <<-1, 0>>
               ELSE <<channel.last, IF Kind = "take" /\ Is(FirstItem, "record") /\ channel.before > 0
                                    THEN channel.before - 1 ELSE channel.before>>
        /\ channel'.blocked = (channel.blocked /\ (ReadsBarrier => \E i \in DOMAIN channel.input :
               i > 1 /\ Is(channel.input[i], "barrier") /\ ~Hurries(channel.input[i])))]_vars

(* Urgent items are read first. All other items keep their order. *)
UrgentFirst(queue) == queue = Urgents(queue) \o Others(queue)

UNAL_35 == [][
    /\ UrgentFirst(channel'.output) /\ UrgentFirst(channel'.input)
    /\ Kind = "transfer" =>
        /\ channel'.output = Tail(channel.output)
        /\ channel'.blocked = (channel.blocked \/ (Is(NextItem, "barrier") /\ ~Hurries(NextItem)))
        /\ channel'.input = IF Hurries(NextItem) THEN Overtaking(channel.input, NextItem)
                            ELSE IF Is(NextItem, "record") \/ NextItem[3] # "timeout"
                            THEN Append(channel.input, NextItem)
                            ELSE Append(Overtaking(channel.input, <<"announce", NextItem[2]>>), NextItem)
    /\ Kind = "take" =>
        /\ Head(Effects) = FirstItem
        /\ channel'.input = Tail(channel.input) /\ channel'.output = channel.output
    /\ Kind \in {"start_persisting", "stop_persisting"} =>
        channel'.input = channel.input /\ channel'.output = channel.output
    /\ Kind = "prioritise" =>
        channel' = [channel EXCEPT !.input = Hurried(@, EventId)] /\ Effects = <<>>]_vars

(* After an aligned barrier only urgent items leave, until the receiver      *)
(* resumes the sender. The gate prioritises a barrier whose announcement it  *)
(* has read, while none newer has arrived.                                   *)
UNAL_35_Waits ==
    /\ channel.restored = 0 =>
        (ENABLED Transfer <=>
            channel.output # <<>> /\ (channel.blocked => PassesBlock /\ Hurries(NextItem)))
    /\ \A n \in Ids : ENABLED Prioritise(n) <=>
        /\ n >= begun /\ CountsInOrder /\ Places(channel.input, n) # {}
        /\ channel.phase = "arrived" /\ channel.last = n
        /\ \A i \in DOMAIN channel.input : channel.input[i] # <<"announce", n>>

(* Restored input is read before any item arrives or any snapshot begins. *)
Records(values) == [i \in 1 .. Len(values) |-> <<"record", values[i]>>]

UNAL_36 == [][
    LET from(part) == IF EventId = 0 THEN <<>> ELSE Records(stored[EventId][part])
    IN  IF Kind = "recover"
        THEN channel' = [output |-> from("output"), blocked |-> FALSE, promised |-> -1, input |-> from("input"),
                         restored |-> Len(from("input")), phase |-> "idle", seen |-> -1, last |-> -1, before |-> 0]
        ELSE /\ channel'.restored = IF Kind = "take" /\ channel.restored > 0
                                    THEN channel.restored - 1 ELSE channel.restored
             /\ channel.restored > 0 =>
                 /\ Kind # "transfer"
                 /\ Kind = "start_persisting" => Of("decline") = <<<<"decline", EventId, "TASK_NOT_READY">>>>]_vars

(* While restored records are unread, nothing else has arrived. *)
UNAL_36_Only ==
    channel.restored > 0 => channel.restored = Len(channel.input) /\ channel.restored = Len(Values(channel.input))

(* A complete checkpoint stores, in order, the records written and not read. *)
UNAL_37 ==
    \A n \in Ids : IsComplete(n) =>
        stored[n].input \o stored[n].output = [i \in 1 .. stored[n].sent - stored[n].read |-> stored[n].read + i]

(* Therefore the receiver reads every record once. *)
UNAL_37_Once == [][\A i \in DOMAIN Of("record") : Of("record")[i][2] = read + 1]_vars

(* Each checkpoint stores the effects for it, and nothing else.              *)
Given(kind, n) == SelectSeq(Effects, LAMBDA e : e[1] = kind /\ e[2] = n)
GivenUp(n) == Given("lose_output", n) \o Given("decline", n) # <<>> \/ (EndsBegun /\ n = begun)

UNAL_37_Stored == [][Kind # "recover" =>
    /\ sent' = IF Kind = "emit" THEN EventId ELSE sent
    /\ read' = read + Len(Of("record"))
    /\ begun' = IF Kind = "start_persisting" THEN EventId ELSE IF IsNewer THEN ReadsId ELSE begun
    /\ \A n \in Ids :
        LET sends == Kind = "send_barrier" /\ EventId = n
            output == Given("store_output", n)
            input == Given("store_input", n)
        IN  stored'[n] =
                [sent |-> IF sends THEN sent ELSE stored[n].sent,
                 output |-> IF output = <<>> THEN stored[n].output ELSE output[1][3],
                 owed |-> IF sends THEN channel'.promised = n ELSE stored[n].owed /\ output = <<>>,
                 read |-> IF n = begun' /\ n # begun THEN read ELSE stored[n].read,
                 input |-> stored[n].input \o IF input = <<>> THEN <<>> ELSE input[1][3],
                 receiver |-> IF GivenUp(n) THEN "given up"
                              ELSE IF Completes /\ n = ReadsId THEN "done" ELSE stored[n].receiver]]_vars

------------------------------------------------------------------------------
(* Replacements: each takes the place of the operator in its comment.        *)

OnlyUnaligned == {"unaligned"}                                      \* Alignments, in a model that holds
StoresNothing(ch) == <<>>                                           \* Overtaken
PassesNothing(queue, n) == <<>>                                     \* PassedBy
NeverStored(ch) == FALSE                                            \* IsStored
StoresEverything(ch, n) == ValuesOf(ch.input)                       \* InFlight
NoticeLast(queue, item) ==                                          \* Placed
    LET there == IF IsUrgent(item) THEN WithUrgent(queue, item) ELSE Append(queue, item)
    IN  IF item[3] = "timeout" THEN Append(there, Notice(item[2])) ELSE there
OnlyNew(input, output) == NewChannel                                \* OnRestore
ContinuesAtEnd(w, n) ==                                             \* EndPersisting
    [w EXCEPT !.channel = OnResume(OnStopPersisting(@, n).channel).channel, !.out = Append(@, <<"stop_persisting", n>>)]
SenderFirst(input, output) ==                                       \* OnRestore
    [NewChannel EXCEPT !.output = [i \in 1 .. Len(input) + Len(output) |->
        Record(IF i <= Len(output) THEN output[i] ELSE input[i - Len(output)])]]
AnyTime(ch) == ch.output # <<>> /\ (~ch.blocked \/ (PassesBlock /\ IsUrgent(Head(ch.output)))) \* MayTransfer
==============================================================================
