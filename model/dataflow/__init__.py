"""The composed protocol of a small job: sources, an operator, a transactional sink and the coordinator."""
