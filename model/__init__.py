"""The reference model: the protocol as pure functions over immutable records, written to be read.

Start with `alignment` (one gate), then `network`, `subtask`, `pending`, `coordinator`, `store` and
`transactions`; `events` holds the words they share and `steps` the table from event to function.
`properties` states every rule, `closed` gives each component an environment, `engines` explore and
prove, and `components` speaks the words of the wire.
"""
