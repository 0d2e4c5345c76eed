--------------------------- MODULE GateGenerations ---------------------------
(***************************************************************************)
(* The differences between releases of Flink at an input gate. Each        *)
(* difference is a switch, and a generation is a set of switches. A model  *)
(* selects a generation with Switches <- Flink_1_9, and its rules read     *)
(* Has(switch). The steps of older generations are separate operators in   *)
(* AlignedGenerations, FirstDecides and TrackingModel. Each model of       *)
(* spec/manifests/gate_generations.toml substitutes them for the operators *)
(* of the newest generation.                                               *)
(*                                                                         *)
(* resumes_late                                                            *)
(*     senders stop after a barrier, so a late barrier resumes its         *)
(*     channel; else senders do not stop (ALIGN-04)                        *)
(* triggers_first                                                          *)
(*     when an alignment completes, the gate triggers the snapshot and     *)
(*     then resumes the channels; else it resumes them first (ALIGN-06)    *)
(* releases_first                                                          *)
(*     when an alignment ends without a snapshot, the gate resumes its     *)
(*     channels and then aborts the checkpoint; else it aborts first       *)
(*     (ALIGN-03, ALIGN-14)                                                *)
(* repeats_fail                                                            *)
(*     a repeated barrier fails the task (ALIGN-20)                        *)
(* repeats_count                                                           *)
(*     a repeated barrier counts for a channel that has delivered none     *)
(*     (ALIGN-21)                                                          *)
(* passes_alone                                                            *)
(*     a gate with a single channel triggers at the barrier and never      *)
(*     blocks the channel (ALIGN-07)                                       *)
(* cancels_twice                                                           *)
(*     a newer cancellation that ends an alignment aborts its own id twice *)
(*     (ALIGN-11)                                                          *)
(* tracker_counts_ends                                                     *)
(*     the tracker, which is the gate of mode at-least-once, learns that a *)
(*     channel has ended (TRACK-13, TRACK-14); else it does not (TRACK-18) *)
(* tracker_awaits_ended                                                    *)
(*     the tracker needs a barrier of every channel, also of an ended one; *)
(*     else of each open channel (TRACK-15)                                *)
(* tracker_counts_repeats                                                  *)
(*     the tracker counts barriers, so a repeated barrier counts again;    *)
(*     else it counts each channel once (TRACK-16)                         *)
(* type_decides                                                            *)
(*     at an unaligned gate savepoints align and all other checkpoints     *)
(*     overtake; else the options of the first barrier decide (UNAL-28)    *)
(* reports_stop                                                            *)
(*     the gate emits stop_persisting when it no longer stores in-flight   *)
(*     data                                                                *)
(* whole_stays_pending                                                     *)
(*     a checkpoint stays pending after all of its barriers have           *)
(*     overtaken; else it has ended (UNAL-29)                              *)
(* network_starts                                                          *)
(*     in mode unaligned a checkpoint starts as soon as the network thread *)
(*     receives a barrier or the task reads one (UNAL-30)                  *)
(* overtaking_counts_repeats                                               *)
(*     the gate counts barriers that overtake, so a repeated barrier       *)
(*     counts again; else it counts each channel once                      *)
(* savepoints_overtake                                                     *)
(*     a savepoint can continue unaligned; else the task fails in this     *)
(*     case (UNAL-21)                                                      *)
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
