----------------------------- MODULE SharedState -----------------------------
(***************************************************************************)
(* The registry of files that several checkpoints use. For each file, the  *)
(* registry stores the newest checkpoint that uses it. It stores this      *)
(* checkpoint even if the checkpoint never completes, because a task can   *)
(* build its next checkpoint on the file. When the store has added a       *)
(* checkpoint, the registry deletes the files whose newest user is older   *)
(* than all retained checkpoints, even if the store has dropped none. Rule *)
(* SUB-12.                                                                 *)
(*                                                                         *)
(* First come the functions, then the environment. Tasks can acknowledge   *)
(* any incomplete checkpoint with any files that exist. Checkpoints        *)
(* complete once, in the order of ids. Tasks use no deleted file: a file   *)
(* that is written again under the same name is another file. The Python   *)
(* reference model describes the same closed model. The triangle compares  *)
(* both graphs state for state and edge for edge.                          *)
(*                                                                         *)
(* Source: Apache Flink, SharedStateRegistryImpl, 1.15 and later.          *)
(***************************************************************************)
EXTENDS Integers, Sequences, FiniteSets, Order

CONSTANTS
    Files,          \* all files
    Retain          \* number of completed checkpoints to keep

(* last: the newest user of each file, 0 if it is not registered; store: the *)
(* completed checkpoints in the order of additions; uses: the files of each  *)
(* checkpoint.                                                               *)
NewFiles(ids) == [last |-> [f \in Files |-> 0], store |-> <<>>, uses |-> [n \in ids |-> {}]]

FilesStep(r, effects) == [files |-> r, out |-> effects]

Retained(store) == {store[i] : i \in DOMAIN store}

------------------------------------------------------------------------------
(* The conditions are operators, so that a model can replace them. *)

IsNewer(n, last) == n > last                                        \* SUB-12

IsNeeded(last, retained) == \E n \in retained : last >= n           \* SUB-12

------------------------------------------------------------------------------
(* A task acknowledges n with files that it uses.                            *)
OnUse(r, n, used) ==
    FilesStep(
        [r EXCEPT !.last = [f \in Files |-> IF f \in used /\ IsNewer(n, @[f]) THEN n ELSE @[f]],
                  !.uses[n] = @ \cup used],
        <<>>)

Delete(f) == <<"delete", f>>

OnComplete(r, n) ==
    LET all == Append(r.store, n)
        kept == IF Len(all) > Retain THEN Tail(all) ELSE all
        idle == {f \in Files : r.last[f] > 0 /\ ~IsNeeded(r.last[f], Retained(kept))}
        order == InOrder(idle)
    IN  FilesStep(
            [r EXCEPT !.store = kept, !.last = [f \in Files |-> IF f \in idle THEN 0 ELSE @[f]]],
            [i \in 1 .. Len(order) |-> Delete(order[i])])

------------------------------------------------------------------------------
(* The registry in its environment. *)

CONSTANT
    M               \* checkpoint ids are 1 .. M

VARIABLES
    files,          \* see NewFiles
    done,           \* the ids that are complete
    gone,           \* the files that were deleted
    out             \* the last event, then its effects

vars == <<files, done, gone, out>>
Ids == 1 .. M

TypeOK ==
    /\ files.last \in [Files -> 0 .. M]
    /\ files.store \in Seq(Ids)
    /\ files.uses \in [Ids -> SUBSET Files]
    /\ done \subseteq Ids /\ gone \subseteq Files

Init == files = NewFiles(Ids) /\ done = {} /\ gone = {} /\ out = <<>>

------------------------------------------------------------------------------
(* System and environment. *)

Use(n, used) ==
    /\ n \notin done /\ used # {} /\ used \cap gone = {}
    /\ LET step == OnUse(files, n, used)
       IN  files' = step.files /\ out' = <<<<"use", n, used>>>> \o step.out
    /\ UNCHANGED <<done, gone>>

Complete(n) ==
    /\ n \notin done /\ \A o \in done : o < n
    /\ LET step == OnComplete(files, n)
       IN  files' = step.files /\ out' = <<<<"complete", n>>>> \o step.out
    /\ done' = done \cup {n}
    /\ gone' = gone \cup {out'[i][2] : i \in 2 .. Len(out')}

Next == \E n \in Ids : Complete(n) \/ \E used \in SUBSET Files : Use(n, used)

Spec == Init /\ [][Next]_vars

(* The model stops only after checkpoint M is complete.                      *)
StuckOnlyAtTheEnd == M \in done \/ ENABLED Next

------------------------------------------------------------------------------
Deleted == {out'[i][2] : i \in 2 .. Len(out')}
Kept == Retained(files'.store)
UsedBy(ids) == UNION {files'.uses[n] : n \in ids}

(* A file of a retained or a newer checkpoint is kept. A file that only      *)
(* older checkpoints use is deleted once, at the next completion.            *)
SUB_12 == [][
    /\ Deleted \cap UsedBy(Kept) = {}
    /\ Deleted \cap gone = {}
    /\ Head(out')[1] = "complete" =>
        \A f \in UsedBy(Ids) \ gone' : \E n \in Ids : f \in files'.uses[n] /\ \E o \in Kept : n >= o
    ]_vars

(* The registered files that no retained checkpoint needs any longer.        *)
Idle == {f \in Files : files.last[f] > 0 /\ \A o \in Kept : files.last[f] < o}
Event == out'[1]

Frame == [][
    /\ out = <<>> => files = [last |-> [f \in Files |-> 0], store |-> <<>>, uses |-> [n \in Ids |-> {}]]
    /\ IF Event[1] = "use"
       THEN /\ Len(out') = 1 /\ files'.store = files.store
            /\ files'.uses = [files.uses EXCEPT ![Event[2]] = @ \cup Event[3]]
            /\ files'.last =
                [f \in Files |-> IF f \in Event[3] THEN Greatest({Event[2], files.last[f]}) ELSE files.last[f]]
       ELSE /\ files'.store = (IF Len(files.store) < Retain THEN files.store ELSE Tail(files.store)) \o <<Event[2]>>
            /\ files'.uses = files.uses
            /\ Tail(out') = LET order == InOrder(Idle) IN [i \in DOMAIN order |-> <<"delete", order[i]>>]
            /\ files'.last = [f \in Files |-> IF f \in Idle THEN 0 ELSE files.last[f]]]_vars

------------------------------------------------------------------------------
(* Replacements: each takes the place of the operator in its comment.        *)

FirstUserOnly(n, last) == last = 0                                  \* IsNewer
NothingIsIdle(last, retained) == TRUE                               \* IsNeeded
==============================================================================
