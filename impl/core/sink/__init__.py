"""A transactional sink: two-phase commit over checkpoints."""
