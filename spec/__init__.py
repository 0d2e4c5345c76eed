"""The protocol in TLA+, its models, and TLC. Read the modules first, in this order: Alignment, Subtask,
Coordinator, CheckpointStore, TransactionalSink (functions over records), Dataflow (their composition),
ConsistentCut (what it implements). `models/` puts each into an environment and states the rules of
`rules.toml` over it; `manifests/` lists the models with their configurations, those that must fail among
them. Handed out: `spec.rules.load_rules`, `spec.manifest.load_manifest`, `spec.tlc.check`,
`spec.stategraph.state_graph`, `spec.values` and `spec.counterexample` for what they return.
"""
