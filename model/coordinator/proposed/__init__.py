"""Proposed generations of the coordinator: of public discussions, in no released jar."""
