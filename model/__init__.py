"""The reference model: the protocol as pure functions over immutable records, written to be read.

Each component of the protocol has a folder: `gate`, `channel`, `subtask`, `source`, `coordinator`, `store`,
`sink`, `offsets` and `fencing`. `dataflow` composes them. The modules of a folder hold the steps of the
component. Each folder also has `properties` (every rule as a predicate), `environment` (its closed models,
small enough to visit every state), `proofs` (the symbolic cases for z3) and `wire` (its part of the adapter
protocol).

Start with `gate.aligned`. `events` holds the events and effects that components share. `steps` maps an event
to its function. `checker` explores and proves. `properties`, `closed_models`, `proofs` and `components` list
the contents of the folders, which `component_modules` finds by the component's name. `generations` states
in which behaviour releases of Flink are equal.
"""
