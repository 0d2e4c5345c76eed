"""The rules of a subtask as predicates: the rules of the newest generation and of older ones."""
