"""The proofs of the subtask: in stated sizes, and for any number of ids."""
