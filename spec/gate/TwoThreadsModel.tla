--------------------------- MODULE TwoThreadsModel ---------------------------
(***************************************************************************)
(* A gate of Flink 1.11 between the network thread and the task thread.    *)
(* Each channel delivers barriers and cancellations with rising ids. The   *)
(* network thread receives a barrier. The task reads the barriers of a     *)
(* channel in order, at any later time. The task reads a cancellation or   *)
(* an end after the barriers before it. The task thread reads its mailbox  *)
(* at any time.                                                            *)
(***************************************************************************)
EXTENDS TwoThreads

CONSTANTS
    M               \* checkpoint ids are 1 .. M

VARIABLES
    threads,        \* see ThreadsType
    mail,           \* the effects left for the task thread, oldest first
    unread,         \* by channel: the ids of barriers received and not read
    last,           \* by channel: the highest id delivered, 0 at first
    out             \* the last event, then its immediate effects

vars == <<threads, mail, unread, last, out>>
Ids == 1 .. M

TypeOK ==
    /\ threads \in ThreadsType
    /\ unread \in [Channels -> SUBSET Ids] /\ last \in [0 .. N - 1 -> 0 .. M]

Init ==
    /\ threads = NewThreads /\ mail = <<>> /\ out = <<>>
    /\ unread = [c \in Channels |-> {}] /\ last = [c \in Channels |-> 0]

Take(event, done) ==
    /\ threads' = done.threads
    /\ mail' = mail \o done.left
    /\ out' = <<event>> \o done.out

IsOpen(c) == c \notin threads.gate.closed
Delivers(c, n) == n > last[c] /\ last' = [last EXCEPT ![c] = n]
IsFirst(c, n) == n \in unread[c] /\ \A other \in unread[c] : n <= other

NetworkReceives(c, n) ==
    /\ IsOpen(c) /\ Delivers(c, n)
    /\ unread' = [unread EXCEPT ![c] = @ \cup {n}]
    /\ Take(<<"receive_barrier", c, n>>, Receive(threads, c, n, Unaligned))

TaskReads(c, n) ==
    /\ IsOpen(c) /\ IsFirst(c, n)
    /\ unread' = [unread EXCEPT ![c] = @ \ {n}] /\ UNCHANGED last
    /\ Take(<<"barrier", c, n>>, ReadBarrier(threads, c, n, Unaligned))

TaskCancels(c, n) ==
    /\ IsOpen(c) /\ unread[c] = {} /\ Delivers(c, n) /\ UNCHANGED unread
    /\ Take(<<"cancel", c, n>>, ReadCancel(threads, n))

TaskEnds(c) ==
    /\ IsOpen(c) /\ unread[c] = {} /\ UNCHANGED <<unread, last>>
    /\ Take(<<"end_of_partition", c>>, ReadEnd(threads, c))

TaskRunsMail ==
    /\ mail # <<>> /\ mail' = <<>>
    /\ out' = <<<<"mail">>>> \o RunMail(threads, mail)
    /\ UNCHANGED <<threads, unread, last>>

Next ==
    \/ TaskRunsMail
    \/ \E c \in Channels : TaskEnds(c) \/ \E n \in Ids :
        NetworkReceives(c, n) \/ TaskReads(c, n) \/ TaskCancels(c, n)

Spec == Init /\ [][Next]_vars

(* Nothing stays blocked: without a next step, all input has been read. *)
StuckOnlyAtTheEnd == (threads.gate.closed = Channels /\ mail = <<>>) \/ ENABLED Next

------------------------------------------------------------------------------
(* Rules. The event is on EventChannel with EventId. Effects are its         *)
(* immediate effects.                                                        *)

