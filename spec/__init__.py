"""The protocol in TLA+, the models that TLC checks, and the Python modules that run TLC.

Each component has a folder. Some modules of a folder define functions over records (`gate/Aligned.tla`). The
others are closed models (`gate/AlignedModel.tla`): they add an environment and state rules of `rules.toml`.
Read the modules in this order: Aligned, Subtask, Coordinator, Store, Sink, Dataflow (which composes them),
ConsistentCut (which Dataflow implements). All folders use `Order.tla`. `manifests/` lists the models with
their configurations, including the models that must fail. Public functions: `spec.rules.load_rules`,
`spec.manifest.load_manifest`, `spec.tlc.check` and `spec.stategraph.state_graph`. `spec.values` and
`spec.counterexample` define the values that they return.
"""
