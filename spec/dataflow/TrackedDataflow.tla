--------------------------- MODULE TrackedDataflow ---------------------------
(***************************************************************************)
(* The dataflow with the tracker of at-least-once mode in place of the     *)
(* aligned gate, and no other change. It must break exactly-once: the      *)
(* sources are at offsets 100 and 105 when their barriers leave. Record    *)
(* 100, behind its barrier, is read before the other channel's barrier. So *)
(* the snapshot counts it, and after the restore it is counted again.      *)
(***************************************************************************)
EXTENDS DataflowModel

Track == INSTANCE Tracking WITH Bound <- 50

Stepped(step) == [gate |-> step.tracker, out |-> step.out]

(* Replaces NewGate, GateStep and Readable. *)
TrackedGate(channels) == Track!NewTracker(channels)

TrackedStep(g, c, item) ==
    Stepped(IF item[2] = "barrier" THEN Track!TrackBarrier(g, c, item[3]) ELSE Track!TrackCancel(g, c, item[3]))

NeverHeldBack(g, c) == TRUE
==============================================================================