EventIs(kind) == out'[1][1] = kind
EventChannel == out'[1][2]
EventId == out'[1][3]
Effects == Tail(out')
Started == threads.gate.current
Starts == SelectSeq(Effects, LAMBDA e : e[1] = "start_persisting")

(* The gate after the event, and its effects, if a single thread has both    *)
(* parts of the work.                                                        *)
Shared == threads.gate
IsNew == EventId > Shared.current
Arrives ==
    /\ EventIs("receive_barrier") \/ EventIs("barrier")
    /\ EventIs("barrier") => EventId > threads.read \/ (EventId = threads.read /\ threads.reading)
Ends(n) == [Shared EXCEPT !.current = n, !.pending = FALSE, !.arrived = {}]
Cancels == EventIs("cancel") /\ (IsNew \/ (EventId = Shared.current /\ Shared.arrived # {}))
Alone ==
    CASE Arrives /\ (IsNew \/ (EventId = Shared.current /\ Shared.pending)) ->
            [Shared EXCEPT !.current = EventId, !.pending = TRUE,
                           !.arrived = (IF IsNew THEN {} ELSE @) \cup {EventChannel}]
      [] Cancels -> Ends(EventId)
      [] EventIs("end_of_partition") ->
            [(IF Shared.pending THEN Ends(Shared.current) ELSE Shared) EXCEPT !.closed = @ \cup {EventChannel}]
      [] OTHER -> Shared
IsHalf == Shared.pending /\ Shared.arrived \cup Shared.closed # Channels
AloneEmits ==
    CASE Arrives /\ IsNew ->
            (IF IsHalf THEN <<<<"abort", Shared.current, "SUBSUMED">>>> ELSE <<>>)
                \o <<<<"start_persisting", EventId>>, <<"trigger", EventId, TRUE>>>>
      [] Cancels -> <<<<"abort", EventId, "ON_CANCELLATION_BARRIER">>>>
      [] EventIs("end_of_partition") /\ Shared.pending ->
            <<<<"abort", Shared.current, "INPUT_END_OF_STREAM">>>>
      [] OTHER -> <<>>

UNAL_30 == [][
    LET isBarrier == EventIs("receive_barrier") \/ EventIs("barrier")
        isNewer == (isBarrier \/ EventIs("cancel")) /\ EventId > Started
    IN  /\ threads'.gate = Alone
        /\ EventIs("mail") \/ AloneEmits =
            IF EventIs("receive_barrier")
            THEN LET left == SubSeq(mail', Len(mail) + 1, Len(mail'))
                 IN  SelectSeq(left, LAMBDA e : e[1] = "abort") \o Effects \o SelectSeq(left, LAMBDA e : e[1] # "abort")
            ELSE Effects
        /\ threads'.gate.current = IF isNewer THEN EventId ELSE Started
        /\ Starts = IF isBarrier /\ isNewer THEN <<<<"start_persisting", EventId>>>> ELSE <<>>
        /\ EventIs("receive_barrier") => /\ Effects = Starts
                                         /\ threads'.read = threads.read
                                         /\ threads'.reading = threads.reading
        /\ EventIs("barrier") =>
            IF EventId < threads.read \/ (EventId = threads.read /\ ~threads.reading)
            THEN Effects = <<>> /\ threads' = threads
            ELSE threads'.read = EventId /\ threads'.reading
        /\ EventIs("cancel") =>
            /\ threads'.read = IF EventId >= threads.read THEN EventId ELSE threads.read
            /\ threads'.reading = (threads.reading /\ EventId < threads.read)
        /\ EventIs("end_of_partition") => threads'.read = threads.read /\ ~threads'.reading
        /\ out = <<>> => threads.read = -1 /\ ~threads.reading]_vars

IsPassedOn(left) == left[1] = "abort" \/ left[2] >= Started

UNAL_31 == [][
    IF EventIs("mail") THEN Effects = SelectSeq(mail, IsPassedOn) /\ mail' = <<>>
    ELSE /\ SubSeq(mail', 1, Len(mail)) = mail
         /\ EventIs("receive_barrier") \/ mail' = mail]_vars

NothingAhead == threads.read <= threads.gate.current

------------------------------------------------------------------------------
(* Replacements: each takes the place of the operator in its comment.        *)

NothingIsOutdated(t, left) == FALSE                                              \* IsOutdated
CancelsWhatItReadsOnly(g, n) ==                                                  \* OnCancel
    IF n = g.current /\ g.arrived # {}
    THEN Step(Idle(g), Append(StopAndResume(g, n), <<"abort", n, "ON_CANCELLATION_BARRIER">>))
    ELSE Step(g, IF n > g.current THEN <<<<"abort", n, "ON_CANCELLATION_BARRIER">>>> ELSE <<>>)
CountsNobody(g, c) == g                                                          \* Counted
NothingWaits(effects) == effects                                                 \* AtOnce
==============================================================================
