"""The reference model: the protocol as pure functions over immutable records, written to be read.

Each component of the protocol has a folder: `gate`, `channel`, `subtask`, `source`, `coordinator`, `store`,
`sink`, `offsets`, `fencing`, and `dataflow`, which composes them. The modules of a folder are the protocol.
Beside them are its `properties` (every rule as a predicate), its `environment` (which closes it, so that
every state can be visited), its `proofs` (the shapes for z3) and its `wire` (its part of the adapter
protocol).

Start with `gate.aligned`. `events` holds the events and effects that components share; `steps` maps an event
to its function. `checker` explores and proves; `properties`, `closed_models`, `proofs` and `components` list
the contents of the folders, which `component_modules` finds by the component's name, and `generations` states
where releases of Flink behave alike.
"""
