"""The reference model: the protocol as pure functions over immutable records, written to be read.

Each component of the protocol has a folder: `gate`, `channel`, `subtask`, `source`, `coordinator`, `store`,
`sink`, `offsets`, and `dataflow`, which composes them. The files of a folder are the protocol; beside them
stand its `properties` (every rule as a predicate), its `environment` (what closes it, so that every state can
be seen), its `proofs` (the shapes that z3 is asked about) and its `wire` (its words in the adapter protocol).

Start with `gate.aligned`. What all components share is in `events`; `steps` maps an event to its function.
`checker` explores and proves; `properties`, `closed_models`, `proofs` and `components` list what the folders
hold, and `generations` says where releases of Flink behave alike.
"""
