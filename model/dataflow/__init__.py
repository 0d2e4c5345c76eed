"""The protocol composed: sources, an operator, a transactional sink, the coordinator, and failures."""
