"""The rules of the coordinator as predicates over its states and steps, by subject."""
