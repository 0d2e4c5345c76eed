----------------------------- MODULE FencingModel -----------------------------
(***************************************************************************)
(* Drivers that share a storage, in their environment: each can take its   *)
(* next step at any time, fail, or crash. The Python reference model       *)
(* describes the same closed model. The triangle compares both graphs      *)
(* state for state and edge for edge.                                      *)
(***************************************************************************)
EXTENDS Fencing

CONSTANTS
    Drivers,        \* drivers are 1 .. Drivers
    Attempts,       \* maximum number of drawn attempts
    Checkpoints     \* maximum number of reserved ids

VARIABLES
    fencing,        \* see FencingType
    out             \* the last event, then its effects

vars == <<fencing, out>>

EventType ==
    {"draw", "close", "find", "start", "reserve", "check", "publish", "confirm", "fail", "crash"}
        \X (1 .. Drivers)
EffectType ==
    ({"drawn", "closed", "superseded"} \X (1 .. Attempts))
    \cup ({"found", "reserved", "published", "completed"} \X (0 .. Checkpoints))
    \cup ({"started"} \X (1 .. Attempts) \X (0 .. Checkpoints))

TypeOK ==
    /\ fencing \in FencingType
    /\ out = <<>> \/ (Head(out) \in EventType /\ Tail(out) \in Seq(EffectType))

Init == fencing = NewFencing(Drivers) /\ out = <<>>

------------------------------------------------------------------------------
Take(kind, d, step) == fencing' = step.fencing /\ out' = <<<<kind, d>>>> \o step.out

Is(d, phase) == fencing.phases[d] = phase

Draw(d) ==
    /\ Is(d, "idle") /\ Newest(fencing) < Attempts
    /\ Take("draw", d, OnDraw(fencing, d))

CloseOlder(d) == Is(d, "drawn") /\ ToClose(fencing, d) # {} /\ Take("close", d, OnClose(fencing, d))

Find(d) == Is(d, "drawn") /\ ToClose(fencing, d) = {} /\ Take("find", d, OnFind(fencing, d))

Start(d) == Is(d, "found") /\ Take("start", d, OnStart(fencing, d))

Reserve(d) ==
    /\ Is(d, "running") /\ fencing.checkpoints[d] = 0 /\ Len(fencing.published) < Checkpoints
    /\ Take("reserve", d, OnReserve(fencing, d))

Check(d) ==
    Is(d, "running") /\ fencing.checkpoints[d] # 0 /\ Take("check", d, OnCheck(fencing, d))

Publish(d) == Is(d, "checked") /\ Take("publish", d, OnPublish(fencing, d))

Confirm(d) == Is(d, "published") /\ Take("confirm", d, OnConfirm(fencing, d))

FailAttempt(d) == ~Is(d, "idle") /\ Take("fail", d, OnFail(fencing, d))

Crash(d) == fencing.attempts[d] # 0 /\ Take("crash", d, OnCrash(fencing, d))

Next == \E d \in 1 .. Drivers :
    \/ Draw(d) \/ CloseOlder(d) \/ Find(d) \/ Start(d) \/ Reserve(d)
    \/ Check(d) \/ Publish(d) \/ Confirm(d) \/ FailAttempt(d) \/ Crash(d)

Spec == Init /\ [][Next]_vars

(* The system stops only when no attempt is left, and no driver has one.     *)
StuckOnlyAtTheEnd ==
    ENABLED Next \/ (Newest(fencing) = Attempts /\ \A d \in 1 .. Drivers : fencing.attempts[d] = 0)

------------------------------------------------------------------------------
(* Terms of the rules. *)

