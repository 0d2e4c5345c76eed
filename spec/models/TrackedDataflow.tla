--------------------------- MODULE TrackedDataflow ---------------------------
(***************************************************************************)
(* The dataflow with the tracker of at-least-once mode in the place of the *)
(* aligned gate: everything else is as it was. It must break exactly-once, *)
(* and does so with the story that every text on the subject tells: the    *)
(* sources stand at offsets 100 and 105 when their barriers leave, record  *)
(* 100 overtakes the barrier of the other channel, is in the snapshot, and *)
(* after the restore is counted a second time.                             *)
(***************************************************************************)
EXTENDS DataflowModel

Track == INSTANCE Tracking WITH Bound <- 50

Stepped(step) == [gate |-> step.tracker, out |-> step.out]

(* In the place of NewGate, GateStep and Readable.                           *)
TrackedGate(channels) == Track!NewTracker(channels)

TrackedStep(g, c, item) ==
    Stepped(IF item[2] = "barrier" THEN Track!TrackBarrier(g, c, item[3]) ELSE Track!TrackCancel(g, c, item[3]))

NeverHeldBack(g, c) == TRUE
==============================================================================
