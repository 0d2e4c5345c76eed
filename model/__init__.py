"""The reference model: the protocol as pure functions over immutable records, written to be read.

Each component of the protocol has a folder: `gate`, `channel`, `subtask`, `source`, `coordinator`, `store`,
`sink`, `offsets` and `fencing`. `dataflow` composes them. The modules of a folder hold the steps of the
component. Each folder also has `properties` (every rule as a predicate), `environment` (its closed models,
small enough to visit every state) and `wire` (its part of the adapter protocol). All folders except `fencing`
have `proofs` (the symbolic cases for z3).

Start with `gate.aligned`. `events` holds the events and effects that components share. `steps` maps an event
to its step function. `checker` explores the closed models and proves properties. `properties`,
`closed_models`, `proofs` and `components` list the contents of the folders. `component_modules` finds modules
by the component's name. `generations` states which generations of aligned gates behave alike, and proves it.
"""