EventIs(kinds) == out'[1][1] \in kinds
Driver == out'[1][2]
Effects == Tail(out')
Own == fencing.attempts[Driver]
Checkpoint == fencing.checkpoints[Driver]
Last == Len(fencing.starts)

DriverIs(phase, attempt, checkpoint) ==
    /\ fencing'.phases = [fencing.phases EXCEPT ![Driver] = phase]
    /\ fencing'.attempts = [fencing.attempts EXCEPT ![Driver] = attempt]
    /\ fencing'.checkpoints = [fencing.checkpoints EXCEPT ![Driver] = checkpoint]

IsOver == DriverIs("idle", 0, 0) /\ Effects = <<<<"superseded", Last>>>>

Unchanged(fields) == \A name \in fields : fencing'[name] = fencing[name]

(* Each attempt has its own number. A driver draws only if its last attempt  *)
(* is the newest one or it has none.                                         *)
FENCE_01 == [][
    /\ out = <<>> => fencing = NewFencing(Drivers)
    /\ \A d, other \in 1 .. Drivers :
        d # other /\ fencing'.attempts[d] # 0 => fencing'.attempts[d] # fencing'.attempts[other]
    /\ EventIs({"fail"}) =>
        DriverIs("idle", Own, 0) /\ Effects = <<>> /\ Unchanged({"starts", "published", "completed"})
    /\ EventIs({"crash"}) =>
        DriverIs("idle", 0, 0) /\ Effects = <<>> /\ Unchanged({"starts", "published", "completed"})
    /\ EventIs({"draw"}) =>
        /\ Unchanged({"published", "completed"})
        /\ IF Own \in {0, Last}
           THEN /\ DriverIs("drawn", Last + 1, 0)
                /\ fencing'.starts = Append(fencing.starts, Open)
                /\ Effects = <<<<"drawn", Last + 1>>>>
           ELSE IsOver /\ Unchanged({"starts"})]_vars

(* The start of an attempt is recorded once. The attempt records it, or a    *)
(* newer attempt closes it before the newer attempt finds its checkpoint.    *)
FENCE_02 == [][
    /\ \A d \in 1 .. Drivers : fencing'.phases[d] \in Phases \ {"idle", "drawn"} =>
        \A a \in 1 .. fencing'.attempts[d] - 1 : fencing'.starts[a] # Open
    /\ \A a \in DOMAIN fencing.starts : fencing'.starts[a] # fencing.starts[a] => fencing.starts[a] = Open
    /\ EventIs({"close"}) =>
        /\ Unchanged({"phases", "attempts", "checkpoints", "published", "completed"})
        /\ \E a \in 1 .. Own - 1 :
            /\ fencing.starts[a] = Open /\ \A b \in 1 .. a - 1 : fencing.starts[b] # Open
            /\ fencing'.starts = [fencing.starts EXCEPT ![a] = Closed]
            /\ Effects = <<<<"closed", a>>>>
    /\ EventIs({"start"}) =>
        /\ Unchanged({"published", "completed"})
        /\ IF fencing.starts[Own] = Closed
           THEN IsOver /\ Unchanged({"starts"})
           ELSE /\ DriverIs("running", Own, 0)
                /\ fencing'.starts = [fencing.starts EXCEPT ![Own] = Checkpoint]
                /\ Effects = <<<<"started", Own, Checkpoint>>>>]_vars

(* A later attempt starts from no checkpoint before a completed one, and     *)
(* from none before the start of an earlier attempt.                         *)
FENCE_03 ==
    \A a \in DOMAIN fencing.starts : fencing.starts[a] >= 0 =>
        /\ \A b \in 1 .. a - 1 : fencing.starts[b] <= fencing.starts[a]
        /\ \A i \in DOMAIN fencing.completed :
            LET c == fencing.completed[i] IN fencing.published[c] < a => c <= fencing.starts[a]

(* An id belongs to one driver. Only the newest attempt completes its        *)
(* checkpoint, after it has published it.                                    *)
FENCE_04 == [][
    /\ EventIs({"reserve"}) =>
        LET c == Len(fencing.published) + 1 IN
        /\ DriverIs("running", Own, c) /\ Unchanged({"starts", "completed"})
        /\ fencing'.published = Append(fencing.published, 0) /\ Effects = <<<<"reserved", c>>>>
    /\ EventIs({"check"}) =>
        /\ Unchanged({"starts", "published", "completed"})
        /\ IF Own = Last THEN DriverIs("checked", Own, Checkpoint) /\ Effects = <<>> ELSE IsOver
    /\ EventIs({"publish"}) =>
        /\ DriverIs("published", Own, Checkpoint) /\ Unchanged({"starts", "completed"})
        /\ fencing.published[Checkpoint] = 0
        /\ fencing'.published = [fencing.published EXCEPT ![Checkpoint] = Own]
        /\ Effects = <<<<"published", Checkpoint>>>>
    /\ EventIs({"confirm"}) =>
        /\ Unchanged({"starts", "published"}) /\ fencing.published[Checkpoint] = Own
        /\ IF Own = Last
           THEN /\ DriverIs("running", Own, 0) /\ Effects = <<<<"completed", Checkpoint>>>>
                /\ fencing'.completed = Append(fencing.completed, Checkpoint)
           ELSE IsOver /\ Unchanged({"completed"})]_vars

(* An attempt finds the newest published checkpoint that is not dead: no     *)
(* attempt after its publisher's has started from an earlier checkpoint.     *)
LeftBehind(c, upto) ==
    \E a \in fencing.published[c] + 1 .. upto : fencing.starts[a] >= 0 /\ fencing.starts[a] < c

FENCE_05 == [][EventIs({"find"}) =>
    LET c == fencing'.checkpoints[Driver] IN
    /\ DriverIs("found", Own, c) /\ Unchanged({"starts", "published", "completed"})
    /\ Effects = <<<<"found", c>>>>
    /\ c # 0 => fencing.published[c] # 0 /\ ~LeftBehind(c, Last)
    /\ \A newer \in c + 1 .. Len(fencing.published) :
        fencing.published[newer] = 0 \/ LeftBehind(newer, Last)]_vars

------------------------------------------------------------------------------
(* Replacements: each takes the place of the operator in its comment.        *)

DrawsTheNewest(f) == IF Newest(f) = 0 THEN 1 ELSE Newest(f)             \* NextAttempt
DrawsAlways(f, d) == TRUE                                               \* MayDraw
ClosesNothing(f, d) == {}                                               \* ToClose
StartsClosed(f, d) == TRUE                                              \* MayStart
ConfirmsAlways(f, d) == TRUE                                            \* MayConfirm
ReservesTheNewest(f, d) ==                                              \* NextId
    IF f.published = <<>> THEN 1 ELSE Len(f.published)
FindsDead(f, c) == FALSE                                                \* IsDead
==============================================================================
