"""The input gate of one task, in each mode and generation.

`aligned` is the gate of mode exactly-once, and `tracking` is the gate of mode at-least-once. `unaligned` and
`alternating` together are the gate of the modes unaligned and alternating. `polled_gate` and
`polled_unaligned_gate` add the network, in which items of blocked channels wait. These modules describe the
newest generation. `generations`, `unaligned_generations`, `first_decides`, `buffering` (up to Flink 1.10) and
`two_threads` (1.11) hold the steps that only older generations have. `profiles` holds the switches of all
generations.
"""
