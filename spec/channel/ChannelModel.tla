---------------------------- MODULE ChannelModel -----------------------------
(***************************************************************************)
(* A channel between two tasks. The sender writes the records 1, 2, 3, ... *)
(* and the receiver counts them; a checkpoint stores both counts and the   *)
(* records in flight between them. The receiver's snapshot may begin       *)
(* before this channel's barrier arrives, because another channel's has;   *)
(* it may be aborted; the job may fail and restart from any complete       *)
(* checkpoint. The Python reference model describes the same system        *)
(* (model.channel.exchange).                                               *)
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
    [w EXCEPT !.channel = OnResume(OnStopPersisting(@, n).channel).channel,
              !.out = Append(@, <<"stop_persisting", n>>)]

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

(* The receiver takes its snapshot; an older open one ends. *)
Begin(w, n, persists) ==
    LET ended == IF IsOpen(w, w.begun) THEN GiveUp(w) ELSE w
        known == [ended EXCEPT !.begun = n, !.stored[n].read = w.read]
        step == OnStartPersisting(known.channel, n)
        started == [known EXCEPT !.channel = step.channel, !.out = @ \o <<<<"start_persisting", n>>>> \o step.out]
    IN  IF ~persists THEN known
        ELSE IF step.out # <<>> /\ Head(step.out)[1] = "decline"
        THEN [started EXCEPT !.stored[n].receiver = "given up"]
        ELSE Noted(started, step.out)

(* The receiver reads a barrier.                                             *)
Aligned(w, n, a) ==
    IF n < w.begun \/ ~IsOpen(w, n) THEN w
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
(* effects.                                                                  *)

Kind == out'[1][1]
EventId == out'[1][2]
Effects == Tail(out')
Of(kind) == SelectSeq(Effects, LAMBDA e : e[1] = kind)
Arrives == Kind = "transfer" /\ Len(channel'.output) < Len(channel.output)
NextItem == Head(channel.output)

(* Every urgent item was urgent before, except one barrier. *)
UNAL_32 == [][(Kind = "send_barrier" /\ out'[1][3] = "unaligned") =>
    LET k == Len(UrgentOf(channel.output))
    IN  /\ channel'.output = SubSeq(channel.output, 1, k) \o <<Barrier(EventId, "unaligned")>>
                                \o SubSeq(channel.output, k + 1, Len(channel.output))
        /\ Of("store_output") = <<<<"store_output", EventId, ValuesOf(channel.output)>>>>]_vars

(* A promised part is stored once: at the time-out, or when the barrier      *)
(* leaves; or it is lost.                                                    *)
UNAL_33 == [][
    LET report == Of("store_output") \o Of("lose_output")
        owed == channel.promised
    IN  CASE Kind = "send_barrier" /\ out'[1][3] = "timeout" /\ TimesOutAtSender ->
                /\ channel'.promised = EventId
                /\ report = IF owed = NoId THEN <<>> ELSE <<<<"lose_output", owed>>>>
          [] Kind = "time_out" ->
                /\ report = <<<<"store_output", owed, ValuesOf(SubSeq(channel.output, 1, PlaceOf(channel.output, owed)))>>>>
                /\ Barrier(owed, "unaligned") \in {channel'.output[i] : i \in DOMAIN UrgentOf(channel'.output)}
          [] Kind = "abort" -> report = <<<<"lose_output", owed>>>> /\ channel'.output = channel.output
          [] Arrives /\ NextItem = Barrier(owed, "timeout") ->
                report = <<<<"store_output", owed, <<>>>>>> /\ channel'.promised = NoId
          [] Kind \in {"send_barrier", "recover"} -> TRUE
          [] OTHER -> report = <<>> /\ channel'.promised = owed]_vars

UNAL_33_Owed == channel.promised # NoId => TimesOutAtSender /\ Waits(channel.output, channel.promised)

(* The receiver stores each record that arrives while its barrier is         *)
(* awaited, and none behind the barrier.                                     *)
UNAL_34 == [][
    /\ Arrives /\ IsRecord(NextItem) =>
        Of("store_input") = IF channel.phase = "awaited"
                            THEN <<<<"store_input", channel.seen, <<NextItem[2]>>>>>> ELSE <<>>
    /\ Arrives /\ IsBarrier(NextItem) /\ NextItem[2] > channel.seen /\ (CountsInOrder \/ IsUrgent(NextItem)) =>
        channel'.phase = "arrived" /\ channel'.seen = NextItem[2]
    /\ Kind = "start_persisting" /\ Of("decline") = <<>> =>
        Of("store_input") =
            LET unread == ValuesOf(channel.input)
                part == IF channel.last = EventId THEN SubSeq(unread, 1, channel.before) ELSE unread
            IN  IF part = <<>> THEN <<>> ELSE <<<<"store_input", EventId, part>>>>]_vars

(* Urgent items are read first, and records keep their order. *)
UrgentFirst(queue) == queue = UrgentOf(queue) \o OthersOf(queue)

UNAL_35 == [][
    /\ UrgentFirst(channel'.output) /\ UrgentFirst(channel'.input)
    /\ Kind = "take" => Head(Effects) = Head(channel.input) /\ channel'.input = Tail(channel.input)
    /\ Kind = "prioritise" =>
        /\ ValuesOf(channel'.input) = ValuesOf(channel.input)
        /\ Barrier(EventId, "unaligned") \in {channel'.input[i] : i \in DOMAIN UrgentOf(channel'.input)}
    /\ Arrives /\ ~IsRecord(NextItem) => ValuesOf(channel'.input) = ValuesOf(channel.input)]_vars

(* Restored input is read before any item arrives or any snapshot begins. *)
UNAL_36 == [][
    /\ channel.restored > 0 =>
        /\ Kind # "transfer"
        /\ Kind = "start_persisting" =>
            /\ Of("decline") = <<<<"decline", EventId, "TASK_NOT_READY">>>>
            /\ channel' = OnStopPersisting(channel, begun).channel \/ channel' = channel
    /\ Kind = "recover" /\ EventId > 0 =>
        /\ ValuesOf(channel'.input) = stored[EventId].input /\ channel'.restored = Len(channel'.input)
        /\ ValuesOf(channel'.output) = stored[EventId].output]_vars

(* A complete checkpoint stores every record between those read and those    *)
(* written, in order.                                                        *)
UNAL_37 ==
    \A n \in Ids : IsComplete(n) =>
        stored[n].input \o stored[n].output =
            [i \in 1 .. stored[n].sent - stored[n].read |-> stored[n].read + i]

(* Therefore the receiver reads every record once. *)
UNAL_37_Once == [][\A i \in DOMAIN Of("record") : Of("record")[i][2] = read + 1]_vars

------------------------------------------------------------------------------
(* Replacements: each replaces the operator in its comment in a model that   *)
(* must fail.                                                                *)

StoresNothing(ch) == <<>>                                           \* Overtaken
PassesNothing(queue, n) == <<>>                                     \* PassedBy
NeverStored(ch) == FALSE                                            \* IsStored
StoresEverything(ch, n) == ValuesOf(ch.input)                       \* InFlight
NoticeLast(queue, item) ==                                          \* Placed
    LET there == IF IsUrgent(item) THEN WithUrgent(queue, item) ELSE Append(queue, item)
    IN  IF item[3] = "timeout" THEN Append(there, Notice(item[2])) ELSE there
OnlyNew(input, output) == NewChannel                                \* OnRestore
SenderFirst(input, output) ==                                       \* OnRestore
    [NewChannel EXCEPT !.output = [i \in 1 .. Len(input) + Len(output) |->
        Record(IF i <= Len(output) THEN output[i] ELSE input[i - Len(output)])]]
AnyTime(ch) == ch.output # <<>> /\ (~ch.blocked \/ (PassesBlock /\ IsUrgent(Head(ch.output)))) \* MayTransfer
==============================================================================
