------------------------------ MODULE KeyGroups -------------------------------
(***************************************************************************)
(* A dataflow that is an input, and the subtasks of an execution attempt.  *)
(*                                                                         *)
(* The tasks of one level are the key groups of one operator, or the       *)
(* splits of one source: the level is the number of channels on the        *)
(* longest way from a source, and sinks are operators of their own. A      *)
(* subtask holds a range of key groups. An attempt can have another        *)
(* parallelism than the previous one. A restore then gives each subtask    *)
(* the state of its key groups.                                            *)
(*                                                                         *)
(* Source: Flink's KeyGroupRangeAssignment.                                *)
(***************************************************************************)
EXTENDS Order

CONSTANT Channels       \* the dataflow: channel 23 leads from task 2 to task 3

From(c) == (c \div 10) % 10
To(c) == c % 10
Copy(c) == c \div 100           \* 123 is a second channel from task 2 to task 3
Tasks == {From(c) : c \in Channels} \cup {To(c) : c \in Channels}
Inputs(t) == {c \in Channels : To(c) = t}
Outputs(t) == {c \in Channels : From(c) = t}
Sources == {t \in Tasks : Inputs(t) = {}}
Sinks == {t \in Tasks : Outputs(t) = {}}

ASSUME \A c \in Channels : 0 < From(c) /\ From(c) < To(c)      \* no cycle

RECURSIVE LevelOf(_)
LevelOf(t) == IF t \in Sources THEN 0 ELSE 1 + Greatest({LevelOf(From(c)) : c \in Inputs(t)})

Operators ==
    [t \in Tasks |-> {u \in Tasks : LevelOf(u) = LevelOf(t) /\ (u \in Sinks <=> t \in Sinks)}]

(* Number of subtasks of an operator with that many key groups, in an        *)
(* attempt; attempts count from 0. A model replaces it.                      *)
Parallelism(attempt, groups) == groups

Number(t) == Cardinality({u \in Operators[t] : u < t})
SizeOf(t) == Cardinality(Operators[t])

(* The subtask to which the records of a key group go. *)
SubtaskAt(attempt, t) == (Number(t) * Parallelism(attempt, SizeOf(t))) \div SizeOf(t)

(* The key groups whose state a subtask restores. *)
RangeOf(subtask, subtasks, groups) ==
    (subtask * groups + subtasks - 1) \div subtasks .. ((subtask + 1) * groups - 1) \div subtasks

Holds(attempt, t) ==
    Number(t) \in RangeOf(SubtaskAt(attempt, t), Parallelism(attempt, SizeOf(t)), SizeOf(t))

(* The key groups that are in one subtask with this one. *)
GroupAt(attempt, t) == {u \in Operators[t] : SubtaskAt(attempt, u) = SubtaskAt(attempt, t)}
==============================================================================
