-------------------------- MODULE SharedStateModel ---------------------------
(***************************************************************************)
(* Shared files in their environment: any checkpoint that is not complete  *)
(* may be acknowledged with any files that exist, and complete once, in    *)
(* any order. Tasks use no deleted file: a file that is written again      *)
(* under the same name is another file. The Python reference model         *)
(* describes the same closed model; both graphs are compared state for     *)
(* state and edge for edge.                                                *)
(***************************************************************************)
EXTENDS SharedState

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

------------------------------------------------------------------------------
Deleted == {out'[i][2] : i \in 2 .. Len(out')}
Kept == Retained(files'.store)
UsedBy(ids) == UNION {files'.uses[n] : n \in ids}

(* A file of a retained or a newer checkpoint is kept; a file that only      *)
(* older ones use is deleted at the next completion, once.                   *)
SUB_12 == [][
    /\ Deleted \cap UsedBy(Kept) = {}
    /\ Deleted \cap gone = {}
    /\ Head(out')[1] = "complete" =>
        \A f \in UsedBy(Ids) \ gone' : \E n \in Ids : f \in files'.uses[n] /\ \E o \in Kept : n >= o
    ]_vars

------------------------------------------------------------------------------
(* Replacements: each replaces the operator in its comment in a model that   *)
(* must fail.                                                                *)

FirstUserOnly(n, last) == last = 0                                  \* IsNewer
NothingIsIdle(last, retained) == TRUE                               \* IsNeeded
==============================================================================
