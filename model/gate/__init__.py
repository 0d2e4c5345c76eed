"""The input gate of one task, in each mode and generation.

`aligned` is the gate of mode exactly-once, and `tracking` is the gate of mode at-least-once. `unaligned` and
`alternating` are the gates of unaligned checkpoints, without and with a time-out. `buffering` is the gate
that stores the items of blocked channels, up to Flink 1.10. `polled_gate` and `polled_unaligned_gate` put the
network in front of a gate. `two_threads` is the gate of Flink 1.11. `profiles` holds the switches of
generations.
"""
