"""A transactional sink (vocabulary: `sink`): two-phase commit over checkpoints."""
