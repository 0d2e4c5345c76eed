"""The rules of a subtask as predicates: those of today, and those of older generations."""
