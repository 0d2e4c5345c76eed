"""The symbolic cases of the coordinator, by subject. The proofs cover these cases."""
