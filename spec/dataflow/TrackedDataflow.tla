--------------------------- MODULE TrackedDataflow ---------------------------
(***************************************************************************)
(* The dataflow with the tracker of at-least-once mode in place of the     *)
(* aligned gate, and no other change. It must break exactly-once, as in    *)
(* every text on the subject: the sources are at offsets 100 and 105 when  *)
(* their barriers leave, record 100 overtakes the barrier of the other     *)
(* channel, is in the snapshot, and is counted a second time after the     *)
(* restore.                                                                *)
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
