"""The rules of a gate as predicates over its states and steps, by mode."""
