"""The reference model: the protocol as pure functions over immutable records, written to be read.

Start with `alignment` (one gate), then `network`, `subtask`, `coordinator` with the rooms that it names,
`store` and `transactions`; `events` holds the words they share and `steps` the table from event to function.
`tracking`, `unaligned`, `alternating` and `buffering` are the gate's other modes, and `profiles`,
`subtask_profiles` and `coordinator_profiles` hold the switches in which generations differ. `properties`
states every rule, `closed` gives each component an environment, `cases` the proofs their shapes, `engines`
explore and prove, and `components` speaks the words of the wire.
"""
