---------------------------- MODULE FairDataflow -----------------------------
(***************************************************************************)
(* LiveDataflow with weak fairness of each action separately. It states    *)
(* that the records are committed (LIVE-03), and rule LIVE-04.             *)
(*                                                                         *)
(* An action is chosen before its step is taken. TLC reports a chosen      *)
(* action without a step as a deadlock. It reports a step of an action     *)
(* that cannot be chosen as unexpected. Together this checks that          *)
(* Can(a) <=> ENABLED <<Do(a)>>_vars, and therefore that                   *)
(* HasToDo <=> ENABLED <<System>>_vars. The models do not use ENABLED,     *)
(* because TLC evaluates each LET inside of it again and again.            *)
(***************************************************************************)
EXTENDS LiveDataflow

VARIABLE chosen     \* the action of the next step, or Nothing

allVars == <<vars, chosen>>

Nothing == <<"nothing", ToSink>>
Unexpected == <<"unexpected", ToSink>>

Do(a) ==
    CASE a[1] = "Emit" -> Emit(a[2])
      [] a[1] = "SourceTriggered" -> SourceTriggered(a[2])
      [] a[1] = "OperatorCounts" -> OperatorCounts(a[2])
      [] a[1] = "OperatorAligns" -> OperatorAligns(a[2])
      [] a[1] = "SinkWrites" -> SinkWrites
      [] a[1] = "SinkSnapshots" -> SinkSnapshots
      [] a[1] = "TaskReceives" -> TaskReceives
      [] a[1] = "CoordinatorReceives" -> CoordinatorReceives
      [] a[1] = "DropStale" -> DropStale
      [] a[1] = "Request" -> RequestInTime
      [] a[1] = "TimeOut" -> TimeOut

Choose(a) == chosen = Nothing /\ Can(a) /\ chosen' = a /\ UNCHANGED vars

(* A step that changes something, and that is one of the system. *)
Perform(a) == chosen = a /\ chosen' = Nothing /\ Do(a) /\ vars' # vars /\ System

Surprise(a) == chosen = Nothing /\ ~Can(a) /\ chosen' = Unexpected /\ Do(a) /\ vars' # vars

SystemSurprise == chosen = Nothing /\ ~HasToDo /\ chosen' = Unexpected /\ System /\ vars' # vars

Fault == chosen = Nothing /\ chosen' = Nothing /\ (Lose \/ (MayGoWrong /\ (Fail \/ Decline)))

(* The only states in which the dataflow can stop. *)
Terminated == chosen = Nothing /\ ~HasToDo /\ AllIsCommitted

ChosenNext ==
    \/ \E a \in Actions : Choose(a) \/ Perform(a) \/ Surprise(a)
    \/ SystemSurprise \/ Fault \/ (Terminated /\ UNCHANGED allVars)

(* The fair actions: again and again each is chosen, or cannot be chosen. A  *)
(* model replaces the set.                                                   *)
FairActions == Actions

FairSpec ==
    /\ Init /\ chosen = Nothing /\ [][ChosenNext]_allVars
    /\ []<>(chosen = Nothing)
    /\ \A a \in FairActions : []<>(chosen = a \/ ~Can(a))

------------------------------------------------------------------------------
StepsAreExpected == chosen # Unexpected

(* StuckOnlyAtTheEnd requires a step of the system in exactly the states     *)
(* that have one.                                                            *)
MovesExactly == (IsMoving \/ ~HasSentAll) <=> \E a \in Actions : a[1] \notin {"Request", "TimeOut"} /\ Can(a)

EveryRecordIsCommitted == LIVE_03

LIVE_04 == \A c \in Sources : c \in gate.blocked ~> c \notin gate.blocked

------------------------------------------------------------------------------
(* Replacements: each takes the place of the operator in its comment.        *)

NoTime == {a \in Actions : a[1] # "TimeOut"}                        \* FairActions
NoRequests == {a \in Actions : a[1] # "Request"}                    \* FairActions
AnyItem(c) == HasItem(c)                                            \* HasRecord
NoMessage(kinds) == FALSE                                           \* HasMessage
==============================================================================
