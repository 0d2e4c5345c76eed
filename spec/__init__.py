"""The protocol in TLA+, its models, and TLC. Read the modules first, in this order: Alignment, Subtask,
Coordinator, CheckpointStore, TransactionalSink (functions over records), Dataflow (their composition),
ConsistentCut (what it implements). `models/` puts each into an environment, states the rules of
`rules.toml` over it, and holds the models that must fail. Handed out: `spec.rules.load_rules`,
`spec.tlc.load_manifest` and `check`, `spec.stategraph.state_graph`, `spec.values` and
`spec.counterexample` for what they return.
"""
