"""Proofs for any number of channels, tasks, ids or transactions, from the unchanged functions of the model.

In these proofs a state holds *ropes* (`rope`): sequences with a few named elements and, between them, groups
of any size. The element of a group is a function of its index. `recompiled_model` compiles the source of step
functions and properties again. There `sequence_functions` replaces Python's functions for sequences (`all`,
`any`, `tuple`, `zip`, `len`, ...). Over ropes, these functions return ropes and quantified z3 terms.
`sums` has the laws of sums, and `cases` proves the properties for single cases. `expansion` compares the
results with those of the plain functions for small numbers of elements.
"""
