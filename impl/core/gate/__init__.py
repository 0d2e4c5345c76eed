"""The input gate of one task (vocabulary: `gate`), for every mode and every generation.

`from_config` makes a gate from a configuration. Each mode has a module: `aligned` (exactly-once), `tracking`
(at-least-once), `unaligned` and `alternating`. Flink 1.11 and 1.12 have variants of the last two:
`type_decides`, `first_decides`, and `two_threads` for the network thread of 1.11. `polled_gate` and
`polled_unaligned_gate` add the network that holds back the items of blocked channels.
"""
