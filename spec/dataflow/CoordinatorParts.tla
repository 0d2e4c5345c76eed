-------------------------- MODULE CoordinatorParts --------------------------
(***************************************************************************)
(* The coordinator takes the steps of its parts. JobLifecycle, Trigger,    *)
(* Scheduler and SharedState describe a part of the coordinator's state by *)
(* itself; here each is an instance whose state is a function of the       *)
(* coordinator's (a refinement mapping), and each event of the coordinator *)
(* must change that state, and have those effects, as the part defines.    *)
(*                                                                         *)
(* Only what both sides have is compared: of the job, checkpoints while    *)
(* all tasks run; of the master phase, one without operator coordinators   *)
(* and hooks; of the scheduler, the pause; of the files, the retained      *)
(* checkpoints. Requests, Failures and Store need no comparison, because   *)
(* Completion extends them.                                                *)
(***************************************************************************)
EXTENDS CoordinatorModel

VARIABLE unused     \* the instances' own variables; their functions read none

Job == INSTANCE JobLifecycle WITH Retains <- FALSE
Phase == INSTANCE Trigger WITH Coordinators <- {}, Hooks <- {}
Timer == INSTANCE Scheduler WITH
    Interval <- MinPause + 1, InitialDelay <- 1, scheduler <- unused, out <- unused
Files == INSTANCE SharedState WITH
    Files <- {}, files <- unused, done <- unused, gone <- unused, out <- unused

PartsSpec == Init /\ unused = 0 /\ [][Next /\ UNCHANGED unused]_<<vars, unused>>

(* A request arrives when no checkpoint is pending: JobLifecycle and Trigger *)
(* do not limit their number, and abort no older one.                        *)
OnlyWhenFree ==
    IF k.pending = <<>> THEN {ByHand("checkpoint"), ByHand("savepoint"), Periodic} ELSE {}

------------------------------------------------------------------------------
Ended == out'[1][2]
Due == {p.id : p \in {p \in Range(k.pending) : EventIs("tick") /\ p.age + 1 = Timeout}}
Shared(kinds) == SelectSeq(Effects, LAMBDA e : e[1] \in kinds)
First(e, n) == SubSeq(e, 1, IF Len(e) < n THEN Len(e) ELSE n)

(* JobLifecycle: all tasks run. A savepoint is mapped to a stop, which is    *)
(* not stored either, and no failure of it is reported by a task.            *)
JobOf(c) ==
    [open |-> TRUE, up |-> Tasks, next |-> c.next, store |-> [i \in DOMAIN c.store |-> c.store[i].id],
     pending |-> [i \in DOMAIN c.pending |->
                    [id |-> c.pending[i].id, tasks |-> Tasks, missing |-> c.pending[i].missing,
                     type |-> IF c.pending[i].type = "savepoint" THEN "stop" ELSE "checkpoint"]]]

JobStepOf ==
    CASE EventIs("request") /\ ~IsEarly(Arriving) ->
            Job!OnRequest(JobOf(k), IF Arriving.type = "savepoint" THEN "stop" ELSE "checkpoint")
      [] EventIs("acknowledge") /\ Task \in Tasks -> Job!OnAcknowledge(JobOf(k), Task, AcknowledgedId)
      [] EventIs("decline") -> Job!OnFail(JobOf(k), Ended, out'[1][3], FALSE)
      [] Due # {} -> Job!OnFail(JobOf(k), Least(Due), "CHECKPOINT_EXPIRED", FALSE)
      [] OTHER -> Job!JobStep(JobOf(k), <<>>)

AgreesWithJobLifecycle == [][
    LET shared == Shared({"trigger_task", "complete", "abort", "discard"})
    IN  /\ JobOf(k') = JobStepOf.job
        /\ [i \in DOMAIN shared |-> First(shared[i], 3)] = JobStepOf.out]_vars

(* Trigger: without operator coordinators and hooks, the phase ends at once. *)
PhaseOf(c) ==
    [next |-> c.next, waiting |-> Len(c.queue), outlived |-> <<>>,
     pending |-> [i \in DOMAIN c.pending |->
                    [id |-> c.pending[i].id, coordinators |-> {}, hooks |-> {}, acknowledged |-> FALSE]]]

PhaseStepOf ==
    CASE EventIs("request") /\ ~IsEarly(Arriving) -> Phase!OnRequest(PhaseOf(k))
      [] IsComplete -> Phase!OnAcknowledge(PhaseOf(k), AcknowledgedId)
      [] EventIs("decline") -> Phase!Abort(PhaseOf(k), Ended)
      [] Due # {} -> Phase!OnExpiry(PhaseOf(k), Least(Due))
      [] OTHER -> Phase!PhaseStep(PhaseOf(k), <<>>)

(* The task names the reason of a decline; Trigger has a reason of its own. *)
AgreesWithTrigger == [][
    LET shared == Shared({"trigger_task", "complete", "abort"})
        Kind(e) == <<IF e[1] = "trigger_task" THEN "trigger_coordinators" ELSE e[1],
                     IF e[1] = "trigger_task" THEN e[3] ELSE e[2]>>
        known == SelectSeq(PhaseStepOf.out, LAMBDA e : e[1] # "counted")
        starts == SelectSeq(shared, LAMBDA e : e[1] # "trigger_task" \/ e[2] = Least(Sources))
    IN  IF EventIs("decline") /\ Ended \notin PendingIds(k) THEN PhaseOf(k') = PhaseOf(k) /\ shared = <<>>
        ELSE /\ PhaseOf(k') = PhaseStepOf.phase
             /\ [i \in DOMAIN starts |-> Kind(starts[i])] = [i \in DOMAIN known |-> First(known[i], 2)]]_vars

(* Scheduler: the pause, and whether a request of the timer is too early.    *)
TimerOf(left, pause) == [runs |-> k.running, left |-> left, pause |-> pause, again |-> TRUE]

AgreesWithScheduler == [][
    /\ k'.pause = CASE EventIs("tick") -> Timer!OnTick(TimerOf(0, k.pause)).scheduler.pause
                    [] Completed # {} -> Timer!OnCompletion(TimerOf(0, k.pause)).scheduler.pause
                    [] OTHER -> k.pause
    /\ EventIs("request") /\ Arriving.periodic /\ k.queue = <<>> /\ Len(k.pending) < MaxConcurrent =>
        (<<"rejected", "checkpoint", "MINIMUM_TIME_BETWEEN_CHECKPOINTS">> \in Range(Effects))
            <=> Timer!OnTick(TimerOf(1, k.pause + 1)).out = <<<<"too_early">>>>]_vars

(* SharedState: the checkpoints that are retained. *)
FilesOf(c) == [last |-> <<>>, uses |-> <<>>, store |-> JobOf(c).store]

AgreesWithSharedState == [][
    FilesOf(k') = IF \E n \in Completed : PendingOf(k, n).type = "checkpoint"
                  THEN Files!OnComplete(FilesOf(k), AcknowledgedId).files ELSE FilesOf(k)]_vars
==============================================================================
