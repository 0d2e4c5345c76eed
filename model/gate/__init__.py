"""The input gate of one task, in each mode and generation.

`aligned` is the gate of mode exactly-once, and `tracking` is the gate of mode at-least-once. `unaligned` and
`alternating` together are the gate of the modes unaligned and alternating. `polled_gate` and
`polled_unaligned_gate` put the network in front of a gate. These modules describe the newest generation. Only
older generations have the steps in `generations`, `unaligned_generations`, `first_decides`, `buffering` (up
to Flink 1.10) and `two_threads` (1.11). `profiles` holds the switches of all generations.
"""
