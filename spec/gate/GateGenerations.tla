--------------------------- MODULE GateGenerations ---------------------------
(***************************************************************************)
(* Generations of Flink: one protocol, and the switches in which the       *)
(* releases differ at an input gate. A generation is the set of its        *)
(* switches, and a model selects one with  Switches <- Flink_1_9.  The     *)
(* rules read Has(switch). The steps of older generations are definitions  *)
(* beside those of the newest (AlignedGenerations, FirstDecides,           *)
(* TrackingModel), which spec/manifests/gate_generations.toml puts in      *)
(* their place.                                                            *)
(*                                                                         *)
(* resumes_late    a late barrier resumes its channel, because its sender  *)
(*                 stopped after it; else no sender stops (ALIGN-04)       *)
(* triggers_first  at completion the gate triggers the snapshot, then      *)
(*                 resumes channels; else in reverse (ALIGN-06)            *)
(* releases_first  an alignment that ends without a snapshot resumes its   *)
(*                 channels, then is aborted; else in reverse              *)
(*                 (ALIGN-03, ALIGN-14)                                    *)
(* repeats_fail    a repeated barrier fails the task (ALIGN-20)            *)
(* repeats_count   a repeated barrier counts again (ALIGN-21)              *)
(* passes_alone    a gate with a single channel triggers at its barrier    *)
(*                 and never blocks it (ALIGN-07)                          *)
(* cancels_twice   a newer cancellation aborts its own id twice            *)
(*                 (ALIGN-11)                                              *)
(* tracker_counts_ends     at-least-once, the tracker learns that a        *)
(*                 channel ended (TRACK-13, TRACK-14); else not (TRACK-18) *)
(* tracker_awaits_ended    it needs one barrier of every channel, ended    *)
(*                 ones included; else of open ones (TRACK-15)             *)
(* tracker_counts_repeats  it counts barriers, repeated ones too; else it  *)
(*                 keeps the set of channels (TRACK-16)                    *)
(* type_decides    at an unaligned gate savepoints align and all others    *)
(*                 overtake; else the first barrier's options decide       *)
(*                 (UNAL-28)                                               *)
(* reports_stop    the gate emits an effect when the persisting ends       *)
(* whole_stays_pending     a checkpoint whose barriers have all overtaken  *)
(*                 stays pending; else it has ended (UNAL-29)              *)
(* network_starts  in mode unaligned the network thread, too, starts a     *)
(*                 checkpoint when it receives a barrier (UNAL-30)         *)
(* overtaking_counts_repeats  it counts barriers that overtake; else       *)
(*                 channels                                                *)
(* savepoints_overtake     the alignment of a savepoint may be given up    *)
(*                 too; else the gate refuses to (UNAL-21)                 *)
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
