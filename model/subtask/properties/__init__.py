"""The rules of a subtask as predicates: those of the newest generation and those of older ones."""
