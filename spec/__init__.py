"""The protocol in TLA+, its models, and TLC.

A folder holds one component: its functions over records (`gate/Aligned.tla`), and its closed models, which
put them into an environment and state the rules of `rules.toml` (`gate/AlignedModel.tla`). Read the modules
in this order: Aligned, Subtask, Coordinator, Store, Sink, Dataflow (their composition), ConsistentCut (what
it implements). `Order.tla` is for all of them. `manifests/` lists the models with their configurations,
including those that must fail. Public: `spec.rules.load_rules`, `spec.manifest.load_manifest`,
`spec.tlc.check`, `spec.stategraph.state_graph`; `spec.values` and `spec.counterexample` for their results.
"""
