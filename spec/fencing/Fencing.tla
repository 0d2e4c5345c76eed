------------------------------- MODULE Fencing -------------------------------
(***************************************************************************)
(* Drivers of one job that share a storage. Each step is one atomic        *)
(* operation of one driver on the storage. A driver can be paused between  *)
(* any two steps, and continue after another driver has taken over the     *)
(* job.                                                                    *)
(*                                                                         *)
(* A driver draws an attempt, closes older attempts that have not started, *)
(* finds the newest checkpoint that is not dead, records it as its start,  *)
(* reserves ids, checks for a newer attempt, publishes, and confirms by a  *)
(* second check. Only a confirmed checkpoint is complete. A checkpoint is  *)
(* dead if an attempt newer than its publisher's has started from an       *)
(* earlier one, or from the beginning.                                     *)
(*                                                                         *)
(* The module has functions only. FencingModel.tla puts the drivers into   *)
(* an environment and states rules FENCE-01 to FENCE-05.                   *)
(***************************************************************************)
EXTENDS Integers, Sequences

Closed == -1                            \* of an attempt: it never starts
Open == -2                              \* it has neither started nor been closed

Phases == {"idle", "drawn", "found", "running", "checked", "published"}

FencingType ==
    [phases      : Seq(Phases),         \* by driver: what it has done last
     attempts    : Seq(Nat),            \* by driver: the attempt that it has drawn last; 0: none
     checkpoints : Seq(Nat),            \* by driver: what it has found, or is publishing; 0: none
     starts      : Seq(Int),            \* by attempt: where it started, or Closed, or Open
     published   : Seq(Nat),            \* by checkpoint: the attempt that has published it; 0: none
     completed   : Seq(Nat)]            \* the confirmed checkpoints, ascending

NewFencing(drivers) ==
    [phases |-> [d \in 1 .. drivers |-> "idle"],
     attempts |-> [d \in 1 .. drivers |-> 0],
     checkpoints |-> [d \in 1 .. drivers |-> 0],
     starts |-> <<>>, published |-> <<>>, completed |-> <<>>]

FencingStep(f, effects) == [fencing |-> f, out |-> effects]

------------------------------------------------------------------------------
(* What the storage shows. Operators that a model can replace.               *)

Newest(f) == Len(f.starts)
NextAttempt(f) == Newest(f) + 1
IsNewest(f, d) == f.attempts[d] = Newest(f)
MayConfirm(f, d) == IsNewest(f, d)
MayDraw(f, d) == f.attempts[d] = 0 \/ IsNewest(f, d)

OpenBelow(f, a) == {older \in 1 .. a - 1 : f.starts[older] = Open}
ToClose(f, d) == OpenBelow(f, f.attempts[d])

(* A newer attempt than the publisher's has started from before checkpoint c. *)
IsDead(f, c) ==
    \E a \in f.published[c] + 1 .. Len(f.starts) : f.starts[a] >= 0 /\ f.starts[a] < c

Found(f) == {c \in DOMAIN f.published : f.published[c] # 0 /\ ~IsDead(f, c)}
Latest(f) == IF Found(f) = {} THEN 0 ELSE CHOOSE c \in Found(f) : \A other \in Found(f) : other <= c

MayStart(f, d) == f.starts[f.attempts[d]] # Closed
NextId(f, d) == Len(f.published) + 1

------------------------------------------------------------------------------
Now(f, d, phase, c) == [f EXCEPT !.phases[d] = phase, !.checkpoints[d] = c]
Ended(f, d) == [Now(f, d, "idle", 0) EXCEPT !.attempts[d] = 0]
Superseded(f, d) == FencingStep(Ended(f, d), <<<<"superseded", Newest(f)>>>>)

OnDraw(f, d) ==
    IF ~MayDraw(f, d) THEN Superseded(f, d)
    ELSE LET a == NextAttempt(f) IN
        FencingStep(
            [Now(f, d, "drawn", 0) EXCEPT
                !.attempts[d] = a, !.starts = IF a > Len(@) THEN Append(@, Open) ELSE @],
            <<<<"drawn", a>>>>)

OnClose(f, d) ==
    LET older == CHOOSE a \in ToClose(f, d) : \A other \in ToClose(f, d) : a <= other IN
    FencingStep([f EXCEPT !.starts[older] = Closed], <<<<"closed", older>>>>)

OnFind(f, d) == FencingStep(Now(f, d, "found", Latest(f)), <<<<"found", Latest(f)>>>>)

OnStart(f, d) ==
    IF ~MayStart(f, d) THEN Superseded(f, d)
    ELSE FencingStep(
        [Now(f, d, "running", 0) EXCEPT !.starts[f.attempts[d]] = f.checkpoints[d]],
        <<<<"started", f.attempts[d], f.checkpoints[d]>>>>)

OnReserve(f, d) ==
    LET c == NextId(f, d) IN
    FencingStep(
        [Now(f, d, "running", c) EXCEPT !.published = IF c > Len(@) THEN Append(@, 0) ELSE @],
        <<<<"reserved", c>>>>)

OnCheck(f, d) ==
    IF ~IsNewest(f, d) THEN Superseded(f, d)
    ELSE FencingStep([f EXCEPT !.phases[d] = "checked"], <<>>)

OnPublish(f, d) ==
    LET c == f.checkpoints[d] IN
    FencingStep(
        [f EXCEPT !.phases[d] = "published", !.published[c] = f.attempts[d]], <<<<"published", c>>>>)

OnConfirm(f, d) ==
    LET c == f.checkpoints[d] IN
    IF ~MayConfirm(f, d) THEN Superseded(f, d)
    ELSE FencingStep([Now(f, d, "running", 0) EXCEPT !.completed = Append(@, c)], <<<<"completed", c>>>>)

OnFail(f, d) == FencingStep(Now(f, d, "idle", 0), <<>>)

OnCrash(f, d) == FencingStep(Ended(f, d), <<>>)
==============================================================================
