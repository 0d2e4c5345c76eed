"""The composed protocol: sources, an operator, a transactional sink, the coordinator and failures."""
