"""Proposed generations of the coordinator, from public discussions. No released jar has them."""
