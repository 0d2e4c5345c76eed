"""The input gate of one task: aligned, tracking, unaligned, alternating, and up to Flink 1.10 buffering.

`aligned` is the gate of mode exactly-once, `tracking` of at-least-once, `unaligned` and `alternating` of
unaligned checkpoints without and with a time-out. `polled_gate` and `polled_unaligned_gate` put the network
in front of a gate, `two_threads` is the gate of Flink 1.11, `profiles` holds the switches of generations.
"""
