--------------------------- MODULE GateGenerations ---------------------------
(***************************************************************************)
(* The differences between releases of Flink at an input gate. Each        *)
(* difference is a switch, and a generation is a set of switches. A model  *)
(* selects a generation with  Switches <- Flink_1_9,  and its rules read   *)
(* Has(switch). The steps of older generations are operators in            *)
(* AlignedGenerations, FirstDecides and TrackingModel; each model of       *)
(* spec/manifests/gate_generations.toml substitutes them for the newest.   *)
(*                                                                         *)
(* resumes_late    senders stop after a barrier, so a late barrier resumes *)
(*                 its channel; else senders do not stop (ALIGN-04)        *)
(* triggers_first  at completion the gate triggers the snapshot, then      *)
(*                 resumes channels; else in reverse (ALIGN-06)            *)
(* releases_first  an alignment that ends without a snapshot resumes its   *)
(*                 channels, then is aborted; else in reverse              *)
(*                 (ALIGN-03, ALIGN-14)                                    *)
(* repeats_fail    a repeated barrier fails the task (ALIGN-20)            *)
(* repeats_count   a repeated barrier counts again (ALIGN-21)              *)
(* passes_alone    a gate with a single channel triggers at the barrier    *)
(*                 and never blocks the channel (ALIGN-07)                 *)
(* cancels_twice   the gate aborts the id of a newer cancellation twice    *)
(*                 (ALIGN-11)                                              *)
(* tracker_counts_ends     the tracker, which is the gate of at-least-once *)
(*                 mode, sees the end of a channel (TRACK-13, TRACK-14);   *)
(*                 else it does not (TRACK-18)                             *)
(* tracker_awaits_ended    the tracker needs a barrier of every channel,   *)
(*                 also of an ended one; else of each open one (TRACK-15)  *)
(* tracker_counts_repeats  the tracker counts barriers, also repeated      *)
(*                 ones; else the set of channels (TRACK-16)               *)
(* type_decides    at an unaligned gate savepoints align and all others    *)
(*                 overtake; else the first barrier's options decide       *)
(*                 (UNAL-28)                                               *)
(* reports_stop    the gate emits stop_persisting when persisting ends     *)
(* whole_stays_pending     a checkpoint whose barriers have all overtaken  *)
(*                 stays pending; else it has ended (UNAL-29)              *)
(* network_starts  in mode unaligned a checkpoint starts when the network  *)
(*                 thread receives a barrier, or the task reads one first  *)
(*                 (UNAL-30)                                               *)
(* overtaking_counts_repeats  the gate counts barriers that overtake, also *)
(*                 repeated ones; else the set of channels                 *)
(* savepoints_overtake     a savepoint that aligns may become unaligned;   *)
(*                 else the task fails (UNAL-21)                           *)
(***************************************************************************)

Flink_1_7 ==
    {"repeats_fail", "passes_alone", "cancels_twice", "tracker_awaits_ended", "tracker_counts_repeats",
     "reports_stop"}
Flink_1_9 ==
    {"repeats_fail", "passes_alone",
     "tracker_counts_ends", "tracker_awaits_ended", "tracker_counts_repeats",
     "reports_stop"}
Flink_1_11 ==
    {"repeats_fail", "passes_alone", "resumes_late",
     "tracker_counts_ends", "tracker_awaits_ended", "tracker_counts_repeats",
     "type_decides", "whole_stays_pending", "network_starts"}
Flink_1_12 ==
    {"repeats_fail", "resumes_late", "releases_first",
     "tracker_counts_ends", "tracker_awaits_ended", "tracker_counts_repeats",
     "reports_stop", "overtaking_counts_repeats"}
Flink_1_13 ==
    {"repeats_count", "resumes_late", "releases_first", "triggers_first",
     "tracker_counts_ends", "tracker_awaits_ended", "tracker_counts_repeats",
     "reports_stop", "overtaking_counts_repeats", "savepoints_overtake"}
Flink_1_14_0 ==
    {"resumes_late", "releases_first", "triggers_first", "tracker_counts_ends", "reports_stop",
     "savepoints_overtake"}
Flink_1_14 ==
    {"resumes_late", "releases_first", "triggers_first", "tracker_counts_ends", "reports_stop"}

Switches == Flink_1_14

Has(switch) == switch \in Switches
=============================================================================
